import {
  type AuditInput,
  audit,
  type Finding,
  importedSet,
  ownerOfKey,
  placeOf,
  shellWord,
  type Use,
} from "../../core/index.ts";
import { isToBegin, type StateOptions } from "../state.ts";
import { plural } from "../terminal.ts";
import { reservedNote } from "./reserved-note.ts";

type Input = AuditInput & Required<Pick<AuditInput, "uses" | "shows">>;

/** What the findings do not say, and who reads them may take for granted. */
export function auditNotes(input: Input, found: readonly Finding[], options: StateOptions): string[] {
  const shown = setsShown(input);
  return [
    ...nodesNote(input.uses),
    ...reservedNotes(input),
    ...(shown.has(input.shows.set) ? unseenNotes(input, found) : []),
    ...otherSetNotes(input, found, shown),
    ...(found.length > 0 ? recordNote(options) : []),
  ];
}

function nodesNote(uses: readonly Use[]): string[] {
  const isUnknown = uses.some(({ owner }) => owner?.startsWith("NodeNetworkConfigurationPolicy/"));
  return isUnknown ? ["Note: for which nodes such a policy is, --nodes FILE tells."] : [];
}

/** Two pull requests, of which one reserves an address and the other gives it away, merge without a conflict. */
function reservedNotes({ pools, snapshot }: Input): string[] {
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
function unseenNotes({ pools, snapshot, uses, shows }: Input, found: readonly Finding[]): string[] {
  const own = snapshot.allocations.filter(({ set }) => set === shows.set);
  const told = new Set([...uses.filter(({ owner }) => owner !== undefined), ...found].map(({ address }) => address));
  const recorded = Map.groupBy(own, ({ pool }) => pool);
  return pools.flatMap(({ name }) => {
    const lines = recorded.get(name) ?? [];
    if (lines.length === 0 || lines.some(({ address }) => told.has(address))) return [];
    const count = lines.length === 1 ? "its recorded one" : `its ${lines.length} recorded ones`;
    return [`Note: nothing here uses an address of pool ${name}, so ${count} may have leaked.`];
  });
}

/** Claim sets whose manifests this shows, and that would have findings of their own. */
function otherSetNotes(input: Input, found: readonly Finding[], shown: ReadonlySet<string>): string[] {
  const { shows } = input;
  const listed = new Set(found.map(({ message }) => message));
  return [...shown].flatMap((set) => {
    if (set === shows.set || set === importedSet) return [];
    const own = audit({ ...input, shows: { ...shows, set } }).filter(({ message }) => !listed.has(message));
    if (own.length === 0) return [];
    const count = plural(own.length, "finding");
    return [
      `Note: claim set ${set} has ${count} of its own (leaked, or not of these nodes), which --set ${shellWord(set)} lists.`,
    ];
  });
}

/**
 * The claim sets of which manifests give an owner its address. A node's own report is of that node alone, whatever the
 * set.
 */
function setsShown({ snapshot, uses, shows }: Input): ReadonlySet<string> {
  const given = uses.filter(({ owner }) => owner !== undefined && !shows.owners.has(owner));
  const known = new Set(given.map(({ owner, address }) => `${owner} ${address}`));
  const lines = snapshot.allocations.filter(({ claim, address }) => known.has(`${ownerOfKey(claim)} ${address}`));
  return new Set(lines.map(({ set }) => set));
}

function recordNote(options: StateOptions): string[] {
  return isToBegin(options)
    ? [
        `Note: there is no ${options.lock} here, so nothing counts as recorded. Name the lock that belongs to this: --lock FILE.`,
      ]
    : [];
}
