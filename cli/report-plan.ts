import { type Allocation, describeChanges, type Plan, type Pool, type Snapshot, shortened } from "../core/index.ts";
import { poolHeading } from "./pools/pool-text.ts";
import { type Colour, paint } from "./terminal.ts";

/** A plan as people read it: a block for each pool that has something to say, and one line that sums up. */
export function reportPlan(proposed: Plan, pools: readonly Pool[], snapshot: Snapshot): string[] {
  const here = (lines: readonly Allocation[], name: string) => lines.filter((line) => line.pool === name);
  const heading = (pool: Pool) => {
    const [live, releasing] = [here(snapshot.allocations, pool.name), here(snapshot.releasing, pool.name)];
    return poolHeading({ record: pool, pool, live, releasing }, here(proposed.assign, pool.name));
  };
  const configured = new Set(pools.map((pool) => pool.name));
  const gone = new Set(
    proposed.release.map(({ allocation }) => allocation.pool).filter((name) => !configured.has(name)),
  );
  return [
    ...pools.flatMap((pool) => [heading(pool), ...changeLines(proposed, pool.name)]),
    ...[...gone].flatMap((name) => [`Pool ${paint("bold", name)}  not defined here`, ...changeLines(proposed, name)]),
    summary(proposed),
  ];
}

export function summary(proposed: Plan): string {
  const kept = proposed.keep.length;
  const changed = proposed.keep.filter(({ was }) => was !== undefined).length;
  const parts = [
    `${proposed.assign.length} to allocate`,
    `${kept} kept${changed > 0 ? ` (${changed} rewritten)` : ""}`,
    `${proposed.release.length} to release`,
    ...(proposed.pending.length > 0 ? [paint("red", `${proposed.pending.length} pending`)] : []),
  ];
  return `Plan: ${parts.join(", ")}.`;
}

/** The lines of a plan that change something, and a count of the rest. */
export function changeLines(proposed: Plan, pool?: string): string[] {
  return [
    ...describeChanges(proposed, pool).map(changeLine),
    ...keptLine(proposed, pool).map((line) => paint("dim", line)),
  ];
}

/** The same, as much of it as an error can hold, and without colours: an error is also printed as JSON. */
export function driftLines(proposed: Plan): string[] {
  const changes = shortened(describeChanges(proposed)).map((line) => `  ${line}`);
  return [...changes, ...keptLine(proposed)];
}

function keptLine(proposed: Plan, pool?: string): string[] {
  const here = (line: Allocation) => pool === undefined || line.pool === pool;
  const unchanged = proposed.keep.filter(({ allocation, was }) => was === undefined && here(allocation)).length;
  return unchanged > 0 ? [`  = ${unchanged} kept`] : [];
}

const colours: Readonly<Record<string, Colour>> = { "+": "green", "~": "yellow", "-": "red", "!": "red" };

function changeLine(line: string): string {
  return paint(colours[line[0] as string] ?? "dim", `  ${line}`);
}
