import { createInterface } from "node:readline/promises";
import { IpamError, type Issue } from "../core/index.ts";
import { print } from "./terminal.ts";

/** A y/N question at a terminal; anything but yes is no. */
export async function ask(question: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const answer = await terminal.question(`${question} [y/N] `);
  terminal.close();
  return /^y(es)?$/i.test(answer.trim());
}

/** Returns whether a person can be asked. */
export function isInteractive(): boolean {
  return process.stdin.isTTY === true && process.stdout.isTTY === true;
}

/**
 * Throws `in-use` with these doubts about what is released, unless `--confirm` or the answer to a question at a terminal
 * says that it is intended. Returns true if it has shown `changes`, for that question.
 */
export async function confirmRelease(
  doubts: readonly Issue[],
  changes: readonly string[],
  { confirm, json }: { readonly confirm?: boolean; readonly json?: boolean },
): Promise<boolean> {
  if (confirm || doubts.length === 0) return false;
  if (json || !isInteractive()) throw new IpamError("in-use", doubts);
  print(...changes, ...doubts.map(({ message }) => message));
  if (!(await ask("Record it?"))) throw new IpamError("in-use", "nothing was recorded");
  return true;
}
