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

/** Those of these options that this command line has, as it has them. */
export function ownOptions(names: readonly string[]): string {
  const own = process.argv.slice(2, process.argv.length - afterDashes().length);
  const words = own.flatMap((word, i) => {
    if (names.includes(word)) return [word, own[i + 1] ?? ""];
    return names.some((name) => word.startsWith(`${name}=`)) ? word : [];
  });
  return words.map((word) => ` ${shellWord(word)}`).join("");
}

/** The verbs that plan: `allocate` takes their words as well, but for these options. */
const planning = ["plan", "allocate", "render"];
const notAgain = ["--out", "--landed", "--json"];

/**
 * `nodeippool allocate`, with these options, for what this command line plans, or around what it runs. Another verb does
 * not know what is planned: for its record and set, with a word in place of the manifests that names none.
 */
export function allocateAgain(...options: readonly string[]): string {
  const [verb = "", ...own] = process.argv.slice(2);
  if (!planning.includes(verb))
    return [`nodeippool allocate MANIFESTS${ownOptions(ofLock(verb))}`, ...options].join(" ");
  const around = verb === "allocate" ? afterDashes() : [];
  const words = around.length === 0 ? own.filter((word) => word !== "--") : own.slice(0, -around.length - 1);
  const command = around.length === 0 ? [] : ["--", ...around.map(shellWord)];
  return [
    "nodeippool allocate",
    ...without(words, [...notAgain, ...options]).map(shellWord),
    ...options,
    ...command,
  ].join(" ");
}

/** The options of another verb that are those of `allocate` as well: `migrate` has those of the other end. */
function ofLock(verb: string): string[] {
  return verb === "migrate" ? ["--lock"] : [...ofRecord, "--set"];
}

function without(words: readonly string[], names: readonly string[]): string[] {
  const isOf = (word: string) => names.some((name) => word === name || word.startsWith(`${name}=`));
  const takesNext = (word = "") => word === "--out" || word === "--landed";
  return words.filter((word, i) => !isOf(word) && !takesNext(words[i - 1]));
}
