import { type Address, compareAddresses, contains, type Interval, intervalOf, type Pool } from "../../core/index.ts";
import { count } from "./pool-words.ts";
import type { PoolView } from "./pools.ts";
import { countedIn, intervalsOf, isCounted, type StandingKind } from "./standing.ts";

/** What a cell of a map shows. */
export type Cell = "held" | "releasing" | Exclude<StandingKind, "outside">;

/** In the order of a legend. */
const cellNames: Readonly<Record<Cell, string>> = {
  held: "held",
  releasing: "releasing",
  free: "free",
  reserved: "reserved",
  "on-request": "on request",
  controller: "controller only",
  excluded: "excluded",
};

const cells = Object.keys(cellNames) as readonly Cell[];

/** Adjacent addresses that show the same; in a free run, those that are free on request alone as well. */
export interface Run extends Interval {
  readonly cell: Cell;
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

/** The map of a pool, to be drawn in text or SVG. */
export interface PoolMap {
  readonly pieces: readonly (Row | Fold)[];
  /** Pieces left out at the end. */
  readonly more: number;
  /** What cells there are, and how many of each. */
  readonly legend: readonly { readonly cell: Cell; readonly text: string }[];
}

/** Cells in a row; rows start at multiples of it. */
export const width = 32;
/** Cells that stand together. */
export const group = 8;
const wide = BigInt(width);
/** A map of up to so many rows is drawn without folds. */
const unfolded = 64n;
/** More rows than this nobody looks at. */
const maxCells = 128;

/** A large pool shows the rows that hold something; the others are folded. */
export function mapOf(view: PoolView, pool: Pool): PoolMap {
  const runs = runsOf(view, pool);
  const pieces = piecesOf(pool, runs);
  const total = pieces.reduce((sum, piece) => sum + ("rows" in piece ? piece.rows : 1n), 0n);
  const isFolded = (piece: Row | Fold): piece is Fold => "rows" in piece && total > unfolded && piece.rows > 2n;
  const shown = pieces.flatMap((piece) => ("rows" in piece && !isFolded(piece) ? unfold(pool, piece) : piece));
  const counts = countCells(pool, runs);
  const legend = cells
    .filter((cell) => counts[cell] > 0n)
    .map((cell) => ({ cell, text: `${count(counts[cell])} ${cellNames[cell]}` }));
  return { pieces: shown.slice(0, maxCells), more: Math.max(shown.length - maxCells, 0), legend };
}

/** The range of a pool, and every line wherever it is, as runs in order. Costs what the lines cost, not the addresses. */
export function runsOf({ live, releasing, at }: PoolView, pool: Pool): Run[] {
  const cellAt = (address: Address): Cell | undefined => {
    const { state } = at(address);
    if (state === "held" || state === "releasing") return state;
    if (!contains(pool.range, address) || state === "unknown" || state === "outside") return undefined;
    return state === "on-request" && contains(pool.automatic, address) ? "free" : state;
  };
  const intervals = [...[...live, ...releasing].map(intervalOf), ...intervalsOf(pool)];
  const cuts = [...new Set(intervals.flatMap(({ first, last }) => [first, (last + 1n) as Address]))];
  const runs: Run[] = [];
  cuts.sort(compareAddresses).forEach((first, i) => {
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

/** How many addresses show what. */
export function countCells(pool: Pool, runs: readonly Run[]): Record<Cell, bigint> {
  const counts = Object.fromEntries(cells.map((cell) => [cell, 0n])) as Record<Cell, bigint>;
  for (const run of runs) {
    const counted = sizeOfRun(pool, run);
    counts[run.cell] += counted;
    counts["on-request"] += run.last - run.first + 1n - counted;
  }
  return counts;
}

function sizeOfRun(pool: Pool, run: Run): bigint {
  return run.cell === "free" ? countedIn(pool, run) : run.last - run.first + 1n;
}

/** `... 2047 rows: 64993 free` */
export function foldText(pool: Pool, { rows, run }: Fold): string {
  return `... ${count(rows)} rows: ${count(sizeOfRun(pool, run))} ${cellNames[run.cell]}`;
}

/** Runs cut into rows, and folds of whole rows. */
function piecesOf(pool: Pool, runs: readonly Run[]): (Row | Fold)[] {
  const pieces: (Row | Fold)[] = [];
  let row: { first: Address; cells: (Cell | undefined)[] } | undefined;
  for (const run of runs) {
    for (let at = run.first; at <= run.last; ) {
      const first = (at - (at % wide)) as Address;
      const rows = (run.last + 1n - at) / wide;
      if (at === first && rows > 0n) {
        const last = plus(at, rows * wide - 1n);
        pieces.push({ first, rows, run: { ...run, first, last } });
        at = plus(last, 1);
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
    const start = plus(first, i * width);
    return { first: start, cells: Array.from({ length: width }, (_, j) => shownAt(pool, run, plus(start, j))) };
  });
}

function shownAt(pool: Pool, run: Run, address: Address): Cell {
  return run.cell === "free" && !isCounted(pool, address) ? "on-request" : run.cell;
}

export function plus(address: Address, count: number | bigint): Address {
  return (address + BigInt(count)) as Address;
}
