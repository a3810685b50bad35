import type { Plan } from "../core/index.ts";
import { textOf } from "./same-value.ts";
import { onlyState, type SetState } from "./set-state.ts";

/*
 * What this process has found in its checks, for the calls that come after them: the plan that is committed is the one
 * whose addresses `check` answered, or nothing is.
 */

/** A set, as a check answered it. */
interface Planned {
  readonly state: SetState;
  /** Undefined where not even the claims were known. */
  readonly plan: Plan | undefined;
  /** Of the record in a cluster that it was planned on; undefined before that begins. */
  readonly identity: string | undefined;
}

/** By the text of what was answered. */
const planned = new Map<string, Planned>();

export function remember(state: SetState, plan: Plan | undefined, identity: string | undefined): void {
  planned.set(textOf(onlyState(state)), { state, plan, identity });
}

export function planOf(state: SetState): Plan | undefined {
  return planned.get(textOf(onlyState(state)))?.plan;
}

/** All that was planned of a claim set. */
export function plannedOf(set: string): SetState[] {
  return [...planned.values()].map(({ state }) => state).filter((state) => state.set === set);
}

/** Does a set that this run has planned in a record in a cluster have this pool? */
export function isPlannedIn(identity: string | undefined, pool: string): boolean {
  return [...planned.values()].some(
    (one) =>
      one.state.state.backend === "kubernetes" && one.identity === identity && Object.hasOwn(one.state.addresses, pool),
  );
}

/** The sets that go on elsewhere: in the record to which theirs has moved. */
const followed = new Set<string>();

export function rememberFollowed(state: SetState): void {
  followed.add(placeText(state));
}

export function isFollowed(state: SetState): boolean {
  return followed.has(placeText(state));
}

function placeText({ state, set, addresses }: SetState): string {
  return textOf([state, set, addresses]);
}
