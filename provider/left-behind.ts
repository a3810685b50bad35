import {
  type Allocation,
  emptySnapshot,
  identityOf,
  type Pool,
  placeOf,
  Renames,
  type Snapshot,
} from "../core/index.ts";
import { contains } from "../core/range.ts";
import { hasMoved, isSameRecord, missingIn, type Recorded, readShared, refuseOther } from "./record.ts";
import { type Entry, entriesOf, recordOf, type SetInputs, type SetState, unknown } from "./set-state.ts";

/*
 * Nobody reads a record that a set has left: an address that stays behind there would be given to somebody else. So a set
 * changes its record, and comes to a pool, only where its own record then has all that the other one has.
 */

/** An address of a pool, and the network it is in. */
export interface Line {
  readonly line: Allocation;
  readonly network: string | undefined;
  readonly place: string;
}

/** What the stack's other records have of a set's pools. */
export interface Left {
  /** The set's own, in the record that it leaves. */
  readonly own: readonly Line[];
  /** Of others: in the record that it leaves, and of pools of which it has no address yet. */
  readonly others: readonly Line[];
}

export const nothingLeft: Left = { own: [], others: [] };

/** Throws IpamError `stale` for a record that is left and not the one that it was, or that has moved elsewhere. */
export async function leftBehind(inputs: SetInputs, pools: readonly Pool[], there: Recorded): Promise<Left> {
  const { state, previous } = inputs;
  const { own, others } = previous;
  const isAway = (one: SetState) => !isSameRecord(one, { state, identity: there.identity });
  const had = new Set([own?.addresses ?? {}, own?.releasing ?? {}].flatMap(entriesOf).map(({ pool }) => pool));
  const fresh = pools.filter(({ name }) => own?.addresses[name] === undefined || !had.has(name));
  const left = own !== undefined && isAway(own) ? own : undefined;
  // Within one record of others, claim sets keep sets apart; within the stack nothing does.
  const beside = others.filter((one) => fresh.length > 0 && (state.backend === "stack" || isAway(one)));
  const read = async (one: SetState) => linesOf(await readLeft(one, inputs, there));
  const record = left === undefined ? [] : await read(left);
  const elsewhere = (await Promise.all(beside.map(read))).flat();
  const isOwn = ({ line }: Line) => line.set === left?.set;
  return {
    own: record.filter(isOwn),
    others: [
      ...record.filter((one) => !isOwn(one) && pools.some((pool) => isOf(pool, one))),
      ...elsewhere.filter((one) => fresh.some((pool) => pool.name === one.line.pool || isOf(pool, one))),
    ],
  };
}

async function readLeft(of: SetState, inputs: SetInputs, there: Recorded): Promise<Snapshot> {
  if (of.state.backend === "stack") return recordOf([of]);
  try {
    const recorded = await readShared(of.state);
    refuseOther(of, recorded);
    return recorded.snapshot;
  } catch (error) {
    if (!hasMoved(error) || inputs.state.backend === "stack") throw error;
    // It has moved with all that was in it; where the program says that it is now, the set's addresses must be.
    const all = entriesOf(of.addresses);
    const held = of === inputs.previous.own ? stillClaimed(all, inputs) : all;
    if (missingIn(there.snapshot, held, inputs.moved).length > 0) throw error;
    return emptySnapshot;
  }
}

/** What is no longer claimed may have been released where the record is now. */
function stillClaimed(entries: readonly Entry[], { claims, moved }: SetInputs): readonly Entry[] {
  if (claims === unknown) return entries;
  const keys = new Set(claims.map(({ pool, key }) => identityOf({ pool, claim: key })));
  const renames = new Renames(moved);
  return entries.filter(({ pool, claim }) =>
    renames.after(claim).some((name) => keys.has(identityOf({ pool, claim: name }))),
  );
}

/** The lines of a record, each with its place. */
export function linesOf({ pools, allocations, releasing }: Snapshot): Line[] {
  const networks = new Map(pools.map(({ name, network }) => [name, network]));
  return [...releasing, ...allocations].map((line) => {
    const network = networks.get(line.pool);
    return { line, network, place: `${placeOf(line)} ${network}` };
  });
}

function isOf({ network, range }: Pool, one: Line): boolean {
  return network === one.network && contains(range, one.line.address);
}
