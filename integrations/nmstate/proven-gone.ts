import { type Allocation, BlockIndex, type Family, familyOf, ownerOfKey, type Use } from "../../core/index.ts";

/** The reports of nodes: by owner the NICs that are up, and of each the families that it shows. */
export type Reports = ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<Family>>>;

/** What reports prove about some lines. */
export interface Testimony {
  /** The lines whose addresses are off their nodes. */
  readonly gone: readonly Allocation[];
  /** The lines that must stay; `isInUse`: a node shows the address. */
  readonly kept: readonly { readonly line: Allocation; readonly why: string; readonly isInUse: boolean }[];
}

/**
 * Returns which addresses are off their nodes. A report proves something about the NICs that it shows to be up, and their families, and
 * about nothing else: handlers leave out NICs that a filter excludes.
 */
export function provenGone(lines: readonly Allocation[], reports: Reports, uses: readonly Use[]): Testimony {
  const users = new BlockIndex(uses);
  const answers = lines.map((line) => {
    const user = users.at(line).at(-1);
    return user === undefined
      ? { line, why: silence(line, reports), isInUse: false }
      : { line, why: `still on ${[user.owner, user.interface].filter(Boolean).join(" ")}`, isInUse: true };
  });
  return {
    gone: answers.flatMap(({ line, why }) => (why === undefined ? line : [])),
    kept: answers.flatMap(({ why, ...rest }) => (why === undefined ? [] : { ...rest, why })),
  };
}

/** Returns why reports that do not show the address prove nothing; undefined if they prove that it is off its node. */
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
