import {
  countingSource,
  familyOf,
  hasWildcards,
  type Issue,
  isOfAddresses,
  type Labels,
  type NamedBySource,
  type Parsed,
  type Pool,
  type PoolChoice,
  type Selectable,
  selectPools,
  sizeOf,
  type Verdict,
  whyFull,
} from "../../core/index.ts";
import { whyUnbound } from "../bound-pools.ts";
import type { Facts } from "../facts.ts";

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
 */
export function poolsForNic(
  request: NicRequest,
  facts: Pick<Facts, "pools" | "unsound">,
  freeIn: FreeIn = allOf,
): Parsed<readonly NicPools[]> {
  const source = countingSource(request.named);
  const { any = [], ...own } = source === "cluster" ? {} : (request.named[source] ?? {});
  const names = [...any, ...Object.values(own).flat()];
  // A name with wildcards may stand for none.
  const issues = names.flatMap((name) => (hasWildcards(name) ? [] : (whyUnbound(name, facts) ?? [])));
  if (issues.length > 0) return { issues };
  const all = [...facts.pools.values()].filter(isOfAddresses).map((pool) => selectableOf(pool, request.owner, freeIn));
  const found = ([4, 6] as const).map((family) => {
    const verdicts = selectPools({ ...request, family }, all);
    return { family, verdicts, asked: verdicts.filter((one) => one.source === source) };
  });
  const none = found.find(({ family, asked }) => asked.length === 0 && own[family] !== undefined);
  if (none !== undefined) return { issues: [noneCalled(` of IPv${none.family}`, own[none.family] ?? [])] };
  if (any.length > 0 && found.every(({ asked }) => asked.length === 0)) return { issues: [noneCalled("", any)] };
  const given = found.filter(({ asked }) => asked.length > 0);
  return {
    value: given.map(({ family, verdicts, asked }): NicPools => {
      const ofFamily = new Set(all.flatMap(({ pool }) => (familyOf(pool.prefix.first) === family ? pool.name : [])));
      const others = source === "cluster" ? [...ofFamily] : asked.map(({ pool }) => pool);
      const full = new Set(all.map(({ pool, room }) => `${pool.name} dropped: ${whyFull(room)}`));
      const choice = choiceOf(
        asked,
        others.filter((name) => ofFamily.has(name)),
        ({ pool, why }) => full.has(`${pool} ${why.join(", ")}`),
      );
      return { family, verdicts, choice, first: choice.tried[0] ?? asked[0]?.pool ?? "" };
    }),
  };
}

/** What is only dropped keeps what it gave: also what has lost `default` since. */
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

function noneCalled(what: string, names: readonly string[]): Issue {
  return { message: `no NodeIPPool${what} is called ${names.join(" or ")}` };
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
