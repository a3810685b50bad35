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
 * What these claims of one pool, of `all` that it has, may adopt of the lines that an import recorded there. Those that the
 * pool may not hand out do not count.
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
  const had = Map.groupBy(lines.filter((line) => contains(pool.assignable, line.address)).sort(byAddress), (line) =>
    ownerOfKey(line.claim),
  );
  if (had.size === 0) return found;
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
  const nics = new Set(all.map(({ claim }) => claim.interface));
  const isNobodys = (line: Allocation) => line.interface !== undefined && !nics.has(line.interface);
  const wishes = new Set(all.map(({ claim }) => wantedBy(claim, pool)));
  const wanted = new Map(lines.filter(({ address }) => wishes.has(address)).map((line) => [line.address, line]));
  const rest = lines.filter(
    ({ address }) => !wishes.has(address) && asking.some(({ claim }) => !pool.reservations.keepsFrom(claim, address)),
  );
  const byNic = Map.groupBy(rest, (line) => line.interface);
  const bare = byNic.get(undefined) ?? [];
  for (const [nic, claims] of Map.groupBy(asking, ({ claim }) => claim.interface)) {
    const sure = nic === undefined ? [] : (byNic.get(nic) ?? []);
    const maybe = nic === undefined ? [...bare, ...rest.filter(isNobodys)] : bare;
    const open = claims.filter((request) => {
      const wish = wantedBy(request.claim, pool);
      const line = wish === undefined ? undefined : wanted.get(wish);
      if (line === undefined) return wish === undefined;
      wanted.delete(line.address);
      const mayBeThere = nic === undefined && isNobodys(line);
      if (line.interface === nic || line.interface === undefined || mayBeThere) found.set(request, { line });
      return false;
    });
    const isOneNic = nics.size === 1 || bare.length === 0;
    const isClear = isOneNic && (nic !== undefined || (open.length === 1 && maybe.length === 1));
    const clear = isClear ? [...sure, ...maybe] : sure;
    open.forEach((request, i) => {
      const [line, doubtful] = [clear[i], maybe[0]];
      if (line !== undefined) found.set(request, { line });
      else if (doubtful !== undefined && !isClear) found.set(request, { line: doubtful, others: maybe.length - 1 });
    });
  }
}
