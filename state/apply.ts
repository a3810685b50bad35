import {
  type Address,
  type Allocation,
  BlockIndex,
  byAddress,
  byCodeUnit,
  formatBlock,
  IpamError,
  type Issue,
  type Plan,
  type PoolRecord,
  placeOf,
  type Snapshot,
  sameLine,
} from "../core/index.ts";
import { checkRecord } from "./check-record.ts";
import { allocationLine, type Content, poolLine, readAllocationLine, readPoolLine, snapshotOf } from "./codec.ts";

/**
 * The record after a plan, given what a backend holds now; undefined if there is nothing to write. Pure, and the whole
 * of the contract that is not about storing: pool by pool, content as planned against -> apply; effect already there ->
 * nothing (C3); else IpamError `conflict` (C1). The result is checked as `decode` checks it, so a plan that would hand
 * an address over (C4), or that no record can hold, is `conflict` or `invalid`, whoever made it.
 */
export function applyPlan(now: Snapshot, plan: Plan): Snapshot | undefined {
  const book = new Book(now);
  const moved: string[] = [];
  const changed = new Set<string>();
  for (const part of byPool(plan)) {
    if (now.base.get(part.pool) === plan.base.get(part.pool)) {
      book.apply(part);
      changed.add(part.pool);
    } else if (!book.holds(part)) moved.push(part.pool);
  }
  if (moved.length > 0)
    throw new IpamError("conflict", `pool ${moved.join(", ")} changed since this plan was made; nothing was written`, {
      hint: "Plan again: whoever came first keeps the address.",
    });
  if (changed.size === 0) return undefined;
  const record = book.record(
    now.pools,
    plan.pools.filter(({ name }) => changed.has(name)),
  );
  verify(record, plan);
  return snapshotOf(record);
}

/** What an error of `applyPlan` says to a caller who may have written something before it: not that nothing was. */
export function issuesAfterWrite({ issues }: IpamError): Issue[] {
  return issues.map((issue) => ({ ...issue, message: issue.message.replace(/; nothing was written$/, "") }));
}

/**
 * The record after several plans of one run, each made on top of those before it. What one of them gives or keeps, no
 * later one takes away: IpamError `conflict`.
 */
export function applyAll(now: Snapshot, plans: readonly Plan[]): Snapshot {
  if (plans.length > 1) refuseUndoing(plans);
  return plans.reduce((snapshot, plan) => applyPlan(snapshot, plan) ?? snapshot, now);
}

function refuseUndoing(plans: readonly Plan[]): void {
  const given = new Map<string, Allocation>();
  for (const { assign, keep, release } of plans) {
    for (const { allocation, was = allocation } of keep) refuseUnlike(given.get(placeOf(was)), allocation);
    for (const { allocation } of release) refuseUnlike(given.get(placeOf(allocation)));
    for (const line of [...assign, ...keep.map(({ allocation }) => allocation)]) given.set(placeOf(line), line);
  }
}

function refuseUnlike(given: Allocation | undefined, now?: Allocation): void {
  if (given === undefined || (now !== undefined && sameLine(given, now))) return;
  const text = formatBlock(given);
  throw new IpamError("conflict", `one plan of this run gives ${text} to ${given.claim}, another one takes it away`, {
    hint: "Give each folder, stack or app that plans in one run a claim set (`set`) of its own.",
  });
}

/** What cannot be read again is not written: the last gate, whoever made the plan. */
function verify(record: Content, plan: Plan): void {
  for (const pool of record.pools) {
    const read = readPoolLine(poolLine(pool));
    if (typeof read === "string")
      throw new IpamError("invalid", `the line of pool ${JSON.stringify(pool.name)} ${read}`);
  }
  const rewritten = plan.keep.flatMap(({ allocation, was }) => (was === undefined ? [] : allocation));
  for (const fresh of [...plan.assign, ...rewritten]) {
    const read = readAllocationLine(allocationLine(fresh));
    if (typeof read === "string") throw new IpamError("invalid", `the line of ${JSON.stringify(fresh.claim)} ${read}`);
  }
  const line = <T>(value: T) => ({ value, line: 0, text: "" });
  const lines = {
    pools: record.pools.map(line),
    allocations: record.allocations.map(line),
    releasing: record.releasing.map(line),
  };
  checkRecord(lines, (_, why) => {
    throw new IpamError("conflict", `the plan does not fit the record: a line ${why}`, {
      hint: "Do two pools of one network share addresses, or do two plans of one run give one address away?",
    });
  });
}

/** What a plan changes in one pool. */
interface Part {
  readonly pool: string;
  /** Lines that leave the record or move inside it. */
  readonly remove: Allocation[];
  /** Lines that are released: nobody gets their addresses by the same plan. */
  readonly released: Allocation[];
  readonly live: Allocation[];
  readonly releasing: Allocation[];
}

function byPool(plan: Plan): Iterable<Part> {
  const parts = new Map<string, Part>();
  const part = (pool: string): Part => {
    const known = parts.get(pool) ?? { pool, remove: [], released: [], live: [], releasing: [] };
    parts.set(pool, known);
    return known;
  };
  for (const line of plan.assign) part(line.pool).live.push(line);
  for (const { allocation, was, releasing } of plan.keep) {
    if (was === undefined) continue;
    part(allocation.pool).remove.push(was);
    part(allocation.pool)[releasing ? "releasing" : "live"].push(allocation);
  }
  for (const { allocation, to } of plan.release) {
    part(allocation.pool).remove.push(allocation);
    part(allocation.pool).released.push(allocation);
    if (to === "releasing") part(allocation.pool).releasing.push(allocation);
  }
  return parts.values();
}

/** The lines of a record while a plan is applied: per pool, because an address may recur in another network. */
class Book {
  private readonly live: Map<string, Map<Address, Allocation>>;
  private readonly releasing: Map<string, Map<Address, Allocation>>;

  constructor(snapshot: Snapshot) {
    this.live = index(snapshot.allocations);
    this.releasing = index(snapshot.releasing);
  }

  apply(part: Part): void {
    for (const line of part.remove) {
      refuseOther(this.at(line), line);
      this.live.get(part.pool)?.delete(line.address);
      this.releasing.get(part.pool)?.delete(line.address);
    }
    const released = new BlockIndex(part.released);
    for (const line of part.live) {
      const [other] = released.at(line);
      if (other !== undefined)
        throw new IpamError("conflict", `${formatBlock(other)} is released and given to ${line.claim} by one plan`);
      put(this.live, this.free(line));
    }
    for (const line of part.releasing) put(this.releasing, this.free(line));
  }

  holds(part: Part): boolean {
    const has = (lines: typeof this.live, line: Allocation) => {
      const found = lines.get(part.pool)?.get(line.address);
      return found !== undefined && sameLine(found, line);
    };
    const holds = (lines: typeof this.live, line: Allocation) =>
      lines.get(part.pool)?.get(line.address)?.claim === line.claim;
    const kept = new Set([...part.live, ...part.releasing].map((line) => line.address));
    return (
      part.live.every((line) => has(this.live, line)) &&
      part.releasing.every((line) => has(this.releasing, line)) &&
      part.remove.every((line) => kept.has(line.address) || !(holds(this.live, line) || holds(this.releasing, line)))
    );
  }

  record(recorded: readonly PoolRecord[], configured: readonly PoolRecord[]): Content {
    const allocations = [...this.live.values()].flatMap((lines) => [...lines.values()]).sort(byAddress);
    const releasing = [...this.releasing.values()].flatMap((lines) => [...lines.values()]).sort(byAddress);
    const inUse = new Set([...allocations, ...releasing].map((line) => line.pool));
    const known = new Map([...recorded, ...configured].map((pool) => [pool.name, pool]));
    // What is recorded stays, but for where the plan allocated last.
    for (const pool of recorded) {
      const { last = pool.last } = known.get(pool.name) ?? {};
      known.set(pool.name, last === undefined ? pool : { ...pool, last });
    }
    const pools = [...inUse].sort(byCodeUnit).map((name) => {
      const pool = known.get(name);
      if (pool === undefined)
        throw new IpamError("invalid", `the plan gives addresses of pool ${name}, which it does not define`);
      return pool;
    });
    return { pools, allocations, releasing };
  }

  private free(line: Allocation): Allocation {
    const holder = this.at(line);
    if (holder === undefined) return line;
    throw new IpamError("conflict", `${formatBlock(line)} is held by ${holder.claim}, not free for ${line.claim}`);
  }

  private at({ pool, address }: Allocation): Allocation | undefined {
    return this.live.get(pool)?.get(address) ?? this.releasing.get(pool)?.get(address);
  }
}

/** A plan may carry lines of an earlier read: what it takes away must be what stands there now. */
function refuseOther(found: Allocation | undefined, line: Allocation): void {
  if (found !== undefined && sameLine(found, line)) return;
  throw new IpamError("conflict", `${line.claim} no longer has ${formatBlock(line)} as this plan says`, {
    hint: "Plan again, with lines of the same read.",
  });
}

function index(lines: readonly Allocation[]): Map<string, Map<Address, Allocation>> {
  const pools = new Map<string, Map<Address, Allocation>>();
  for (const line of lines) put(pools, line);
  return pools;
}

function put(pools: Map<string, Map<Address, Allocation>>, line: Allocation): void {
  const lines = pools.get(line.pool);
  if (lines === undefined) pools.set(line.pool, new Map([[line.address, line]]));
  else lines.set(line.address, line);
}
