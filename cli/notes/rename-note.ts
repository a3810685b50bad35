import {
  type Allocation,
  IpamError,
  listed,
  nameOfKey,
  nodeNameOf,
  ownerOfKey,
  type Plan,
  type Snapshot,
  shellWord,
} from "../../core/index.ts";
import type { Loser } from "../../state/merge.ts";
import { mvCommand } from "../advice.ts";

/** Nodes that go, and those that come to what they had: perhaps a rename that nobody declared. */
interface Suspicion {
  readonly gone: string;
  readonly fresh: string;
  /** `n1 was renamed to n2` */
  readonly renamed: string;
  readonly command: string;
}

/** Asks whether nodes that come are those that go. `before` says what to do first. */
export function renameNote(
  made: Plan,
  present: Snapshot,
  before: () => string,
  losers: readonly Loser[] = [],
): string[] {
  const found = suspectRename(made, present, losers);
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
    hint: `The merge is settled: git add ${shellWord(lock)}. If ${renamed}: ${command}. Then allocate again, without --landed.`,
  });
}

/**
 * Nodes that get, in this plan, what nodes lose that it gives up: new names of those, unless both have a claim of one name
 * at once in any set, and so are two. What a node has just lost to one that goes proves nothing: that may be its old name.
 */
function suspectRename(made: Plan, { allocations }: Snapshot, losers: readonly Loser[]): Suspicion | undefined {
  const stays = claimsOf(made.keep.flatMap(({ allocation, releasing }) => (releasing ? [] : [allocation])));
  const assigned = claimsOf(made.assign);
  const released = claimsOf(made.release.map(({ allocation }) => allocation));
  const left = [...released.keys()].filter((node) => !stays.has(node) && !assigned.has(node));
  const isLost = ({ winner }: Loser) => !left.some((node) => nodesOf([winner]).has(node));
  const held = claimsOf([...allocations, ...losers.filter(isLost).map(({ line }) => line)]);
  const of = (nodes: readonly string[], claims: Claims) =>
    new Set(nodes.flatMap((node) => [...(claims.get(node) ?? [])]));
  const [lost, had] = [of(left, released), of(left, held)];
  const some = (claims: Set<string> | undefined, others: Set<string>) =>
    [...(claims ?? [])].some((one) => others.has(one));
  const come = [...assigned].flatMap(([node, claims]) =>
    some(claims, lost) && !some(held.get(node), had) ? node : [],
  );
  const gone = left.filter((node) => some(released.get(node), of(come, assigned)));
  if (come.length === 0) return undefined;
  const whole = come.filter((node) =>
    gone.some((old) => [...(released.get(old) ?? [])].every((claim) => assigned.get(node)?.has(claim))),
  );
  return suspicionOf(gone, whole.length < gone.length ? come : whole, made.set);
}

function suspicionOf(gone: readonly string[], fresh: readonly string[], set: string): Suspicion {
  const [from, to] = [gone.length === 1 ? gone[0] : "OLD", fresh.length === 1 ? fresh[0] : "NEW"];
  const command = `${mvCommand(set)} Node/${from} Node/${to}${gone.length === 1 ? "" : " for each"}`;
  const [old, now] = [listed(gone), listed(fresh, gone.length === 1 ? " or " : ", ")];
  const were = gone.length === 1 ? "was" : fresh.length < gone.length ? "or some of them were" : "were";
  return { gone: old, fresh: now, renamed: `${old} ${were} renamed to ${now}`, command };
}

function nodesOf(lines: readonly Allocation[]): Set<string> {
  return new Set(claimsOf(lines).keys());
}

type Claims = Map<string, Set<string>>;

/** Pool and name of each claim, by its node. */
function claimsOf(lines: readonly Allocation[]): Claims {
  const claims: Claims = new Map();
  for (const { pool, claim } of lines) {
    const node = nodeNameOf(ownerOfKey(claim));
    if (node !== undefined) claims.set(node, (claims.get(node) ?? new Set()).add(`${pool} ${nameOfKey(claim)}`));
  }
  return claims;
}
