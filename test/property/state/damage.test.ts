import { describe, expect, it } from "vitest";
import { IpamError } from "../../../src/core/errors.ts";
import { decode, encode } from "../../../src/state/codec.ts";
import { poolOf, recordOf } from "../../support/core-text.ts";
import { duplicates, recordTexts } from "../../support/state-record.ts";

// One thing is wrong with a record of twenty lines: every case there is. Either the right line is refused, or the text
// is another record that a person could have meant, which is why the lock is reviewed and drift is an error.

const pools = [
  poolOf("p", "10.0.0.0/24"),
  poolOf("q", "2001:db8::/64"),
  poolOf("r", "10.0.0.0/24", { network: "blue" }),
];
const record = recordOf(
  [
    "10.0.0.1 Node/n1/static-ip/p if=eth0",
    "10.0.0.1 Node/n1/static-ip/r pool=r if=eth0",
    "10.0.0.2 Node/n2/static-ip/p if=eth0",
    "10.0.0.10 Node/n3/static-ip/p set=other if=eth0",
    "10.0.0.12 VM/ns:v/net0 uid=7f3a",
    "10.0.0.12 Node/n1/other/r pool=r if=eth1",
    "10.0.0.200 Node/n2/other/p",
    "2001:db8::1 Node/n1/static-ip/q pool=q if=eth1",
    "2001:db8::2f Node/n2/static-ip/q pool=q if=eth1",
    "10.0.0.3 Node/n4/static-ip/p if=eth0 releasing",
    "10.0.0.7 Node/n1/static-ip/r pool=r if=eth0 releasing",
    "2001:db8::20 Node/n4/static-ip/q pool=q if=eth1 releasing",
  ],
  pools,
);
const lines = encode(record).trimEnd().split("\n");
const lineTexts = recordTexts(record);
const rows = lines.map((_, i) => i);
const isLine = (i: number) => lines[i]?.startsWith('- {"address"') ?? false;
const sectionOf = (i: number) => lines.slice(0, i + 1).findLast((line) => line.endsWith(":")) ?? "";
const poolOfLine = (i: number) => /"pool":"(\w)"/.exec(lines[i] ?? "")?.[1];
const fieldOf = (i: number, field: string) => new RegExp(`"${field}":"([^"]*)"`).exec(lines[i] ?? "")?.[1] ?? "";

interface Damaged {
  readonly lines: readonly string[];
  /** The lines, from 1, one of which may be named. */
  readonly at: readonly number[];
}

const replaced = (i: number, ...by: string[]) => [...lines.slice(0, i), ...by, ...lines.slice(i + 1)];
const set = (i: number, field: string, value: string) =>
  replaced(i, (lines[i] ?? "").replace(`"${field}":"${fieldOf(i, field)}"`, `"${field}":"${value}"`));
const pairs = rows.filter(isLine).flatMap((i) => rows.filter((j) => isLine(j) && j !== i).map((j) => [i, j] as const));

/** A line that is unlike others shows itself, the line after it (out of order), or another holder of the same, further down. */
const damages: { what: string; all: Damaged[]; harmless: { readonly [kind: string]: number } }[] = [
  {
    what: "a character is gone",
    all: rows.flatMap((i) => {
      const characters = [...((lines[i] ?? "").keys?.() ?? [])];
      return characters.map((c) => ({
        lines: replaced(i, (lines[i] ?? "").slice(0, c) + (lines[i] ?? "").slice(c + 1)),
        at: [i + 1, i + 2, ...rows.filter((j) => isLine(j) && j > i).map((j) => j + 1)],
      }));
    }),
    harmless: {},
  },
  {
    what: "a line is there twice",
    all: rows.map((i) => ({ lines: replaced(i, lines[i] ?? "", lines[i] ?? ""), at: [i + 2] })),
    harmless: {},
  },
  {
    what: "two lines have changed places",
    all: rows.slice(0, -1).map((i) => ({
      lines: [...lines.slice(0, i), lines[i + 1] ?? "", lines[i] ?? "", ...lines.slice(i + 2)],
      at: [i + 1, i + 2],
    })),
    harmless: {},
  },
  { what: "a line is gone", all: rows.map((i) => ({ lines: replaced(i), at: [i + 1] })), harmless: {} },
  {
    what: "an address is that of another line",
    all: pairs.map(([i, j]) => ({ lines: set(i, "address", fieldOf(j, "address")), at: [i + 1, i + 2, j + 1] })),
    harmless: {},
  },
  {
    what: "a claim is that of another line",
    all: pairs.map(([i, j]) => ({ lines: set(i, "claim", fieldOf(j, "claim")), at: [Math.max(i, j) + 1] })),
    harmless: {},
  },
  {
    what: "a line stands in the other section",
    all: rows.filter(isLine).flatMap((i) =>
      rows
        .filter((j) => isLine(j) && sectionOf(j) !== sectionOf(i))
        .flatMap((j) => [j, j + 1])
        .map((before) => {
          const without = replaced(i, "\0");
          const moved = [...without.slice(0, before), lines[i] ?? "", ...without.slice(before)].filter(
            (line) => line !== "\0",
          );
          return { lines: moved, at: rows.map((row) => row + 1) };
        }),
    ),
    harmless: {},
  },
];

/** What a person could have meant, or undefined. */
function kindOf(text: string): string | undefined {
  const now = recordTexts(decode(text, "lock"));
  const gone = lineTexts.filter((line) => !now.includes(line));
  const come = now.filter((line) => !lineTexts.includes(line));
  const [was = "", is = ""] = [gone[0], come[0]];
  if (gone.length === 0 && come.length === 0) return "the same record";
  if (gone.length === 1 && come.length === 0) return "a line less";
  if (gone.length !== 1 || come.length !== 1) return undefined;
  const [old, young] = [was, is].map((line) => line.replace(/ releasing$/, ""));
  if (old === young) return "released or restored";
  if (was.split(" ")[0] === is.split(" ")[0]) return "another text in a line";
  if (was.split(" ").slice(1).join(" ") === is.split(" ").slice(1).join(" ")) return "another address in the same gap";
  return undefined;
}

describe("a lock with one thing wrong", () => {
  it.each(damages)("$what: the right line is refused, or it is a record that one could mean", ({ all, harmless }) => {
    const counts: { [kind: string]: number } = {};
    let refused = 0;
    for (const { lines: damaged, at } of all) {
      const text = `${damaged.join("\n")}\n`;
      if (text === encode(record)) continue;
      try {
        const kind = kindOf(text);
        expect(kind, text).toBeDefined();
        expect(duplicates(decode(text, "lock"))).toEqual([]);
        counts[kind as string] = (counts[kind as string] ?? 0) + 1;
      } catch (error) {
        if (!(error instanceof IpamError)) throw error;
        refused++;
        expect(error.code).toBe("corrupt");
        expect(at, `${error.message}\nin\n${text}`).toContain(error.issues[0]?.at?.line);
      }
    }
    expect({ refused, ...counts }).toEqual(harmless);
  });
});
void poolOfLine;
