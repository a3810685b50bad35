import { formatIssue, type IpamCode, IpamError, type Issue } from "../core/index.ts";
import { planSet } from "./plan-set.ts";
import type { Addresses, ClaimInput, SetInputs, SetState, StateArgs } from "./set-state.ts";

export type { Addresses, ClaimInput, SetInputs, SetState, StateArgs };

/*
 * The calls of the engine. Their names and arguments are a frozen contract: a stack's state holds the text of the
 * provider that made it, and that text imports this module by its package path, however much newer the package is.
 *
 * The plan is made in `check`, because the engine shows what `check` returns as known values in preview, and makes it
 * anew in the update. What it returns is all that is kept.
 */

interface Failure {
  readonly property: string;
  readonly reason: string;
}

/** Plans. All that is wrong is said at once; no property is named, because the engine would print its value. */
export async function check(_olds: unknown, news: SetInputs): Promise<{ inputs?: SetState; failures?: Failure[] }> {
  try {
    return { inputs: planSet(news) };
  } catch (error) {
    if (!(error instanceof IpamError)) throw error;
    return { failures: error.issues.map((issue) => ({ property: "", reason: reasonOf(error.code, issue) })) };
  }
}

function reasonOf(code: IpamCode, issue: Issue): string {
  const path = issue.path === undefined ? "" : `${issue.path.join(".")}: `;
  return `${code}: ${path}${formatIssue(issue)}`;
}

/** `{}` has the engine compare the inputs by itself and print the paths that changed. */
export async function diff(_id: string, olds: SetState, news: SetState): Promise<{ changes?: boolean }> {
  return same(onlyState(olds), onlyState(news)) ? { changes: false } : {};
}

/** Commits. */
export async function create(inputs: SetState): Promise<{ id: string; outs: SetState }> {
  return { id: crypto.randomUUID(), outs: onlyState(inputs) };
}

/** What the record holds now, as props and inputs alike: a difference in one of them alone would be hidden. */
export async function read(id: string, props: SetState): Promise<{ id: string; props: SetState; inputs: SetState }> {
  return { id, props, inputs: props };
}

/** Commits. */
export async function update(_id: string, _olds: SetState, news: SetState): Promise<{ outs: SetState }> {
  return { outs: onlyState(news) };
}

/** A record in the stack goes with the stack's state; a lockfile is written by its own verb alone. */
async function remove(_id: string, _props: SetState): Promise<void> {}

export { remove as delete };

function onlyState({ addresses, releasing, pools, state, set }: SetState): SetState {
  return { addresses, ...(releasing === undefined ? {} : { releasing }), pools, state, set };
}

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(sorted(a)) === JSON.stringify(sorted(b));
}

function sorted(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, item]) => [key, sorted(item)]),
  );
}
