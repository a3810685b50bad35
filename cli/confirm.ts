import { createInterface } from "node:readline/promises";
import { bulkRelease, IpamError, type Plan, type Snapshot } from "../core/index.ts";
import { print } from "./terminal.ts";

/** A y/N question at a terminal; anything but yes is no. */
export async function ask(question: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const answer = await terminal.question(`${question} [y/N] `);
  terminal.close();
  return /^y(es)?$/i.test(answer.trim());
}

/** Can a person be asked? */
export function isInteractive(): boolean {
  return process.stdin.isTTY === true && process.stdout.isTTY === true;
}

/** Plans that are to be recorded, each with the record that it is planned against. */
export type Proposals = readonly { readonly plan: Plan; readonly before: Snapshot }[];

/**
 * Throws `in-use` for plans that release much of what their set holds, unless `--confirm` or the answer to a question at a
 * terminal says that it is meant. Returns true if it has shown `changes`, for that question.
 */
export async function confirmRelease(
  proposals: Proposals,
  changes: readonly string[],
  { confirm, json }: { readonly confirm?: boolean; readonly json?: boolean },
): Promise<boolean> {
  const refusals = confirm ? [] : proposals.flatMap(({ plan, before }) => bulkRelease(plan, before) ?? []);
  const [refusal] = refusals;
  if (refusal === undefined) return false;
  if (json || !isInteractive())
    throw new IpamError(
      refusal.code,
      refusals.flatMap(({ issues }) => issues),
    );
  print(...changes, ...refusals.flatMap(({ issues }) => issues.map(({ message }) => message)));
  if (!(await ask("Record it?"))) throw new IpamError("in-use", "nothing was recorded");
  return true;
}
