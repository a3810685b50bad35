import type { Ratio, Result } from "./measure.ts";

const columns = ["", "median", "best", "goal", "", "ratio, in the same run"] as const;

/** One subject's table: GitHub Markdown that reads well as it is. */
export function formatTable(title: string, results: readonly Result[]): string {
  const rows = results.map((result) => [
    result.name,
    amount(result.figure, result.unit),
    amount(result.best, result.unit),
    result.goal === undefined ? "" : `${result.goal.toLocaleString("en")} ${result.unit}`,
    result.goal === undefined ? "" : result.figure <= result.goal ? "ok" : "over",
    (result.ratios ?? []).map(formatRatio).join(", "),
  ]);
  const widths = columns.map((name, i) => Math.max(name.length, ...rows.map((row) => (row[i] as string).length)));
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, i) => (isNumber(i) ? cell.padStart(widths[i] as number) : cell.padEnd(widths[i] as number))).join(" | ")} |`;
  const rule = widths.map((width, i) => (isNumber(i) ? `${"-".repeat(width - 1)}:` : "-".repeat(width)));
  return [`${title}`, "", line(columns), line(rule), ...rows.map(line), "", ""].join("\n");
}

/** Columns of numbers are set to the right. */
function isNumber(column: number): boolean {
  return column >= 1 && column <= 3;
}

function amount(value: number, unit: string): string {
  const digits = value < 10 ? 2 : value < 100 ? 1 : 0;
  return `${value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits })} ${unit}`;
}

/** Below one as a fraction: a reader sees how many times faster. */
function formatRatio({ to, value }: Ratio): string {
  const rounded = (n: number) => (n < 10 ? n.toFixed(1) : Math.round(n).toLocaleString("en"));
  return value < 0.67 ? `1/${rounded(1 / value)} of ${to}` : `${rounded(value)} x ${to}`;
}
