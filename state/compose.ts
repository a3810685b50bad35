import {
  type Allocation,
  byCodeUnit,
  identityOf,
  nameOfKey,
  ownerOfKey,
  parseClaimKey,
  placeOf,
  type Snapshot,
  sameLine,
} from "../core/index.ts";
import { allocationLine, type Content } from "./codec.ts";

/** A line and the list it stands in. */
export interface Entry {
  readonly line: Allocation;
  readonly releasing: boolean;
  /** The lines of both sides that it was composed of. */
  readonly of?: readonly Entry[];
}

export function entries(record: Content): Entry[] {
  const list = (lines: readonly Allocation[], releasing: boolean) => lines.map((line) => ({ line, releasing }));
  return [...list(record.allocations, false), ...list(record.releasing, true)];
}

export function sameEntry(a: Entry, b: Entry | undefined): boolean {
  return b !== undefined && a.releasing === b.releasing && sameLine(a.line, b.line);
}

/** One version of a record, as a merge looks at it. */
export interface Version {
  readonly at: ReadonlyMap<string, Entry>;
  /** Where a claim has its address, by its identity. */
  readonly placeOfClaim: ReadonlyMap<string, string>;
  /** Who has a live line of which set, and who has any. */
  readonly holders: ReadonlySet<string>;
  readonly owners: ReadonlySet<string>;
}

export function versionOf(record: Snapshot): Version {
  const all = entries(record);
  return {
    at: new Map(all.map((entry) => [placeOf(entry.line), entry])),
    holders: new Set(record.allocations.map(ownerInSet)),
    owners: new Set(all.map(({ line }) => ownerInSet(line))),
    placeOfClaim: new Map(record.allocations.map((line) => [identityOf(line), placeOf(line)])),
  };
}

function ownerInSet({ set, claim }: Allocation): string {
  return `${ownerOfKey(claim)} ${set}`;
}

/**
 * The one line that two sides made of a line of the base, each in its own way; undefined if both claim the address.
 *
 *  both sides changed it, and                        | line
 *  --------------------------------------------------+------------------------------------------------------------
 *  each its fields, or one field the same way        | both changes: the node renamed here and the policy there;
 *                                                    | releasing here, renamed there: releasing under the new name
 *  owner differently                                 | both claim it
 *  policy, capture or set differently                | that of `decided`, the side in force; else both claim it
 *  NIC or uid differently                            | likewise, else whichever: the next plan corrects it
 *  one side moved the claim, changed its length, or  | both claim it: that is no rename
 *  gave the address to a claim that had one, to an   |
 *  owner that had one, or                            |
 *  the old owner still has lines                     |
 *  it was releasing, and live on both sides has      | both claim it: it may have been freed, and given away
 *  two names                                         |
 *  it was releasing, is live again on one side, and  | both claim it: who came back keeps its name
 *  the other gave it another owner                   |
 */
export function compose(
  place: string,
  base: Version,
  ours: Version,
  theirs: Version,
  decided: Entry | undefined,
): Entry | undefined {
  const [before, one, other] = [base.at.get(place), ours.at.get(place), theirs.at.get(place)];
  if (before === undefined || one === undefined || other === undefined) return undefined;
  if (!isDerived(before, one, base, ours) || !isDerived(before, other, base, theirs)) return undefined;
  const line = composeLine(before, one, other, decided);
  if (line === undefined) return undefined;
  if (before.releasing) {
    const live = [one, other].filter(({ releasing }) => !releasing);
    if (live.length === 2 && one.line.claim !== other.line.claim) return undefined;
    if (live.some((entry) => ownerOfKey(entry.line.claim) !== ownerOfKey(line.claim))) return undefined;
  }
  const releasing = one.releasing === before.releasing ? other.releasing : one.releasing;
  return { line, releasing, of: [one, other] };
}

/** Is this line of a side the one of the base, renamed at most? */
function isDerived(before: Entry, now: Entry, base: Version, side: Version): boolean {
  const isElsewhere = (version: Version, line: Allocation) => {
    const place = version.placeOfClaim.get(identityOf(line));
    return place !== undefined && place !== placeOf(line);
  };
  if (now.line.length !== before.line.length) return false;
  const isGivenUp = now.releasing && !before.releasing;
  if (isGivenUp && isElsewhere(side, now.line)) return false;
  if (now.line.claim === before.line.claim) return true;
  if (isElsewhere(side, before.line) || isElsewhere(base, now.line)) return false;
  if (ownerOfKey(now.line.claim) === ownerOfKey(before.line.claim)) return true;
  return !side.owners.has(ownerInSet(before.line)) && !base.holders.has(ownerInSet(now.line));
}

const fields = ["owner", "policy", "capture", "set", "interface", "uid"] as const;
type Field = (typeof fields)[number];

function composeLine(before: Entry, one: Entry, other: Entry, decided: Entry | undefined): Allocation | undefined {
  const [b, o, t, p] = [before, one, other, decided ?? preferredOf(one, other)].map(fieldsOf) as [
    Fields,
    Fields,
    Fields,
    Fields,
  ];
  const merged = { ...o };
  for (const field of fields) {
    if (o[field] === t[field] || t[field] === b[field]) continue;
    const isClash = o[field] !== b[field];
    const isMinor = field === "interface" || field === "uid";
    if (isClash && (field === "owner" || !(isMinor || decided))) return undefined;
    merged[field] = isClash ? p[field] : t[field];
  }
  const { owner, policy, capture, set = "", interface: nic, uid } = merged;
  const claim = `${owner}/${policy}${capture}`;
  if (parseClaimKey(claim).issues) return undefined;
  return {
    address: one.line.address,
    length: one.line.length,
    pool: one.line.pool,
    claim,
    set,
    ...(nic === undefined ? {} : { interface: nic }),
    ...(uid === undefined ? {} : { uid }),
  };
}

type Fields = Record<Field, string | undefined>;

/** What a side can change of a line, without its address. A claim is named `policy/capture`, or has one name alone. */
function fieldsOf({ line: { claim, set, interface: nic, uid } }: Entry): Fields {
  const name = nameOfKey(claim);
  const end = name.includes("/") ? name.indexOf("/") : name.length;
  return { owner: ownerOfKey(claim), policy: name.slice(0, end), capture: name.slice(end), set, interface: nic, uid };
}

/** The lines that stand where two sides cannot be composed: of one claim that of the side in force, else the live one; else both. */
export function apart(ours: Entry, theirs: Entry, decided: Entry | undefined): Entry[] {
  return ours.line.claim === theirs.line.claim ? [decided ?? preferredOf(ours, theirs)] : [ours, theirs];
}

/** The live one, else whichever, but the same one whatever side is called ours. */
function preferredOf(ours: Entry, theirs: Entry): Entry {
  if (ours.releasing !== theirs.releasing) return ours.releasing ? theirs : ours;
  return byCodeUnit(allocationLine(ours.line), allocationLine(theirs.line)) <= 0 ? ours : theirs;
}
