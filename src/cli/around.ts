import { shellWord } from "../core/shell-word.ts";

/** The command that this command line runs: what follows `--`. */
export function afterDashes(): string[] {
  const dashes = process.argv.indexOf("--");
  return dashes < 0 ? [] : process.argv.slice(dashes + 1);
}

/** `nodeippool allocate`, with these options, around the same command as this command line. */
export function allocateAgain(...options: readonly string[]): string {
  const around = process.argv[2] === "allocate" ? afterDashes() : [];
  const words = around.length === 0 ? [] : ["--", ...around.map(shellWord)];
  return ["nodeippool allocate", ...options, ...words].join(" ");
}
