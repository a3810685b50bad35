import {
  type Claim,
  formatAddress,
  formatOwner,
  type Issue,
  listed,
  type Pool,
  placed,
  poolsAsked,
  type Reservation,
} from "../core/index.ts";
import { partition } from "../core/partition.ts";
import type { Desired } from "./desired.ts";
import { LikeNames } from "./like-names.ts";
import { presentOwners } from "./presence.ts";

type Known = Pick<Desired, "pools" | "claims" | "facts">;

/** A reservation of a pool for an owner. */
interface Reserved extends Reservation {
  readonly pool: Pool;
  readonly owner: string;
  /** Its place among the reservations of the pool. */
  readonly index: number;
}

/**
 * Returns what is wrong with reservations whose owner or claim is misspelt: their address would stay unused, and the owner who
 * is meant would get another one:
 *
 *  owner of the reservation | beside                                       | claim of the reservation         | decision
 *  -------------------------+----------------------------------------------+----------------------------------+---------
 *  present                  | any                                          | none, or one that it has here    | fine
 *  present                  | it has a claim here without a reservation    | one that it has not              | refuse
 *  present                  | all its claims here have reservations        | one that it has not              | fine
 *  absent                   | a present owner of a like name that has      | any                              | refuse
 *                           | a claim here, and no reservation             |                                  |
 *  absent                   | no present owner of a like name              | any                              | fine
 */
export function misspeltReservers(known: Known): Issue[] {
  const there = presentOwners(known);
  return known.pools.flatMap((pool): Issue[] => {
    const all = reservedIn(pool);
    if (all.length === 0) return [];
    const claims = known.claims.filter((claim) => poolsAsked(claim).includes(pool.name));
    const [present, absent] = partition(all, ({ owner }) => there.has(owner));
    return [...misspeltClaims(present, claims), ...misspeltOwners(absent, all, claims)];
  });
}

/** Returns the reservations for owners that are not there: they may be misspelt, or are to come. */
export function reservedForAbsent(known: Known): Reserved[] {
  const there = presentOwners(known);
  return known.pools.flatMap(reservedIn).filter(({ owner }) => !there.has(owner));
}

function reservedIn(pool: Pool): Reserved[] {
  return pool.reservations.all.flatMap(({ owner, ...one }, index) =>
    owner === undefined ? [] : { ...one, owner, pool, index },
  );
}

function misspeltOwners(absent: readonly Reserved[], all: readonly Reserved[], claims: readonly Claim[]): Issue[] {
  if (absent.length === 0) return [];
  const reserved = new Set(all.map(({ owner }) => owner));
  const names = new LikeNames(claims.map(({ owner }) => formatOwner(owner)).filter((owner) => !reserved.has(owner)));
  return absent.flatMap(({ pool, index, address, owner }): Issue[] => {
    const meant = names.like(owner);
    if (meant === undefined) return [];
    return [
      {
        message: `pool ${pool.name} reserves ${formatAddress(address)} for ${owner}, which is not there; did you mean ${meant}?`,
        ...placed(pool.at?.(["reservations", index, "owner"])),
        hint: `Write ${meant}. If ${owner} is to come, leave its owner out until then: nobody gets the address.`,
      },
    ];
  });
}

function misspeltClaims(present: readonly Reserved[], claims: readonly Claim[]): Issue[] {
  const named = present.filter(({ claim }) => claim !== undefined);
  if (named.length === 0) return [];
  const byOwner = Map.groupBy(claims, ({ owner }) => formatOwner(owner));
  return named.flatMap(({ pool, index, address, owner, claim }): Issue[] => {
    const own = byOwner.get(owner) ?? [];
    if (own.some(({ name }) => name === claim)) return [];
    const unreserved = own.filter((one) => pool.reservations.for(one) === undefined).map(({ name }) => name);
    if (unreserved.length === 0) return [];
    return [
      {
        message: `pool ${pool.name} reserves ${formatAddress(address)} for claim ${claim} of ${owner}, which has no such claim on the pool`,
        ...placed(pool.at?.(["reservations", index, "claim"])),
        hint: `Write one that it has: ${listed(unreserved)}. If ${claim} is to come, leave owner and claim out until then: nobody gets the address.`,
      },
    ];
  });
}
