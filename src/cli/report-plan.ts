import {
  type Allocation,
  describeChanges,
  FreeSpace,
  familyOf,
  formatAddress,
  formatPrefix,
  type Plan,
  type Pool,
  type Snapshot,
  shortened,
  sizeOf,
} from "../core/index.ts";
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
    ...(reserved > 0n ? [`${reserved} reserved`] : []),
    `${count(free)} free`,
  ];
  return `Pool ${paint("bold", pool.name)}  ${describePool(pool)}   ${counts.join("  ")}`;
}

/** How full a pool is with these lines in it. `reserved`: kept for owners who hold nothing yet. */
export function usage(pool: Pool, lines: readonly Allocation[]) {
  const forAny = new FreeSpace(pool.automatic, pool.skipsZeroAnd255);
  const forNamed = new FreeSpace(pool.assignable, pool.skipsZeroAnd255);
  for (const { address } of lines) {
    forAny.take(address);
    forNamed.take(address);
  }
  return { capacity: forNamed.capacity, reserved: forNamed.free - forAny.free, free: forAny.free };
}

/** A number of addresses; of those nobody counts, the order of magnitude. */
export function count(addresses: bigint): string {
  return addresses < 100_000_000n ? `${addresses}` : Number(addresses).toExponential(1).replace("e+", "e");
}

/** `10.10.10.0/24 .1-.10 less 2` */
export function describePool(pool: Pool): string {
  const intervals = pool.range.map(({ first, last }) => {
    const short = (address: typeof first) => {
      const text = formatAddress(address);
      return familyOf(address) === 4 && pool.prefix.length >= 24 ? text.slice(text.lastIndexOf(".")) : text;
    };
    return first === last ? short(first) : `${short(first)}-${short(last)}`;
  });
  const excluded = sizeOf(pool.range) - sizeOf(pool.assignable);
  const words = [formatPrefix(pool.prefix), ...(isWhole(pool) ? [] : [intervals.join(", ")])];
  return [...words, ...(excluded > 0n ? [`less ${excluded}`] : [])].join(" ");
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

/** Has it all of an IPv6 prefix? Its last address need not be read then. */
function isWhole({ prefix, range }: Pool): boolean {
  const [only, ...others] = range;
  if (only === undefined || others.length > 0 || familyOf(prefix.first) === 4) return false;
  return only.first <= prefix.first + 1n && only.last === prefix.last;
}
