import { type Address, formatAddress } from "./address.ts";
import type { Allocation } from "./allocation.ts";
import { type Claim, formatOwner, nameOfKey, ownerOfKey } from "./claim.ts";
import { FreeSpace } from "./free-space.ts";
import type { Changes, Kept, Pending, Release } from "./plan.ts";
import type { Pool } from "./pool.ts";
import { contains } from "./range.ts";

/** A claim with its key. */
export interface Request {
  readonly key: string;
  readonly claim: Claim;
}

interface Lines {
  readonly live: readonly Allocation[];
  readonly releasing: readonly Allocation[];
}

interface Options {
  readonly set: string;
  readonly allowMove: boolean;
  readonly movedFrom: ReadonlyMap<string, string>;
}

/**
 * The decisions for one pool; pools never meet, because no two of one network share an address.
 * `pool` is undefined where the record has lines of a pool that is configured no more.
 *
 *  line of the claim  | its address           | decision
 *  -------------------+-----------------------+--------------------------------------------------------
 *  of another set     | any                   | pending in-use
 *  of another uid     | any                   | pending in-use (Nodes adopt: a re-imaged node is the same node)
 *  live               | as wanted, assignable | keep
 *  live               | other                 | pending in-use; with allowMove: release, and ask anew
 *  releasing          | as wanted, assignable | keep: back to live
 *  releasing          | other                 | ask anew; the old address stays releasing
 *  none               | -                     | ask anew
 *
 *  asks anew          | its owner loses a line of this pool in this plan: pending in-use, unless allowMove
 *  ... wanted         | not assignable: pending out-of-range; held: pending in-use; else assign
 *  ... any            | lowest free address; none left: pending exhausted
 *
 * A line of the set that no claim kept is released.
 */
export function planPool(
  pool: Pool | undefined,
  requests: readonly Request[],
  lines: Lines,
  options: Options,
): Changes {
  const claimed = new Set<Allocation>();
  const keep: Kept[] = [];
  const pending: Pending[] = [];
  const asking: Request[] = [];
  const find = finder(lines, options);

  for (const request of requests) {
    const decision = sticky(request, find(request.key), pool as Pool, options);
    if (decision.line !== undefined) claimed.add(decision.line);
    if (decision.keep !== undefined) keep.push(decision.keep);
    else if (decision.refusal !== undefined) pending.push(decision.refusal);
    else asking.push(request);
  }

  const lost = lines.live.filter((line) => line.set === options.set && !claimed.has(line));
  const { refused, allowed } = options.allowMove ? { refused: [], allowed: asking } : separateMoves(asking, lost);
  const stuck = new Set(refused.map(({ line }) => line));
  for (const { request, line } of refused) pending.push(refusedMove(request, line));

  const given = pool === undefined ? { assign: [], pending: [] } : give(pool, allowed, lines, options.set);
  return {
    assign: given.assign,
    keep: [...keep, ...[...stuck].map((allocation): Kept => ({ allocation }))],
    release: lost.filter((line) => !stuck.has(line)).map((allocation): Release => ({ allocation, to: "releasing" })),
    pending: [...pending, ...given.pending],
  };
}

interface Found {
  readonly line: Allocation;
  readonly releasing: boolean;
}

/** Finds the line of a claim: under its own key, else under the key it was renamed from, live before releasing. */
function finder(lines: Lines, options: Options): (key: string) => Found | undefined {
  const live = new Map(lines.live.map((line) => [line.claim, line]));
  const releasing = new Map(lines.releasing.map((line) => [line.claim, line]));
  const under = (key: string): Found | undefined => {
    const line = live.get(key);
    if (line !== undefined) return { line, releasing: false };
    const leaving = releasing.get(key);
    return leaving?.set === options.set ? { line: leaving, releasing: true } : undefined;
  };
  return (key) => {
    const from = options.movedFrom.get(key);
    return under(key) ?? (from === undefined ? undefined : under(from));
  };
}

interface Sticky {
  /** The line that is spoken for: not released, whatever else happens. */
  readonly line?: Allocation;
  readonly keep?: Kept;
  readonly refusal?: Pending;
}

/** Rows 1 to 7 of the table: may the claim keep the line it has? */
function sticky(request: Request, found: Found | undefined, pool: Pool, options: Options): Sticky {
  if (found === undefined) return {};
  const { line, releasing } = found;
  const refuse = (message: string, hint: string): Sticky => ({
    line,
    refusal: pendingOf(request, "in-use", `${formatAddress(line.address)} ${message}`, hint),
  });
  if (line.set !== options.set)
    return refuse(
      `is already held by ${line.claim} in set ${line.set}`,
      "Name the claim otherwise, or plan it in that set.",
    );
  if (isAnotherObject(line, request.claim))
    return refuse(
      `is held by an earlier ${formatOwner(request.claim.owner)} (uid ${line.uid})`,
      "Release it once the earlier one is gone.",
    );
  const wanted = wantedBy(request.claim, pool);
  const fits = contains(pool.assignable, line.address);
  if (fits && (wanted === undefined || wanted === line.address)) {
    const allocation = lineFor(request, options.set, line.address);
    return { line, keep: !releasing && sameLine(line, allocation) ? { allocation } : { allocation, was: line } };
  }
  if (releasing || options.allowMove) return {};
  return fits
    ? refuse(
        `is held by ${line.claim}, which now wants ${formatAddress(wanted as Address)}`,
        "Ask for the address it has, or allow the move (--allow-move).",
      )
    : refuse(
        `is held by ${line.claim}, but pool ${pool.name} no longer covers it`,
        "Give the pool that address back, or allow the move (--allow-move).",
      );
}

function isAnotherObject(line: Allocation, claim: Claim): boolean {
  return claim.owner.kind !== "Node" && line.uid !== undefined && claim.uid !== undefined && line.uid !== claim.uid;
}

/** The address this claim asks for: its own wish, else a reservation of the pool for its owner. */
function wantedBy(claim: Claim, pool: Pool): Address | undefined {
  if (claim.wanted !== undefined) return claim.wanted;
  if (pool.reservations.length === 0) return undefined;
  const owner = formatOwner(claim.owner);
  return pool.reservations.find((r) => r.owner === owner && (r.claim === undefined || r.claim === claim.name))?.address;
}

function lineFor({ key, claim }: Request, set: string, address: Address): Allocation {
  return {
    address,
    pool: claim.pool,
    claim: key,
    set,
    ...(claim.interface === undefined ? {} : { interface: claim.interface }),
    ...(claim.uid === undefined ? {} : { uid: claim.uid }),
  };
}

export function sameLine(a: Allocation, b: Allocation): boolean {
  return (
    a.address === b.address &&
    a.pool === b.pool &&
    a.claim === b.claim &&
    a.set === b.set &&
    a.interface === b.interface &&
    a.uid === b.uid
  );
}

/** Splits off the requests whose owner would lose an address of this pool and get another one: renames nobody declared. */
function separateMoves(asking: readonly Request[], lost: readonly Allocation[]) {
  const lostBy = Map.groupBy(lost, (line) => ownerOfKey(line.claim));
  const refused: { request: Request; line: Allocation }[] = [];
  const allowed: Request[] = [];
  for (const request of asking) {
    const line = lostBy.get(formatOwner(request.claim.owner))?.shift();
    if (line === undefined) allowed.push(request);
    else refused.push({ request, line });
  }
  return { refused, allowed };
}

function refusedMove(request: Request, line: Allocation): Pending {
  return pendingOf(
    request,
    "in-use",
    `${ownerOfKey(line.claim)} would lose ${formatAddress(line.address)} (${nameOfKey(line.claim)}) and get another address`,
    `Is it a rename? nodeippool mv ${nameOfKey(line.claim)} ${request.claim.name}   Shall it move? --allow-move`,
  );
}

/** Wanted addresses first, then the lowest free ones. */
function give(pool: Pool, requests: readonly Request[], lines: Lines, set: string) {
  const assign: Allocation[] = [];
  const pending: Pending[] = [];
  const wanting = requests.map((request) => ({ request, wanted: wantedBy(request.claim, pool) }));
  const holders = new Map<Address, Allocation>();
  if (wanting.some(({ wanted }) => wanted !== undefined))
    for (const line of [...lines.live, ...lines.releasing]) holders.set(line.address, line);

  for (const { request, wanted } of wanting) {
    if (wanted === undefined) continue;
    const text = formatAddress(wanted);
    const holder = holders.get(wanted);
    if (!contains(pool.assignable, wanted)) {
      const message = `${text} is not an address that pool ${pool.name} may hand out`;
      pending.push(pendingOf(request, "out-of-range", message));
    } else if (holder !== undefined) {
      const message = `${text} is held by ${holder.claim}`;
      pending.push(pendingOf(request, "in-use", message, "Want another address, or release that one first."));
    } else {
      const line = lineFor(request, set, wanted);
      holders.set(wanted, line);
      assign.push(line);
    }
  }

  const automatic = wanting.filter(({ wanted }) => wanted === undefined).map(({ request }) => request);
  if (automatic.length === 0) return { assign, pending };
  const space = new FreeSpace(pool.automatic, pool.skipsZeroAnd255);
  for (const list of [lines.live, lines.releasing, assign]) for (const line of list) space.take(line.address);
  const free = space.free;
  for (const request of automatic) {
    const address = space.takeLowest();
    if (address !== undefined) assign.push(lineFor(request, set, address));
    else
      pending.push(
        pendingOf(
          request,
          "exhausted",
          `pool ${pool.name} is exhausted: ${automatic.length} needed, ${free} free`,
          lines.releasing.length > 0
            ? `${lines.releasing.length} of its addresses are releasing: free them with nodeippool release, or let the pool grow (end, additionalRanges).`
            : "Let the pool grow: a later end, or additionalRanges.",
        ),
      );
  }
  return { assign, pending };
}

function pendingOf(request: Request, code: Pending["code"], message: string, hint?: string): Pending {
  const { key, claim } = request;
  return { claim: key, pool: claim.pool, code, message, ...(hint === undefined ? {} : { hint }) };
}
