import { formatAddress } from "./address.ts";
import { type Allocation, identityOf, type Snapshot } from "./allocation.ts";
import type { Use } from "./audit.ts";
import { nameOfKey, ownerOfKey, parseClaimKey, parseOwner } from "./claim.ts";
import { IpamError } from "./errors.ts";
import type { Kept, Plan, Release } from "./plan.ts";

const nothing = { set: "default", pools: [], assign: [], keep: [], release: [], pending: [] } as const;

/**
 * A plan that frees these lines, or only gives them up. Only a human's word or evidence may ask for the first; time
 * never does.
 */
export function planRelease(snapshot: Snapshot, lines: readonly Allocation[], to: Release["to"] = "free"): Plan {
  return { ...nothing, base: snapshot.base, release: lines.map((allocation) => ({ allocation, to })) };
}

/** The lines whose node says that it has the address no more. A node that is not in the evidence says nothing. */
export function provenGone(
  lines: readonly Allocation[],
  nodes: ReadonlySet<string>,
  uses: readonly Use[],
): Allocation[] {
  const inUse = new Set(uses.map((use) => use.address));
  return lines.filter((line) => nodes.has(ownerOfKey(line.claim)) && !inUse.has(line.address));
}

/** Does this word name the line: its claim key, owner, owner's name, claim name, policy (the part before `/`), or address? */
export function isNamedBy(line: Allocation, word: string): boolean {
  const owner = ownerOfKey(line.claim);
  const name = nameOfKey(line.claim);
  const names = [line.claim, owner, parseOwner(owner).value?.name, name, formatAddress(line.address)];
  return names.includes(word) || name.startsWith(`${word}/`);
}

/**
 * A plan that renames claims of one set and moves nobody. `from` and `to` are two owners (`Node/a`), two claim names
 * (`static-ip/eth1`), two policies (the part before the `/`) or two whole keys.
 * Throws `invalid` if nothing bears the old name or the new one is no name, `in-use` if the new name is taken.
 */
export function planRename(snapshot: Snapshot, from: string, to: string, set = "default"): Plan {
  const rename =
    (releasing: boolean) =>
    (line: Allocation): Kept[] => {
      const claim = line.set === set ? renamed(line.claim, from, to) : undefined;
      if (claim === undefined) return [];
      return [{ allocation: { ...line, claim }, was: line, ...(releasing ? { releasing } : {}) }];
    };
  const keep = [...snapshot.allocations.flatMap(rename(false)), ...snapshot.releasing.flatMap(rename(true))];
  if (keep.length === 0)
    throw new IpamError("invalid", `no allocation is named ${from}${ownerMeant(snapshot, from, set)}`, {
      hint: "Names are as the record has them.",
      remedy: ["show"],
    });
  const bad = keep.find(({ allocation }) => parseClaimKey(allocation.claim).issues);
  if (bad !== undefined || from === to)
    throw new IpamError("invalid", `${from} cannot be renamed to ${JSON.stringify(to)}`, {
      hint: "Rename an owner to an owner (Node/a), a policy to a policy, a claim to a claim.",
    });
  const taken = new Set(snapshot.allocations.map(identityOf));
  const clash = keep.find(({ allocation, releasing }) => !releasing && taken.has(identityOf(allocation)));
  if (clash === undefined) return { ...nothing, set, base: snapshot.base, keep };
  const { claim, pool } = clash.allocation;
  throw new IpamError("in-use", `${claim} already holds an address of pool ${pool}`);
}

/** A node's name alone could be a policy's: owners are named with their kind. */
function ownerMeant({ allocations, releasing }: Snapshot, name: string, set: string): string {
  const owners = [...allocations, ...releasing]
    .filter((line) => line.set === set)
    .map((line) => ownerOfKey(line.claim));
  const meant = owners.find((owner) => parseOwner(owner).value?.name === name);
  return meant === undefined ? "" : `; did you mean ${meant}?`;
}

function renamed(key: string, from: string, to: string): string | undefined {
  const owner = ownerOfKey(key);
  const name = nameOfKey(key);
  if (key === from) return to;
  if (owner === from) return parseOwner(to).issues ? "" : `${to}/${name}`;
  if (name === from) return to === "" ? "" : `${owner}/${to}`;
  if (name.startsWith(`${from}/`)) return to === "" ? "" : `${owner}/${to}${name.slice(from.length)}`;
  return undefined;
}
