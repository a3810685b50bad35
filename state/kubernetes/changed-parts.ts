import type { PoolRecord, Snapshot } from "../../core/index.ts";
import type { Content } from "../codec.ts";
import type { Index } from "./subnet-index.ts";
import { partName } from "./subnet-records.ts";

/** How many parts are written at once. */
const maxInFlight = 16;

/** Works on the first alone, and then on the others, some at once; after a failure on none that has not begun. Returns all failures. */
export async function firstThenOthers<T>(all: readonly T[], work: (one: T) => Promise<void>): Promise<unknown[]> {
  const failures: unknown[] = [];
  const attempt = (one: T) => work(one).catch((error) => failures.push(error));
  const left = all.slice(1).values();
  const lane = async () => {
    for (const one of left) if (failures.length === 0) await attempt(one);
  };
  for (const one of all.slice(0, 1)) await attempt(one);
  await Promise.all(Array.from({ length: maxInFlight }, lane));
  return failures;
}

/** The pools that may have lines in a part. */
export function poolsOfPart(
  name: string,
  { snapshot, index }: { readonly snapshot: Snapshot; readonly index: Index },
  next: Snapshot,
): PoolRecord[] {
  const pools = [...next.pools, ...snapshot.pools, ...index.pools].filter((pool) => partName(pool) === name);
  return [...new Map(pools.map((pool) => [pool.name, pool])).values()];
}

export function withBase(part: Content, { base }: Snapshot): Snapshot {
  return { ...part, base: new Map(part.pools.map(({ name }) => [name, base.get(name) as string])) };
}

/** The parts in which something is different, sorted, and the pools that are. */
export function changedParts(before: Snapshot, after: Snapshot): Map<string, Set<string>> {
  const changed = [...before.pools, ...after.pools].filter(
    ({ name }) => before.base.get(name) !== after.base.get(name),
  );
  const parts = Map.groupBy(changed, partName);
  return new Map([...parts.keys()].sort().map((name) => [name, new Set(parts.get(name)?.map((pool) => pool.name))]));
}
