import {
  type Address,
  bitsOf,
  blockAt,
  contains,
  familyOf,
  holds,
  type Interval,
  intervalOf,
  isPlanned,
  type Pool,
  type Range,
  type Reservation,
  rangeOf,
} from "../../core/index.ts";
import { distance, hostBitsOf, isNumbered, wholeBlocks } from "../../core/numbering.ts";

/** What an address is to its pool as long as nobody holds it. */
export type StandingKind =
  | "free"
  /** Allocated only on request, never automatically: IPv4 last octets 0 and 255. */
  | "on-request"
  /** Kept for an owner. */
  | "reserved"
  /** Never handed out: excluded, kept away, or (also outside the range) the network's own. */
  | "excluded"
  /** The controller's to hand out: the record of the plan-time tools says nothing about it. */
  | "controller"
  | "outside";

export interface Standing {
  readonly kind: StandingKind;
  readonly text: string;
  readonly reservation?: Reservation;
}

/** Tells what each address is to this pool. A pool with authority Cluster is the controller's as a whole. */
export function standings(pool: Pool): (address: Address) => Standing {
  const special = specialOf(pool);
  const controller = controllerRange(pool);
  const subnet = rangeOf(pool.prefix);
  return (address) => {
    const own = special.get(address);
    if (own !== undefined) return { kind: "excluded", text: own };
    if (!contains(subnet, address)) return { kind: "outside", text: "outside its subnet" };
    if (!contains(pool.range, address)) return { kind: "outside", text: "outside its range" };
    const reservation = pool.reservations.at(address);
    if (reservation !== undefined) return reserved(reservation);
    if (contains(controller, address)) return { kind: "controller", text: "only the controller hands it out" };
    if (!contains(pool.assignable, address)) return { kind: "excluded", text: "excluded" };
    if (!holds(pool.assignable, blockAt(address, pool.blockLength)))
      return { kind: "excluded", text: "in a block that the pool does not have, or excludes, in part" };
    return isCounted(pool, address) && contains(pool.automatic, address)
      ? { kind: "free", text: "free" }
      : { kind: "on-request", text: "free, but never picked automatically" };
  };
}

/** Every interval at whose ends the standing of addresses may change, but for last octets. */
export function intervalsOf(pool: Pool): Interval[] {
  const hostBits = hostBitsOf(pool);
  const whole = wholeBlocks(pool.assignable, hostBits).map(
    ({ first, last }) => ({ first: first << hostBits, last: ((last + 1n) << hostBits) - 1n }) as Interval,
  );
  const special = [...specialOf(pool).keys()].map((address) => intervalOf({ address }));
  const kept = pool.reservations.all.map(({ address }) => intervalOf(blockAt(address, pool.blockLength)));
  return [
    ...pool.range,
    ...pool.assignable,
    ...pool.automatic,
    ...controllerRange(pool),
    ...whole,
    ...special,
    ...kept,
  ];
}

/** How many addresses of an interval may be picked automatically, as far as their last octets say. */
export function countedIn(pool: Pool, interval: Interval): bigint {
  return distance(interval.first, (interval.last + 1n) as Address, pool.skipsZeroAnd255);
}

export function isCounted(pool: Pool, address: Address): boolean {
  return isNumbered(address, pool.skipsZeroAnd255);
}

/** What only the controller hands out. */
function controllerRange(pool: Pool): Range {
  return isPlanned(pool) ? pool.clusterRange : pool.assignable;
}

function reserved(reservation: Reservation): Standing {
  const { owner, claim, description } = reservation;
  const why = description === undefined ? "" : `: ${description}`;
  if (owner === undefined) return { kind: "excluded", text: `reserved for nobody${why}`, reservation };
  const whose = claim === undefined ? owner : `${owner} (${claim})`;
  return { kind: "reserved", text: `reserved for ${whose}${why}`, reservation };
}

/** The network's own addresses; the gateway is named first where it is also something else. */
function specialOf({ prefix, gateway, blockLength }: Pool): Map<Address, string> {
  const special = new Map<Address, string>();
  const family = familyOf(prefix.first);
  if (prefix.length < bitsOf(family) - 1 && blockLength === bitsOf(family)) {
    const name = family === 4 ? "network address" : "subnet-router anycast address";
    special.set(prefix.first, `reserved as ${name}`);
    if (family === 4) special.set(prefix.last, "reserved as broadcast address");
  }
  if (gateway !== undefined) special.set(gateway, "reserved as gateway");
  return special;
}
