import { type Allocation, byCodeUnit, IpamError, importedSet, type PoolRecord, type Snapshot } from "../core/index.ts";
import { allocationLine, poolLine } from "./codec.ts";
import { overlapping } from "./overlap.ts";

/**
 * Throws IpamError if a record cannot come to be one with the one that is there, in the place of that name: `invalid`
 * (there is none), `in-use` (they share lines, claim sets or pools) or `overlap`. `free` is the set that may as well come as another one.
 */
export function checkApart(record: Snapshot, there: Snapshot, name: string, free = "default"): void {
  if (record.pools.length === 0) throw new IpamError("invalid", "there is no record to move");
  if (commonLines(record, there) === linesOf(record).length) throw endedBefore(name);
  const sets = new Set(setsOf(there));
  const shared = setsOf(record).filter((set) => sets.has(set));
  if (shared.length > 0) throw sharedSets(shared, free, name);
  const known = new Set(there.pools.map((pool) => pool.name));
  const both = record.pools.filter((pool) => known.has(pool.name)).map((pool) => pool.name);
  if (both.length > 0)
    throw new IpamError("in-use", `pool ${both.join(", ")} has addresses in ${name}, too`, {
      hint: "One of the two is wrong about them, or a copy from before a move: find out which one is in force.",
    });
  const two: readonly PoolRecord[] = overlapping([...there.pools, ...record.pools]) ?? [];
  if (two.length > 0)
    throw new IpamError("overlap", `the subnets of pools ${two.map((pool) => pool.name).join(" and ")} overlap`, {
      hint: "A record can move if all pools of a network that share addresses have one cidr.",
    });
}

function sharedSets(shared: readonly string[], free: string, name: string): IpamError {
  const danger = "Whoever plans that set would release the lines of the other record";
  const fixed = shared.filter((set) => set !== free);
  const message = `${name} has lines of claim set ${shared.join(", ")}, too`;
  if (fixed.length === 0) return new IpamError("in-use", message, { hint: `${danger}: let them come as another set.` });
  return new IpamError("in-use", message, {
    hint: `${danger}: in the lockfile of the two write another name after "set": in the lines of ${fixed.join(", ")}, in a commit, and plan with that from then on.`,
  });
}

/** Throws `in-use` where lines of a record are in another place before. */
export function checkNoCopy(record: Snapshot, there: Snapshot, name: string): void {
  if (commonLines(record, there) > 0) throw endedBefore(name);
}

function endedBefore(name: string): IpamError {
  return new IpamError("in-use", `lines of it are in ${name} before: one of the two is a copy from before a move`, {
    hint: "Take the lockfile of whoever made that move (git pull): it says where the record is. Delete neither before you know.",
  });
}

/**
 * Does another record have exactly this one's pools and lines, be it as those of another set? Of what else is in these
 * pools only that counts which is of a set that has one of these lines.
 */
export function isCopyOf(there: Snapshot, record: Snapshot): boolean {
  const own = byText(record);
  const theirs = [...byText(there)];
  const sets = new Set(theirs.flatMap(([text, { set }]) => (own.has(text) ? set : [])));
  const names = new Set(record.pools.map(({ name }) => name));
  const part = theirs.filter(([, { set, pool }]) => sets.has(set) && names.has(pool));
  const pools = new Set(there.pools.map(poolLine));
  return (
    own.size > 0 &&
    part.length === own.size &&
    part.every(([text]) => own.has(text)) &&
    record.pools.every((pool) => pools.has(poolLine(pool)))
  );
}

/** The lines of a record by their text, as those of no set. */
function byText({ allocations, releasing }: Snapshot): Map<string, Allocation> {
  const texts = (lines: readonly Allocation[]) =>
    lines.map((line) => [allocationLine({ ...line, set: "default" }, lines === releasing), line] as const);
  return new Map([...texts(allocations), ...texts(releasing)]);
}

/** How many lines of a record another one has, too, be it as those of another set. */
function commonLines(record: Snapshot, there: Snapshot): number {
  const lines = new Set(linesOf(there));
  return linesOf(record).filter((line) => lines.has(line)).length;
}

function linesOf({ allocations, releasing }: Snapshot): string[] {
  return [...allocations, ...releasing].map((line) => allocationLine({ ...line, set: "default" }));
}

/** The claim sets of a record, but for what was imported: that is nobody's. */
export function setsOf({ allocations, releasing }: Snapshot): string[] {
  const sets = new Set([...allocations, ...releasing].map(({ set }: Allocation) => set));
  return [...sets].filter((set) => set !== importedSet).sort(byCodeUnit);
}
