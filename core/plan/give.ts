import type { Address } from "../address.ts";
import type { Allocation, PoolLines } from "../allocation.ts";
import { type Block, BlockIndex, formatBlock } from "../block.ts";
import { ownerName, ownerOfKey } from "../claim.ts";
import type { Remedy } from "../errors.ts";
import { freeSpaceOf } from "../free-space.ts";
import { howToGrow, type Pool } from "../pool.ts";
import { listed } from "../words.ts";
import type { Pending } from "./changes.ts";
import { lineFor, mayHave, pendingOf, type Request, wantedBy } from "./request.ts";

interface Given {
  readonly assign: Allocation[];
  readonly pending: Pending[];
}

/** The lines of a pool; `gone` are those live ones whose owners leave it by the same plan: nobody gets their addresses yet, and hints name them. */
interface Held extends PoolLines {
  readonly gone: readonly Allocation[];
}

/** New addresses for these requests: first the wanted ones, then the lowest free ones, each in key order. */
export function give(pool: Pool, requests: readonly Request[], held: Held, set: string): Given {
  const given: Given = { assign: [], pending: [] };
  const wanting = requests.filter(({ claim }) => wantedBy(claim, pool) !== undefined);
  const automatic = requests.filter(({ claim }) => wantedBy(claim, pool) === undefined);
  if (wanting.length > 0) giveWanted(pool, wanting, held, set, given);
  if (automatic.length > 0) giveLowest(pool, automatic, held, set, given);
  return given;
}

function giveWanted(pool: Pool, requests: readonly Request[], held: Held, set: string, given: Given): void {
  const holders = new BlockIndex([...held.live, ...held.releasing]);
  // All of one length: two of them that overlap are the same.
  const fresh = new Map<Address, Allocation>();
  for (const request of requests) {
    const wanted = wantedBy(request.claim, pool) as Block;
    const text = formatBlock(wanted);
    const holder = holders.at(wanted)[0] ?? fresh.get(wanted.address);
    if (!mayHave(request.claim, wanted, pool)) {
      const message = `${text} is not an address that pool ${pool.name} may give to it`;
      given.pending.push(pendingOf(request, "out-of-range", message, whatToLookAt));
    } else if (holder !== undefined) {
      const message = `${text} is held by ${holder.claim}`;
      given.pending.push(pendingOf(request, "in-use", message, howToGet(request, holder, pool, held.gone)));
    } else {
      const line = lineFor(request, set, wanted);
      fresh.set(wanted.address, line);
      given.assign.push(line);
    }
  }
}

const whatToLookAt = "Look at the range, gateway, exclude and reservations of the pool.";

function howToGet(request: Request, holder: Allocation, pool: Pool, gone: readonly Allocation[]): string {
  if (gone.includes(holder)) return whatOfGone([holder]);
  return isForOwner(request, holder, pool)
    ? "Say in the reservation which claim of its owner it is for."
    : "Want another address, or release that one first.";
}

/** Is it reserved for an owner, and another of its claims has it? */
function isForOwner({ claim }: Request, holder: Allocation, pool: Pool): boolean {
  const kept = pool.reservations.at(holder.address);
  return (
    kept?.owner !== undefined &&
    kept.claim === undefined &&
    kept.owner === ownerOfKey(holder.claim) &&
    claim.wanted === undefined
  );
}

function giveLowest(pool: Pool, requests: readonly Request[], held: Held, set: string, given: Given): void {
  const taken = [held.live, held.releasing, given.assign];
  const space = freeSpaceOf(pool, pool.automatic, ...taken);
  const message = `pool ${pool.name} is exhausted: ${requests.length} needed, ${space.free} free`;
  const served = requests.findIndex((request) => {
    const address = space.takeLowest();
    if (address !== undefined) given.assign.push(lineFor(request, set, { address, length: pool.blockLength }));
    return address === undefined;
  });
  if (served < 0) return;
  const hint = howToGetMore(pool, new BlockIndex(taken.flat()), held);
  const remedy: Remedy | undefined = held.releasing.length > 0 ? ["release"] : undefined;
  for (const request of requests.slice(served))
    given.pending.push(pendingOf(request, "exhausted", message, hint, remedy));
}

function howToGetMore(pool: Pool, taken: BlockIndex<Block>, { releasing, gone }: Held): string {
  const isFree = (address: Address) => taken.at({ address, length: pool.blockLength }).length === 0;
  const reserved = pool.reservations.all.filter(({ owner, address }) => owner !== undefined && isFree(address));
  const kept = reserved.length === 0 ? "" : `Free, but reserved for named owners: ${reserved.length}. `;
  const leaving = gone.length === 0 ? "" : ` ${whatOfGone(gone)}`;
  const free = releasing.length === 0 ? "" : ` Or free the addresses that are releasing (${releasing.length}).`;
  return `${kept}${howToGrow(pool)}${leaving}${free}`;
}

/** They may have other names now, be gone, or be somebody else's. */
function whatOfGone(gone: readonly Allocation[]): string {
  const owners = [...new Set(gone.map(({ claim }) => ownerName(claim)))];
  const foreign = owners.length === 1 ? "" : " If another folder or app plans them, that needs a claim set of its own.";
  return `${listed(owners)} would leave it: declare the rename, if it is one.${foreign} Else record that first, without who comes, and free the address when it is off the node.`;
}
