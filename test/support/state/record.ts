import { formatAddress } from "../../../core/address.ts";
import type { Allocation, Snapshot } from "../../../core/allocation.ts";
import { sharing } from "../core/model.ts";
import { textOf } from "../core/text.ts";

/** What a record holds twice: an address in a network, a live claim in a pool. By counting, not by the reader's own checks. */
export function duplicates({ pools, allocations, releasing }: Omit<Snapshot, "base">): string[] {
  const network = new Map(pools.map((pool) => [pool.name, pool.network]));
  const lines = Map.groupBy([...allocations, ...releasing], (line) => network.get(line.pool));
  const shared = [...lines].flatMap(([name, group]) => sharing(group).map((pair) => `${pair} of network ${name}`));
  const claims = allocations.map((line) => `${line.claim} in ${line.pool}`);
  return [...shared, ...twice(claims)];
}

function twice(list: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const item of list) counts.set(item, (counts.get(item) ?? 0) + 1);
  return [...counts].filter(([, count]) => count > 1).map(([item]) => item);
}

/** A line and the list it stands in. */
export interface Standing {
  readonly line: Allocation;
  readonly releasing: boolean;
}

/** The lines of a record by pool and address. */
export function places(record: Omit<Snapshot, "base">): ReadonlyMap<string, Standing> {
  const known = placesOf.get(record) ?? listPlaces(record);
  placesOf.set(record, known);
  return known;
}

// Records never change, and thousands of merges look at the same ones.
const placesOf = new WeakMap<object, ReadonlyMap<string, Standing>>();
const textsOf = new WeakMap<Standing, string>();

function listPlaces(record: Omit<Snapshot, "base">): ReadonlyMap<string, Standing> {
  const place = (releasing: boolean) => (line: Allocation) =>
    [`${line.pool} ${formatAddress(line.address)}`, { line, releasing }] as const;
  return new Map([...record.allocations.map(place(false)), ...record.releasing.map(place(true))]);
}

/** A line as a test prints it; equal texts are equal lines. */
export function standingText(standing: Standing | undefined): string {
  if (standing === undefined) return "nothing";
  const text = textsOf.get(standing) ?? `${textOf(standing.line)}${standing.releasing ? " releasing" : ""}`;
  textsOf.set(standing, text);
  return text;
}

/** A record as `recordOf` reads it. */
export function recordTexts(record: Omit<Snapshot, "base">): string[] {
  return [...places(record).values()].map(standingText);
}

/** The address that each live claim has. */
export function holders(record: Omit<Snapshot, "base">): Map<string, string> {
  return new Map(record.allocations.map((line) => [`${line.claim} in ${line.pool}`, formatAddress(line.address)]));
}
