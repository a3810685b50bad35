import type { LabelExpression, Pool } from "../../core/index.ts";
import { asBag, asList, type Bag } from "../../schema/objects.ts";

/** Which nodes reach the addresses of a pool, as node affinity says it. A list of names counts before a selector. */
export function nodesReaching({ rules }: Pick<Pool, "rules">): readonly LabelExpression[] {
  const { nodeName = [], nodeAffinity: { matchLabels = {}, matchExpressions = [] } = {} } = rules;
  if (nodeName.length > 0) return [{ key: "kubernetes.io/hostname", operator: "In", values: nodeName }];
  const labels = Object.entries(matchLabels).map(
    ([key, value]): LabelExpression => ({ key, operator: "In", values: [value] }),
  );
  return [...labels, ...matchExpressions];
}

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
