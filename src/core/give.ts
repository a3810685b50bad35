import { type Address, formatAddress } from "./address.ts";
import type { Allocation, PoolLines } from "./allocation.ts";
import type { Pending } from "./changes.ts";
import type { Remedy } from "./errors.ts";
import { FreeSpace } from "./free-space.ts";
import { howToGrow, type Pool } from "./pool.ts";
import { lineFor, mayHave, pendingOf, type Request, wantedBy } from "./request.ts";

interface Given {
  readonly assign: Allocation[];
  readonly pending: Pending[];
}

/** New addresses for these requests: first the wanted ones, then the lowest free ones, each in key order. */
export function give(pool: Pool, requests: readonly Request[], held: PoolLines, set: string): Given {
  const given: Given = { assign: [], pending: [] };
  const wanting = requests.filter(({ claim }) => wantedBy(claim, pool) !== undefined);
  const automatic = requests.filter(({ claim }) => wantedBy(claim, pool) === undefined);
  if (wanting.length > 0) giveWanted(pool, wanting, held, set, given);
  if (automatic.length > 0) giveLowest(pool, automatic, held, set, given);
  return given;
}

function giveWanted(pool: Pool, requests: readonly Request[], held: PoolLines, set: string, given: Given): void {
  const holders = new Map([...held.live, ...held.releasing].map((line) => [line.address, line]));
  for (const request of requests) {
    const wanted = wantedBy(request.claim, pool) as Address;
    const text = formatAddress(wanted);
    const holder = holders.get(wanted);
    if (!mayHave(request.claim, wanted, pool)) {
      const message = `${text} is not an address that pool ${pool.name} may give to it`;
      given.pending.push(pendingOf(request, "out-of-range", message, "See what it is to the pool.", ["explain", text]));
    } else if (holder !== undefined) {
      const message = `${text} is held by ${holder.claim}`;
      given.pending.push(pendingOf(request, "in-use", message, "Want another address, or release that one first."));
    } else {
      const line = lineFor(request, set, wanted);
      holders.set(wanted, line);
      given.assign.push(line);
    }
  }
}

function giveLowest(pool: Pool, requests: readonly Request[], held: PoolLines, set: string, given: Given): void {
  const space = new FreeSpace(pool.automatic, pool.skipsZeroAnd255);
  const taken = new Set([held.live, held.releasing, given.assign].flat().map((line) => line.address));
  for (const address of taken) space.take(address);
  const message = `pool ${pool.name} is exhausted: ${requests.length} needed, ${space.free} free`;
  const reserved = pool.reservations.all.filter(({ owner, address }) => owner !== undefined && !taken.has(address));
  const kept = reserved.length === 0 ? "" : `Free, but reserved for named owners: ${reserved.length}. `;
  const leaving = held.releasing.length;
  const free = leaving > 0 ? ` Or free the addresses that are releasing (${leaving}).` : "";
  const hint = `${kept}${howToGrow(pool)}${free}`;
  const remedy: Remedy | undefined = leaving > 0 ? ["release"] : undefined;
  for (const request of requests) {
    const address = space.takeLowest();
    if (address !== undefined) given.assign.push(lineFor(request, set, address));
    else given.pending.push(pendingOf(request, "exhausted", message, hint, remedy));
  }
}
