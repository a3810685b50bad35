import { type Allocation, importedSet, type PoolLines } from "../allocation.ts";
import { formatBlock } from "../block.ts";
import { formatOwner, nameOfKey, ownerOfKey } from "../claim.ts";
import { byCodeUnit } from "../errors.ts";
import { partition } from "../partition.ts";
import type { Pool } from "../pool.ts";
import { type Adoptable, adoptable } from "./adopt.ts";
import type { Changes, Kept, Pending, Release } from "./changes.ts";
import { give } from "./give.ts";
import { type Found, finder, type Options, sticky } from "./own-line.ts";
import { inUse, type Request } from "./request.ts";

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
 *  ... adopts         | its owner loses a line of this pool in this plan: pending in-use, unless allowMove
 *  ... wanted         | not assignable: pending out-of-range; held: pending in-use; else assign
 *  ... any            | lowest free address; none left: pending exhausted
 *
 * A line of the set that no claim kept is released.
 */
export function planPool(
  pool: Pool | undefined,
  all: readonly Request[],
  recorded: PoolLines,
  options: Options,
): Changes {
  const { requests, lines } = inScope(all, recorded, options);
  const decided = decide(requests, pool as Pool, lines, options);
  const lost = lines.live
    .filter((line) => options.owners?.has(ownerOfKey(line.claim)) !== false)
    .filter((line) => (line.set === options.set && !decided.claimed.has(line)) || decided.left.has(line))
    .sort((a, b) => byCodeUnit(a.claim, b.claim));
  const wanting = [...decided.asking, ...decided.returning.keys()];
  const { refused, allowed } = options.allowMove ? { refused: [], allowed: wanting } : separateMoves(wanting, lost);
  const unsure = lost.filter((line) => decided.unsure.has(ownerOfKey(line.claim)));
  const names = new Set(requests.map(({ claim }) => claim.name));
  const stuck = new Set([...refused.map(({ line }) => line), ...unsure]);
  const left = lost.filter((line) => !stuck.has(line));
  const fresh = allowed.filter((request) => !decided.returning.has(request) && !decided.moving.has(request));
  const given = pool === undefined ? { assign: [], pending: [] } : give(pool, fresh, recorded, options.set);
  return {
    assign: given.assign,
    keep: [
      ...decided.keep,
      ...allowed.flatMap((request) => decided.returning.get(request) ?? []),
      ...[...stuck].map((allocation): Kept => ({ allocation })),
    ],
    release: left.map((allocation): Release => ({ allocation, to: "releasing" })),
    pending: [
      ...decided.pending,
      ...refused.map((move) => refusedMove(move, decided.returning.get(move.request), names)),
      ...allowed.flatMap((request) => decided.moving.get(request) ?? []),
      ...given.pending,
    ],
  };
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

interface Decided {
  /** Lines of claims: not released, whatever else happens. */
  readonly claimed: Set<Allocation>;
  /** Imported lines that bear the key of a claim which moves: it cannot have two. */
  readonly left: Set<Allocation>;
  readonly keep: Kept[];
  readonly pending: Pending[];
  /** Owners of whose claims one may have an imported address, and nobody knows which: they lose nothing. */
  readonly unsure: Set<string>;
  /** Those that may get an address they do not hold now; those that come back to one that is releasing, or adopt an imported one. */
  readonly asking: Request[];
  readonly returning: Map<Request, Kept>;
  /** Those of `asking` that an imported address is in the way of, unless a rename is. */
  readonly moving: Map<Request, Pending>;
}

/** The upper part of the table, for every request. */
function decide(requests: readonly Request[], pool: Pool, lines: PoolLines, options: Options): Decided {
  const decided: Decided = {
    claimed: new Set(),
    left: new Set(),
    keep: [],
    pending: [],
    unsure: new Set(),
    asking: [],
    returning: new Map(),
    moving: new Map(),
  };
  const find = finder(lines, options);
  const own = new Map(requests.map((request) => [request, find(request, pool)]));
  const imported = adoptions(requests, own, pool, lines, options);
  for (const request of requests) {
    const adopted = imported.get(request);
    if (adopted?.among !== undefined) {
      decided.asking.push(request);
      decided.moving.set(request, unclear(request, adopted.line, adopted.among.length - 1));
      decided.unsure.add(formatOwner(request.claim.owner));
      continue;
    }
    const found = own.get(request) ?? (adopted && { line: adopted.line, releasing: false });
    const { line, keep, refusal } = sticky(request, found, pool, options);
    for (const one of [line, found?.former]) if (one !== undefined) decided.claimed.add(one);
    if (refusal !== undefined && adopted !== undefined) {
      decided.asking.push(request);
      decided.moving.set(request, refusal);
    } else if (refusal !== undefined) decided.pending.push(refusal);
    else if (keep === undefined) {
      decided.asking.push(request);
      if (found?.line.set === importedSet && found.line.claim === request.key) decided.left.add(found.line);
    } else if (found?.releasing || found?.line.set === importedSet) decided.returning.set(request, keep);
    else decided.keep.push(keep);
  }
  return decided;
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

/** A request, and the address that its owner would lose for it. */
interface Move {
  readonly request: Request;
  readonly line: Allocation;
}

/**
 * Splits off the requests whose owner would lose an address of this pool and get another one: renames nobody declared. What
 * stays on its NIC comes first.
 */
function separateMoves(
  asking: readonly Request[],
  lost: readonly Allocation[],
): { refused: Move[]; allowed: Request[] } {
  const lostBy = Map.groupBy(lost, (line) => ownerOfKey(line.claim));
  const lineOf = new Map<Request, Allocation>();
  for (const isSame of [isSameNic, () => true])
    for (const request of asking) {
      const lines = lostBy.get(formatOwner(request.claim.owner)) ?? [];
      const at = lineOf.has(request) ? -1 : lines.findIndex((line) => isSame(line, request));
      for (const line of at < 0 ? [] : lines.splice(at, 1)) lineOf.set(request, line);
    }
  return {
    refused: [...lineOf].map(([request, line]) => ({ request, line })),
    allowed: asking.filter((request) => !lineOf.has(request)),
  };
}

function isSameNic(line: Allocation, { claim }: Request): boolean {
  return line.interface === claim.interface;
}

/** `asked` has the names of all claims: where nobody asks for the old one any more, it may be renamed for all owners. */
function refusedMove({ request, line }: Move, returning: Kept | undefined, asked: ReadonlySet<string>): Pending {
  const gets = returning === undefined ? "get another address" : `have ${formatBlock(returning.allocation)} again`;
  const [owner, name] = [ownerOfKey(line.claim), nameOfKey(line.claim)];
  return inUse(
    request,
    `${owner} would lose ${formatBlock(line)} (${name}) and ${gets}`,
    "Declare the rename, or allow the move.",
    asked.has(name) ? ["rename", name, request.claim.name, owner] : ["rename", name, request.claim.name],
  );
}

/** An import recorded an address, and the owner has several claims that it may be for. */
function unclear(request: Request, line: Allocation, others: number): Pending {
  const [what, which] = others === 0 ? ["was", "for"] : [`and ${others} more were`, "which of them is for"];
  return inUse(
    request,
    `${formatBlock(line)} ${what} imported for ${ownerOfKey(line.claim)}, and it is not known ${which} which of its claims`,
    "Say which: a reservation of the pool with address, owner and claim; one without owner if it is for none. Where NICs tell the claims apart, import it again with its NIC.",
  );
}
