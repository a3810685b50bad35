import type { Address } from "../address.ts";
import type { Allocation, PoolLines } from "../allocation.ts";
import { type Block, BlockIndex, formatBlock } from "../block.ts";
import { formatOwner } from "../claim.ts";
import type { Remedy } from "../errors.ts";
import { type FreeSpace, freeSpaceOf } from "../free-space.ts";
import { howToGrow, type Pool } from "../pool.ts";
import { fieldsOf } from "../pool-words.ts";
import type { Pending } from "./changes.ts";
import { inUse, lineFor, mayHave, pendingOf, type Request, wantedBy } from "./request.ts";

interface Given {
  readonly assign: Allocation[];
  readonly pending: Pending[];
  /** The address that was allocated last in the order of the pool; undefined if none was. */
  last?: Address;
}

/** New addresses for these requests: first the wanted ones, then free ones in the order of the pool, each in key order. A pool that is disabled gives only the wanted ones. */
export function give(pool: Pool, requests: readonly Request[], held: PoolLines, set: string): Given {
  const given: Given = { assign: [], pending: [] };
  const wanting = requests.filter(({ claim }) => wantedBy(claim, pool) !== undefined);
  const automatic = requests.filter(({ claim }) => wantedBy(claim, pool) === undefined);
  if (wanting.length > 0) giveWanted(pool, wanting, held, set, given);
  if (automatic.length > 0) giveFree(pool, automatic, held, set, given);
  return given;
}

function giveWanted(pool: Pool, requests: readonly Request[], held: PoolLines, set: string, given: Given): void {
  const holders = new BlockIndex([...held.live, ...held.releasing]);
  // All of one length: two of them that overlap are the same.
  const fresh = new Map<Address, Allocation>();
  for (const request of requests) {
    const wanted = wantedBy(request.claim, pool) as Block;
    const text = formatBlock(wanted);
    const holder = holders.at(wanted)[0] ?? fresh.get(wanted.address);
    if (!mayHave(request.claim, wanted, pool)) {
      const message = `${text} is not an address that pool ${pool.name} may give to it`;
      given.pending.push(pendingOf(request, "out-of-range", message, `Look at its ${fieldsOf(pool)}.`));
    } else if (holder !== undefined) {
      const message = `${text} is held by ${holder.claim}`;
      given.pending.push(inUse(request, message, howToGet));
    } else {
      const line = lineFor(request, set, wanted);
      fresh.set(wanted.address, line);
      given.assign.push(line);
    }
  }
}

const howToGet =
  "Want another address, or release that one first; a reservation may say for which claim of its owner it is.";

function giveFree(pool: Pool, requests: readonly Request[], held: PoolLines, set: string, given: Given): void {
  if (pool.rules.disable) {
    const [message, hint] = [`pool ${pool.name} is disabled`, "Take disable out of it, or ask another pool."];
    given.pending.push(...requests.map((request) => pendingOf(request, "exhausted", message, hint)));
    return;
  }
  const taken = [held.live, held.releasing, given.assign];
  const space = freeSpaceOf(pool, pool.automatic, ...taken);
  const pick = picker(pool, space, requests, held.last);
  const message = `pool ${pool.name} is exhausted: ${requests.length} needed, ${space.free} free`;
  const served = requests.findIndex((request) => {
    const address = pick();
    if (address === undefined) return true;
    given.assign.push(lineFor(request, set, { address, length: pool.blockLength }));
    given.last = address;
    return false;
  });
  if (served < 0) return;
  const releasing = held.releasing.length;
  const hint = howToGrow(pool) + (releasing > 0 ? ` Or free the addresses that are releasing (${releasing}).` : "");
  const remedy: Remedy | undefined = releasing > 0 ? ["release"] : undefined;
  for (const request of requests.slice(served))
    given.pending.push(pendingOf(request, "exhausted", message, hint, remedy));
}

/**
 * Takes free blocks in the order of the pool.
 *
 *  order  | the first one                            | the others
 *  -------+------------------------------------------+---------------------------------------
 *  Lowest | the lowest free one                      | the lowest free one
 *  Hashed | the one that the first owner's name      | the next free one, around to the lowest
 *         |  chooses, so that branches seldom meet   |
 *  Next   | the next free one after the last one     | the next free one, around to the lowest
 *         |  that was allocated in this order        |
 *
 * Of Hashed the first one alone is chosen by a hash: five addresses in a row touch one or two gaps between the lines of a
 * lock, five scattered ones touch five, and two branches that insert lines in one gap are a conflict to git.
 */
function picker(
  { allocationOrder }: Pool,
  space: FreeSpace,
  [first]: readonly Request[],
  last: Address | undefined,
): () => Address | undefined {
  if (allocationOrder === "Lowest") return () => space.takeLowest();
  if (allocationOrder === "Hashed" && first !== undefined) space.beginAtHashOf(formatOwner(first.claim.owner));
  if (allocationOrder === "Next" && last !== undefined) space.beginAfter(last);
  return () => space.takeNext();
}
