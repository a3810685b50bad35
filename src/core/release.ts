import { type Family, familyOf, formatAddress } from "./address.ts";
import { type Allocation, identityOf, type Snapshot } from "./allocation.ts";
import type { Use } from "./audit.ts";
import type { Kept, Release } from "./changes.ts";
import { nameOfKey, ownerOfKey, parseClaimKey, parseOwner } from "./claim.ts";
import { IpamError } from "./errors.ts";
import type { Plan } from "./plan.ts";

const nothing = { set: "default", pools: [], assign: [], keep: [], release: [], pending: [] } as const;

/**
 * A plan that frees these lines, or only gives them up. Only a human's word or evidence may ask for the first; time
 * never does.
 */
export function planRelease(snapshot: Snapshot, lines: readonly Allocation[], to: Release["to"] = "free"): Plan {
  return { ...nothing, base: snapshot.base, release: lines.map((allocation) => ({ allocation, to })) };
}

/** What nodes report of themselves: by owner the NICs that are up, and of each the families that it shows. */
export type Reports = ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<Family>>>;

/** What reports say of some lines. */
export interface Testimony {
  /** Their nodes have these no more. */
  readonly gone: readonly Allocation[];
  /** Nobody may have these yet; `isInUse`: a node shows the address. */
  readonly kept: readonly { readonly line: Allocation; readonly why: string; readonly isInUse: boolean }[];
}

/**
 * Which addresses are off their nodes. A report speaks for the NICs that it shows to be up, and their families, and for
 * nothing else: handlers leave out NICs that they are told to filter.
 */
export function provenGone(lines: readonly Allocation[], reports: Reports, uses: readonly Use[]): Testimony {
  const users = new Map(uses.map((use) => [use.address, use]));
  const heard = lines.map((line) => {
    const user = users.get(line.address);
    return user === undefined
      ? { line, why: silence(line, reports), isInUse: false }
      : { line, why: `still on ${[user.owner, user.interface].filter(Boolean).join(" ")}`, isInUse: true };
  });
  return {
    gone: heard.flatMap(({ line, why }) => (why === undefined ? line : [])),
    kept: heard.flatMap(({ why, ...rest }) => (why === undefined ? [] : { ...rest, why })),
  };
}

/** Why reports that do not show the address prove nothing; undefined if they do. */
function silence({ address, claim, interface: nic }: Allocation, reports: Reports): string | undefined {
  const owner = ownerOfKey(claim);
  const shown = reports.get(owner);
  if (shown === undefined) return `${owner} is not reported`;
  if (nic === undefined) return "it is not recorded on which NIC it was";
  const family = familyOf(address);
  return shown.get(nic)?.has(family)
    ? undefined
    : `the report of ${owner} shows no ${nic} that is up, with its IPv${family}`;
}

/** What a word may be to a line. */
export type Naming = "claim" | "owner" | "policy" | "address";

/** As what this word names the line: claim key; owner or its name; claim name or policy (the part before `/`); address. */
export function namingOf(line: Allocation, word: string): Naming | undefined {
  const owner = ownerOfKey(line.claim);
  const name = nameOfKey(line.claim);
  if (word === line.claim) return "claim";
  if (word === owner || word === parseOwner(owner).value?.name) return "owner";
  if (word === name || name.startsWith(`${word}/`)) return "policy";
  return word === formatAddress(line.address) ? "address" : undefined;
}

/** Does this word name the line, as whatever? */
export function isNamedBy(line: Allocation, word: string): boolean {
  return namingOf(line, word) !== undefined;
}

/**
 * A plan that renames claims of one set and moves nobody. `from` and `to` are two owners (`Node/a`), two claim names
 * (`static-ip/eth1`), two policies (the part before the `/`) or two whole keys.
 * A releasing line whose new name somebody live has keeps its old one, as long as anything else is renamed.
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
  const isKeyForName = parseClaimKey(to).value !== undefined && parseClaimKey(from).value === undefined;
  if (bad !== undefined || isKeyForName || from === to)
    throw new IpamError("invalid", `${from} cannot be renamed to ${JSON.stringify(to)}`, {
      hint: "Rename an owner to an owner (Node/a), a policy to a policy, a claim to a claim.",
    });
  const taken = new Set(snapshot.allocations.map(identityOf));
  const isTaken = ({ allocation }: Kept) => taken.has(identityOf(allocation));
  const named = keep.filter((kept) => !kept.releasing || !isTaken(kept));
  const clash = named.length === 0 ? keep[0] : named.find(isTaken);
  if (clash === undefined) return { ...nothing, set, base: snapshot.base, keep: named };
  const { claim, pool } = clash.allocation;
  throw new IpamError("in-use", `${claim} already holds an address of pool ${pool}`, {
    hint: "If it got that one instead of the old one, take the record back as it was, and rename before you plan.",
  });
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
