import type { Address } from "./address.ts";
import { type Allocation, byAddress } from "./allocation.ts";
import { formatOwner, ownerOfKey } from "./claim.ts";
import type { Pool } from "./pool.ts";
import { contains } from "./range.ts";
import { type Request, wantedBy } from "./request.ts";

/** What an import recorded, and a claim may have. */
export interface Adoptable {
  readonly line: Allocation;
  /** Nobody knows whether it is that of the claim: so many others may be, too. */
  readonly others?: number;
}

/**
 * What these claims of one pool, of `all` that it has, may adopt of the lines that an import recorded there; or would, if the
 * pool let them have it.
 *
 *  the claim           | a line of its owner                  | decision
 *  --------------------+--------------------------------------+------------------------------------------------------
 *  wants its address   | on its NIC, without NIC; on nobody's | adopt; a line that is wanted is for no other claim
 *                      | where its own is unknown             |
 *  its NIC is known    | on its NIC                           | adopt
 *  its NIC is known    | without NIC                          | adopt, if all claims of the owner are on one NIC
 *  its NIC is unknown  | on nobody's NIC, without NIC         | adopt, if that is one line and this one claim, and a
 *                      |                                      | line without NIC may be that of no claim on another one
 *  any                 | such a line, but not so              | unclear
 *  none of these       | such a line, which the pool may not  | it is what the claim has: another address is a move
 *                      | hand out, or another one is wanted   |
 *
 * A line goes to one claim; several claims get several lines in order. What a reservation keeps for others is not theirs.
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
  const wishes = new Set(all.map(({ claim }) => wantedBy(claim, pool)));
  const fits = lines.filter(({ address }) => contains(pool.assignable, address));
  const wishing = asking.filter(({ claim }) => wantedBy(claim, pool) !== undefined);
  grant(wishing, pool, fits, nics, found);
  const isTheirs = ({ address }: Allocation) =>
    !wishes.has(address) && asking.some(({ claim }) => !pool.reservations.keepsFrom(claim, address));
  const others = asking.filter(({ claim }) => wantedBy(claim, pool) === undefined);
  for (const { request, line, doubtful } of deal(others, fits.filter(isTheirs), nics)) {
    if (line !== undefined) found.set(request, { line });
    else if (doubtful[0] !== undefined) found.set(request, { line: doubtful[0], others: doubtful.length - 1 });
  }
  const spoken = new Set(asking.map((request) => found.get(request)?.line));
  const left = lines.filter((line) => isTheirs(line) && !spoken.has(line));
  const lacking = asking.filter((request) => !found.has(request));
  for (const { request, line } of deal(lacking, left, nics)) if (line !== undefined) found.set(request, { line });
}

/** Claims that want one of these lines get it, unless it is on the NIC of another one. */
function grant(
  wishing: readonly Request[],
  pool: Pool,
  lines: readonly Allocation[],
  nics: Nics,
  found: Map<Request, Adoptable>,
): void {
  const wanted = new Map(lines.map((line) => [line.address, line]));
  for (const request of wishing) {
    const line = wanted.get(wantedBy(request.claim, pool) as Address);
    if (line === undefined) continue;
    wanted.delete(line.address);
    const nic = nicOf(request);
    const mayBeThere = nic === undefined && isNobodys(line, nics);
    if (line.interface === nic || line.interface === undefined || mayBeThere) found.set(request, { line });
  }
}

/** The NICs that the claims of an owner are on; undefined where one is not known. */
type Nics = ReadonlySet<string | undefined>;

function nicOf({ claim }: Request): string | undefined {
  return claim.interface;
}

function isNobodys(line: Allocation, nics: Nics): boolean {
  return line.interface !== undefined && !nics.has(line.interface);
}

/** What a claim gets when lines are dealt out. */
interface Dealt {
  readonly request: Request;
  readonly line?: Allocation;
  /** Lines that may be its own or another claim's. */
  readonly doubtful: readonly Allocation[];
}

/** To each claim of one owner a line that is surely its own, while there are any. */
function deal(claims: readonly Request[], lines: readonly Allocation[], nics: Nics): Dealt[] {
  if (lines.length === 0) return [];
  const byNic = Map.groupBy(lines, (line) => line.interface);
  const bare = byNic.get(undefined) ?? [];
  return [...Map.groupBy(claims, nicOf)].flatMap(([nic, together]) => {
    const sure = nic === undefined ? [] : (byNic.get(nic) ?? []);
    const maybe = nic === undefined ? [...bare, ...lines.filter((line) => isNobodys(line, nics))] : bare;
    const isOneNic = nics.size === 1 || bare.length === 0;
    const isClear = isOneNic && (nic !== undefined || (together.length === 1 && maybe.length === 1));
    const clear = isClear ? [...sure, ...maybe] : sure;
    return together.map((request, i): Dealt => {
      const line = clear[i];
      return { request, doubtful: isClear ? [] : maybe, ...(line === undefined ? {} : { line }) };
    });
  });
}
