import { IpamError } from "../core/index.ts";
import { isRecording } from "../state/offer.ts";
import { noIgnoring, reasonOf } from "./advice.ts";
import { changesRecord, commitPlanned, remember } from "./cluster-record.ts";
import { refuseOrphan } from "./engine.ts";
import { leftBehind } from "./left-behind.ts";
import { planSet } from "./plan-set.ts";
import { readInputs } from "./read-inputs.ts";
import { asRecorded, isSameRecord, readRecord, refuseOther, witnessOf } from "./record.ts";
import { releaseSet } from "./release.ts";
import {
  type Addresses,
  type ClaimInput,
  onlyState,
  type Previous,
  present,
  previousOf,
  received,
  type SentInputs,
  type SetInputs,
  type SetState,
  type StateArgs,
  sameValue,
  statesOf,
  withoutRecord,
} from "./set-state.ts";

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

/** What a state does not keep, and an input that is ignored lacks. */
const sentFields = ["claims", "allowMove", "confirmRelease", "moved", "release", "previous"] as const;

/** At most so many mistakes are told at once. */
const maxNamed = 50;

/** Plans. All that is wrong is said at once; no property is named, because the engine would print its value. */
export async function check(olds: SetState, sent: SentInputs): Promise<{ inputs?: SetState; failures?: Failure[] }> {
  // Options of a set refuse this; a transformation of the stack can add it behind them.
  if (sentFields.some((field) => sent[field] === undefined))
    return { failures: [{ property: "", reason: `invalid: ${noIgnoring}` }] };
  const news = received(sent);
  try {
    return { inputs: await planned({ ...news, previous: previousOf(olds, news) }) };
  } catch (error) {
    if (!(error instanceof IpamError)) throw error;
    const isSecret = news.secret || [olds, ...statesOf(news.previous)].some(({ secret }) => secret);
    const reasons = error.issues.map((issue) => reasonOf(error.code, issue, news.state, isSecret));
    const more = reasons.length <= maxNamed ? [] : [`and ${reasons.length - maxNamed} more`];
    return { failures: [...reasons.slice(0, maxNamed), ...more].map((reason) => ({ property: "", reason })) };
  }
}

/** Inputs, claims, plan, guards, result; `remember` keeps the plan for the commit. */
async function planned(inputs: SetInputs): Promise<SetState> {
  const { state, previous } = inputs;
  const read = readInputs(inputs);
  const recorded = await readRecord(inputs);
  const there = { state, identity: recorded.identity };
  refuseOther(witnessOf(previous, there), recorded);
  const left = await leftBehind(inputs, read.pools, recorded);
  const { state: answer, plan } = planSet(inputs, read, recorded.snapshot, left);
  // A record that begins in this update begins in no preview: who is in it learns its name from the commit.
  const isKnown = previous.own?.record !== undefined && isSameRecord(previous.own, there);
  const result = { ...answer, ...present({ record: isKnown ? there.identity : undefined }) };
  remember(result, plan, there.identity);
  return result;
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

/** Commits. What the set had in a record that it has left is releasing there then. */
export async function update(id: string, olds: SetState, news: SetState): Promise<{ outs: SetState }> {
  const outs = await commit(id, news);
  if (!sameValue(olds.state, news.state)) await oneLine(() => releaseSet(onlyState(olds), outs));
  return { outs };
}

/** A record in the stack goes with the stack's state; a lockfile is written by its own verb alone. */
async function remove(_id: string, props: SetState): Promise<void> {
  await oneLine(async () => {
    refuseOrphan();
    await releaseSet(onlyState(props));
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
