import { type Address, contains, formatAddress, type Pool, rangeOf } from "../../core/index.ts";
import { plain } from "../terminal.ts";
import { type Fact, factsAbout, sentence } from "./fact.ts";
import {
  cellNames,
  cells,
  countCells,
  group,
  type Layout,
  layout,
  plus,
  type Row,
  type Run,
  runsOf,
  width,
} from "./pool-map.ts";
import { facts, foldText } from "./pool-text.ts";
import { count } from "./pool-words.ts";
import type { PoolView } from "./pools.ts";
import { style } from "./svg-style.ts";

const size = 18;
const pitch = 21;
/** The gap behind a group of cells. */
const gap = 7;
const margin = 28;
const between = 40;
/** Widths of one letter: of the labels and facts, of the legend. */
const letter = 7.3;
const legendLetter = 6.3;
const mapWidth = xOf(width - 1) + size;

/** Maps of pools as one self-contained SVG: title, rows, legend; each cell says what it is when pointed at. */
export function poolsSvg(views: readonly PoolView[]): string {
  const sections = views.map(sectionOf);
  const firsts = sections.flatMap(({ map }) => map?.pieces.map(({ first }) => first) ?? []);
  const longest = firsts.reduce((most, first) => Math.max(most, formatAddress(first).length), 0);
  const left = margin + Math.round(longest * letter) + 16;
  const right = left + mapWidth;
  const drawn: string[] = [];
  let y = margin;
  for (const section of sections) {
    const { text, height } = draw(section, left, y, right);
    drawn.push(text);
    y += height + between;
  }
  const [w, h] = [right + margin, y - between + margin];
  const names = views.map(({ record }) => record.name).join(", ");
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${w}" height="${h}" viewBox="0 0 ${w} ${h}" role="img">
<title>${xml(shorten(`Address map of ${names}`, 300))}</title>
${style}
<rect class="card" x="0.5" y="0.5" width="${w - 1}" height="${h - 1}" rx="12"/>
${drawn.join("")}</svg>
`;
}

interface Section {
  readonly view: PoolView;
  readonly map: (Layout & { readonly pool: Pool; readonly runs: readonly Run[] }) | undefined;
}

function sectionOf(view: PoolView): Section {
  if (view.pool === undefined) return { view, map: undefined };
  const runs = runsOf(view.pool, view);
  return { view, map: { pool: view.pool, runs, ...layout(view.pool, runs) } };
}

function draw({ view, map }: Section, left: number, top: number, right: number): { text: string; height: number } {
  const room = Math.floor((right - margin) / letter);
  const { place, about, counts } = facts(view);
  // With a map, the legend counts.
  const words = [place, ...about, ...(map === undefined ? counts : [])];
  const lines = [
    textAt("name", margin, top + 16, shorten(view.record.name, Math.floor(room * 0.7))),
    textAt("facts", margin, top + 38, shorten(words.join(" · "), room)),
  ];
  if (map === undefined) return { text: lines.join(""), height: 42 };
  let y = top + 70;
  for (let i = 0; i < width; i += group) lines.push(textAt("tick", left + xOf(i), y - 7, `+${i}`));
  const factAt = factsAbout(view);
  for (const piece of map.pieces) {
    lines.push(textAt("label", left - 16, y + 13, formatAddress(piece.first)));
    lines.push(
      "rows" in piece ? textAt("fold", left, y + 13, foldText(map.pool, piece)) : row(piece, left, y, map.pool, factAt),
    );
    y += pitch;
  }
  if (map.more > 0) {
    lines.push(textAt("fold", left, y + 13, `... ${map.more} more lines`));
    y += pitch;
  }
  lines.push(...legend(map, left, y + 14, right));
  return { text: lines.join(""), height: y + 14 + 14 - top };
}

function row(
  { first, cells: drawn }: Row,
  left: number,
  y: number,
  pool: Pool,
  factAt: (address: Address) => Fact,
): string {
  const subnet = rangeOf(pool.prefix);
  return drawn
    .map((cell, i) => {
      const address = plus(first, i);
      if (cell === undefined && !contains(subnet, address)) return "";
      return square(cell ?? "outside", left + xOf(i), y, sentence(factAt(address)));
    })
    .join("");
}

function legend(
  { pool, runs }: { pool: Pool; runs: readonly Run[] },
  left: number,
  top: number,
  right: number,
): string[] {
  const counts = countCells(pool, runs);
  let x = left;
  return cells
    .filter((cell) => counts[cell] > 0n)
    .flatMap((cell) => {
      const text = `${count(counts[cell])} ${cellNames[cell]}`;
      const at = x;
      x += 14 + 7 + Math.round(text.length * legendLetter) + 18;
      return at > right ? [] : [square(cell, at, top, undefined, 14), textAt("key", at + 21, top + 11.5, text)];
    });
}

/** Where a cell of a row begins. */
function xOf(column: number): number {
  return column * pitch + Math.floor(column / group) * gap;
}

function square(look: string, x: number, y: number, title: string | undefined, side = size): string {
  const at = `class="cell ${look}" x="${x}" y="${y}" width="${side}" height="${side}" rx="4"`;
  return title === undefined ? `<rect ${at}/>\n` : `<rect ${at}><title>${xml(title)}</title></rect>\n`;
}

function textAt(look: string, x: number, y: number, text: string): string {
  return `<text class="${look}" x="${x}" y="${y}">${xml(text)}</text>\n`;
}

/** Text that is no longer than there is room. */
function shorten(text: string, letters: number): string {
  return text.length <= letters ? text : `${text.slice(0, letters - 1)}…`;
}

/** Text inside an element: nobody's name ends it. */
function xml(text: string): string {
  return plain(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
