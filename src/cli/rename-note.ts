import {
  type Allocation,
  IpamError,
  nameOfKey,
  nodeNameOf,
  ownerOfKey,
  type Plan,
  type Snapshot,
} from "../core/index.ts";
import type { Loser } from "../state/merge.ts";
import { mvCommand } from "./advice.ts";

/** How many names a sentence can hold. */
const most = 3;

/** Nodes that go, as many as those that come: perhaps a rename that nobody declared. */
interface Suspicion {
  readonly gone: string;
  readonly fresh: string;
  /** `n1 was renamed to n2` */
  readonly renamed: string;
  readonly command: string;
}

/** Asks whether nodes that come are those that go. `before` says what to do first. */
export function renameNote(made: Plan, present: Snapshot, before: () => string): string[] {
  const found = suspectRename(made, present, []);
  return found === undefined ? [] : [`Note: if ${found.renamed}, ${before()}: ${found.command}`];
}

/**
 * `in-use` for nodes that would lose their addresses in a merge to what may be their new names; undefined where there
 * are none. Once it is recorded, neither version of the lock brings them back.
 */
export function renameInMerge(
  made: Plan,
  merged: Snapshot,
  losers: readonly Loser[],
  lock: string,
): IpamError | undefined {
  const found = suspectRename(made, merged, losers);
  if (found === undefined) return undefined;
  const { gone, fresh, renamed, command } = found;
  return new IpamError("in-use", `${gone} would be given up in this merge, and ${fresh} come in place`, {
    hint: `The merge is settled: git add ${lock}. If ${renamed}: ${command}. Then allocate again, without --landed.`,
  });
}

/**
 * A node that has just lost a line is none that comes, but where it lost that to one that goes, and has none of the pools
 * that those had. One that stays may be the new name of one that goes, too, if it takes up all that goes with that: it was
 * renamed on one branch, and got more under its old name on another one.
 */
function suspectRename(made: Plan, { allocations }: Snapshot, losers: readonly Loser[]): Suspicion | undefined {
  const kept = nodesOf(made.keep.flatMap(({ allocation, releasing }) => (releasing ? [] : [allocation])));
  const assigned = claimsOf(made.assign);
  const released = claimsOf(made.release.map(({ allocation }) => allocation));
  const gone = [...released.keys()].filter((node) => !kept.has(node) && !assigned.has(node));
  const isOwn = ({ set }: Allocation) => set === made.set;
  const known = nodesOf([...allocations.filter(isOwn), ...losers.map(({ line }) => line)]);
  const others = nodesOf(allocations.filter((line) => !isOwn(line)));
  const pools = new Set(made.release.map(({ allocation }) => allocation.pool));
  const served = nodesOf(made.keep.flatMap(({ allocation }) => (pools.has(allocation.pool) ? [allocation] : [])));
  const isGone = ({ winner }: Loser) => [...nodesOf([winner])].some((node) => gone.includes(node));
  const displaced = nodesOf(losers.filter(isGone).map(({ line }) => line));
  // Where another set still has one that goes here, it has not taken the name of one that is there, too.
  const isOther = (node: string) => others.has(node) && gone.some((old) => others.has(old));
  const isNew = (node: string) => !(known.has(node) || kept.has(node) || isOther(node));
  const come = [...assigned.keys()].filter((node) => isNew(node) || (displaced.has(node) && !served.has(node)));
  if (gone.length === 0) return undefined;
  const left = gone.map((node) => [...(released.get(node) ?? [])]);
  const takesUp = (node: string) => left.some((claims) => claims.every((claim) => assigned.get(node)?.has(claim)));
  const half = [...assigned.keys()].filter((node) => kept.has(node) && takesUp(node));
  const fresh = [half, come, [...half, ...come]].find(({ length }) => length === gone.length);
  if (fresh === undefined) return undefined;
  const mv = mvCommand(made.set);
  const command = gone.length === 1 ? `${mv} Node/${gone} Node/${fresh}` : `${mv} Node/OLD Node/NEW for each`;
  const [old, now] = [listed(gone), listed(fresh)];
  const were = gone.length === 1 ? "was" : "were";
  return { gone: old, fresh: now, renamed: `${old} ${were} renamed to ${now}`, command };
}

function listed(nodes: readonly string[]): string {
  const more = nodes.length - most;
  return more > 0 ? `${nodes.slice(0, most).join(", ")} and ${more} more` : nodes.join(", ");
}

function nodesOf(lines: readonly Allocation[]): Set<string> {
  return new Set(claimsOf(lines).keys());
}

/** Pool and name of each claim, by its node. */
function claimsOf(lines: readonly Allocation[]): Map<string, Set<string>> {
  const claims = new Map<string, Set<string>>();
  for (const { pool, claim } of lines) {
    const node = nodeNameOf(ownerOfKey(claim));
    if (node !== undefined) claims.set(node, (claims.get(node) ?? new Set()).add(`${pool} ${nameOfKey(claim)}`));
  }
  return claims;
}
