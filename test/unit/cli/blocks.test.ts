import { expect, it } from "vitest";
import { sentence } from "../../../cli/pools/fact.ts";
import { poolText } from "../../../cli/pools/pool-text.ts";
import { viewsOf } from "../../../cli/pools/pools.ts";
import { address } from "../../../core/address.ts";
import { poolOf, recordOf } from "../../support/core-text.ts";

const pool = poolOf("s", "10.4.0.0/16", { blockLength: 22, exclude: ["10.4.4.9"], gateway: "10.4.8.1" });
const [view] = viewsOf([pool], recordOf(["10.4.0.0/22 Node/a/x pool=s"], [pool]));
if (view === undefined) throw new Error("no view");

it("show counts blocks, and maps the addresses in them", () => {
  expect(poolText(view).map((line) => line.trim())).toEqual([
    "Pool s  10.4.0.0/16 in blocks of /22 10.4.0.0-10.4.255.255 less 2   62 usable  1 held  61 free",
    "",
    "+0       +8       +16      +24",
    "10.4.0.0   ... 32 rows: 1024 held",
    "10.4.4.0   ... 64 rows: 2048 excluded",
    "10.4.12.0  ... 1952 rows: 62464 free",
    "",
    "# 1024 held   . 62464 free   x 2048 excluded",
    "",
    "ADDRESS      OFFSET  OWNER  CLAIM  NIC",
    "10.4.0.0/22  0       a      x      -",
  ]);
});

it.each([
  ["10.4.1.7", "10.4.1.7 in 10.4.0.0/22: pool s, offset 0, held by a, x"],
  [
    "10.4.4.1",
    "10.4.4.1 in 10.4.4.0/22: pool s, offset 1, in a block that the pool does not have, or excludes, in part",
  ],
  ["10.4.12.3", "10.4.12.3 in 10.4.12.0/22: pool s, offset 3, free"],
])("explain %s tells of its block", (text, said) => {
  expect(sentence(view.at(address(text)))).toBe(said);
});
