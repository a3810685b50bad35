import {
  type Claim,
  claimKey,
  formatOwner,
  identityOf,
  type Owner,
  poolsAsked,
  type Snapshot,
  type Use,
} from "../core/index.ts";
import type { Evidence } from "../schema/index.ts";
import { fewOf, paint, plural } from "./terminal.ts";

/** Claims that got nothing, and why: one by one those of nodes that were looked at, and the other nodes in a note. */
export function missed(
  claims: readonly Claim[],
  read: readonly Evidence[],
  uses: readonly Use[],
  after: Snapshot,
): string[] {
  const seen = new Set([...uses.map((use) => use.owner), ...read.flatMap((one) => [...one.nodes.keys()])]);
  const held = new Set(after.allocations.map(identityOf));
  const isHeld =
    ({ owner, name }: Claim) =>
    (pool: string) =>
      held.has(identityOf({ pool, claim: claimKey(owner, name) }));
  const open = claims.filter((claim) => !poolsAsked(claim).some(isHeld(claim)));
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
