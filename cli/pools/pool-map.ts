import {
  type Address,
  BlockIndex,
  compareAddresses,
  contains,
  type Interval,
  intervalOf,
  type Pool,
  type Range,
} from "../../core/index.ts";
import type { PoolView } from "./pools.ts";
import { controllerRange, countedIn, isCounted, marksOf, type StandingKind, standings } from "./standing.ts";

/** What a cell of a map shows. */
export type Cell = "held" | "releasing" | Exclude<StandingKind, "outside">;

/** In the order of a legend. */
export const cellNames: Readonly<Record<Cell, string>> = {
  held: "held",
  releasing: "releasing",
  free: "free",
  reserved: "reserved",
  "on-request": "on request",
  controller: "controller only",
  excluded: "excluded",
};

export const cells = Object.keys(cellNames) as readonly Cell[];

/** Adjacent addresses that show the same; in a free run, those that are free on request alone as well. */
export interface Run extends Interval {
  readonly cell: Cell;
}

/** The range of a pool, and every line wherever it is, as runs in order. Costs what the lines cost, not the addresses. */
export function runsOf(pool: Pool, { live, releasing }: Pick<PoolView, "live" | "releasing">): Run[] {
  const lines = new BlockIndex([...live, ...releasing]);
  const leaving = new Set(releasing);
  const standing = standings(pool);
  const cellAt = (address: Address): Cell | undefined => {
    const [line] = lines.at({ address });
    if (line !== undefined) return leaving.has(line) ? "releasing" : "held";
    if (!contains(pool.range, address)) return undefined;
    const { kind } = standing(address);
    return (kind === "on-request" && contains(pool.automatic, address)) || kind === "outside" ? "free" : kind;
  };

  const runs: Run[] = [];
  const cuts = cutsOf(pool, [...[...live, ...releasing].map(intervalOf), ...marksOf(pool)]);
  cuts.forEach((first, i) => {
    const next = cuts[i + 1];
    const cell = cellAt(first);
    if (next === undefined || cell === undefined) return;
    const previous = runs.at(-1);
    const joins = previous?.cell === cell && previous.last + 1n === first;
    if (joins) runs.pop();
    runs.push({ first: joins ? previous.first : first, last: (next - 1n) as Address, cell });
  });
  return runs;
}

/** Every address at which something may begin or have ended, in order. */
function cutsOf(pool: Pool, marks: readonly Interval[]): Address[] {
  const ranges: readonly Range[] = [pool.range, pool.assignable, pool.automatic, controllerRange(pool)];
  const intervals = [...ranges.flat(), ...marks];
  const cuts = new Set(intervals.flatMap(({ first, last }) => [first, (last + 1n) as Address]));
  return [...cuts].sort(compareAddresses);
}

/** How many addresses show what. */
export function countCells(pool: Pool, runs: readonly Run[]): Record<Cell, bigint> {
  const counts = Object.fromEntries(cells.map((cell) => [cell, 0n])) as Record<Cell, bigint>;
  for (const run of runs) {
    const size = run.last - run.first + 1n;
    const counted = run.cell === "free" ? countedIn(pool, run) : size;
    counts[run.cell] += counted;
    counts["on-request"] += size - counted;
  }
  return counts;
}

/** One line of a map: the addresses from `first` on, undefined where they are not the pool's. */
export interface Row {
  readonly first: Address;
  readonly cells: readonly (Cell | undefined)[];
}

/** Rows, one after the other, that all show one thing and are not drawn. */
export interface Fold {
  readonly first: Address;
  readonly rows: bigint;
  readonly run: Run;
}

export interface Layout {
  readonly pieces: readonly (Row | Fold)[];
  /** Pieces left out at the end. */
  readonly more: number;
}

/** Cells in a row; rows start at multiples of it. */
export const width = 32;
/** Cells that stand together. */
export const group = 8;
const wide = BigInt(width);
/** A map of up to so many rows is drawn without folds. */
const unfolded = 64n;
/** More rows than this nobody looks at. */
const most = 128;

/** Cuts runs into the rows of a map. A large pool shows the rows that hold something; the others are folded. */
export function layout(pool: Pool, runs: readonly Run[]): Layout {
  const pieces = rowsOf(pool, runs);
  const total = pieces.reduce((sum, piece) => sum + ("rows" in piece ? piece.rows : 1n), 0n);
  const short = (fold: Fold) => total <= unfolded || fold.rows <= 2n;
  const shown = pieces.flatMap((piece) => ("rows" in piece && short(piece) ? unfold(pool, piece) : piece));
  return { pieces: shown.slice(0, most), more: Math.max(shown.length - most, 0) };
}

function rowsOf(pool: Pool, runs: readonly Run[]): (Row | Fold)[] {
  const pieces: (Row | Fold)[] = [];
  let row: { first: Address; cells: (Cell | undefined)[] } | undefined;
  for (const run of runs) {
    for (let at = run.first; at <= run.last; ) {
      const first = (at - (at % wide)) as Address;
      const rows = (run.last + 1n - at) / wide;
      if (at === first && rows > 0n) {
        const last = (at + rows * wide - 1n) as Address;
        pieces.push({ first, rows, run: { ...run, first, last } });
        at = (last + 1n) as Address;
        continue;
      }
      if (row?.first !== first) {
        row = { first, cells: Array(width).fill(undefined) };
        pieces.push(row);
      }
      for (; at <= run.last && at < first + wide; at++) row.cells[Number(at - first)] = shownAt(pool, run, at);
    }
  }
  return pieces;
}

function unfold(pool: Pool, { first, rows, run }: Fold): Row[] {
  return Array.from({ length: Number(rows) }, (_, i) => {
    const start = (first + BigInt(i) * wide) as Address;
    return { first: start, cells: Array.from({ length: width }, (_, j) => shownAt(pool, run, plus(start, j))) };
  });
}

function shownAt(pool: Pool, run: Run, address: Address): Cell {
  return run.cell === "free" && !isCounted(pool, address) ? "on-request" : run.cell;
}

export function plus(address: Address, count: number): Address {
  return (address + BigInt(count)) as Address;
}
