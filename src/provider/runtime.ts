import { IpamError } from "../core/index.ts";
import { reasonOf } from "./advice.ts";
import { changesRecord, commitPlanned, giveUp, remember } from "./cluster-record.ts";
import { refuseOrphan } from "./engine.ts";
import { planSet } from "./plan-set.ts";
import { checkState } from "./read-inputs.ts";
import { asRecorded, readRecord } from "./record.ts";
import {
  type Addresses,
  type ClaimInput,
  onlyState,
  type Previous,
  present,
  type SetInputs,
  type SetState,
  type StateArgs,
  sameValue,
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
    checkState(news.state);
    const inputs = { ...news, previous: previousOf(olds, news.previous) };
    const record = await readRecord(inputs).then(
      (snapshot) => () => snapshot,
      (error) => () => {
        throw error; // together with what else is wrong
      },
    );
    const { state, plan } = planSet(inputs, record, olds);
    if (state.state.backend === "kubernetes" && plan !== undefined) remember(state, plan);
    return { inputs: state };
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
  const found = own ?? others.find((state) => sameValue(state, onlyState(olds)));
  return { others: others.filter((state) => state !== found), ...present({ own: found }) };
}

/**
 * `{}` has the engine compare the inputs by itself and print the paths that changed; it finds none where only the record
 * is not as the state says.
 */
export async function diff(_id: string, olds: SetState, news: SetState): Promise<{ changes?: boolean }> {
  return sameValue(onlyState(olds), onlyState(news)) ? { changes: changesRecord(news) } : {};
}

/** Commits. */
export async function create(inputs: SetState): Promise<{ id: string; outs: SetState }> {
  const id = crypto.randomUUID();
  await commit(id, inputs);
  return { id, outs: onlyState(inputs) };
}

/** What the record holds now, as props and inputs alike: a difference in one of them alone would be hidden. */
export async function read(id: string, props: SetState): Promise<{ id: string; props: SetState; inputs: SetState }> {
  return oneLine(async () => {
    const now = { ...props, ...(await asRecorded(onlyState(props))) };
    return { id, props: now, inputs: now };
  });
}

/** Commits. A record that the set is no longer in gets its addresses back as releasing. */
export async function update(id: string, olds: SetState, news: SetState): Promise<{ outs: SetState }> {
  await commit(id, news);
  if (!sameValue(olds.state, news.state)) await oneLine(() => giveUp(onlyState(olds)));
  return { outs: onlyState(news) };
}

/** A record in the stack goes with the stack's state; a lockfile is written by its own verb alone. */
async function remove(_id: string, props: SetState): Promise<void> {
  await oneLine(async () => {
    refuseOrphan();
    await giveUp(onlyState(props));
  });
}

export { remove as delete };

function commit(id: string, state: SetState): Promise<void> {
  return oneLine(async () => {
    refuseOrphan();
    try {
      await commitPlanned(state);
    } catch (error) {
      // The engine keeps the resource, and updates it the next time.
      if (error instanceof IpamError && error.code === "unknown-outcome")
        Object.assign(error, { id, properties: state, reasons: [error.message] });
      throw error;
    }
  });
}

/** The engine prints the stack of an error that is thrown; of ours, the message says it all. */
async function oneLine<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof IpamError) error.stack = "";
    throw error;
  }
}
