import { shellWord } from "../core/shell-word.ts";

/** The command that this command line runs: what follows `--`. */
export function afterDashes(): string[] {
  const dashes = process.argv.indexOf("--");
  return dashes < 0 ? [] : process.argv.slice(dashes + 1);
}

/** `nodeippool allocate`, with these options, around the same command as this command line, and for the same record. */
export function allocateAgain(...options: readonly string[]): string {
  const around = process.argv[2] === "allocate" ? afterDashes() : [];
  if (around.length === 0) return ["nodeippool allocate", ...options].join(" ");
  const own = process.argv.slice(3, -around.length - 1);
  const landed = own.indexOf("--landed");
  const kept = own.filter((word, i) => !word.startsWith("--landed") && (landed < 0 || i !== landed + 1));
  return ["nodeippool allocate", ...kept.map(shellWord), ...options, "--", ...around.map(shellWord)].join(" ");
}
