// Run as a program: prints a plan byte for byte, and what tells this process' locale and time zone from others.
import { plan } from "../../../core/plan/plan.ts";
import { apply } from "./apply.ts";
import { bytesOf, claimOf, poolOf, recordOf } from "./text.ts";

// Names that locales order differently: capitals, Turkish i, Swedish and German umlauts, digits, combining marks.
const names = [
  "z",
  "a",
  "Z",
  "I",
  "i",
  "ı",
  "İ",
  "ä",
  "å",
  "ö",
  "10",
  "9",
  "a\u0308",
  "\u{1f600}",
  "ﬀ",
  "ch",
  "cz",
  "_",
  "-",
];
const pools = [
  poolOf("b", "10.1.0.0/24"),
  poolOf("B", "10.2.0.0/24"),
  poolOf("a-i", "10.3.0.0/24"),
  poolOf("aI", "10.4.0.0/24"),
];
const claimsOf = (count: number) =>
  pools.flatMap((pool) =>
    names.slice(0, count).flatMap((name) => [`Node/I/${name} pool=${pool.name}`, `Node/i/${name} pool=${pool.name}`]),
  );

const first = plan({ pools, claims: claimsOf(names.length).map(claimOf), snapshot: recordOf([], []) });
const second = plan({ pools, claims: claimsOf(7).map(claimOf), snapshot: apply(first, recordOf([], [])) });
const audible = ["z", "ä", "I", "i"].sort((a, b) => a.localeCompare(b)).join("");

console.log(
  JSON.stringify({
    environment: `${audible} ${"i".toLocaleUpperCase()} ${new Date(0).getHours()}:${new Date(0).getMinutes()}`,
    plans: [bytesOf(first), bytesOf(second)],
  }),
);
