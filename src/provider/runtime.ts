import { IpamError } from "../core/index.ts";
import { reasonOf } from "./advice.ts";
import { refuseOrphan } from "./engine.ts";
import { planSet } from "./plan-set.ts";
import { asRecorded } from "./record.ts";
import {
  type Addresses,
  type ClaimInput,
  onlyState,
  type Previous,
  present,
  type SetInputs,
  type SetState,
  type StateArgs,
} from "./set-state.ts";

export type { Addresses, ClaimInput, Previous, SetInputs, SetState, StateArgs };

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

/** At most so many mistakes are told at once. */
const most = 50;

/** Plans. All that is wrong is said at once; no property is named, because the engine would print its value. */
export async function check(olds: SetState, news: SetInputs): Promise<{ inputs?: SetState; failures?: Failure[] }> {
  try {
    return { inputs: planSet({ ...news, previous: previousOf(olds, news.previous) }) };
  } catch (error) {
    const errors: readonly unknown[] = error instanceof AggregateError ? error.errors : [error];
    const reasons = errors.flatMap((each) => {
      if (!(each instanceof IpamError)) throw each;
      return each.issues.map((issue) => reasonOf(each.code, issue, news));
    });
    const more = reasons.length <= most ? [] : [`and ${reasons.length - most} more`];
    return { failures: [...reasons.slice(0, most), ...more].map((reason) => ({ property: "", reason })) };
  }
}

/** Under an alias a set has another URN than it had; what it was then, its old inputs tell. */
function previousOf(olds: SetState, { own, others }: Previous): Previous {
  const found = own ?? others.find((state) => same(state, onlyState(olds)));
  return { others: others.filter((state) => state !== found), ...present({ own: found }) };
}

/** `{}` has the engine compare the inputs by itself and print the paths that changed. */
export async function diff(_id: string, olds: SetState, news: SetState): Promise<{ changes?: boolean }> {
  return same(onlyState(olds), onlyState(news)) ? { changes: false } : {};
}

/** Commits. */
export async function create(inputs: SetState): Promise<{ id: string; outs: SetState }> {
  return oneLine(() => {
    refuseOrphan();
    return { id: crypto.randomUUID(), outs: onlyState(inputs) };
  });
}

/** What the record holds now, as props and inputs alike: a difference in one of them alone would be hidden. */
export async function read(id: string, props: SetState): Promise<{ id: string; props: SetState; inputs: SetState }> {
  return oneLine(() => {
    const now = { ...props, ...asRecorded(onlyState(props)) };
    return { id, props: now, inputs: now };
  });
}

/** Commits. */
export async function update(_id: string, _olds: SetState, news: SetState): Promise<{ outs: SetState }> {
  return oneLine(() => {
    refuseOrphan();
    return { outs: onlyState(news) };
  });
}

/** A record in the stack goes with the stack's state; a lockfile is written by its own verb alone. */
async function remove(_id: string, _props: SetState): Promise<void> {
  oneLine(refuseOrphan);
}

export { remove as delete };

/** The engine prints the stack of an error that is thrown; of ours, the message says it all. */
function oneLine<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof IpamError) error.stack = "";
    throw error;
  }
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
