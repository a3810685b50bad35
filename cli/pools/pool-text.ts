import {
  type Allocation,
  byAddress,
  formatAddress,
  formatBlock,
  nameOfKey,
  ownerName,
  type Pool,
} from "../../core/index.ts";
import { interfaceOfClaim } from "../../integrations/workload/workload-object.ts";
import { aligned, type Colour, paint, plain } from "../terminal.ts";
import { objectionTo } from "./fact.ts";
import { type Cell, foldText, group, mapOf, type Row, width } from "./pool-map.ts";
import { wordsOn } from "./pool-words.ts";
import type { PoolView } from "./pools.ts";

const looks: Readonly<Record<Cell, { glyph: string; colour: Colour }>> = {
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
  const problem = view.inCluster?.problem;
  const blocks = [
    problem === undefined ? [] : [`  ${paint("red", plain(problem))}`],
    view.pool === undefined ? [] : mapLines(view, view.pool),
    holderLines(view),
  ];
  return [poolHeading(view), ...blocks.flatMap((block) => (block.length === 0 ? [] : ["", ...block]))];
}

/** One line on a pool, also with lines that a plan adds. */
export function poolHeading(view: Omit<PoolView, "at">, fresh?: readonly Allocation[]): string {
  const { place, about, counts } = wordsOn(view, fresh);
  return `Pool ${paint("bold", view.record.name)}  ${place}   ${[...about, ...counts].join("  ")}`;
}

function mapLines(view: PoolView, pool: Pool): string[] {
  const { pieces, more, legend } = mapOf(view, pool);
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
    `  ${legend.map(({ cell, text }) => `${glyph(cell)} ${text}`).join("   ")}`,
  ];
}

function rowText({ cells }: Row): string {
  return cells
    .map((cell, i) => `${i > 0 && i % group === 0 ? " " : ""}${glyph(cell)}`)
    .join("")
    .trimEnd();
}

function glyph(cell: Cell | undefined): string {
  return cell === undefined ? " " : paint(looks[cell].colour, looks[cell].glyph);
}

function holderLines(view: PoolView): string[] {
  const lines = [...view.live, ...view.releasing].sort(byAddress);
  if (lines.length === 0) return [];
  const shown = lines.slice(0, mostLines).map((line) => holder(line, view));
  const table = [["ADDRESS", "OFFSET", "OWNER", "CLAIM", "NIC"], ...shown];
  const [head, ...body] = aligned(table).map((row) => `  ${row}`);
  const more = lines.length - shown.length;
  return [
    paint("dim", head as string),
    ...body,
    ...(more > 0 ? [paint("dim", `  ... ${more} more; --json has them all`)] : []),
  ];
}

function holder(line: Allocation, { at }: PoolView): string[] {
  const fact = at(line.address);
  const { nic: name = line.interface ?? "-", pod } = interfaceOfClaim(line.claim) ?? {};
  const notes = [pod && `pod ${pod}`, fact.state === "releasing" ? fact.state : undefined, objectionTo(fact)];
  const nic = [name, ...notes.flatMap((note) => (note === undefined ? [] : `(${note})`))];
  const cells = [formatBlock(line), `${fact.offset ?? "-"}`, ownerName(line.claim), nameOfKey(line.claim)];
  return [...cells, nic.join("  ")].map(plain);
}
