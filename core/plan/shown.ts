import { type Allocation, importedSet } from "../allocation.ts";
import { formatBlock, lengthOf } from "../block.ts";
import { type Claim, claimKey, formatOwner } from "../claim.ts";
import { byCodeUnit } from "../errors.ts";
import type { Pool } from "../pool.ts";
import type { Use } from "../use.ts";
import { type Adoptable, adoptable } from "./adopt.ts";

/**
 * Which of the claims that have no line have which of the blocks that their owners show, by claim key: `adoptable` says, as where an import had
 * recorded what is shown. `claims` are all claims on the pool of these owners.
 */
export function shownFor(
  pool: Pool,
  claims: readonly Claim[],
  hasLine: (claim: Claim) => boolean,
  uses: readonly Use[],
): ReadonlyMap<string, Adoptable> {
  const requests = claims.map((claim) => ({ key: claimKey(claim.owner, claim.name), claim }));
  // As they were given: several claims get several lines in order.
  const all = requests.sort((a, b) => byCodeUnit(a.key, b.key));
  const lacking = all.filter(({ claim }) => !hasLine(claim));
  const owners = new Set(lacking.map(({ claim }) => formatOwner(claim.owner)));
  const lines = uses.filter(({ owner = "" }) => owners.has(owner)).map((use) => lineOf(use, pool));
  return new Map([...adoptable(lacking, all, pool, lines)].map(([{ key }, found]) => [key, found]));
}

/** What is shown, as an import would record it. A name that nmstate fills in on the node is that of no NIC. */
function lineOf(use: Use, { name }: Pool): Allocation {
  const { address, owner, interface: nic } = use;
  const claim = `${owner}/${importedSet}/${formatBlock(use)}`;
  const onNic = nic === undefined || nic.includes("{{") ? {} : { interface: nic };
  return { address, length: lengthOf(use), pool: name, claim, set: importedSet, ...onNic };
}
