import { describe, expect, it } from "vitest";
import { formatPrefix } from "../../../core/address.ts";
import { IpamError } from "../../../core/errors.ts";
import { decode, encode } from "../../../state/codec.ts";
import { poolOf, recordOf } from "../../support/core/text.ts";
import { duplicates, recordTexts } from "../../support/state/record.ts";

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
const rows = lines.map((_, i) => i);
const isLine = (line = "") => line.startsWith('- {"address"');
const lineRows = rows.filter((i) => isLine(lines[i]));
const fieldOf = (line: string | undefined, field: string) => new RegExp(`"${field}":"([^"]*)"`).exec(line ?? "")?.[1];

interface Damaged {
  readonly lines: readonly string[];
  /** The damaged line, from 0; the first of several. */
  readonly row: number;
}

const replaced = (row: number, ...by: string[]) => [...lines.slice(0, row), ...by, ...lines.slice(row + 1)];
const withField = (row: number, field: string, other: number): Damaged => {
  const text = (of: number) => `"${field}":"${fieldOf(lines[of], field)}"`;
  return { lines: replaced(row, (lines[row] ?? "").replace(text(row), text(other))), row };
};
const pairs = lineRows.flatMap((i) => lineRows.filter((j) => j !== i).map((j) => [i, j] as const));
const releasingRow = lines.indexOf("releasing:");

const damages: {
  what: string;
  all: Damaged[];
  counts: { readonly refused: number; readonly [kind: string]: number };
}[] = [
  {
    what: "a character is gone",
    all: lines.flatMap((line, row) =>
      Array.from(line, (_, c) => ({ lines: replaced(row, line.slice(0, c) + line.slice(c + 1)), row })),
    ),
    counts: {
      refused: 943,
      "another name in a line": 263,
      "another address in the same gap": 6,
      "the same record": 44,
    },
  },
  {
    what: "a line is gone",
    all: rows.map((row) => ({ lines: replaced(row), row })),
    counts: { refused: 7, "a line less": 12, "the same record": 1 },
  },
  {
    what: "a line is there twice",
    all: lines.map((line, row) => ({ lines: replaced(row, line, line), row: row + 1 })),
    counts: { refused: 19, "the same record": 1 },
  },
  {
    what: "two lines have changed places",
    all: rows.slice(1).map((row) => ({
      lines: [...lines.slice(0, row - 1), lines[row] ?? "", lines[row - 1] ?? "", ...lines.slice(row + 1)],
      row,
    })),
    counts: { refused: 19 },
  },
  {
    what: "an address is that of another line",
    all: pairs.map(([row, other]) => withField(row, "address", other)),
    counts: { refused: 122, "another address in the same gap": 6, "the same record": 4 },
  },
  {
    what: "a claim is that of another line",
    all: pairs.map(([row, other]) => withField(row, "claim", other)),
    counts: { refused: 25, "another name in a line": 105, "the same record": 2 },
  },
  {
    what: "a line stands somewhere in the other section",
    all: pairs
      .filter(([row, other]) => row < releasingRow !== other < releasingRow)
      .flatMap(([row, other]) => [other, other + 1].map((before) => ({ row, before })))
      .map(({ row, before }) => {
        const rest = [...lines.slice(0, before), `${lines[row]}`, ...lines.slice(before)];
        rest.splice(before <= row ? row + 1 : row, 1);
        return { lines: rest, row: before <= row ? before : before - 1 };
      }),
    counts: { refused: 108 },
  },
];

/** Line numbers that help: the damaged line, those beside it, and those that have its address, its claim or its pool. */
function helpful({ lines: damaged, row }: Damaged): number[] {
  const [was, is] = [lines[row], damaged[row]];
  const related = (line: string) =>
    ["address", "claim"].some(
      (field) => fieldOf(line, field) !== undefined && fieldOf(line, field) === fieldOf(is, field),
    );
  const homeless = isLine(was)
    ? -1
    : damaged.findIndex((line) => isLine(line) && line.includes(`${was?.slice(3, 13)}`));
  return damaged.flatMap((line, i) => (Math.abs(i - row) < 2 || related(line) || i === homeless ? [i + 1] : []));
}

const textsOf = (text: string) => {
  const read = decode(text, "lock");
  return [
    ...recordTexts(read),
    ...read.pools.map((pool) => `${formatPrefix(pool.prefix)} ${pool.name} ${pool.network}`),
  ];
};
const whole = textsOf(encode(record));

/** What a person could have meant, or undefined. */
function kindOf(text: string): string | undefined {
  const now = textsOf(text);
  const gone = whole.filter((line) => !now.includes(line));
  const come = now.filter((line) => !whole.includes(line));
  if (gone.length === 0 && come.length === 0) return "the same record";
  if (gone.length === 1 && come.length === 0) return "a line less";
  if (gone.length !== 1 || come.length !== 1) return undefined;
  const [was = "", is = ""] = [gone[0], come[0]];
  if (was.replace(/ releasing$/, "") === is.replace(/ releasing$/, "")) return "released or restored";
  const [address, rest] = [was.split(" ")[0], was.split(" ").slice(1).join(" ")];
  if (address === is.split(" ")[0]) return "another name in a line";
  return rest === is.split(" ").slice(1).join(" ") ? "another address in the same gap" : undefined;
}

describe("a lock with one thing wrong", () => {
  it.each(damages)("$what: a helpful line is refused, or it is a record that one could mean", ({ all, counts }) => {
    const found: { [kind: string]: number } = { refused: 0 };
    for (const damaged of all) {
      const text = `${damaged.lines.join("\n")}\n`;
      try {
        const kind = kindOf(text);
        expect(kind, text).toBeDefined();
        expect(duplicates(decode(text, "lock"))).toEqual([]);
        found[`${kind}`] = (found[`${kind}`] ?? 0) + 1;
      } catch (error) {
        if (!(error instanceof IpamError)) throw error;
        found.refused = (found.refused ?? 0) + 1;
        expect(error.code).toBe("corrupt");
        // A missing heading is named; where it should be is where the list goes wrong.
        if (error.message.includes(`should be \`${lines[damaged.row]}\``)) continue;
        expect(helpful(damaged), `${error.message}\nin\n${text}`).toContain(error.issues[0]?.at?.line);
      }
    }
    expect(found).toEqual(counts);
  });
});
