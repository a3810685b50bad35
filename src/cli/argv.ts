import { shellWord } from "../core/shell-word.ts";

/** The command that this command line runs: what follows `--`. */
export function afterDashes(): string[] {
  const dashes = process.argv.indexOf("--");
  return dashes < 0 ? [] : process.argv.slice(dashes + 1);
}

const ofRecord = ["--lock", "--backend", "--context", "--namespace"];

/** The options of this command line that say where its record is, for another command on that one. */
export function recordOptions(): string {
  return ownOptions(ofRecord);
}

function ownOptions(names: readonly string[]): string {
  const own = process.argv.slice(2, process.argv.length - afterDashes().length);
  const words = own.flatMap((word, i) => {
    if (names.includes(word)) return [word, own[i + 1] ?? ""];
    return names.some((name) => word.startsWith(`${name}=`)) ? word : [];
  });
  return words.map((word) => ` ${shellWord(word)}`).join("");
}

/** `nodeippool allocate`, with these options, around the same command as this command line, and for the same record and set. */
export function allocateAgain(...options: readonly string[]): string {
  const around = process.argv[2] === "allocate" ? afterDashes() : [];
  if (around.length === 0) return [`nodeippool allocate${ownOptions([...ofRecord, "--set"])}`, ...options].join(" ");
  const own = process.argv.slice(3, -around.length - 1);
  const landed = own.indexOf("--landed");
  const kept = own.filter((word, i) => !word.startsWith("--landed") && (landed < 0 || i !== landed + 1));
  return ["nodeippool allocate", ...kept.map(shellWord), ...options, "--", ...around.map(shellWord)].join(" ");
}
