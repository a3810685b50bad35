import {
  type AuditInput,
  type Finding,
  importedSet,
  ownerOfKey,
  placeOf,
  type Snapshot,
  shellWord,
  type Use,
} from "../../core/index.ts";
import { isToBegin, type StateOptions } from "../state.ts";
import { plural } from "../terminal.ts";
import { reservedNote } from "./reserved-note.ts";

/** What was held against what. */
interface Audited extends Pick<AuditInput, "pools" | "snapshot"> {
  readonly uses: readonly Use[];
  /** The claim sets whose manifests this shows. */
  readonly shown: ReadonlySet<string>;
  /** Of all these sets, and those of them that are told. */
  readonly all: readonly Finding[];
  readonly found: readonly Finding[];
}

/** What the findings do not say, and who reads them may take for granted. */
export function auditNotes(audited: Audited, options: StateOptions & { readonly set: string }): string[] {
  const { set } = options;
  return [
    ...nodesNote(audited.uses),
    ...reservedNotes(audited),
    ...(audited.shown.has(set) ? unseenNotes(audited, set) : []),
    ...otherSetNotes(audited, set),
    ...(audited.found.length > 0 ? recordNote(options) : []),
  ];
}

function nodesNote(uses: readonly Use[]): string[] {
  const isUnknown = uses.some(({ owner }) => owner?.startsWith("NodeNetworkConfigurationPolicy/"));
  return isUnknown ? ["Note: for which nodes such a policy is, --nodes FILE tells."] : [];
}

/** Two pull requests, of which one reserves an address and the other gives it away, merge without a conflict. */
function reservedNotes({ pools, snapshot }: Audited): string[] {
  const holders = new Map(snapshot.allocations.map((line) => [placeOf(line), line]));
  return pools.flatMap(({ name, reservations }) =>
    reservations.all.flatMap(({ address, owner }) => {
      const holder = holders.get(placeOf({ address, pool: name }));
      if (owner === undefined || holder === undefined || ownerOfKey(holder.claim) === owner) return [];
      return reservedNote(name, address, owner, holder);
    }),
  );
}

/** A pool of which nothing is used may be that of a folder that was not named, or of one that was lost. */
function unseenNotes({ pools, snapshot, uses, found }: Audited, set: string): string[] {
  const own = snapshot.allocations.filter((line) => line.set === set);
  const told = new Set([...uses.filter(({ owner }) => owner !== undefined), ...found].map(({ address }) => address));
  const recorded = Map.groupBy(own, ({ pool }) => pool);
  return pools.flatMap(({ name }) => {
    const lines = recorded.get(name) ?? [];
    if (lines.length === 0 || lines.some(({ address }) => told.has(address))) return [];
    const count = lines.length === 1 ? "its recorded one" : `its ${lines.length} recorded ones`;
    return [`Note: nothing here uses an address of pool ${name}, so ${count} may have leaked.`];
  });
}

/** Claim sets whose manifests this shows, and that have findings of their own. */
function otherSetNotes({ all }: Audited, own: string): string[] {
  const others = Map.groupBy(
    all.filter(({ set = own }) => set !== own),
    ({ set = own }) => set,
  );
  return [...others].map(
    ([set, { length }]) =>
      `Note: claim set ${set} has ${plural(length, "finding")} of its own (leaked, or not of these nodes), which --set ${shellWord(set)} lists.`,
  );
}

/**
 * The claim sets of which manifests give an owner its address. A node's own report (of `reports`) is of that node alone,
 * whatever the set.
 */
export function setsShown(
  { allocations }: Snapshot,
  uses: readonly Use[],
  reports: ReadonlySet<string>,
): ReadonlySet<string> {
  const given = uses.filter(({ owner }) => owner !== undefined && !reports.has(owner));
  const known = new Set(given.map(({ owner, address }) => `${owner} ${address}`));
  const lines = allocations.filter(({ claim, address }) => known.has(`${ownerOfKey(claim)} ${address}`));
  return new Set(lines.flatMap(({ set }) => (set === importedSet ? [] : set)));
}

function recordNote(options: StateOptions): string[] {
  return isToBegin(options)
    ? [
        `Note: there is no ${options.lock} here, so nothing counts as recorded. Name the lock that belongs to this: --lock FILE.`,
      ]
    : [];
}
