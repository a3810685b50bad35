import type { LabelExpression } from "../../core/index.ts";
import type { Bag } from "../../schema/objects.ts";
import { type Of, raw } from "../../schema/shape.ts";
import { asPodSpec } from "../networks/objects.ts";

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
  const { nodeAffinity } = asPodSpec(spec).affinity;
  const { nodeSelectorTerms: terms } = nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution;
  const narrowed = terms.map((term) => {
    const own = term.matchExpressions;
    const known = new Set(own.map((one) => JSON.stringify(one)));
    const { matchExpressions: _, ...rest } = raw(term);
    return { ...rest, matchExpressions: [...own, ...nodes.filter((one) => !known.has(JSON.stringify(one)))] };
  });
  const nodeSelectorTerms = terms.length === 0 ? [{ matchExpressions: nodes }] : narrowed;
  return { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } } };
}

/** Returns the part of a pod's affinity that restricts its nodes. */
export function affinityIn({ affinity }: Of<typeof asPodSpec>): Bag | undefined {
  const { nodeAffinity } = raw(affinity);
  return nodeAffinity === undefined ? undefined : { nodeAffinity };
}
