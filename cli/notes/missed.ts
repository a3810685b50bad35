import {
  type Claim,
  claimKey,
  formatAddress,
  formatOwner,
  identityOf,
  importedSet,
  ownerOfKey,
  type Pool,
  type Snapshot,
  type Use,
} from "../../core/index.ts";
import type { Evidence } from "../../schema/index.ts";
import { paint, plural } from "../terminal.ts";

/** Claims that got nothing, and why: one by one those of nodes that were looked at, and the other nodes in a note. */
export function missed(
  claims: readonly Claim[],
  read: readonly Evidence[],
  uses: readonly Use[],
  after: Snapshot,
  pools: readonly Pool[],
): string[] {
  const seen = new Set([...uses.map((use) => use.owner), ...read.flatMap((one) => [...one.nodes.keys()])]);
  const held = new Set(after.allocations.map(identityOf));
  const open = claims.filter(({ owner, name, pool }) => !held.has(identityOf({ pool, claim: claimKey(owner, name) })));
  const unseen = open.filter(({ owner }) => !seen.has(formatOwner(owner))).map(({ owner }) => owner.name);
  const keptFrom = reservedForOthers(after, pools);
  return [
    ...open
      .filter(({ owner }) => seen.has(formatOwner(owner)))
      .map((claim) => {
        const { owner, name, interface: nic } = claim;
        const where = nic === undefined ? "" : ` on ${nic}`;
        const why = keptFrom(claim, where) ?? `nothing found${where}`;
        return paint("yellow", `  ! ${owner.name}  ${name}  ${why}: allocate will give it a new address`);
      }),
    ...unseenNote([...new Set(unseen)]),
  ];
}

/** Says of a claim that its NIC has an address, imported for nobody, which a reservation keeps for another owner or claim. */
function reservedForOthers(
  after: Snapshot,
  pools: readonly Pool[],
): (claim: Claim, where: string) => string | undefined {
  const reservations = new Map(pools.map((pool) => [pool.name, pool.reservations]));
  const imported = Map.groupBy(
    after.allocations.filter(({ set }) => set === importedSet),
    (line) => `${ownerOfKey(line.claim)} ${line.pool}`,
  );
  return (claim, where) => {
    const lines = imported.get(`${formatOwner(claim.owner)} ${claim.pool}`) ?? [];
    const kept = reservations.get(claim.pool);
    const on = lines.filter((line) => claim.interface === undefined || line.interface === claim.interface);
    const address = on.map((line) => line.address).find((each) => kept?.keepsFrom(claim, each));
    if (address === undefined) return undefined;
    const { owner, claim: name } = kept?.at(address) ?? {};
    const holder = owner === undefined ? "nobody" : [owner, ...(name === undefined ? [] : [name])].join("/");
    return `${formatAddress(address)}${where} is reserved for ${holder}`;
  };
}

function unseenNote(nodes: readonly string[]): string[] {
  if (nodes.length === 0) return [];
  const more = nodes.length > 10 ? ` and ${nodes.length - 10} more` : "";
  const gives = nodes.length === 1 ? "it a new address" : "them new addresses";
  const names = `${nodes.slice(0, 10).join(", ")}${more}`;
  return [`Note: no evidence of ${plural(nodes.length, "node")} with claims: ${names}; allocate gives ${gives}`];
}
