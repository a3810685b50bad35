import {
  countingSource,
  familyOf,
  hasWildcards,
  type Issue,
  isCalled,
  isOfAddresses,
  type Labels,
  type NamedBySource,
  type Parsed,
  type Pool,
  type PoolChoice,
  type PoolSource,
  type Selectable,
  selectPools,
  sizeOf,
  type Verdict,
  whyFull,
} from "../../core/index.ts";
import type { Facts, UnsoundPool } from "../contract/facts.ts";
import { whyUnbound } from "../networks/bound-pools.ts";

/** A NIC of the pods of a workload. */
export interface NicRequest {
  readonly namespace: { readonly name: string; readonly labels: Labels };
  /** Of the pods. */
  readonly labels: Labels;
  /** Of the pods. */
  readonly nodeSelector: Labels;
  /** The NetworkAttachmentDefinition, as `namespace/name`. */
  readonly network: string;
  readonly named: NamedBySource;
  /** The workload, as `formatOwner` writes it: what is reserved for it counts as room. */
  readonly owner: string;
}

/** The pools of one family for a NIC. */
export interface NicPools {
  readonly family: 4 | 6;
  readonly verdicts: readonly Verdict[];
  readonly choice: PoolChoice;
  /** The first pool that is asked: what people read of it before one is chosen. */
  readonly first: string;
}

/**
 * The pools that a NIC may have addresses of, family by family: of those that the highest source names. All issues.
 *
 *  the source                         | families that the NIC gets an address of
 *  -----------------------------------+--------------------------------------------
 *  names them family by family        | each that it names pools of
 *  names pools alone                  | those of these pools
 *  is the cluster                     | those of the pools with `default`: none, if there are none
 *
 * In a cluster, pools that allocate nothing now may be among those that the source names:
 *
 *  such a pool                                   | the NIC gets
 *  ----------------------------------------------+----------------------------------------------------------------
 *  is named in full                              | nothing: all stays as it is, and it is an issue
 *  is of a name with wildcards, or of the        | the same: from another pool it would get a second address
 *   cluster, and the workload has addresses of it|
 *  is so, and the workload may have addresses of | what it has of other pools; each pod that has none waits
 *   it: its lines cannot be read                 |
 *  is so, and the workload has none of it        | addresses of the other pools; if there are none, it is an issue
 */
export function poolsForNic(
  request: NicRequest,
  facts: Pick<Facts, "pools" | "unsound">,
  freeIn: FreeIn = allOf,
): Parsed<readonly NicPools[]> {
  const source = countingSource(request.named);
  const { any = [], ...own } = source === "cluster" ? {} : (request.named[source] ?? {});
  const names = [...any, ...Object.values(own).flat()];
  const unsound = unsoundFor(names, facts);
  const held = unsound.filter(([, { owners }]) => owners.has(request.owner)).map(([name]) => name);
  // A name with wildcards may stand for none.
  const needed = new Set([...names.filter((name) => !hasWildcards(name)), ...held]);
  const issues = [...needed].flatMap((name) => whyUnbound(name, facts) ?? []);
  if (issues.length > 0) return { issues };
  const all = [...facts.pools.values()].filter(isOfAddresses).map((pool) => selectableOf(pool, request.owner, freeIn));
  const found = ([4, 6] as const).map((family) => {
    const verdicts = selectPools({ ...request, family }, all);
    const unread = unsound.find(([, one]) => mayHaveGiven(one, family, source))?.[1].why;
    return { family, verdicts, asked: verdicts.filter((one) => one.source === source), unread };
  });
  const given = found.filter(({ asked, unread }) => asked.length > 0 || unread !== undefined);
  const none = ([4, 6] as const).find((one) => own[one] && !given.some(({ family }) => family === one));
  if (none !== undefined) return { issues: [noneCalled(` of IPv${none}`, own[none] ?? [], facts)] };
  if (any.length > 0 && given.length === 0) return { issues: [noneCalled("", any, facts)] };
  return {
    value: given.map(({ family, verdicts, asked, unread }): NicPools => {
      const ofFamily = new Set(all.flatMap(({ pool }) => (familyOf(pool.prefix.first) === family ? pool.name : [])));
      const others = source === "cluster" ? [...ofFamily] : asked.map(({ pool }) => pool);
      const full = new Set(all.map(({ pool, room }) => `${pool.name} dropped: ${whyFull(room)}`));
      const choice = choiceOf(
        asked,
        others.filter((name) => ofFamily.has(name)),
        ({ pool, why }) => full.has(`${pool} ${why.join(", ")}`),
      );
      const first = choice.tried[0] ?? asked[0]?.pool ?? "";
      return { family, verdicts, choice: { ...choice, ...(unread !== undefined && { unread }) }, first };
    }),
  };
}

/** Returns the pools that allocate nothing now and are called by one of these names; all of them, if there are no names. */
function unsoundFor(
  names: readonly string[],
  { unsound = new Map() }: Pick<Facts, "unsound">,
): [string, UnsoundPool][] {
  return [...unsound].filter(([name]) => names.length === 0 || names.some((one) => isCalled(name, one)));
}

/** Whether a pod may have an address of a pool whose lines cannot be read. */
function mayHaveGiven({ unread, isPlanned, whole }: UnsoundPool, family: 4 | 6, source: PoolSource): boolean {
  if (unread !== family || isPlanned) return false;
  return whole === undefined || (isOfAddresses(whole) && (source !== "cluster" || whole.rules.default === true));
}

/** Returns the choice of pools. A pool that is dropped, such as one that is no longer `default`, keeps the addresses that it gave. */
function choiceOf(
  asked: readonly Verdict[],
  others: readonly string[],
  isFull: (verdict: Verdict) => boolean,
): PoolChoice {
  const tried = asked.filter(({ place }) => place !== undefined).map(({ pool }) => pool);
  const known = new Set(tried);
  const why = asked.filter(({ place }) => place === undefined).map(({ pool, why }) => `${pool} ${why.join(", ")}`);
  const choice = { tried, kept: others.filter((name) => !known.has(name)), why: why.join("; ") };
  return tried.length === 0 && asked.some(isFull) ? { ...choice, isFull: true } : choice;
}

/** Returns why names match no pool that allocates addresses. */
function noneCalled(what: string, names: readonly string[], facts: Pick<Facts, "pools" | "unsound">): Issue {
  const [[unsound] = []] = unsoundFor(names, facts);
  const why = unsound === undefined ? undefined : whyUnbound(unsound, facts);
  return why ?? { message: `no NodeIPPool${what} is called ${names.join(" or ")}` };
}

/** Returns how many addresses of a pool are free. In a plan, all count as free until it has allocated. */
export type FreeIn = (pool: Pool) => bigint;

function allOf({ automatic }: Pool): bigint {
  return sizeOf(automatic);
}

function selectableOf(pool: Pool, owner: string, freeIn: FreeIn): Selectable {
  const { range, assignable, reservations } = pool;
  const away = reservations.all.filter((one) => one.owner === undefined).length;
  const own = reservations.all.filter((one) => one.owner === owner).length;
  const unreserved = allOf(pool) + BigInt(own);
  const room = { all: sizeOf(range), usable: sizeOf(assignable) + BigInt(away), unreserved };
  return { pool, rules: pool.rules, isTerminating: false, room: { ...room, free: freeIn(pool) + BigInt(own) } };
}
