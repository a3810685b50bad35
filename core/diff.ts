import {
  type Allocation,
  byAddress,
  type PoolRecord,
  placeOf,
  type Snapshot,
  sameLine,
  sameSubnet,
} from "./allocation.ts";

/** One address whose line is not the same in two records. */
export interface Difference {
  readonly kind: "added" | "removed" | "changed";
  /** The line now; for a removed one, the line it was. */
  readonly line: Allocation;
  readonly was?: Allocation;
  readonly releasing: boolean;
  readonly wasReleasing: boolean;
}

/** What changed from one record to another, by address. */
export function diffRecords(from: Snapshot, to: Snapshot): Difference[] {
  const before = indexed(from);
  const after = indexed(to);
  const differences: Difference[] = [];
  for (const [place, now] of after) {
    const was = before.get(place);
    if (was === undefined) differences.push({ kind: "added", ...now, wasReleasing: false });
    else if (was.releasing !== now.releasing || !sameLine(was.line, now.line))
      differences.push({ kind: "changed", ...now, was: was.line, wasReleasing: was.releasing });
  }
  for (const [place, was] of before)
    if (!after.has(place))
      differences.push({ kind: "removed", line: was.line, releasing: false, wasReleasing: was.releasing });
  return differences.sort((a, b) => byAddress(a.line, b.line));
}

/** The pools that are in both records, and in other subnets. */
export function movedPools(from: Snapshot, to: Snapshot): { readonly now: PoolRecord; readonly was: PoolRecord }[] {
  const before = new Map(from.pools.map((pool) => [pool.name, pool]));
  return to.pools.flatMap((now) => {
    const was = before.get(now.name);
    return was === undefined || sameSubnet(was, now) ? [] : { now, was };
  });
}

function indexed(snapshot: Snapshot): Map<string, { line: Allocation; releasing: boolean }> {
  const entry = (line: Allocation, releasing: boolean) => [placeOf(line), { line, releasing }] as const;
  return new Map([
    ...snapshot.allocations.map((line) => entry(line, false)),
    ...snapshot.releasing.map((line) => entry(line, true)),
  ]);
}
