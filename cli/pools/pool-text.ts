import {
  type Allocation,
  byAddress,
  formatAddress,
  formatBlock,
  formatPrefix,
  isPlanned,
  nameOfKey,
  ownerName,
  type Pool,
} from "../../core/index.ts";
import { paint, plain } from "../terminal.ts";
import { type Fact, factsAbout, objectionTo } from "./fact.ts";
import {
  type Cell,
  cellNames,
  cells,
  countCells,
  type Fold,
  group,
  layout,
  type Row,
  type Run,
  runsOf,
  width,
} from "./pool-map.ts";
import { count, describePool, usage } from "./pool-words.ts";
import type { PoolView } from "./pools.ts";
import { countedIn, offsetIn } from "./standing.ts";

const looks: Readonly<Record<Cell, { glyph: string; colour: Parameters<typeof paint>[0] }>> = {
  held: { glyph: "#", colour: "cyan" },
  releasing: { glyph: "~", colour: "yellow" },
  free: { glyph: ".", colour: "green" },
  reserved: { glyph: "r", colour: "yellow" },
  "on-request": { glyph: "-", colour: "dim" },
  controller: { glyph: "c", colour: "dim" },
  excluded: { glyph: "x", colour: "red" },
};
/** More holders than this are for machines to read. */
const mostLines = 100;

/** A pool as people read it: how full it is, a map, who holds what. */
export function poolText(view: PoolView): string[] {
  const blocks = [view.pool === undefined ? [] : mapLines(view.pool, view), holderLines(view)];
  const { place, about, counts } = facts(view);
  return [
    `Pool ${paint("bold", view.record.name)}  ${place}   ${[...about, ...counts].join("  ")}`,
    ...blocks.flatMap((block) => (block.length === 0 ? [] : ["", ...block])),
  ];
}

/** Where a pool is, what there is to know of it, and how full it is. */
export function facts(view: PoolView): { place: string; about: string[]; counts: string[] } {
  const { record, pool, live, releasing } = view;
  const about = record.network === "default" ? [] : [`network ${plain(record.network)}`];
  const counts = [`${live.length} held`, ...(releasing.length > 0 ? [`${releasing.length} releasing`] : [])];
  if (pool === undefined) return { place: formatPrefix(record.prefix), about: [...about, "not defined here"], counts };
  const place = describePool(pool);
  if (!isPlanned(pool)) return { place, about: [...about, "only the controller allocates from it"], counts };
  const { capacity, reserved, free } = usageOf(view, pool);
  const kept = reserved > 0n ? [`${count(reserved)} reserved`] : [];
  return { place, about: [...about, `${count(capacity)} usable`], counts: [...counts, ...kept, `${count(free)} free`] };
}

export function usageOf({ live, releasing }: PoolView, pool: Pool) {
  return usage(pool, [...live, ...releasing]);
}

function mapLines(pool: Pool, view: PoolView): string[] {
  const runs = runsOf(pool, view);
  const { pieces, more } = layout(pool, runs);
  const labels = pieces.map((piece) => formatAddress(piece.first));
  const indent = Math.max(...labels.map((label) => label.length), 0);
  const line = (label: string, text: string) => `  ${label.padEnd(indent)}  ${text}`.trimEnd();
  const ruler = Array.from({ length: width / group }, (_, i) => `+${i * group}`.padEnd(group + 1)).join("");
  return [
    paint("dim", line("", ruler)),
    ...pieces.map((piece, i) =>
      line(labels[i] as string, "rows" in piece ? paint("dim", foldText(pool, piece)) : rowText(piece)),
    ),
    ...(more > 0 ? [line("", paint("dim", `... ${more} more lines`))] : []),
    "",
    `  ${legend(countCells(pool, runs))}`,
  ];
}

function rowText(row: Row): string {
  const groups = Array.from({ length: width / group }, (_, i) => row.cells.slice(i * group, (i + 1) * group));
  return groups
    .map((part) => stretches(part).map(glyphs).join(""))
    .join(" ")
    .trimEnd();
}

/** Neighbours that show the same, together: one colour code for all of them. */
function stretches(part: readonly (Cell | undefined)[]): { cell: Cell | undefined; length: number }[] {
  const found: { cell: Cell | undefined; length: number }[] = [];
  for (const cell of part) {
    const last = found.at(-1);
    if (last !== undefined && last.cell === cell) last.length++;
    else found.push({ cell, length: 1 });
  }
  return found;
}

function glyphs({ cell, length }: { cell: Cell | undefined; length: number }): string {
  return cell === undefined ? " ".repeat(length) : paint(looks[cell].colour, looks[cell].glyph.repeat(length));
}

/** `... 2047 rows: 64993 free` */
export function foldText(pool: Pool, { rows, run }: Fold): string {
  return `... ${count(rows)} rows: ${count(sizeOfRun(pool, run))} ${cellNames[run.cell]}`;
}

function sizeOfRun(pool: Pool, run: Run): bigint {
  return run.cell === "free" ? countedIn(pool, run) : run.last - run.first + 1n;
}

function legend(counts: Readonly<Record<Cell, bigint>>): string {
  return cells
    .filter((cell) => counts[cell] > 0n)
    .map((cell) => `${paint(looks[cell].colour, looks[cell].glyph)} ${count(counts[cell])} ${cellNames[cell]}`)
    .join("   ");
}

function holderLines(view: PoolView): string[] {
  const lines = [...view.live, ...view.releasing].sort(byAddress);
  if (lines.length === 0) return [];
  const factAt = factsAbout(view);
  const shown = lines.slice(0, mostLines).map((line) => holder(line, factAt(line.address)));
  const table = [["ADDRESS", "OFFSET", "OWNER", "CLAIM", "NIC"], ...shown];
  const widths = [0, 1, 2, 3].map((i) => Math.max(...table.map((row) => (row[i] as string).length)));
  const [head, ...body] = table.map((row) =>
    `  ${row.map((text, i) => text.padEnd(widths[i] ?? 0)).join("  ")}`.trimEnd(),
  );
  const more = lines.length - shown.length;
  return [
    paint("dim", head as string),
    ...body,
    ...(more > 0 ? [paint("dim", `  ... ${more} more; --json has them all`)] : []),
  ];
}

function holder(line: Allocation, fact: Fact): string[] {
  const notes = [fact.isReleasing ? "releasing" : undefined, objectionTo(fact)].filter((note) => note !== undefined);
  const nic = [plain(line.interface ?? "-"), ...notes.map((note) => `(${plain(note)})`)];
  return [
    formatBlock(line),
    offsetIn(fact.pool, line.address)?.toString() ?? "-",
    plain(ownerName(line.claim)),
    plain(nameOfKey(line.claim)),
    nic.join("  "),
  ];
}
