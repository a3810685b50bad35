import {
  familyOf,
  hasWildcards,
  type Issue,
  isOfAddresses,
  type Labels,
  type Parsed,
  type Pool,
  type PoolChoice,
  type PoolSource,
  poolSources,
  type Selectable,
  selectPools,
  sizeOf,
  type Verdict,
} from "../../core/index.ts";
import { whyUnbound } from "../bound-pools.ts";
import type { NamedPools } from "./named-pools.ts";

/** A NIC of the pods of a workload. */
export interface NicRequest {
  readonly namespace: { readonly name: string; readonly labels: Labels };
  /** Of the pods. */
  readonly labels: Labels;
  /** The NetworkAttachmentDefinition, as `namespace/name`. */
  readonly network: string;
  readonly named: Partial<Readonly<Record<Exclude<PoolSource, "cluster">, NamedPools>>>;
  /** The workload, as `formatOwner` writes it: what is reserved for it counts as room. */
  readonly owner: string;
}

/** The pools of one family for a NIC. */
export interface NicPools {
  readonly family: 4 | 6;
  readonly verdicts: readonly Verdict[];
  readonly choice: PoolChoice;
}

/**
 * The pools that a NIC may have addresses of, family by family: of those that the highest source names. All issues.
 *
 *  the source                         | families that the NIC gets an address of
 *  -----------------------------------+--------------------------------------------
 *  names them family by family        | each that it names pools of
 *  names pools alone                  | those of these pools
 *  is the cluster                     | those of the pools with `default`
 *  there is none                      | none: the NIC has no addresses of ours
 */
export function poolsForNic(
  request: NicRequest,
  pools: ReadonlyMap<string, Pool>,
  freeIn: FreeIn = allOf,
): Parsed<readonly NicPools[]> {
  const { named } = request;
  const all = [...pools.values()].filter(isOfAddresses);
  const source = poolSources.find((one) =>
    one === "cluster" ? all.some(({ rules }) => rules.default) : namesAny(named[one]),
  );
  if (source === undefined) return { value: [] };
  const own = source === "cluster" ? {} : (named[source] ?? {});
  const issues = Object.values(own).flatMap((names) => names.flatMap((name) => issueOf(name, pools)));
  if (issues.length > 0) return { issues };
  const isAsked = (family: 4 | 6) =>
    source === "cluster"
      ? all.some((pool) => pool.rules.default === true && isOf(pool, family))
      : namesFor(own, family, pools).length > 0;
  const found = ([4, 6] as const).filter(isAsked).map((family): NicPools => {
    const lists = Object.entries(named).map(([one, names]) => [one, namesFor(names, family, pools)]);
    const ofFamily = all.filter((pool) => isOf(pool, family));
    const selectable = ofFamily.map((pool) => selectableOf(pool, request.owner, freeIn));
    const verdicts = selectPools({ ...request, family, named: Object.fromEntries(lists) }, selectable);
    return { family, verdicts, choice: choiceOf(verdicts, source, selectable) };
  });
  const isNone = (one: NicPools) => one.verdicts.every((verdict) => verdict.source !== source);
  const none = found.find((one) => isNone(one) && own[one.family] !== undefined);
  if (none !== undefined)
    return { issues: [{ message: `no NodeIPPool of IPv${none.family} is called ${own[none.family]?.join(" or ")}` }] };
  return { value: found.filter((one) => !isNone(one)) };
}

/** What is only dropped keeps what it gave: also what has lost `default` since. */
function choiceOf(verdicts: readonly Verdict[], source: PoolSource, selectable: readonly Selectable[]): PoolChoice {
  const tried = verdicts.filter(({ place }) => place !== undefined).map(({ pool }) => pool);
  const asked = verdicts.filter((one) => one.source === source);
  const all = source === "cluster" ? selectable.map(({ pool }) => pool.name) : asked.map(({ pool }) => pool);
  const why = asked.filter(({ place }) => place === undefined).map(({ pool, why }) => `${pool} ${why.join(", ")}`);
  return { tried, kept: all.filter((name) => !tried.includes(name)), why: why.join("; ") };
}

function namesAny(names: NamedPools = {}): boolean {
  return Object.values(names).some((list) => list.length > 0);
}

function namesFor(names: NamedPools = {}, family: 4 | 6, pools: ReadonlyMap<string, Pool>): string[] {
  const isOfOther = (name: string) => {
    const pool = pools.get(name);
    return pool !== undefined && !isOf(pool, family);
  };
  return [...(names[family] ?? []), ...(names.any ?? []).filter((name) => !isOfOther(name))];
}

function isOf({ start }: Pool, family: 4 | 6): boolean {
  return familyOf(start) === family;
}

/** Why a pool that is named cannot give an address. A name with wildcards may stand for none. */
function issueOf(name: string, pools: ReadonlyMap<string, Pool>): Issue[] {
  const why = hasWildcards(name) ? undefined : whyUnbound(name, { pools });
  return why === undefined ? [] : [why];
}

/** How many addresses of a pool nobody has. Where a plan finds that out, all are free before it. */
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
