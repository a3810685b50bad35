import {
  type Claim,
  claimKey,
  contains,
  formatAddress,
  formatOwner,
  IpamError,
  type Issue,
  identityOf,
  isOfNode,
  type Owner,
  type Pool,
  policyOfKey,
  poolsAsked,
  type Snapshot,
  type Use,
} from "../core/index.ts";
import type { Evidence } from "../schema/index.ts";
import { fewOf, paint, plural } from "./terminal.ts";

/**
 * Throws `invalid` for lines of a list whose NIC none of the owner's claims in the pool has, while one of them has no address:
 * it would get a second one.
 */
export function refuseOtherNics(
  claims: readonly Claim[],
  uses: readonly Use[],
  pools: readonly Pool[],
  after: Snapshot,
): void {
  const byOwner = Map.groupBy(claims, ({ owner }) => formatOwner(owner));
  const issues = uses.flatMap(({ address, at, interface: nic, listed, owner = "" }): Issue[] => {
    const pool = pools.find(({ assignable }) => contains(assignable, address));
    if (listed === undefined || pool === undefined) return [];
    const asking = (byOwner.get(owner) ?? []).filter((claim) => poolsAsked(claim).includes(pool.name));
    if (asking.some((claim) => claim.interface === undefined || claim.interface === nic)) return [];
    const [claim] = claimsWithout(after, asking);
    if (claim === undefined) return [];
    const key = claimKey(claim.owner, claim.name);
    const asker = isOfNode({ claim: key }) ? `policy ${policyOfKey(key)}` : `claim ${claim.name}`;
    return [
      {
        message: `${claim.owner.name} has ${formatAddress(address)} on ${nic}; its ${asker} uses ${claim.interface}`,
        at,
        hint: "Correct the NIC in the list, or in the manifests; allocate would give it a second address.",
      },
    ];
  });
  if (issues.length > 0) throw new IpamError("invalid", issues);
}

function claimsWithout({ allocations }: Snapshot, claims: readonly Claim[]): Claim[] {
  const held = new Set(allocations.map(identityOf));
  const isHeld =
    ({ owner, name }: Claim) =>
    (pool: string) =>
      held.has(identityOf({ pool, claim: claimKey(owner, name) }));
  return claims.filter((claim) => !poolsAsked(claim).some(isHeld(claim)));
}

/** Claims that got nothing, and why: one by one those of nodes that were looked at, and the other nodes in a note. */
export function missed(
  claims: readonly Claim[],
  read: readonly Evidence[],
  uses: readonly Use[],
  after: Snapshot,
): string[] {
  const seen = new Set([...uses.map((use) => use.owner), ...read.flatMap((one) => [...one.nodes.keys()])]);
  const open = claimsWithout(after, claims);
  const unseen = open.filter(({ owner }) => !seen.has(formatOwner(owner))).map(({ owner }) => owner);
  return [
    ...open
      .filter(({ owner }) => seen.has(formatOwner(owner)))
      .map(({ owner, name, interface: nic }) => {
        const where = nic === undefined ? "" : ` on ${nic}`;
        return paint(
          "yellow",
          `  ! ${owner.name}  ${name}  nothing found${where}: allocate will give it a new address`,
        );
      }),
    ...unseenNote([...new Set(unseen.map(({ name }) => name))], unseen.every(isNode) ? "node" : "owner"),
  ];
}

function isNode({ kind }: Owner): boolean {
  return kind === "Node";
}

function unseenNote(names: readonly string[], what: string): string[] {
  if (names.length === 0) return [];
  const gives = names.length === 1 ? "it a new address" : "them new addresses";
  return [`Note: no evidence of ${plural(names.length, what)} with claims: ${fewOf(names)}; allocate gives ${gives}`];
}
