import { script } from "@bomb.sh/tab";
import completionOf from "@bomb.sh/tab/commander";
import type { Command } from "commander";
import { IpamError, ownerName, type Snapshot } from "../core/index.ts";
import { decode } from "../state/codec.ts";
import { readFile } from "./files.ts";
import { readConfig } from "./read-config.ts";
import { print } from "./terminal.ts";

/** Prints the script that a shell runs to complete the words of nodeippool. */
export function completionVerb(shell: string): void {
  script(shell, "nodeippool", "nodeippool");
  // The script of bash offers nothing where a file is meant.
  if (shell === "bash") print("complete -o default -F __nodeippool_complete nodeippool");
}

/** Adds the hidden verb that those scripts ask for words, `complete`: verbs, options, and names in the lock. */
export async function addComplete(program: Command): Promise<void> {
  const completion = completionOf(program, { completionCommandName: "completion" });
  // Where there is no word to offer, a file may be meant: 0 lets the shell complete files, 4 does not.
  Object.defineProperty(completion, "directive", {
    get: () => (completion.completions.length === 0 ? 0 : 4),
    set: () => {},
    configurable: true,
  });
  const { pools, allocations, releasing } = await readLock();
  const poolNames = pools.map(({ name }) => name);
  const owners = [...allocations, ...releasing].map(({ claim }) => ownerName(claim));
  const leaving = releasing.map(({ claim }) => ownerName(claim));
  for (const [verb, words] of Object.entries({
    explain: [...poolNames, ...owners],
    show: poolNames,
    release: leaving,
  })) {
    const [argument] = completion.commands.get(verb)?.arguments.values() ?? [];
    if (argument !== undefined)
      argument.handler = (complete) => {
        for (const word of words) complete(word, "");
      };
  }
}

/** The record, if it is a lockfile; a lock that cannot be read offers no words. */
async function readLock(): Promise<Pick<Snapshot, "pools" | "allocations" | "releasing">> {
  try {
    const { lock = "nodeippool.lock" } = await readConfig();
    return decode(readFile(lock), lock);
  } catch (error) {
    if (error instanceof IpamError) return { pools: [], allocations: [], releasing: [] };
    throw error;
  }
}
