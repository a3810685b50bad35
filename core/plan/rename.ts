import { type Allocation, claimInSet, identityOf, importedSet, type Snapshot } from "../allocation.ts";
import { formatBlock } from "../block.ts";
import { nameOfKey, ownerOfKey, parseClaimKey, parseOwner } from "../claim.ts";
import { IpamError } from "../errors.ts";
import { listed } from "../words.ts";
import { type Kept, noChanges } from "./changes.ts";
import type { Plan } from "./plan.ts";
import { checkSet } from "./request.ts";

/** What a word may be to a line. */
export type Naming = "claim" | "owner" | "policy" | "address";

/** As what this word names the line: claim key; owner or its name; claim name or policy (the part before `/`); address. */
export function namingOf(line: Allocation, word: string): Naming | undefined {
  const owner = ownerOfKey(line.claim);
  const name = nameOfKey(line.claim);
  if (word === line.claim) return "claim";
  if (word === owner || word === parseOwner(owner).value?.name) return "owner";
  if (word === name || name.startsWith(`${word}/`)) return "policy";
  return word === formatBlock(line) ? "address" : undefined;
}

/** Returns whether a word names the line unambiguously: by its claim key, its owner with the kind, or its address. */
export function isNamedInFull(line: Allocation, word: string): boolean {
  return word === line.claim || word === ownerOfKey(line.claim) || word === formatBlock(line);
}

/** Returns whether a word names the line in any way. */
export function isNamedBy(line: Allocation, word: string): boolean {
  return namingOf(line, word) !== undefined;
}

/**
 * A plan that renames claims of one set and moves nobody. `from` and `to` are two owners (`Node/a`), two claim names
 * (`static-ip/eth1`), two policies (the part before the `/`) or two whole keys.
 * A releasing line whose new name somebody live has keeps its old one, as long as anything else is renamed. What was
 * imported for an owner, for whatever set adopts it, is renamed with that owner.
 * With `toSet`, what is named so goes to that claim set, and `to` may be `from`.
 * Throws `invalid` if nothing has the old name or the new one is no name, `in-use` if the new name is taken, or that of an
 * owner with other live claims of the set, or all that is renamed is releasing and the new name has another address releasing.
 */
export function planRename(snapshot: Snapshot, from: string, to: string, set = "default", toSet = set): Plan {
  if (toSet !== set) for (const one of [set, toSet]) checkSet(one);
  const rename =
    (releasing: boolean) =>
    (line: Allocation): Kept[] => {
      const claim = mayRename(line, from, to, set) ? renamed(line.claim, from, to) : undefined;
      if (claim === undefined) return [];
      const allocation = { ...line, claim, set: line.set === set ? toSet : line.set };
      return [{ allocation, was: line, ...(releasing ? { releasing } : {}) }];
    };
  const keep = [...snapshot.allocations.flatMap(rename(false)), ...snapshot.releasing.flatMap(rename(true))];
  if (keep.length === 0)
    throw new IpamError("invalid", `no allocation is named ${from}${whatIsMeant(snapshot, from, set)}`, {
      hint: "Names are as the record has them.",
    });
  const bad = keep.find(({ allocation }) => parseClaimKey(allocation.claim).issues);
  const isKeyForName = parseClaimKey(to).value !== undefined && parseClaimKey(from).value === undefined;
  if (from === to && set === toSet)
    throw new IpamError("invalid", `${from} is called so already, and is of claim set ${set}`);
  if (bad !== undefined || isKeyForName)
    throw new IpamError("invalid", `${from} cannot be renamed to ${JSON.stringify(to)}`, {
      hint: "Rename an owner to an owner (Node/a), a policy to a policy, a claim to a claim.",
    });
  const going = new Set(keep.map(({ was }) => was));
  const taken = new Set(snapshot.allocations.filter((line) => !going.has(line)).map(identityOf));
  const isTaken = ({ allocation }: Kept) => taken.has(identityOf(allocation));
  const named = keep.filter((kept) => !kept.releasing || !isTaken(kept));
  const clash = named.length === 0 ? keep[0] : named.find(isTaken);
  if (clash === undefined) {
    refuseTwoLeaving(named, snapshot);
    const others = snapshot.allocations.filter((line) => line.set === set && !going.has(line));
    if (set === toSet) refuseTwoOwners(to, named, others);
    return { ...noChanges, set, pools: [], base: snapshot.base, keep: named };
  }
  const { claim, pool } = clash.allocation;
  throw new IpamError("in-use", `${claim} already holds an address of pool ${pool}`, {
    hint: "If it got that one instead of the old one, take the record back as it was, and rename before you plan.",
  });
}

/** Where all that is renamed is releasing: a claim that comes back would have one of two addresses, whatever the rename says. */
function refuseTwoLeaving(keep: readonly Kept[], { releasing }: Snapshot): void {
  if (keep.some((kept) => !kept.releasing)) return;
  const names = new Set(keep.map(({ allocation }) => claimInSet(allocation)));
  const others = releasing.filter((line) => names.has(claimInSet(line)));
  const [first] = others;
  if (first === undefined) return;
  const addresses = listed(others.map(formatBlock));
  throw new IpamError("in-use", `${first.claim} has ${formatBlock(first)} releasing already`, {
    hint: `A claim comes back to one address: free ${addresses} first, when off the node.`,
    remedy: ["release"],
  });
}

/** An owner that has live claims is somebody else, who would take the addresses of the renamed one. Policies may become one. */
function refuseTwoOwners(owner: string, keep: readonly Kept[], others: readonly Allocation[]): void {
  const other = others.find((line) => ownerOfKey(line.claim) === owner);
  if (other === undefined) return;
  const { was, allocation } = keep[0] as Kept;
  throw new IpamError("in-use", `${owner} is there already, and has ${formatBlock(other)} (${other.claim})`, {
    hint: `Two owners never become one. If a claim changed its owner, rename it by its full name: ${was?.claim} to ${allocation.claim}.`,
  });
}

function mayRename(line: Allocation, from: string, to: string, set: string): boolean {
  return line.set === set || (line.set === importedSet && ownerOfKey(line.claim) === from && from !== to);
}

/** A node's name alone could be a policy's: owners are named with their kind. And another claim set may have the name. */
function whatIsMeant({ allocations, releasing }: Snapshot, name: string, set: string): string {
  const lines = [...allocations, ...releasing].filter((line) => isNamedBy(line, name));
  const meant = lines.find((line) => line.set === set) ?? lines[0];
  if (meant === undefined) return "";
  if (meant.set !== set) return ` in claim set ${set}; it is of ${meant.set}`;
  return `; did you mean ${namingOf(meant, name) === "owner" ? ownerOfKey(meant.claim) : meant.claim}?`;
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
