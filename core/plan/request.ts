import { type Address, bitsOf, familyOf } from "../address.ts";
import { type Allocation, importedSet, type PoolLines } from "../allocation.ts";
import { type Block, blockAt, holds } from "../block.ts";
import { type Claim, claimKey, formatOwner, isClaimName, isOwner, isPlain, ownerOfKey } from "../claim.ts";
import { byCodeUnit, IpamError, type Issue, placed, type Remedy } from "../errors.ts";
import type { Pool } from "../pool.ts";
import type { Pending } from "./changes.ts";

/** A claim with its key. */
export interface Request {
  readonly key: string;
  readonly claim: Claim;
  /** Returns whether another claim of its owner has what is reserved for the owner. */
  readonly isMet?: boolean;
}

/** Lines of the imported set have no claims: a plan for it would release them all. */
export function checkSet(set: string): void {
  if (set === importedSet) throw new IpamError("invalid", `claim set ${importedSet} belongs to import itself`);
  if (typeof set !== "string" || set === "" || !isPlain(set))
    throw new IpamError("invalid", `${JSON.stringify(set)} is no name of a claim set`);
}

/** Why no record can hold a claim: a key that reads as another one, an address that is none, a NIC or uid that cannot be printed. */
export function unrecordable({ owner, name, wanted, interface: nic, uid }: Claim): Issue | undefined {
  const key = claimKey(owner, name);
  if (!isOwner(owner) || !isClaimName(name))
    return { message: `${JSON.stringify(key)} is no claim`, hint: "Kind, namespace and name hold no blank, / or :." };
  if (wanted !== undefined && typeof wanted !== "bigint")
    return { message: `claim ${key} wants what is no address`, hint: "Read it with parseAddress." };
  const plain = (text: string | undefined) => text === undefined || (text !== "" && isPlain(text));
  return plain(nic) && plain(uid)
    ? undefined
    : { message: `claim ${key} has an interface or uid that cannot be printed` };
}

/** The requests of each pool, in key order. Throws IpamError `invalid` for every claim that is there twice or of an unknown pool. */
export function requestsByPool(pools: readonly Pool[], claims: readonly Claim[]): Map<string, Request[]> {
  const requests = new Map<string, Request[]>(pools.map((pool) => [pool.name, []]));
  const issues: Issue[] = [];
  for (const claim of claims) {
    const key = claimKey(claim.owner, claim.name);
    const list = requests.get(claim.pool);
    const issue = unrecordable(claim);
    if (issue !== undefined) issues.push({ ...issue, ...placed(claim.at?.()) });
    if (list !== undefined) list.push({ key, claim });
    else {
      const message = `claim ${key} asks for pool ${claim.pool}, which is not defined`;
      issues.push({ message, ...placed(claim.at?.()) });
    }
  }
  for (const [pool, list] of requests) {
    list.sort((a, b) => byCodeUnit(a.key, b.key));
    list.forEach((request, i) => {
      if (list[i - 1]?.key !== request.key) return;
      const message = `claim ${request.key} asks pool ${pool} twice`;
      issues.push({ message, ...placed(request.claim.at?.()) });
    });
  }
  if (issues.length > 0)
    throw new IpamError(
      "invalid",
      issues.sort((a, b) => byCodeUnit(a.message, b.message)),
    );
  return requests;
}

/** The block a claim asks for: that of its own wish, else the one that is reserved for it. */
export function wantedBy(claim: Claim, pool: Pool): Block | undefined {
  const address = claim.wanted ?? pool.reservations.for(claim)?.address;
  if (address === undefined) return undefined;
  const isOfPool = familyOf(address) === familyOf(pool.prefix.first);
  return blockAt(address, isOfPool ? pool.blockLength : bitsOf(familyOf(address)));
}

/** The requests, and of each whether another claim of its owner has what is reserved for the owner: one that lost it has it until it is free. */
export function withSiblings(
  requests: readonly Request[],
  pool: Pool,
  { live, releasing }: PoolLines,
): readonly Request[] {
  if (pool.reservations.all.length === 0) return requests;
  const holders = new Map([...live, ...releasing].map((line) => [line.address, line.claim]));
  return requests.map((request): Request => {
    const { claim, key } = request;
    const reservation = claim.wanted === undefined ? pool.reservations.for(claim) : undefined;
    const holder = reservation?.claim === undefined ? holders.get(reservation?.address as Address) : undefined;
    const isMet = holder !== undefined && holder !== key && ownerOfKey(holder) === formatOwner(claim.owner);
    return isMet ? { ...request, isMet } : request;
  });
}

/** Returns whether this claim may have a block that no other claim holds. It may not if the block is reserved for another claim. */
export function mayHave(claim: Claim, block: Block, pool: Pool): boolean {
  return holds(pool.assignable, block) && !pool.reservations.keepsFrom(claim, block.address);
}

/** The line by which a claim holds a block. */
export function lineFor({ key, claim }: Request, set: string, { address, length }: Block): Allocation {
  return {
    address,
    length,
    pool: claim.pool,
    claim: key,
    set,
    ...(claim.interface === undefined ? {} : { interface: claim.interface }),
    ...(claim.uid === undefined ? {} : { uid: claim.uid }),
  };
}

/** A request that gets no address, because another one is in the way: one that somebody has, or its own. */
export function inUse(request: Request, message: string, hint: string, remedy?: Remedy): Pending {
  return pendingOf(request, "in-use", message, hint, remedy);
}

/** A request that gets no address, and why. */
export function pendingOf(
  { key, claim }: Request,
  code: Pending["code"],
  message: string,
  hint: string,
  remedy?: Remedy,
): Pending {
  return { claim: key, pool: claim.pool, code, message, hint, ...(remedy === undefined ? {} : { remedy }) };
}
