import { type Allocation, isPlanned, ownerOfKey } from "../../core/index.ts";
import { objectKey } from "../../integrations/contract/object-key.ts";
import type { Concern } from "../../integrations/contract/watched-kind.ts";
import { didYouMean } from "../../schema/nearest.ts";
import { resetAnnotation } from "../../schema/node-ip-pool.ts";
import type { Seen } from "../cache/seen.ts";
import type { ClusterPool } from "./cluster-pool.ts";
import { isDefinedBy } from "./pools.ts";

/** The key of the object that asked for a claim; undefined if nobody knows it. */
export type SourceOf = (claim: string) => string | undefined;

/** Somebody says by an annotation that the reports of nodes are up to date: what they do not show is free. */
export interface Reset {
  /** The object that bears the annotation. */
  readonly key: string;
  readonly pool: string;
  /** Why it cannot be done. */
  readonly problem?: string;
  covers(line: Allocation): boolean;
}

/**
 * Which lines a reset is about. What becomes of them, the integration says (`gone`): live ones stay in any case.
 *
 *  the annotated object        | its value  | lines
 *  ----------------------------+------------+------------------------------------------------------------
 *  one that defines one pool   | any        | all of the pool
 *  one that defines several    | the pool   | all of the pool
 *  one that asks for addresses | the pool   | those of the pool that it asked for
 *  one that concerns owners    | the pool   | those of the pool that these owners have
 *  any                         | other text | none: there is no such pool, or nothing of it is ours to give
 */
export function resetOf(
  object: Seen,
  { owners }: Concern,
  pools: ReadonlyMap<string, ClusterPool>,
  sourceOf: SourceOf,
): Reset {
  const key = objectKey(object);
  const own = [...pools.values()].filter((one) => isDefinedBy(one, key));
  const asked = object.metadata.annotations?.[resetAnnotation] ?? "";
  const name = own.length === 1 && own[0] !== undefined ? own[0].name : asked;
  const covers = (line: Allocation) => {
    if (line.pool !== name) return false;
    if (own.some((one) => one.name === name)) return true;
    return owners === "all" ? sourceOf(line.claim) === key : owners.includes(ownerOfKey(line.claim));
  };
  const problem = whyNotReset(name, pools);
  return { key, pool: name, covers, ...(problem === undefined ? {} : { problem }) };
}

function whyNotReset(name: string, pools: ReadonlyMap<string, ClusterPool>): string | undefined {
  const found = pools.get(name);
  if (name === "") return `annotation ${resetAnnotation} needs the name of a NodeIPPool here`;
  if (found === undefined)
    return `annotation ${resetAnnotation}: there is no NodeIPPool ${name}${didYouMean(name, pools.keys())}`;
  if (found.problem !== undefined) return `annotation ${resetAnnotation}: NodeIPPool ${name}: ${found.problem.message}`;
  return found.pool !== undefined && isPlanned(found.pool)
    ? `annotation ${resetAnnotation}: NodeIPPool ${name} has authority Plan: its addresses are in the record of its plan`
    : undefined;
}
