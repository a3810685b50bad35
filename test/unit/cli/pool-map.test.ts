import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Cell, countCells, type Fold, mapOf, plus, type Row, runsOf } from "../../../cli/pools/pool-map.ts";
import { usage } from "../../../cli/pools/pool-words.ts";
import { type PoolView, viewsOf } from "../../../cli/pools/pools.ts";
import { type Address, address, formatAddress } from "../../../core/address.ts";
import { parsePool } from "../../../core/parse-pool.ts";
import type { Pool } from "../../../core/pool.ts";
import type { PoolSpec } from "../../../core/pool-spec.ts";
import { poolOf, recordOf } from "../../support/core/text.ts";
import { tries } from "../../support/long.ts";

function viewOf(pool: Pool, lines: readonly string[] = []): PoolView {
  return viewsOf([pool], recordOf(lines, [pool]))[0] as PoolView;
}

function runsText(pool: Pool, lines: readonly string[] = []): string[] {
  return runsOf(viewOf(pool, lines), pool).map(({ first, last, cell }) =>
    first === last ? `${formatAddress(first)} ${cell}` : `${formatAddress(first)}-${formatAddress(last)} ${cell}`,
  );
}

describe("runsOf", () => {
  it.each([
    { what: "an empty pool", pool: poolOf("p", "10.0.0.0/29"), want: ["10.0.0.1-10.0.0.6 free"] },
    {
      what: "network and broadcast address inside the range",
      pool: poolOf("p", "10.0.0.0/29 10.0.0.0 10.0.0.7"),
      want: ["10.0.0.0 excluded", "10.0.0.1-10.0.0.6 free", "10.0.0.7 excluded"],
    },
    { what: "a /31", pool: poolOf("p", "10.0.0.0/31"), want: ["10.0.0.0-10.0.0.1 free"] },
    { what: "an IPv6 /126", pool: poolOf("p", "2001:db8::/126"), want: ["2001:db8::1-2001:db8::3 free"] },
    {
      what: "exclusions, a gateway, reservations",
      pool: poolOf("p", "10.0.0.0/28", {
        exclude: ["10.0.0.2", "10.0.0.8/30"],
        gateway: "10.0.0.1",
        reservations: [{ address: "10.0.0.4", owner: "Node/a" }, { address: "10.0.0.5" }],
      }),
      want: [
        "10.0.0.1-10.0.0.2 excluded",
        "10.0.0.3 free",
        "10.0.0.4 reserved",
        "10.0.0.5 excluded",
        "10.0.0.6-10.0.0.7 free",
        "10.0.0.8-10.0.0.11 excluded",
        "10.0.0.12-10.0.0.14 free",
      ],
    },
    {
      what: "a part of the controller, with a gateway and a kept address inside",
      pool: poolOf("p", "10.0.0.0/28", {
        clusterRange: { start: "10.0.0.8", end: "10.0.0.13" },
        gateway: "10.0.0.9",
        reservations: [{ address: "10.0.0.11" }],
      }),
      want: [
        "10.0.0.1-10.0.0.7 free",
        "10.0.0.8 controller",
        "10.0.0.9 excluded",
        "10.0.0.10 controller",
        "10.0.0.11 excluded",
        "10.0.0.12-10.0.0.13 controller",
        "10.0.0.14 free",
      ],
    },
    {
      what: "a pool of the controller",
      pool: poolOf("p", "10.0.0.0/29", { authority: "Cluster", exclude: ["10.0.0.3"] }),
      want: ["10.0.0.1-10.0.0.2 controller", "10.0.0.3 excluded", "10.0.0.4-10.0.0.6 controller"],
    },
    {
      what: "lines, wherever they are",
      pool: poolOf("p", "10.0.0.0/28 10.0.0.2 10.0.0.6", {
        exclude: ["10.0.0.3"],
        reservations: [{ address: "10.0.0.4", owner: "Node/a" }],
      }),
      lines: [
        "10.0.0.3 Node/a/x",
        "10.0.0.4 Node/a/y",
        "10.0.0.5 Node/a/z releasing",
        "10.0.0.12 Node/b/x",
        "10.9.9.9 Node/c/x",
      ],
      want: [
        "10.0.0.2 free",
        "10.0.0.3-10.0.0.4 held",
        "10.0.0.5 releasing",
        "10.0.0.6 free",
        "10.0.0.12 held",
        "10.9.9.9 held",
      ],
    },
    {
      what: "a /8 and its lines, without a step for each address",
      pool: poolOf("p", "10.0.0.0/8", { exclude: ["10.1.0.0/16"] }),
      lines: ["10.200.0.0 Node/a/x"],
      want: [
        "10.0.0.1-10.0.255.255 free",
        "10.1.0.0-10.1.255.255 excluded",
        "10.2.0.0-10.199.255.255 free",
        "10.200.0.0 held",
        "10.200.0.1-10.255.255.254 free",
      ],
    },
  ])("shows $what", ({ pool, lines, want }) => {
    expect(runsText(pool, lines)).toEqual(want);
  });
});

describe("mapOf", () => {
  it.each([
    { what: "64 rows, all of them", range: "10.0.0.0/21", pieces: 64 },
    { what: "more rows, folded", range: "10.0.0.0/20", pieces: 3 },
    { what: "a /8, folded", range: "10.0.0.0/8", pieces: 3 },
    { what: "an IPv6 /32, folded", range: "2001:db8::/32", pieces: 2 },
  ])("draws $what", ({ range, pieces }) => {
    const pool = poolOf("p", range);
    expect(mapOf(viewOf(pool), pool).pieces).toHaveLength(pieces);
  });

  it("draws one or two rows between others, and folds three", () => {
    const pool = poolOf("p", "10.0.0.0/16 10.0.0.0 10.0.2.63");
    const far = poolOf("p", "10.0.0.0/16 10.0.0.0 10.0.255.255");
    const lines = ["10.0.0.40 Node/a/x", "10.0.0.130 Node/a/y", "10.0.1.4 Node/a/z"];
    const firsts = (p: Pool) =>
      mapOf(viewOf(p, lines), p).pieces.map((piece) =>
        "rows" in piece ? `${formatAddress(piece.first)} x${piece.rows}` : formatAddress(piece.first),
      );
    expect(firsts(pool)).toHaveLength(18);
    expect(firsts(far)).toEqual([
      "10.0.0.0",
      "10.0.0.32",
      "10.0.0.64",
      "10.0.0.96",
      "10.0.0.128",
      "10.0.0.160 x3",
      "10.0.1.0",
      "10.0.1.32 x2038",
      "10.0.255.224",
    ]);
  });

  it("stops at 128 pieces and says how many are left", () => {
    const pool = poolOf("p", "10.0.0.0/8");
    const lines = Array.from({ length: 1000 }, (_, i) => `10.${i >> 6}.${(i & 63) * 4}.7 Node/n${i}/x`);
    const { pieces, more } = mapOf(viewOf(pool, lines), pool);
    expect(pieces).toHaveLength(128);
    // A row for each line, and one fold behind each but the last, which also has a row for the end of the pool.
    expect(pieces.length + more).toBe(2001);
  });
});

const base = address("10.0.0.0");

/** Any pool of 512 or 8,192 addresses (rows that are all drawn, or folds), and lines in it and around it. */
const caseArb = fc.constantFrom(23, 23, 19).chain((length) => {
  const at = fc.nat({ max: 2 ** (32 - length) - 1 }).map((n) => formatAddress(plus(base, n)));
  const pair = fc
    .tuple(at, at)
    .map(([a, b]) => (address(a) < address(b) ? { start: a, end: b } : { start: b, end: a }));
  const reservation = fc.record(
    { address: at, owner: fc.constantFrom("Node/a", "Node/b") },
    { requiredKeys: ["address"] },
  );
  const spec = fc.record(
    {
      range: fc
        .tuple(pair, fc.array(at, { maxLength: 4 }), fc.constantFrom([], ["10.0.0.64/27"], ["10.0.0.0/24"]))
        .map(([ends, singles, blocks]) => ({
          cidr: `10.0.0.0/${length}`,
          ...ends,
          exclude: [...singles, ...blocks],
        })),
      additionalRanges: fc.array(pair, { maxLength: 1 }),
      gateway: at,
      clusterRange: pair,
      reservations: fc.array(reservation, { maxLength: 3 }),
      authority: fc.constantFrom("Plan" as const, "Cluster" as const),
      allowZeroAnd255: fc.boolean(),
    },
    { requiredKeys: ["range"] },
  );
  const lines = fc.uniqueArray(fc.record({ at, releasing: fc.boolean() }), { maxLength: 12, selector: (l) => l.at });
  return fc.record({ spec, lines });
});

/** What an address shows, read off the spec for this one address. */
function modelCell(spec: PoolSpec, lines: ReadonlyMap<Address, Cell>, at: Address): Cell | undefined {
  const isIn = ({ start, end }: { start?: string; end?: string }) =>
    address(start as string) <= at && at <= address(end as string);
  const text = formatAddress(at);
  const octet = Number(text.slice(text.lastIndexOf(".") + 1));
  const length = Number(spec.range.cidr.split("/")[1]);
  const kept = spec.reservations?.find((r) => r.address === text);
  const excluded = (spec.range.exclude ?? []).some((block) => {
    const [first = "", bits = "32"] = block.split("/");
    return at >= address(first) && at < plus(address(first), 2 ** (32 - Number(bits)));
  });
  if (lines.has(at)) return lines.get(at);
  if (![spec.range, ...(spec.additionalRanges ?? [])].some(isIn)) return undefined;
  if (at === base || at === plus(base, 2 ** (32 - length) - 1) || text === spec.gateway) return "excluded";
  if (kept !== undefined) return kept.owner === undefined ? "excluded" : "reserved";
  if (spec.clusterRange !== undefined && isIn(spec.clusterRange)) return "controller";
  if (excluded) return "excluded";
  if (spec.authority === "Cluster") return "controller";
  return (octet === 0 || octet === 255) && spec.allowZeroAnd255 !== true ? "on-request" : "free";
}

/** Every address that a layout shows, with what it shows; a fold shows its one cell everywhere. */
function shownBy(pieces: readonly (Row | Fold)[]): Map<Address, Cell> {
  const shown = new Map<Address, Cell>();
  for (const piece of pieces) {
    if ("rows" in piece)
      for (let i = 0; i < Number(piece.rows) * 32; i++) shown.set(plus(piece.first, i), piece.run.cell);
    else
      piece.cells.forEach((cell, i) => {
        if (cell !== undefined) shown.set(plus(piece.first, i), cell);
      });
  }
  return shown;
}

it("shows every address of any pool as its spec and its lines say, and counts the same", () => {
  fc.assert(
    fc.property(caseArb, ({ spec, lines }) => {
      const pool = parsePool("p", spec).value;
      fc.pre(pool !== undefined);
      const texts = lines.map(({ at, releasing }, i) => `${at} Node/n${i}/x${releasing ? " releasing" : ""}`);
      const view = viewOf(pool, texts);
      const runs = runsOf(view, pool);
      const { pieces, more } = mapOf(view, pool);
      const shown = shownBy(pieces);
      const held = new Map(lines.map((l) => [address(l.at), l.releasing ? ("releasing" as const) : ("held" as const)]));
      const folded = pieces.some((piece) => "rows" in piece);

      const tally: Record<string, bigint> = {};
      for (let at = pool.prefix.first; at <= pool.prefix.last; at = plus(at, 1)) {
        const want = modelCell(spec, held, at);
        if (want !== undefined) tally[want] = (tally[want] ?? 0n) + 1n;
        const got = shown.get(at);
        if (!(folded && want === "on-request" && got === "free") && got !== want)
          throw new Error(`${formatAddress(at)} shows ${got}, not ${want}`);
      }
      expect(more).toBe(0);
      expect(countCells(pool, runs)).toMatchObject(tally);
      expect(Object.values(countCells(pool, runs)).reduce((a, b) => a + b)).toBe(
        Object.values(tally).reduce((a, b) => a + b, 0n),
      );
      if (spec.authority !== "Cluster")
        expect(countCells(pool, runs).free).toBe(usage(pool, [...view.live, ...view.releasing]).free);
    }),
    { numRuns: tries(50, 1_500) },
  );
});
