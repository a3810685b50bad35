import { byAddress } from "../core/allocation.ts";
import {
  type Allocation,
  claimKey,
  type Issue,
  type Moved,
  type Plan,
  plan,
  planRelease,
  type Snapshot,
} from "../core/index.ts";
import { partition } from "../core/partition.ts";
import type { Holdings, Rendered } from "../integrations/contract/integration.ts";
import type { Unserved } from "../integrations/contract/unserved.ts";
import { applyPlan } from "../state/apply.ts";
import { type Desired, renderDesired } from "./desired.ts";

/** How a plan is made. */
export interface PlanOptions {
  /** The claim set. */
  readonly set: string;
  /** Let owners lose an address and get another one of the same pool. */
  readonly allowMove?: boolean;
  readonly moved?: readonly Moved[];
  /** A release that looks like a mistake is intended. */
  readonly confirmRelease?: boolean;
}

/** Reads what is desired. With the record as it will be, a source may tell more: a cdk8s app has tokens in its objects. */
export type ReadDesired = (after?: Snapshot) => Desired;

/** A plan, and what it is held against before it is recorded. */
export interface Proposal {
  readonly plan: Plan;
  /** The record that it was made against. */
  readonly before: Snapshot;
  /** The record with the plan in it, and the claim set. */
  readonly holdings: Holdings;
  readonly desired: Desired;
  readonly options: PlanOptions;
  /** What is wrong with objects that asked for addresses, or have some, and get nothing. */
  readonly unserved: readonly Issue[];
  /** What is to exist once it is recorded. Throws IpamError as integrations do. */
  readonly rendered: () => Rendered;
}

/** Plans what is desired against a record. Pure. Throws as `plan` does. */
export function propose(read: ReadDesired, before: Snapshot, options: PlanOptions): Proposal {
  const { pools, claims, unserved } = read();
  const { set, allowMove = false, moved = [] } = options;
  const proposed = plan({ pools, claims, snapshot: before, set, allowMove, moved });
  const [stuck, release] = partition(proposed.release, ({ allocation }) => mayBeOf(allocation, unserved));
  const keep = [...proposed.keep, ...stuck.map(({ allocation }) => ({ allocation }))];
  keep.sort((a, b) => byAddress(a.allocation, b.allocation));
  return proposalOf({ ...proposed, keep, release }, read, before, options);
}

/** Objects that cannot be served keep their addresses: that one cannot be read does not mean that it is gone. */
function mayBeOf({ claim }: Allocation, unserved: readonly Unserved[]): boolean {
  return unserved.some(({ mayHave }) => mayHave(claim));
}

/** What is wrong with those that ask, or keep what nothing else claims. Objects that contradict each other share an issue. */
function issuesToTell({ unserved, claims }: Desired, { keep }: Plan): Issue[] {
  if (unserved.length === 0) return [];
  const claimed = new Set(claims.map(({ owner, name }) => claimKey(owner, name)));
  const unclaimed = keep.map(({ allocation }) => allocation.claim).filter((claim) => !claimed.has(claim));
  const told = unserved.filter(({ asks, mayHave }) => asks || unclaimed.some(mayHave));
  return [...new Set(told.flatMap(({ issues }) => issues))];
}

/** What is desired beside the record as it is: nothing is planned. */
export function recorded(read: ReadDesired, before: Snapshot, options: PlanOptions): Proposal {
  return proposalOf(planRelease(before, []), read, before, options);
}

/** A plan that is made already, with what it is held against. */
export function proposalOf(proposed: Plan, read: ReadDesired, before: Snapshot, options: PlanOptions): Proposal {
  const after = applyPlan(before, proposed) ?? before;
  const desired = read(after);
  const holdings = { snapshot: after, set: options.set };
  let rendered: Rendered | undefined;
  return {
    plan: proposed,
    before,
    holdings,
    desired,
    options,
    unserved: issuesToTell(desired, proposed),
    rendered: () => {
      rendered ??= renderDesired(desired, holdings);
      return rendered;
    },
  };
}
