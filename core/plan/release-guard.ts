import { type Allocation, importedSet, ownerInPool, placeOf, type Snapshot } from "../allocation.ts";
import { formatBlock } from "../block.ts";
import { isOfNode, nameOfKey, ownerName, ownerOfKey, policyOfKey } from "../claim.ts";
import { IpamError, type Issue, type Place, placed } from "../errors.ts";
import { listed } from "../words.ts";
import type { Plan } from "./plan.ts";

/** What is known beside a plan about the lines that it releases. */
export interface Presence {
  /** Whether the owner of a line and the object that asked for it are both still there; undefined if nothing tells. */
  readonly isThere: (line: Allocation) => boolean | undefined;
  /** Why the object that asked for a line asks for no address now, if that is known. */
  readonly whyIdle: (line: Allocation) => string | undefined;
  /** Where that object stands, if it is there. */
  readonly placeOf: (line: Allocation) => Place | undefined;
}

const nothingKnown: Presence = { isThere: () => undefined, whyIdle: () => undefined, placeOf: () => undefined };

/** A release of so few addresses is not doubtful, unless it is at least half of a group. */
const maxSmall = 3;
/** A refusal names so many policies, owners or pools. */
const maxNamed = 5;

/**
 * Returns the refusal of a plan that releases addresses as a mistake would, or undefined: it takes addresses from owners
 * that are still there and still have the object that asked, or it releases much at once.
 *
 *  the plan releases                            | owner and object of these lines     | decision
 *  ---------------------------------------------+-------------------------------------+---------
 *  all lines of a policy, or of another owner   | still there, of at least one line   | stop
 *                                               | nothing tells, of two lines or more | stop
 *  all lines of a pool, or of one capture       | the same                            | stop
 *  lines of two nodes or more, and of at least  | still there: only these nodes count | stop
 *  half of those in a policy, pool or the set   |                                     |
 *  more than three lines and a fifth of those   | still there, or nothing tells:      | stop
 *  that nodes have of a policy, pool or the set | only these lines count              |
 *  all lines of the set, two or more            | any                                 | stop
 *  more than three lines and a fifth of the set | any                                 | stop
 *  any other lines                              | any                                 | go on
 *
 * Other owners than nodes do not count for the half or the fifth: a workload that is scaled down is still there.
 * A line that stays under another claim is not released (`mv`, `moved`), nor is one whose owner gets another address of the
 * pool by the same plan (`allowMove`), nor one that was releasing before.
 */
export function releaseRefusal(
  proposed: Plan,
  before: Snapshot,
  presence: Presence = nothingKnown,
): IpamError | undefined {
  const { released, own, held } = releasedBy(proposed, before);
  const doubtfulOf = (nameOf: (line: Allocation) => string) =>
    doubtfulGroups(Map.groupBy(own, nameOf), released, presence);
  const found = [askerOf, ({ pool }: Allocation) => `pool ${pool}`, claimNameOf, () => `set ${proposed.set}`]
    .map(doubtfulOf)
    .filter((groups) => groups.length > 0);
  const doubtful = found.find((groups) => groups.some(isWhole)) ?? found[0] ?? [];
  const issues = doubtful.slice(0, maxNamed).map(({ name, lines, held }): Issue => {
    const count = lines.length < held ? `${lines.length} of ${held}` : held === 1 ? "the only" : `all ${held}`;
    const ofWhom = ({ claim }: Allocation) => (ownerOfKey(claim) === name ? "" : ` of ${ownerName(claim)}`);
    const which = listed(lines.map((line) => `${formatBlock(line)}${ofWhom(line)}`));
    const addresses = held === 1 ? "address" : "addresses";
    const message = `this plan releases ${count} ${addresses} of ${name} (${which}): ${reasonFor(name, lines, presence)}`;
    return { message, ...placed(lines.map(presence.placeOf).find((at) => at !== undefined)) };
  });
  if (doubtful.length > maxNamed)
    issues.push({ message: `this plan releases addresses of ${doubtful.length - maxNamed} more like these` });
  if (issues.length === 0 && isBulk(released.length, held))
    issues.push({
      message: `this plan releases ${released.length} of ${held} addresses of set ${proposed.set}: ${likely(released)}`,
    });
  if (issues.length === 0) return undefined;
  const advice = { hint: "If it is meant, confirm it.", remedy: ["allow", "release"] } as const;
  return new IpamError(
    "in-use",
    issues.map((issue) => ({ ...issue, ...advice })),
  );
}

/** The live lines that a plan releases, the set's own lines, and how many addresses the set has now and after the plan. */
function releasedBy({ assign, keep, release, set }: Plan, before: Snapshot) {
  const live = new Set(before.allocations.map(placeOf));
  const replaced = new Set(assign.map(ownerInPool));
  const leaving = [...release, ...keep.filter((kept) => kept.releasing)].map(({ allocation }) => allocation);
  const released = leaving.filter((line) => live.has(placeOf(line)) && !replaced.has(ownerInPool(line)));
  const kept = keep.filter(({ allocation, was }) => live.has(placeOf(allocation)) && was?.set !== importedSet);
  const own = before.allocations.filter((line) => line.set === set);
  const held = new Set([...own, ...released, ...kept.map(({ allocation }) => allocation)].map(placeOf)).size;
  return { released, own, held };
}

function isBulk(released: number, held: number): boolean {
  return (released === held && held > 1) || isMuch(released, held);
}

/** A node of two families has two lines, and is one owner. */
function isHalf(released: readonly Allocation[], held: readonly Allocation[]): boolean {
  const countOwners = (lines: readonly Allocation[]) => new Set(lines.map(({ claim }) => ownerOfKey(claim))).size;
  const losing = countOwners(released);
  return losing > 1 && losing * 2 >= countOwners(held);
}

function isMuch(released: number, held: number): boolean {
  return released > maxSmall && released * 5 > held;
}

/** The policy, or the claim of this name, that asked for a line of a node; any other owner asks for itself. */
function askerOf({ claim }: Allocation): string {
  if (!isOfNode({ claim })) return ownerOfKey(claim);
  return `${nameOfKey(claim).includes("/") ? "policy" : "claim"} ${policyOfKey(claim)}`;
}

/** The capture of a policy, as `policy/capture`, that asked for a line of a node; any other owner asks for itself. */
function claimNameOf({ claim }: Allocation): string {
  return isOfNode({ claim }) ? `claim ${nameOfKey(claim)}` : ownerOfKey(claim);
}

/** The lines that a plan takes of a group, and how many the group has. */
interface Doubtful {
  readonly name: string;
  readonly lines: readonly Allocation[];
  readonly held: number;
}

function isWhole({ lines, held }: Doubtful): boolean {
  return lines.length === held;
}

/** The groups that lose all of their lines, or much, although owners may still be there. */
function doubtfulGroups(
  groups: ReadonlyMap<string, readonly Allocation[]>,
  released: readonly Allocation[],
  { isThere }: Presence,
): Doubtful[] {
  const places = new Set(released.map(placeOf));
  const isReleased = (line: Allocation) => places.has(placeOf(line));
  const isTaken = (lines: readonly Allocation[]) =>
    lines.some(isThere) || lines.filter((line) => isThere(line) === undefined).length > 1;
  return [...groups].flatMap(([name, all]): Doubtful[] => {
    if (all.every(isReleased)) return isTaken(all) ? [{ name, lines: all, held: all.length }] : [];
    const there = all.filter((line) => isOfNode(line) && isThere(line) !== false);
    const [lines, sure] = [there.filter(isReleased), there.filter(isThere)];
    const isDoubtful = isHalf(sure.filter(isReleased), sure) || isMuch(lines.length, there.length);
    return isDoubtful ? [{ name, lines, held: there.length }] : [];
  });
}

function reasonFor(name: string, lines: readonly Allocation[], { isThere, whyIdle }: Presence): string {
  const [why] = lines.flatMap((line) => whyIdle(line) ?? []);
  if (why !== undefined) return why;
  if (!lines.some(isThere)) return likely(lines);
  return lines.some((line) => ownerOfKey(line.claim) === name) ? "it is still there" : "its owners are still there";
}

function likely(lines: readonly Allocation[]): string {
  return lines.some(isOfNode) ? "wrong node list, selector or folder?" : "wrong folder or file?";
}
