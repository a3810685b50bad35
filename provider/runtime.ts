import { IpamError } from "../core/index.ts";
import { isRecording } from "../state/offer.ts";
import { noIgnoring, reasonOf } from "./advice.ts";
import { changesRecord, commitPlanned } from "./cluster-record.ts";
import { refuseOrphan } from "./engine.ts";
import { whatIsLeft } from "./forgetting.ts";
import { giveUp } from "./giving-up.ts";
import { heldOf, witnessOf } from "./held.ts";
import { planSet } from "./plan-set.ts";
import { isPlannedIn, remember } from "./planned.ts";
import { checkState } from "./read-inputs.ts";
import { asRecorded, readRecord } from "./record.ts";
import { refuseOther } from "./recorded.ts";
import { sameValue } from "./same-value.ts";
import {
  type Addresses,
  type ClaimInput,
  only,
  onlyState,
  type Previous,
  present,
  received,
  type SentInputs,
  type SetInputs,
  type SetState,
  type StateArgs,
  statesOf,
} from "./set-state.ts";
import { takesOf, unlessOutdated } from "./stack-record.ts";

export type { Addresses, ClaimInput, Previous, SentInputs, SetInputs, SetState, StateArgs };

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

const sentFields = [
  "pools",
  "claims",
  "state",
  "set",
  "allowMove",
  "confirmRelease",
  "moved",
  "release",
  "secret",
  "isLate",
  "previous",
] as const satisfies readonly (keyof SetInputs)[];

/** At most so many mistakes are told at once. */
const most = 50;

/** Plans. All that is wrong is said at once; no property is named, because the engine would print its value. */
export async function check(olds: SetState, sent: SentInputs): Promise<{ inputs?: SetState; failures?: Failure[] }> {
  // Options of a set refuse this; a transformation of the stack can add it behind them.
  if (sentFields.some((field) => sent[field] === undefined))
    return { failures: [{ property: "", reason: `invalid: ${noIgnoring}` }] };
  const news = received(sent);
  try {
    return { inputs: await planned(olds, { ...news, previous: previousOf(olds, news.previous) }) };
  } catch (error) {
    const errors: readonly unknown[] = error instanceof AggregateError ? error.errors : [error];
    const states = [...(olds.addresses === undefined ? [] : [olds]), ...statesOf(news.previous)];
    const reasons = errors.flatMap((each) => {
      if (!(each instanceof IpamError)) throw each;
      return each.issues.map((issue) => reasonOf(each.code, issue, news, states));
    });
    const more = reasons.length <= most ? [] : [`and ${reasons.length - most} more`];
    return { failures: [...reasons.slice(0, most), ...more].map((reason) => ({ property: "", reason })) };
  }
}

async function planned(olds: SetState, inputs: SetInputs): Promise<SetState> {
  const { state, previous } = inputs;
  checkState(state);
  // What is wrong with the record is told together with what else is wrong.
  const recorded = await readRecord(inputs).catch((error: Error) => error);
  const there = { state, identity: recorded instanceof Error ? undefined : recorded.identity };
  const takes = takesOf(previous, inputs, there);
  const held = state.backend === "stack" ? {} : heldOf(olds, previous, inputs, takes, there);
  const content = () => {
    if (recorded instanceof Error) throw recorded;
    return recorded.snapshot;
  };
  const record = () => {
    if (!(recorded instanceof Error)) refuseOther(witnessOf(held, previous, there), recorded);
    return content();
  };
  const before = olds.addresses === undefined ? previous.own : olds;
  const left = await whatIsLeft(before, previous, inputs, { ...there, content });
  // What another set of this run has as its own is not for this one to give up.
  const pools = only(held.pools ?? {}, (pool) => !isPlannedIn(there.identity, pool));
  const { state: answer, plan } = planSet(inputs, record, { ...held, pools }, left, takes);
  // A record that begins in this update begins in no preview: who is in it learns its name from the commit.
  const fresh = { ...answer, ...present({ record: held.record && there.identity }) };
  const made = unlessOutdated(fresh, previous);
  remember(made, plan, there.identity);
  return made;
}

/** Under an alias a set has another URN than it had; what it was then, its old inputs tell. */
function previousOf(olds: SetState, { own, others }: Previous): Previous {
  const comparable = olds.record === undefined ? withoutRecord : onlyState;
  const found = own ?? others.find((state) => sameValue(comparable(state), onlyState(olds)));
  return { others: others.filter((state) => state !== found), ...present({ own: found }) };
}

/**
 * `{}` has the engine compare the inputs by itself and print the paths that changed; it finds none where only the record
 * is not as the state says.
 */
export async function diff(_id: string, olds: SetState, news: SetState): Promise<{ changes?: boolean }> {
  const { record } = news;
  const before = record === undefined ? withoutRecord(olds) : olds;
  return sameValue(onlyState(before), onlyState(news)) ? { changes: changesRecord(news) } : {};
}

function withoutRecord({ record: _, ...state }: SetState): SetState {
  return state;
}

/** Commits. */
export async function create(inputs: SetState): Promise<{ id: string; outs: SetState }> {
  const id = crypto.randomUUID();
  return { id, outs: await commit(id, inputs) };
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
  const outs = await commit(id, news);
  if (!sameValue(olds.state, news.state)) await oneLine(() => giveUp(onlyState(olds), outs));
  return { outs };
}

/** A record in the stack goes with the stack's state; a lockfile is written by its own verb alone. */
async function remove(_id: string, props: SetState): Promise<void> {
  await oneLine(async () => {
    refuseOrphan();
    await giveUp(onlyState(props));
  });
}

export { remove as delete };

function commit(id: string, state: SetState): Promise<SetState> {
  return oneLine(async () => {
    refuseOrphan();
    if (state.state.backend === "lockfile" && isRecording())
      throw new IpamError("stale", "nodeippool allocate has yet to write the lock: let it run `pulumi preview`");
    try {
      return await commitPlanned(onlyState(state));
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
