import {
  type Allocation,
  type AuditInput,
  audit,
  type Finding,
  importedSet,
  ownerOfKey,
  shellWord,
  type Use,
} from "../core/index.ts";
import { isToBegin, type StateOptions } from "./state.ts";
import { plural } from "./terminal.ts";

type Input = AuditInput & Required<Pick<AuditInput, "uses" | "shows">>;

/** What the findings do not say, and who reads them may take for granted. */
export function auditNotes(input: Input, found: readonly Finding[], options: StateOptions): string[] {
  return [
    ...nodesNote(input.uses),
    ...unseenNotes(input, found),
    ...otherSetNotes(input, found),
    ...(found.length > 0 ? recordNote(options) : []),
  ];
}

function nodesNote(uses: readonly Use[]): string[] {
  const isUnknown = uses.some(({ owner }) => owner?.startsWith("NodeNetworkConfigurationPolicy/"));
  return isUnknown ? ["Note: for which nodes such a policy is, --nodes FILE tells."] : [];
}

/** A pool of which nothing is used may be that of a folder that was not named, or of one that was lost. */
function unseenNotes(input: Input, found: readonly Finding[]): string[] {
  const { pools, snapshot, uses, shows } = input;
  const own = snapshot.allocations.filter(({ set }) => set === shows.set);
  if (!own.some(isShownBy(input))) return [];
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
function otherSetNotes(input: Input, found: readonly Finding[]): string[] {
  const { snapshot, shows } = input;
  const shown = new Set(snapshot.allocations.filter(isShownBy(input)).map(({ set }) => set));
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

/** Do manifests give its owner the address of a line? A node's own report is of that node alone, whatever the set. */
function isShownBy({ uses, shows }: Input): (line: Allocation) => boolean {
  const given = uses.filter(({ owner }) => owner !== undefined && !shows.owners.has(owner));
  const known = new Set(given.map(({ owner, address }) => `${owner} ${address}`));
  return ({ claim, address }) => known.has(`${ownerOfKey(claim)} ${address}`);
}

function recordNote(options: StateOptions): string[] {
  return isToBegin(options)
    ? [
        `Note: there is no ${options.lock} here, so nothing counts as recorded. Name the lock that belongs to this: --lock FILE.`,
      ]
    : [];
}
