import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { formatAddress, formatPrefix } from "../../../core/address.ts";
import type { Allocation, Snapshot } from "../../../core/allocation.ts";
import { allocationLine, decode, encode, readAllocationLine, snapshotOf } from "../../../state/codec.ts";
import { poolOf, recordOf } from "../../support/core/text.ts";
import { tries } from "../../support/long.ts";
import { recordArb } from "../../support/state/arbitrary.ts";
import { duplicates } from "../../support/state/record.ts";

const runs = { numRuns: tries(150, 20_000) };
const corrupt = (line: number) =>
  expect.objectContaining({
    code: "corrupt",
    issues: [expect.objectContaining({ at: expect.objectContaining({ line }) })],
  });

/** What a reader of the text would say it means, made without the codec. */
function meaning({ pools, allocations, releasing }: Snapshot) {
  const line = ({ address, length, pool, claim, set, interface: nic, uid }: Allocation) => ({
    address: length === 32 || length === 128 ? formatAddress(address) : `${formatAddress(address)}/${length}`,
    pool,
    claim,
    ...(set === "default" ? {} : { set }),
    ...(nic === undefined ? {} : { interface: nic }),
    ...(uid === undefined ? {} : { uid }),
  });
  return {
    version: 1,
    pools: pools.map(({ name, prefix, network, last }) => ({
      pool: name,
      cidr: formatPrefix(prefix),
      ...(network === "default" ? {} : { network }),
      ...(last === undefined ? {} : { last: formatAddress(last) }),
    })),
    allocations: allocations.map(line),
    releasing: releasing.map((one) => ({ ...line(one), releasing: true })),
  };
}

describe("encode and decode", () => {
  it("a record is read back as it was written, with its tokens, and written back byte for byte", () => {
    fc.assert(
      fc.property(recordArb, (record) => {
        expect(duplicates(record)).toEqual([]);
        const text = encode(record);
        expect(decode(text, "lock")).toEqual(snapshotOf(record));
        expect(encode(decode(text, "lock"))).toBe(text);
      }),
      runs,
    );
  });

  it("one line of text is one line of the record", () => {
    fc.assert(
      fc.property(recordArb, (record) => {
        const lists = [record.pools, record.allocations, record.releasing];
        const lines = lists.reduce((sum, list) => sum + Math.max(1, list.length), 0);
        const empty = lists.filter((list) => list.length === 0).length;
        expect(encode(record).split("\n")).toHaveLength(2 + 3 + lines - empty + 1);
      }),
      runs,
    );
  });

  it("any YAML parser reads the same data", () => {
    fc.assert(
      fc.property(recordArb, (record) => {
        expect(parse(encode(record))).toEqual(meaning(record));
      }),
      runs,
    );
  });

  it("a line that is taken is written back byte for byte, whatever was done to it", () => {
    const part = fc.constantFrom(
      ...'default|0|00|:0|::|A|  |,|,"set":"default"|,"releasing":true|true|\\u0041|\\/|"|\u007f|é|\n|'.split("|"),
    );
    fc.assert(
      fc.property(recordArb, fc.nat(), fc.nat({ max: 3 }), part, (record, place, drop, text) => {
        for (const one of record.allocations) {
          const line = allocationLine(one);
          const at = place % line.length;
          for (const tried of [line.slice(0, at) + text + line.slice(at + drop), line.replace(/\}$/, `${text}}`)]) {
            const read = readAllocationLine(tried);
            if (typeof read !== "string") expect(allocationLine(read.line, read.releasing)).toBe(tried);
          }
        }
      }),
      runs,
    );
  });

  it("line ends and the byte order mark of Windows mean the same", () => {
    fc.assert(
      fc.property(recordArb, (record) => {
        const text = encode(record).replaceAll("\n", "\r\n");
        for (const one of [text, `\uFEFF${text}`]) expect(decode(one, "lock")).toEqual(snapshotOf(record));
      }),
      runs,
    );
  });

  it("a pool's token tells whether its lines are the same, and nothing of other pools", () => {
    const part = (record: Snapshot, isMine: (pool: string) => boolean) => ({
      pools: record.pools.filter(({ name }) => isMine(name)),
      allocations: record.allocations.filter(({ pool }) => isMine(pool)),
      releasing: record.releasing.filter(({ pool }) => isMine(pool)),
    });
    const counts = { same: 0, other: 0 };
    fc.assert(
      fc.property(recordArb, recordArb, fc.constantFrom("a", "c", "d", "f"), (one, other, shared) => {
        const [mine, rest] = [part(one, (pool) => pool === shared), part(other, (pool) => pool !== shared)];
        const mixed = snapshotOf({
          pools: [...mine.pools, ...rest.pools],
          allocations: [...mine.allocations, ...rest.allocations],
          releasing: [...mine.releasing, ...rest.releasing],
        });
        for (const { name } of one.pools) {
          const [left, right] = [one, mixed].map((record) => encode(part(record, (pool) => pool === name)));
          expect(snapshotOf(one).base.get(name) === mixed.base.get(name), name).toBe(left === right);
          counts[left === right ? "same" : "other"]++;
        }
      }),
      runs,
    );
    expect(Math.min(counts.same, counts.other)).toBeGreaterThan(10);
  });
});

describe("decode of what is no record", () => {
  const text = encode(recordOf(["10.0.0.1 Node/n/a"], [poolOf("p", "10.0.0.0/24")]));
  const [head = "", version = "", pools = "", pool = "", allocations = "", line = "", releasing = ""] =
    text.split("\n");
  const withLine = (changed: string) => [head, version, pools, pool, allocations, changed, releasing, ""].join("\n");

  it.each([
    { what: "nothing", text: "", at: 1 },
    { what: "garbage", text: "\u0000\u0001\ufffd", at: 1 },
    { what: "another version", text: text.replace("version: 1", "version: 2"), at: 2 },
    { what: "a text that stops in the middle", text: text.slice(0, -20), at: 6 },
    { what: "a text without its end", text: text.trimEnd(), at: 7 },
    { what: "a text after the end", text: `${text}- {}\n`, at: 8 },
    { what: "an empty line after the end", text: `${text}\n`, at: 9 },
    { what: "a NUL in a line", text: withLine(line.replace("Node", "No\u0000de")), at: 6 },
    { what: "a NUL for a line", text: withLine("\u0000"), at: 6 },
    { what: "a __proto__ in a line", text: withLine(line.replace("}", ',"__proto__":{"uid":"7"}}')), at: 6 },
    {
      what: "a __proto__ for a line",
      text: withLine('- {"__proto__":{"address":"10.0.0.1","pool":"p","claim":"Node/n/a"}}'),
      at: 6,
    },
    { what: "a pool __proto__", text: withLine(line.replace('"p"', '"__proto__"')), at: 6 },
    { what: "a pool that every object has", text: withLine(line.replace('"p"', '"constructor"')), at: 6 },
    { what: "an unknown field", text: withLine(line.replace("}", ',"note":"x"}')), at: 6 },
    { what: "a field twice", text: withLine(line.replace("}", ',"claim":"Node/n/a"}')), at: 6 },
    {
      what: "another order of fields",
      text: withLine('- {"pool":"p","address":"10.0.0.1","claim":"Node/n/a"}'),
      at: 6,
    },
    { what: "another spelling of an address", text: withLine(line.replace("10.0.0.1", "10.0.0.01")), at: 6 },
    { what: "a blank in a line", text: withLine(line.replace(",", ", ")), at: 6 },
    { what: "a number for a claim", text: withLine(line.replace('"Node/n/a"', "7")), at: 6 },
    { what: "a list for a line", text: withLine("- [1]"), at: 6 },
    { what: "YAML that means the same", text: withLine("- {address: 10.0.0.1, pool: p, claim: Node/n/a}"), at: 6 },
    { what: "a comment in the middle", text: withLine(`# x\n${line}`), at: 6 },
    { what: "a tab before a line", text: withLine(`\t${line}`), at: 6 },
    { what: "a line of 1 MiB", text: withLine(`- ${"x".repeat(2 ** 20)}`), at: 6 },
    { what: "a claim of 1 MiB", text: withLine(line.replace("Node/n/a", `Node/n/${"a".repeat(2 ** 20)}`)), at: 6 },
    { what: "JSON a million deep", text: withLine(`- ${"[".repeat(2 ** 20)}`), at: 6 },
  ])("$what is refused at line $at", ({ text: broken, at }) => {
    expect(() => decode(broken, "lock")).toThrow(corrupt(at));
    expect(messageOf(() => decode(broken, "lock")).length).toBeLessThan(600);
  });
});

describe("decode of a record that breaks an invariant", () => {
  const [p, q, r] = [
    poolOf("p", "10.0.0.0/24"),
    poolOf("q", "10.0.0.0/23"),
    poolOf("r", "10.0.0.0/24", { network: "blue" }),
  ];
  const n = "10.0.0.1 Node/n/a";
  it.each([
    { what: "an address live and releasing", lines: [n, "10.0.0.1 Node/m/a releasing"], at: 8 },
    { what: "an address live and releasing, of one claim", lines: [n, `${n} releasing`], at: 8 },
    { what: "an address in two pools of one network", lines: [n, "10.0.0.1 Node/m/a pool=q"], at: 8 },
    {
      what: "an address releasing in another pool of its network",
      lines: [n, "10.0.0.1 Node/m/a pool=q releasing"],
      at: 9,
    },
    { what: "an address twice in a pool", lines: [n, "10.0.0.1 Node/m/a"], at: 7 },
    { what: "an address outside its pool", lines: [n, "10.0.1.1 Node/m/a"], at: 7 },
    { what: "a claim with two addresses", lines: [n, "10.0.0.2 Node/n/a"], at: 7 },
    { what: "a pool that is not recorded", lines: [n, "10.0.0.2 Node/n/a pool=s"], at: 7 },
  ])("$what: line $at is refused", ({ lines, at }) => {
    expect(() => decode(encode(recordOf(lines, [p, q, r])), "lock")).toThrow(corrupt(at));
  });

  it.each([
    { what: "an address in two networks", lines: [n, "10.0.0.1 Node/m/a pool=r"] },
    { what: "a claim in two pools", lines: [n, "10.0.0.2 Node/n/a pool=q"] },
    {
      what: "a claim that moved: one address live, others releasing",
      lines: [n, "10.0.0.2 Node/n/a releasing", "10.0.0.3 Node/n/a releasing"],
    },
  ])("$what is no duplicate", ({ lines }) => {
    expect(decode(encode(recordOf(lines, [p, q, r])), "lock")).toEqual(snapshotOf(recordOf(lines, [p, q, r])));
  });
});

function messageOf(run: () => unknown): string {
  try {
    run();
    return "";
  } catch (error) {
    return (error as Error).message;
  }
}
