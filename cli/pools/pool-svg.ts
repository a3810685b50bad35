import { contains, formatAddress, type Pool, rangeOf } from "../../core/index.ts";
import { plain } from "../terminal.ts";
import { sentence } from "./fact.ts";
import { foldText, group, mapOf, type PoolMap, plus, type Row, width } from "./pool-map.ts";
import { wordsOn } from "./pool-words.ts";
import type { PoolView } from "./pools.ts";
import { style } from "./svg-style.ts";

const size = 18;
const pitch = 21;
/** The gap behind a group of cells. */
const gap = 7;
const margin = 28;
const between = 40;
/** Widths of one letter: of the labels, of the legend. */
const letter = 7.3;
const legendLetter = 6.3;

/** Maps of pools as one self-contained SVG: title, rows, legend; each cell says what it is when pointed at. */
export function poolsSvg(views: readonly PoolView[]): string {
  const maps = views.map((view) => (view.pool === undefined ? undefined : mapOf(view, view.pool)));
  const firsts = maps.flatMap((map) => map?.pieces.map(({ first }) => first) ?? []);
  const longest = Math.max(0, ...firsts.map((first) => formatAddress(first).length));
  const left = margin + Math.round(longest * letter) + 16;
  const drawn: string[] = [];
  let y = margin;
  views.forEach((view, i) => {
    const { text, height } = draw(view, maps[i], left, y);
    drawn.push(text);
    y += height + between;
  });
  const [w, h] = [left + xOf(width - 1) + size + margin, y - between + margin];
  const names = views.map(({ record }) => record.name).join(", ");
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${w}" height="${h}" viewBox="0 0 ${w} ${h}" role="img">
<title>${xml(`Address map of ${names}`)}</title>
${style}
<rect class="card" x="0.5" y="0.5" width="${w - 1}" height="${h - 1}" rx="12"/>
${drawn.join("")}</svg>
`;
}

function draw(view: PoolView, map: PoolMap | undefined, left: number, top: number): { text: string; height: number } {
  const { record, pool } = view;
  const { place, about, counts } = wordsOn(view);
  // With a map, the legend counts.
  const words = [place, ...about, ...(map === undefined ? counts : [])];
  const lines = [textAt("name", margin, top + 16, record.name), textAt("facts", margin, top + 38, words.join(" · "))];
  if (pool === undefined || map === undefined) return { text: lines.join(""), height: 42 };
  let y = top + 70;
  for (let i = 0; i < width; i += group) lines.push(textAt("tick", left + xOf(i), y - 7, `+${i}`));
  for (const piece of map.pieces) {
    lines.push(textAt("label", left - 16, y + 13, formatAddress(piece.first)));
    lines.push("rows" in piece ? textAt("fold", left, y + 13, foldText(pool, piece)) : row(piece, left, y, view, pool));
    y += pitch;
  }
  if (map.more > 0) {
    lines.push(textAt("fold", left, y + 13, `... ${map.more} more lines`));
    y += pitch;
  }
  lines.push(...legend(map, left, y + 14));
  return { text: lines.join(""), height: y + 14 + 14 - top };
}

function row({ first, cells }: Row, left: number, y: number, { at }: PoolView, pool: Pool): string {
  const subnet = rangeOf(pool.prefix);
  return cells
    .map((cell, i) => {
      const address = plus(first, i);
      if (cell === undefined && !contains(subnet, address)) return "";
      return square(cell ?? "outside", left + xOf(i), y, sentence(at(address)));
    })
    .join("");
}

function legend({ legend: entries }: PoolMap, left: number, top: number): string[] {
  let x = left;
  return entries.flatMap(({ cell, text }) => {
    const at = x;
    x += 14 + 7 + Math.round(text.length * legendLetter) + 18;
    return [square(cell, at, top, undefined, 14), textAt("key", at + 21, top + 11.5, text)];
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

/** Text inside an element: nobody's name ends it. */
function xml(text: string): string {
  return plain(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
