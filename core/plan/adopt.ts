import { type Allocation, byAddress } from "../allocation.ts";
import { holds } from "../block.ts";
import { formatOwner, ownerOfKey } from "../claim.ts";
import { partition } from "../partition.ts";
import type { Pool } from "../pool.ts";
import { type Request, wantedBy } from "./request.ts";

/** What an import recorded, and a claim may have. */
export interface Adoptable {
  readonly line: Allocation;
  /** It is not known whether it is that of the claim: any of these may be. */
  readonly among?: readonly Allocation[];
}

/**
 * What these claims of one pool, of `all` that it has, may adopt of the lines that an import recorded there; or have, and the
 * pool does not let them.
 *
 *  the claim           | a line of its owner                  | decision
 *  --------------------+--------------------------------------+------------------------------------------------------
 *  wants its address   | on its NIC, without NIC; on nobody's | adopt; a line that is wanted is for no other claim
 *                      | where its own is unknown             |
 *  its NIC is known    | on its NIC                           | adopt
 *  its NIC is known    | without NIC                          | adopt, if all claims of the owner are on one NIC
 *  its NIC is unknown  | on nobody's NIC, without NIC         | adopt, if that is one line and this one claim, and a
 *                      |                                      | line without NIC may be that of no claim on another one
 *  any                 | such lines, but not so, or more than | unclear
 *                      | there are claims                     |
 *  none of these       | such lines, which the pool may not   | they have the first of them: another address is a move
 *                      | hand out                             |
 *  wants another one   | on its NIC; any such, if all claims  | the same
 *                      | of the owner are on one NIC          |
 *
 * But for the last two rows, lines that the pool may not hand out do not count, and a line goes to one claim; several claims get
 * several lines in order. What a reservation keeps for others is not theirs.
 */
export function adoptable(
  claims: readonly Request[],
  all: readonly Request[],
  pool: Pool,
  lines: readonly Allocation[],
): Map<Request, Adoptable> {
  const found = new Map<Request, Adoptable>();
  if (claims.length === 0) return found;
  const had = Map.groupBy(lines.toSorted(byAddress), (line) => ownerOfKey(line.claim));
  const claimsOf = Map.groupBy(all, ownerOf);
  for (const [owner, asking] of Map.groupBy(claims, ownerOf)) {
    const imported = had.get(owner) ?? [];
    if (imported.length > 0) share(asking, claimsOf.get(owner) ?? [], pool, imported, found);
  }
  return found;
}

function ownerOf({ claim }: Request): string {
  return formatOwner(claim.owner);
}

/** The table, for one owner. */
function share(
  asking: readonly Request[],
  all: readonly Request[],
  pool: Pool,
  lines: readonly Allocation[],
  found: Map<Request, Adoptable>,
): void {
  const nics = new Set(all.map(nicOf));
  const wishes = new Set(all.map(({ claim }) => wantedBy(claim, pool)?.address));
  const [fits, others] = partition(lines, (line) => holds(pool.assignable, line));
  const [open, wishing] = partition(asking, ({ claim }) => wantedBy(claim, pool) === undefined);
  grant(wishing, pool, fits, nics, found);
  const isTheirs = ({ address }: Allocation) =>
    !wishes.has(address) && asking.some(({ claim }) => !pool.reservations.keepsFrom(claim, address));
  deal(open, fits.filter(isTheirs), nics, found);
  const taken = new Set(asking.map((request) => found.get(request)?.line));
  const left = fits.filter((line) => isTheirs(line) && !taken.has(line));
  const barred = others.filter(isTheirs);
  for (const request of open) hold(request, barred.filter(mayBeOn(nicOf(request), nics)), found);
  for (const request of wishing) {
    const isSure = (line: Allocation) => nics.size === 1 || line.interface === nicOf(request);
    hold(request, [...left, ...barred].filter(mayBeOn(nicOf(request), nics)).filter(isSure), found);
  }
}

/** Claims that want one of these lines get it, unless it is on another NIC. */
function grant(
  wishing: readonly Request[],
  pool: Pool,
  lines: readonly Allocation[],
  nics: Nics,
  found: Map<Request, Adoptable>,
): void {
  const wanted = new Map<unknown, Allocation>(lines.map((line) => [line.address, line]));
  for (const request of wishing) {
    const line = wanted.get(wantedBy(request.claim, pool)?.address);
    if (line === undefined || !mayBeOn(nicOf(request), nics)(line)) continue;
    wanted.delete(line.address);
    found.set(request, { line });
  }
}

/** Each of the other claims gets a line that is surely its own, while there are any; where nobody knows, it is unclear. */
function deal(
  claims: readonly Request[],
  lines: readonly Allocation[],
  nics: Nics,
  found: Map<Request, Adoptable>,
): void {
  if (lines.length === 0) return;
  const isOneNic = nics.size === 1 || lines.every((line) => line.interface !== undefined);
  for (const [nic, together] of Map.groupBy(claims, nicOf)) {
    const [sure, maybe] = partition(
      lines.filter(mayBeOn(nic, nics)),
      (line) => nic !== undefined && line.interface === nic,
    );
    const isClear = isOneNic && (nic !== undefined || (together.length === 1 && maybe.length === 1));
    const own = isClear ? [...sure, ...maybe] : sure;
    const dealt = own.length > together.length ? [] : own;
    const doubtful = [...sure, ...maybe].filter((line) => !dealt.includes(line));
    together.forEach((request, i) => {
      const line = dealt[i];
      if (line !== undefined) found.set(request, { line });
      else if (doubtful[0] !== undefined) found.set(request, { line: doubtful[0], among: doubtful });
    });
  }
}

/** The claim has the first of these lines, if it has found none. */
function hold(request: Request, [line]: readonly Allocation[], found: Map<Request, Adoptable>): void {
  if (line !== undefined && !found.has(request)) found.set(request, { line });
}

/** The NICs that the claims of an owner are on; undefined where one is not known. */
export type Nics = ReadonlySet<string | undefined>;

function nicOf({ claim }: Request): string | undefined {
  return claim.interface;
}

/** Returns whether a line may be of a claim on this NIC. A line without a NIC may be on any NIC that has no other line. */
export function mayBeOn(nic: string | undefined, nics: Nics): (line: Pick<Allocation, "interface">) => boolean {
  return (line) =>
    line.interface === undefined || line.interface === nic || (nic === undefined && !nics.has(line.interface));
}
