import { styleText } from "node:util";
import { IpamError } from "../core/errors.ts";

export type Colour = "red" | "green" | "yellow" | "cyan" | "dim" | "bold";

/** Coloured on a terminal, plain in a pipe; NO_COLOR and FORCE_COLOR are obeyed. */
export function paint(colour: Colour, text: string): string {
  return styleText(colour, text, { stream: process.stdout });
}

export function print(...lines: readonly string[]): void {
  progress();
  process.stdout.write(lines.map((line) => `${line}\n`).join(""));
}

let recorded: string | undefined;

/** To be told where a verb has recorded something: what it prints of that may not arrive. */
export function noteRecorded(name: string): void {
  recorded = name;
}

/** Why a verb ends that has lost its output. */
export function outputLost(cause: Error): IpamError {
  const hint = recorded === undefined ? {} : { hint: `The output alone is lost: ${recorded} was recorded before.` };
  return new IpamError("unavailable", `standard output cannot be written: ${cause.message}`, { ...hint, cause });
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

/** `a, b and 3 more` */
export function fewOf(names: readonly string[]): string {
  const more = names.length > 10 ? ` and ${names.length - 10} more` : "";
  return `${names.slice(0, 10).join(", ")}${more}`;
}

/** Text that somebody else chose, without anything that moves a cursor, turns the writing direction or breaks XML. */
export function plain(text: string): string {
  return text.toWellFormed().replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\uFFFE\uFFFF]/gu, "\uFFFD");
}

/** Rows of a table, each column as wide as its longest text. */
export function aligned(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((text, i) => text.padEnd(widths[i] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}
