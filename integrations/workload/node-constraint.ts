import type { LabelExpression } from "../../core/index.ts";
import { asBag, asList, type Bag } from "../../schema/objects.ts";

/**
 * The node affinity of a pod that is to run on such nodes. While a pod waits, the API server lets each of its terms become narrower,
 * and takes none away.
 *
 *  it requires of nodes | it requires then
 *  ---------------------+---------------------------------
 *  nothing              | these
 *  terms                | these in each of its terms, too
 */
export function affinityWith(spec: unknown, nodes: readonly LabelExpression[]): Bag {
  if (nodes.length === 0) return {};
  const affinity = asBag(asBag(asBag(spec)?.affinity)?.nodeAffinity);
  const terms = asList(asBag(affinity?.[required])?.nodeSelectorTerms);
  const narrowed = (terms.length === 0 ? [{}] : terms).map((term) => {
    const { matchExpressions, ...rest } = asBag(term) ?? {};
    const own = asList(matchExpressions);
    const known = new Set(own.map((one) => JSON.stringify(one)));
    return { ...rest, matchExpressions: [...own, ...nodes.filter((one) => !known.has(JSON.stringify(one)))] };
  });
  return { affinity: { nodeAffinity: { [required]: { nodeSelectorTerms: narrowed } } } };
}

/** What of the affinity of a pod that is about. */
export function affinityIn(spec: unknown): Bag | undefined {
  const { nodeAffinity } = asBag(asBag(spec)?.affinity) ?? {};
  return nodeAffinity === undefined ? undefined : { nodeAffinity };
}

const required = "requiredDuringSchedulingIgnoredDuringExecution";
