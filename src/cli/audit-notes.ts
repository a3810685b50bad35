import { type AuditInput, audit, type Finding, importedSet, type Use } from "../core/index.ts";
import { isLockfile, isToBegin, type StateOptions } from "./state.ts";
import { plural } from "./terminal.ts";

type Input = AuditInput & Required<Pick<AuditInput, "uses" | "shows">>;

/** What the findings do not say, and who reads them may take for granted. */
export function auditNotes(input: Input, found: readonly Finding[], options: StateOptions): string[] {
  return [
    ...nodesNote(input.uses),
    ...unseenNotes(input, found),
    ...otherSetNotes(input),
    ...(found.length > 0 ? recordNote(options) : []),
  ];
}

function nodesNote(uses: readonly Use[]): string[] {
  const isUnknown = uses.some(({ owner }) => owner?.startsWith("NodeNetworkConfigurationPolicy/"));
  return isUnknown ? ["Note: for which nodes such a policy is, --nodes FILE tells."] : [];
}

/** A pool of which nothing is used may be that of a folder that was not named, or of one that was lost. */
function unseenNotes({ pools, snapshot, uses, shows }: Input, found: readonly Finding[]): string[] {
  const judged = new Set(found.flatMap(({ line }) => line ?? []));
  const used = new Set(uses.map(({ address }) => address));
  const own = snapshot.allocations.filter(({ set }) => set === shows.set);
  if (!own.some(({ address }) => used.has(address))) return [];
  const recorded = Map.groupBy(own, ({ pool }) => pool);
  return pools.flatMap(({ name }) => {
    const lines = recorded.get(name) ?? [];
    if (lines.length === 0 || lines.some((line) => used.has(line.address) || judged.has(line))) return [];
    const count = lines.length === 1 ? "its recorded one" : `its ${lines.length} recorded ones`;
    return [`Note: nothing here uses an address of pool ${name}, so ${count} may have leaked.`];
  });
}

/** Claim sets that this shows addresses of, and that would have findings of their own. */
function otherSetNotes(input: Input): string[] {
  const { snapshot, uses, shows } = input;
  const used = new Set(uses.map(({ address }) => address));
  const shown = new Set(snapshot.allocations.flatMap(({ address, set }) => (used.has(address) ? set : [])));
  return [...shown].flatMap((set) => {
    if (set === shows.set || set === importedSet) return [];
    const found = audit({ ...input, shows: { ...shows, set } }).filter(({ line }) => line?.set === set);
    const own = found.filter(({ kind }) => kind === "leaked" || kind === "unknown-owner");
    return own.length === 0
      ? []
      : [
          `Note: claim set ${set} has ${plural(own.length, "finding")} of its own (leaked, unknown-owner), which --set ${set} lists.`,
        ];
  });
}

function recordNote(options: StateOptions): string[] {
  return isLockfile(options) && isToBegin(options)
    ? [
        `Note: there is no ${options.lock} here, so nothing counts as recorded. Name the lock that belongs to this: --lock FILE.`,
      ]
    : [];
}
