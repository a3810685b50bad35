import { type Allocation, describeChanges, type Plan, type Pool, type Snapshot, shortened } from "../core/index.ts";
import { count, describePool, usage } from "./pools/pool-words.ts";
import { type Colour, paint } from "./terminal.ts";

/** A plan as people read it: a block for each pool that has something to say, and one line that sums up. */
export function reportPlan(made: Plan, pools: readonly Pool[], snapshot: Snapshot): string[] {
  const blocks = pools.flatMap((pool) => [poolHeading(pool, snapshot, made), ...changeLines(made, pool.name)]);
  const configured = new Set(pools.map((pool) => pool.name));
  const gone = [...new Set(made.release.map(({ allocation }) => allocation.pool))].filter(
    (name) => !configured.has(name),
  );
  return [
    ...blocks,
    ...gone.flatMap((name) => [
      `Pool ${paint("bold", name)}  no longer defined here; if another folder plans it, give each a claim set of its own (--set)`,
      ...changeLines(made, name),
    ]),
    summary(made),
  ];
}

export function summary(made: Plan): string {
  const kept = made.keep.length;
  const changed = made.keep.filter(({ was }) => was !== undefined).length;
  const parts = [
    `${made.assign.length} to allocate`,
    `${kept} kept${changed > 0 ? ` (${changed} rewritten)` : ""}`,
    `${made.release.length} to release`,
    ...(made.pending.length > 0 ? [paint("red", `${made.pending.length} pending`)] : []),
  ];
  return `Plan: ${parts.join(", ")}.`;
}

function poolHeading(pool: Pool, snapshot: Snapshot, made: Plan): string {
  const here = (lines: readonly Allocation[]) => lines.filter((line) => line.pool === pool.name);
  const [live, releasing, fresh] = [snapshot.allocations, snapshot.releasing, made.assign].map(here) as [
    Allocation[],
    Allocation[],
    Allocation[],
  ];
  const { capacity, reserved, free } = usage(pool, [...live, ...releasing, ...fresh]);
  const counts = [
    `${count(capacity)} usable`,
    `${live.length} held`,
    ...(releasing.length > 0 ? [`${releasing.length} releasing`] : []),
    ...(fresh.length > 0 ? [`${fresh.length} new`] : []),
    ...(reserved > 0n ? [`${count(reserved)} reserved`] : []),
    `${count(free)} free`,
  ];
  return `Pool ${paint("bold", pool.name)}  ${describePool(pool)}   ${counts.join("  ")}`;
}

/** The lines of a plan that change something, and a count of the rest. */
export function changeLines(made: Plan, pool?: string): string[] {
  return [...describeChanges(made, pool).map(changeLine), ...keptLine(made, pool)];
}

/** The same, as much of it as an error can hold. */
export function driftLines(made: Plan): string[] {
  return [...shortened(describeChanges(made)).map(changeLine), ...keptLine(made)];
}

function keptLine(made: Plan, pool?: string): string[] {
  const here = (line: Allocation) => pool === undefined || line.pool === pool;
  const unchanged = made.keep.filter(({ allocation, was }) => was === undefined && here(allocation)).length;
  return unchanged > 0 ? [paint("dim", `  = ${unchanged} kept`)] : [];
}

const colours: Readonly<Record<string, Colour>> = { "+": "green", "~": "yellow", "-": "red", "!": "red" };

function changeLine(line: string): string {
  return paint(colours[line[0] as string] ?? "dim", `  ${line}`);
}
