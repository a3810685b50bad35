import { styleText } from "node:util";

type Colour = "red" | "green" | "yellow" | "cyan" | "dim" | "bold";

/** Coloured on a terminal, plain in a pipe; NO_COLOR and FORCE_COLOR are obeyed. */
export function paint(colour: Colour, text: string): string {
  return styleText(colour, text, { stream: process.stdout });
}

export function print(...lines: readonly string[]): void {
  progress();
  process.stdout.write(lines.map((line) => `${line}\n`).join(""));
}

export function printJson(value: unknown): void {
  print(JSON.stringify(value, null, 2));
}

/** Tells a person at a terminal what is going on; the next one, or `progress()`, wipes it. */
export function progress(what = ""): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[2K${what}`);
}

export function plural(count: number | bigint, noun: string): string {
  return `${count} ${noun}${count === 1 || count === 1n ? "" : noun.endsWith("s") ? "es" : "s"}`;
}

/** Text that somebody else chose, without anything that moves a cursor, turns the writing direction or breaks XML. */
export function plain(text: string): string {
  return text.toWellFormed().replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\uFFFE\uFFFF]/gu, "\uFFFD");
}
