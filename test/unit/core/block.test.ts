import { describe, expect, it } from "vitest";
import { address, formatAddress } from "../../../core/address.ts";
import { audit } from "../../../core/audit.ts";
import { BlockIndex, blockAt, formatBlock, parseBlock } from "../../../core/block.ts";
import { unwrap } from "../../../core/errors.ts";
import { freeSpaceOf } from "../../../core/free-space.ts";
import { addressAt, offsetOf } from "../../../core/numbering.ts";
import { parsePool } from "../../../core/parse-pool.ts";
import { plan } from "../../../core/plan/plan.ts";
import { claimOf, lineOf, poolOf, recordOf, shown } from "../../support/core/text.ts";

const block = (text: string) => unwrap(parseBlock(text));

it.each(["10.0.0.1", "10.4.0.0/22", "0.0.0.0/0", "2001:db8::1", "2001:db8:0:1::/64", "::/0"])(
  "%s is read and written",
  (text) => {
    expect(formatBlock(block(text))).toBe(text);
  },
);

it("a length of one address is not written, and host bits are dropped", () => {
  expect(["10.0.0.1/32", "2001:db8::1/128", "10.4.1.7/22"].map((text) => formatBlock(block(text)))).toEqual([
    "10.0.0.1",
    "2001:db8::1",
    "10.4.0.0/22",
  ]);
});

it("an index finds what holds a block, and what a block holds", () => {
  const texts = ["10.0.0.0/8", "10.4.0.0/22", "10.4.1.0/24", "10.4.1.9", "10.4.4.0/22", "2001:db8::/64", "2001:db8::1"];
  const index = new BlockIndex(texts.map(block));
  const at = (text: string) => index.at(block(text)).map(formatBlock);
  expect(at("10.4.1.9")).toEqual(["10.0.0.0/8", "10.4.0.0/22", "10.4.1.0/24", "10.4.1.9"]);
  expect(at("10.4.1.8")).toEqual(["10.0.0.0/8", "10.4.0.0/22", "10.4.1.0/24"]);
  expect(at("10.4.0.0/21")).toEqual(texts.slice(0, 5));
  expect(at("10.4.0.0/22")).toEqual(texts.slice(0, 4));
  expect(at("2001:db8::/48")).toEqual(texts.slice(5));
  expect(at("11.0.0.0/8")).toEqual([]);
});

describe("offsets count the whole blocks from start on", () => {
  it.each([
    { pool: "10.0.0.0/8", blockLength: 22, offset: 0n, first: "10.0.0.0" },
    { pool: "10.0.0.0/8", blockLength: 22, offset: 16_383n, first: "10.255.252.0" },
    { pool: "10.0.0.0/8 10.0.0.1 10.0.15.255", blockLength: 22, offset: 0n, first: "10.0.4.0" },
    { pool: "10.0.0.0/24", blockLength: 24, offset: 0n, first: "10.0.0.0" },
    { pool: "10.0.0.0/24", blockLength: 31, offset: 127n, first: "10.0.0.254" },
    { pool: "2001:db8::/48", blockLength: 64, offset: 65_535n, first: "2001:db8:0:ffff::" },
    { pool: "2001:db8::/64", blockLength: 120, offset: 2n ** 56n - 1n, first: "2001:db8::ffff:ffff:ffff:ff00" },
  ])("$offset of /$blockLength of $pool is $first", ({ pool: range, blockLength, offset, first }) => {
    const pool = poolOf("p", range, { blockLength });
    expect(formatAddress(addressAt(pool, offset) as never)).toBe(first);
    expect(offsetOf(pool, address(first))).toBe(offset);
    expect(offsetOf(pool, (address(first) + 1n) as never)).toBe(offset);
    expect(freeSpaceOf(pool, pool.automatic, []).capacity).toBeGreaterThan(0n);
  });

  it.each([
    ["before the first whole block", "10.0.0.0/8 10.0.0.1 10.0.15.255", "10.0.3.255"],
    ["outside", "10.0.0.0/8", "11.0.0.0"],
  ])("%s there is none", (_, range, at) => {
    expect(offsetOf(poolOf("p", range, { blockLength: 22 }), address(at))).toBeUndefined();
  });

  it("ends that no whole block fits between have none", () => {
    const pool = poolOf("p", "10.0.0.0/8 10.0.0.1 10.0.4.9", { blockLength: 22 });
    expect(freeSpaceOf(pool, pool.automatic, []).capacity).toBe(0n);
  });
});

it.each([
  [7, "blockLength is 7, and must be from 8 (all of cidr) to 32"],
  [33, "blockLength is 33, and must be from 8 (all of cidr) to 32"],
  [22.5, "blockLength is 22.5, and must be from 8 (all of cidr) to 32"],
])("a block length of %s is refused", (blockLength, message) => {
  const { issues } = parsePool("p", { range: { cidr: "10.0.0.0/8" }, blockLength });
  expect(issues).toEqual([{ message, path: ["blockLength"] }]);
});

const cases: {
  name: string;
  range?: string;
  spec?: Parameters<typeof poolOf>[2];
  lines?: string[];
  claims: string[];
  want: string[];
}[] = [
  {
    name: "the lowest",
    claims: ["Node/n/a", "Node/m/a"],
    want: ["assign 10.0.0.0/22 Node/m/a", "assign 10.0.4.0/22 Node/n/a"],
  },
  {
    name: "the wanted one, named by an address in it",
    claims: ["Node/n/a wanted=10.0.9.9"],
    want: ["assign 10.0.8.0/22 Node/n/a"],
  },
  {
    name: "none that an exclude, the gateway or a DNS server is in",
    spec: { exclude: ["10.0.1.7", "10.0.16.0/20"], gateway: "10.0.4.1", dnsServers: ["10.0.8.53"] },
    claims: ["Node/m/a", "Node/n/a", "Node/o/a wanted=10.0.0.0"],
    want: ["assign 10.0.12.0/22 Node/m/a", "assign 10.0.32.0/22 Node/n/a", "out-of-range Node/o/a"],
  },
  {
    name: "none that is reserved for another one",
    spec: { reservations: [{ address: "10.0.0.9", owner: "Node/z" }, { address: "10.0.4.0" }] },
    claims: ["Node/n/a", "Node/z/a", "Node/o/a wanted=10.0.0.0"],
    want: ["assign 10.0.0.0/22 Node/z/a", "assign 10.0.8.0/22 Node/n/a", "out-of-range Node/o/a"],
  },
  {
    name: "the one it has, of whatever length",
    lines: ["10.0.0.0/24 Node/n/a", "10.0.8.0/21 Node/m/a", "10.0.5.5 Node/o/a", "10.0.16.0/22 Node/p/a releasing"],
    claims: ["Node/n/a", "Node/m/a", "Node/o/a wanted=10.0.4.0", "Node/p/a", "Node/q/a"],
    want: [
      "assign 10.0.20.0/22 Node/q/a",
      "keep 10.0.0.0/24 Node/n/a",
      "keep 10.0.16.0/22 Node/p/a, was 10.0.16.0/22 Node/p/a",
      "keep 10.0.5.5 Node/o/a",
      "keep 10.0.8.0/21 Node/m/a",
    ],
  },
  {
    name: "no wanted one that somebody has a part of",
    lines: ["10.0.1.0/24 Node/n/a"],
    claims: ["Node/n/a", "Node/m/a wanted=10.0.0.0"],
    want: ["in-use Node/m/a", "keep 10.0.1.0/24 Node/n/a"],
  },
  {
    name: "the last one, with 0 and 255 and what a subnet keeps for itself",
    range: "10.0.0.0/23",
    spec: { blockLength: 24 },
    claims: ["Node/m/a", "Node/n/a", "Node/o/a"],
    want: ["assign 10.0.0.0/24 Node/m/a", "assign 10.0.1.0/24 Node/n/a", "exhausted Node/o/a"],
  },
  {
    name: "a /120 of a /64, beside what is far wider",
    range: "2001:db8::/64",
    spec: { blockLength: 120 },
    lines: ["2001:db8::/65 Node/n/a"],
    claims: ["Node/n/a", "Node/m/a", "Node/o/a wanted=2001:db8:0:0:8000::"],
    want: [
      "assign 2001:db8::8000:0:0:100/120 Node/m/a",
      "assign 2001:db8:0:0:8000::/120 Node/o/a",
      "keep 2001:db8::/65 Node/n/a",
    ],
  },
  {
    name: "single addresses beside blocks, where the pool gave blocks before",
    range: "10.0.0.0/8 10.0.3.254 10.0.9.0",
    spec: { blockLength: 32 },
    lines: ["10.0.4.0/22 Node/n/a"],
    claims: ["Node/n/a", "Node/m/a", "Node/o/a"],
    want: ["assign 10.0.3.254 Node/m/a", "assign 10.0.8.1 Node/o/a", "keep 10.0.4.0/22 Node/n/a"],
  },
];

describe("a claim on a pool of blocks gets", () => {
  it.each(cases)("$name", ({ range = "10.0.0.0/8", spec = {}, lines = [], claims, want }) => {
    const pool = poolOf("p", range, { blockLength: 22, ...spec });
    const snapshot = recordOf(lines, [pool]);
    expect(shown(plan({ pools: [pool], claims: claims.map(claimOf), snapshot }))).toEqual(want.sort());
  });
});

it("a recorded block that reaches into another pool of its network is refused", () => {
  const [p, q] = [poolOf("p", "10.0.0.0/8 10.0.0.0 10.0.1.255"), poolOf("q", "10.0.0.0/8 10.0.2.0 10.0.9.255")];
  const snapshot = recordOf(["10.0.0.0/22 Node/n/a"], [p]);
  expect(() => plan({ pools: [p, q], claims: [], snapshot })).toThrow(
    /pools q and p of network default share addresses/,
  );
});

describe("an audit of blocks goes by overlap", () => {
  const pool = poolOf("p", "10.0.0.0/8", { blockLength: 22, exclude: ["10.0.12.1"] });
  const lines = ["10.0.0.0/22 Node/n/a", "10.0.4.0/22 Node/m/a", "10.0.8.0/22 Node/o/a", "10.0.12.0/22 Node/p/a"];
  const useOf = (text: string) => {
    const [where = "", owner = ""] = text.split(" ");
    const { address, length } = block(where);
    return { address, ...(where.includes("/") ? { length } : {}), owner, at: { file: "f", line: 1, column: 1 } };
  };

  it.each([
    [
      ["10.0.0.0/22 Node/n", "10.0.4.7 Node/m", "10.0.8.0/23 Node/o"],
      ["excluded 10.0.12.0", "leaked 10.0.12.0"],
    ],
    [
      ["10.0.0.9 Node/x"],
      ["wrong-owner 10.0.0.9", "leaked 10.0.4.0", "leaked 10.0.8.0", "excluded 10.0.12.0", "leaked 10.0.12.0"],
    ],
    [
      [
        "10.0.0.0/21 Node/n",
        "10.0.8.0/22 Node/o",
        "10.0.9.1 Node/o",
        "10.0.9.2 Node/y",
        "10.0.12.5 Node/p",
        "10.0.16.0/22 Node/z",
      ],
      ["duplicate 10.0.9.2", "wrong-owner 10.0.9.2", "excluded 10.0.12.0", "stranger 10.0.16.0"],
    ],
  ])("%s", (uses, want) => {
    const found = audit({ pools: [pool], snapshot: recordOf(lines, [pool]), uses: uses.map(useOf) });
    expect(found.map(({ kind, address }) => `${kind} ${formatAddress(address)}`)).toEqual(want);
  });
});

it("a block of an unknown length of the family is the address", () => {
  expect(formatBlock(blockAt(address("10.0.0.1"), 128))).toBe("10.0.0.1");
  expect(lineOf("10.0.0.0/22 Node/n/a").length).toBe(22);
});
