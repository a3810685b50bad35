import type { Allocation, Snapshot } from "../../../core/allocation.ts";
import type { Plan } from "../../../core/plan/plan.ts";
import { snapshotOf } from "./text.ts";

/** What a state backend holds after a commit of the plan. An address given twice stays visible as two lines. */
export function apply(plan: Plan, before: Snapshot): Snapshot {
  const place = (line: Allocation) => `${line.pool} ${line.address}`;
  const rewritten = [...plan.keep.map((kept) => kept.was ?? kept.allocation), ...plan.release.map((r) => r.allocation)];
  const gone = new Set(rewritten.map(place));
  const stays = (line: Allocation) => !gone.has(place(line));
  const leaving = plan.release.filter((release) => release.to === "releasing").map((release) => release.allocation);
  const kept = (isLeaving: boolean) =>
    plan.keep.flatMap(({ allocation, releasing = false }) => (releasing === isLeaving ? [allocation] : []));
  return snapshotOf(
    [...before.allocations.filter(stays), ...kept(false), ...plan.assign],
    [...before.releasing.filter(stays), ...kept(true), ...leaving],
    [
      ...plan.pools.map((pool) => ({ ...before.pools.find(({ name }) => name === pool.name), ...pool })),
      ...before.pools.filter((record) => !plan.pools.some((pool) => pool.name === record.name)),
    ],
  );
}

/** The record after people or nodes said that these releasing lines are gone. */
export function freed(before: Snapshot, isFree: (line: Allocation, i: number) => boolean): Snapshot {
  return snapshotOf(
    before.allocations,
    before.releasing.filter((line, i) => !isFree(line, i)),
    before.pools,
  );
}
