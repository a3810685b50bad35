import type { Address } from "../address.ts";
import { type Allocation, importedSet, type PoolLines } from "../allocation.ts";
import { formatBlock } from "../block.ts";
import { formatOwner, isOfNode, nameOfKey, ownerOfKey, policyOfKey } from "../claim.ts";
import { byCodeUnit } from "../errors.ts";
import { partition } from "../partition.ts";
import type { Pool } from "../pool.ts";
import { listed } from "../words.ts";
import { type Adoptable, adoptable } from "./adopt.ts";
import { type Changes, type Kept, noChanges, type Pending, type Release } from "./changes.ts";
import { give } from "./give.ts";
import { type Found, finder, type Options, sticky } from "./own-line.ts";
import { inUse, type Request, withSiblings } from "./request.ts";

interface PoolChanges extends Changes {
  /** What the record is to know as the last one that the pool allocated in its order; undefined if that does not change. */
  readonly last?: Address;
}

/**
 * The decisions for one pool; pools never meet, because no two of one network share an address.
 * `pool` is undefined where the record has lines of a pool that is configured no more.
 *
 *  line of the claim  | its address           | decision
 *  -------------------+-----------------------+--------------------------------------------------------
 *  live, other set    | any                   | pending in-use
 *  live, other uid    | any                   | pending in-use (Nodes adopt: a re-imaged node is the same node)
 *  live               | as wanted, assignable | keep
 *  live               | other                 | pending in-use; with allowMove: release, and ask anew
 *  releasing          | as wanted, assignable | keep: back to live (not across sets or uids)
 *  releasing          | other                 | ask anew; the old address stays releasing
 *  ... in another set | any                   | pending in-use: the claim may have come from there
 *  imported, its own  | as wanted, assignable | adopt: keep as its own, the owner has that address already (adopt.ts: which)
 *  ... its own        | other                 | asks anew: pending in-use; with allowMove it stays imported
 *  imported, unclear  | as wanted, assignable | pending in-use
 *  none               | -                     | ask anew
 *
 *  asks anew, returns,|
 *  ... adopts         | its owner, or its pod, loses a line of this pool in this plan: pending in-use, unless allowMove
 *  ... wanted         | not assignable: pending out-of-range; held: pending in-use; else assign
 *  ... any            | a free address in the order of the pool (give.ts); none left: pending exhausted
 *
 * A line of the set that no claim kept is released.
 */
export function planPool(
  pool: Pool | undefined,
  all: readonly Request[],
  recorded: PoolLines,
  options: Options,
): PoolChanges {
  const { requests, lines } = inScope(all, recorded, options);
  if (pool === undefined) return { ...noChanges, release: lostLines([], lines, options).map(toReleasing) };
  const verdicts = judge(withSiblings(requests, pool, recorded), pool, lines, options);
  const lost = lostLines(verdicts, lines, options);
  const [coming, staying] = partition(verdicts, ({ isComing }) => isComing);
  const [returning, asking] = partition(coming, ({ keep }) => keep !== undefined);
  const moves = options.allowMove ? new Map<Verdict, Allocation>() : movesOf([...asking, ...returning], lost);
  const allowed = coming.filter((verdict) => !moves.has(verdict));
  const settled = [...staying, ...allowed];
  const given = give(pool, allowed.filter(asksAnew).map(requestOf), recorded, options.set);
  const unsure = new Set(coming.filter(({ isUnclear }) => isUnclear).map(ownerOf));
  const kept = new Set(moves.values());
  const [stuck, left] = partition(lost, (line) => kept.has(line) || unsure.has(ownerOfKey(line.claim)));
  const names = new Set(requests.map(({ claim }) => claim.name));
  return {
    ...(pool.allocationOrder === "Next" && given.last !== undefined ? { last: given.last } : {}),
    assign: given.assign,
    keep: [...settled.flatMap(({ keep }) => keep ?? []), ...stuck.map((allocation) => ({ allocation }))],
    release: left.map(toReleasing),
    pending: [
      ...settled.flatMap(({ refusal }) => refusal ?? []),
      ...[...moves].map(([verdict, line]) => refusedMove(verdict, line, names)),
      ...given.pending,
    ],
  };
}

function toReleasing(allocation: Allocation): Release {
  return { allocation, to: "releasing" };
}

/** The requests of the owners that are looked at, and the lines that are theirs: a declared rename gives and takes some. */
function inScope(requests: readonly Request[], lines: PoolLines, { owners, namesOf }: Options) {
  if (owners === undefined) return { requests, lines };
  const [asking, others] = partition(requests, ({ claim }) => owners.has(formatOwner(claim.owner)));
  const namesOfAll = (list: readonly Request[]) => new Set(list.flatMap(({ key }) => namesOf(key)));
  const [own, foreign] = [namesOfAll(asking), namesOfAll(others)];
  const isSeen = ({ claim }: Allocation) => own.has(claim) || (owners.has(ownerOfKey(claim)) && !foreign.has(claim));
  return { requests: asking, lines: { live: lines.live.filter(isSeen), releasing: lines.releasing.filter(isSeen) } };
}

/** What the upper part of the table says of one request. */
interface Verdict {
  readonly request: Request;
  readonly found?: Found | undefined;
  readonly keep?: Kept | undefined;
  readonly refusal?: Pending | undefined;
  /** It would get an address that it does not hold now: not if its owner loses another one by that. */
  readonly isComing: boolean;
  /** One of several imported addresses may be its own, and nobody knows which: its owner loses nothing. */
  readonly isUnclear?: boolean;
}

function asksAnew({ keep, refusal }: Verdict): boolean {
  return keep === undefined && refusal === undefined;
}

function requestOf({ request }: Verdict): Request {
  return request;
}

function ownerOf({ request }: Verdict): string {
  return formatOwner(request.claim.owner);
}

function judge(requests: readonly Request[], pool: Pool, lines: PoolLines, options: Options): Verdict[] {
  const find = finder(lines, options);
  const own = new Map(requests.map((request) => [request, find(request, pool)]));
  const imported = adoptions(requests, own, pool, lines, options);
  return requests.map((request): Verdict => {
    const adopted = imported.get(request);
    if (adopted?.among !== undefined)
      return { request, refusal: unclear(request, adopted.among, pool), isComing: true, isUnclear: true };
    const found = own.get(request) ?? (adopted && { line: adopted.line, releasing: false });
    if (found === undefined) return { request, isComing: true };
    const { keep, refusal } = sticky(request, found, pool, options);
    const isHeld = !found.releasing && found.line.set !== importedSet;
    return { request, found, keep, refusal, isComing: refusal ? adopted !== undefined : !(keep && isHeld) };
  });
}

/** The lines of the set that no claim keeps, and imported ones under the key of a claim that moves; in key order. */
function lostLines(verdicts: readonly Verdict[], { live }: PoolLines, { set, owners }: Options): Allocation[] {
  const [moving, staying] = partition(verdicts, asksAnew);
  const claimed = new Set(staying.flatMap(({ found }) => [found?.line, found?.former]));
  const moved = new Map(moving.map(({ request, found }) => [request.key, found?.line]));
  const isLost = (line: Allocation) =>
    line.set === importedSet ? moved.get(line.claim) === line : line.set === set && !claimed.has(line);
  return live
    .filter((line) => isLost(line) && (owners === undefined || owners.has(ownerOfKey(line.claim))))
    .sort((a, b) => byCodeUnit(a.claim, b.claim));
}

/** What the requests that have no line of their own may adopt: not what an import recorded under the name of one. */
function adoptions(
  requests: readonly Request[],
  own: ReadonlyMap<Request, Found | undefined>,
  pool: Pool,
  { live }: PoolLines,
  { namesOf }: Options,
): ReadonlyMap<Request, Adoptable> {
  const imported = live.filter((line) => line.set === importedSet);
  if (imported.length === 0) return new Map();
  const named = new Set(requests.flatMap(({ key }) => namesOf(key)));
  return adoptable(
    requests.filter((request) => own.get(request) === undefined),
    requests,
    pool,
    imported.filter((line) => !named.has(line.claim)),
  );
}

/**
 * Those whose owner, or pod, would lose an address of this pool for the one that they get, and that address: renames nobody
 * declared. What stays on its NIC comes first.
 */
function movesOf(coming: readonly Verdict[], lost: readonly Allocation[]): Map<Verdict, Allocation> {
  const lostBy = Map.groupBy(lost, (line) => ownerOfKey(line.claim));
  const moves = new Map<Verdict, Allocation>();
  for (const isSame of [isSameNic, () => true])
    for (const verdict of coming) {
      const lines = lostBy.get(ownerOf(verdict)) ?? [];
      const at = moves.has(verdict) ? -1 : lines.findIndex((line) => mayBecome(line, verdict) && isSame(line, verdict));
      for (const line of at < 0 ? [] : lines.splice(at, 1)) moves.set(verdict, line);
    }
  return moves;
}

function mayBecome({ claim }: Allocation, { request }: Verdict): boolean {
  return request.claim.isOfPod !== true || policyOfKey(claim) === policyOfKey(request.key);
}

function isSameNic(line: Allocation, { request }: Verdict): boolean {
  return line.interface === request.claim.interface;
}

/** `asked` has the names of all claims: where nobody asks for the old one any more, it may be renamed for all nodes. */
function refusedMove({ request, keep }: Verdict, line: Allocation, asked: ReadonlySet<string>): Pending {
  const gets = keep === undefined ? "get another address" : `have ${formatBlock(keep.allocation)} again`;
  const [owner, name] = [ownerOfKey(line.claim), nameOfKey(line.claim)];
  return inUse(
    request,
    `${owner} would lose ${formatBlock(line)} (${name}) and ${gets}`,
    "Declare the rename, or allow the move.",
    asked.has(name) || !isOfNode(line)
      ? ["rename", name, request.claim.name, owner]
      : ["rename", name, request.claim.name],
  );
}

/** An import recorded addresses of which one may be that of the request, and the owner has several claims or addresses. */
function unclear(request: Request, among: readonly Allocation[], { words }: Pool): Pending {
  const [what, which] = among.length === 1 ? ["was", "for"] : ["were", "which of them is for"];
  const owner = formatOwner(request.claim.owner);
  return inUse(
    request,
    `${listed(among.map(formatBlock))} ${what} imported for ${owner}, and it is not known ${which} which of its claims`,
    words === undefined
      ? "Say which: reserve each for its owner and claim, or without owner if it is for none."
      : "It has one address of this pool: release the others.",
  );
}
