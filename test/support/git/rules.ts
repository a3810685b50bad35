import { formatAddress } from "../../../core/address.ts";
import type { Allocation, Snapshot } from "../../../core/allocation.ts";
import type { Merged } from "../../../state/merge.ts";
import { duplicates, places, type Standing, standingText } from "../state/record.ts";

/** Three records of a merge. */
export interface Records {
  readonly base: Snapshot;
  readonly ours: Snapshot;
  readonly theirs: Snapshot;
}

export type Side = "ours" | "theirs";

interface Sides {
  readonly base: ReadonlyMap<string, Standing>;
  readonly ours: ReadonlyMap<string, Standing>;
  readonly theirs: ReadonlyMap<string, Standing>;
}

function sidesOf({ base, ours, theirs }: Records): Sides {
  return { base: places(base), ours: places(ours), theirs: places(theirs) };
}

const same = (a: Standing | undefined, b: Standing | undefined) => standingText(a) === standingText(b);
const otherOf = { ours: "theirs", theirs: "ours" } as const;

/** Did only the other side change what stands at this place? Then that is what the merge takes. */
function yields(sides: Sides, side: Side, place: string): boolean {
  const base = sides.base.get(place);
  return same(sides[side].get(place), base) && !same(sides[otherOf[side]].get(place), base);
}

/** What a merge did that it may not do; empty if all is well. */
export function violations(records: Records, { snapshot, losers }: Merged, landed?: Side): string[] {
  const sides = sidesOf(records);
  const result = places(snapshot);
  const lost = new Set(losers.map(({ line }) => keyOf(line)));
  return [
    ...duplicates(snapshot).map((text) => `${text} is there twice`),
    ...[...result].flatMap(([place, standing]) => {
      const isWritten = same(standing, sides.ours.get(place)) || same(standing, sides.theirs.get(place));
      return isWritten || (lost.has(keyOf(standing.line)) && isHandedBack(sides, standing))
        ? []
        : [`nobody wrote ${standingText(standing)}`];
    }),
    ...(["ours", "theirs"] as const).flatMap((side) =>
      [...sides[side]].flatMap(([place, standing]) => {
        if (yields(sides, side, place)) return [];
        const now = result.get(place);
        const asLanded = landed !== undefined && same(now, sides[landed].get(place));
        const kept = now?.line.claim === standing.line.claim && (!now.releasing || standing.releasing || asLanded);
        if (kept || (side !== landed && lost.has(keyOf(standing.line)))) return [];
        return [`${standingText(standing)} of ${side} became ${standingText(now)}`];
      }),
    ),
    ...losers.flatMap((loser) => falseLoser(loser, sides, snapshot)),
    ...(landed === undefined ? losers.map(({ line }) => `${keyOf(line)} lost though nobody said who landed`) : []),
  ];
}

function keyOf(line: Allocation): string {
  return `${line.pool} ${line.address} ${line.claim}`;
}

/** An address that a loser had in the base may still be on its node: it is releasing. */
function isHandedBack(sides: Sides, { line, releasing }: Standing): boolean {
  return releasing && sides.base.get(`${line.pool} ${formatAddress(line.address)}`)?.line.claim === line.claim;
}

function falseLoser({ line, winner }: Merged["losers"][number], sides: Sides, snapshot: Snapshot): string[] {
  const written = [...sides.ours.values(), ...sides.theirs.values()].some((one) => one.line === line);
  const now = [...snapshot.allocations, ...snapshot.releasing].map(keyOf);
  if (!written) return [`loser ${keyOf(line)} was in neither side`];
  const found = places(snapshot).get(`${line.pool} ${formatAddress(line.address)}`);
  if (found?.line.claim === line.claim && !isHandedBack(sides, found)) return [`loser ${keyOf(line)} is still there`];
  if (!now.includes(keyOf(winner))) return [`winner ${keyOf(winner)} is not there`];
  return collide(networksOf(snapshot), { line, releasing: false }, { line: winner, releasing: false })
    ? []
    : [`${keyOf(line)} lost to ${keyOf(winner)} for no reason`];
}

function networksOf(...records: readonly Omit<Snapshot, "base">[]): Map<string, string> {
  return new Map(records.flatMap(({ pools }) => pools.map((pool) => [pool.name, pool.network] as const)));
}

function collide(networks: Map<string, string>, a: Standing, b: Standing): boolean {
  const sameAddress = a.line.address === b.line.address && networks.get(a.line.pool) === networks.get(b.line.pool);
  const sameClaim = a.line.claim === b.line.claim && a.line.pool === b.line.pool;
  const bothLive = !(a.releasing || b.releasing);
  return sameAddress ? !sameClaim : sameClaim && bothLive;
}

/** Did the two branches give one address to two claims, or one claim two addresses? Every pair is compared. */
export function collides(records: Records): boolean {
  const sides = sidesOf(records);
  const networks = networksOf(records.ours, records.theirs);
  const standing = (side: Side) => [...sides[side]].filter(([place]) => !yields(sides, side, place)).map(([, s]) => s);
  const theirs = standing("theirs");
  return standing("ours").some((a) => theirs.some((b) => collide(networks, a, b)));
}

/** Did one side rename the owner of a live line, and the other one change something else of it? Then nobody may be in force. */
export function isHalfRenamed(records: Records): boolean {
  const sides = sidesOf(records);
  const ownerOf = ({ line }: Standing) => line.claim.split("/")[1];
  return [...sides.base].some(([place, before]) => {
    const both = [sides.ours, sides.theirs].map((side) => side.get(place));
    if (!both.every((now) => now !== undefined && !now.releasing && !same(now, before))) return false;
    return both.filter((now) => now !== undefined && ownerOf(now) !== ownerOf(before)).length === 1;
  });
}

/** Live lines of a side that are live in this record no more, though their place was that side's to decide. */
export function unkept(records: Records, side: Side, record: Omit<Snapshot, "base">): string[] {
  const sides = sidesOf(records);
  const now = places(record);
  return [...sides[side]].flatMap(([place, standing]) => {
    const found = now.get(place);
    const kept = found !== undefined && found.line.claim === standing.line.claim && !found.releasing;
    if (kept || standing.releasing || yields(sides, side, place)) return [];
    return [`${standingText(standing)} became ${standingText(found)}`];
  });
}

/** Lines that stand neither where ours has them nor where theirs has them. */
export function strayed({ ours, theirs }: Records, record: Snapshot): string[] {
  const written = [ours, theirs].map(places);
  return [...places(record)].flatMap(([place, standing]) =>
    written.some((side) => same(side.get(place), standing)) ? [] : [standingText(standing)],
  );
}
