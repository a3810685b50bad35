import type { PoolRules } from "./pool-rules.ts";
import type { LabelExpression, Labels } from "./pool-selector.ts";

/** Which nodes reach the addresses of a pool, as node affinity says it. A list of names counts before a selector. */
export function nodesReaching({ rules }: { readonly rules: PoolRules }): readonly LabelExpression[] {
  const { nodeName = [], nodeAffinity: { matchLabels = {}, matchExpressions = [] } = {} } = rules;
  if (nodeName.length > 0) return [{ key: "kubernetes.io/hostname", operator: "In", values: nodeName }];
  return [...nodesWith(matchLabels), ...matchExpressions];
}

/** The nodes that have these labels. */
export function nodesWith(labels: Labels): LabelExpression[] {
  return Object.entries(labels).map(([key, value]) => ({ key, operator: "In", values: [value] }));
}

/**
 * May one node meet all of these? As far as they tell: labels that none of them names it may have or not.
 *
 *  of one label                     | a node may meet them
 *  ---------------------------------+--------------------------------------------
 *  In, Exists, and DoesNotExist     | no
 *  some In, perhaps NotIn or Exists | if a value is in all In, and in no NotIn
 *  any other                        | yes
 */
export function mayMeetAll(nodes: readonly LabelExpression[]): boolean {
  return nodes.length < 2 || [...Map.groupBy(nodes, ({ key }) => key).values()].every(mayHaveOne);
}

/** Returns whether a label can meet all of these. */
function mayHaveOne(all: readonly LabelExpression[]): boolean {
  const having = (operator: LabelExpression["operator"]) => all.filter((one) => one.operator === operator);
  const [first, ...more] = having("In").map(({ values = [] }) => values);
  const isNeeded = first !== undefined || having("Exists").length > 0;
  if (isNeeded && having("DoesNotExist").length > 0) return false;
  const isShut = (value: string) => having("NotIn").some(({ values = [] }) => values.includes(value));
  return first?.some((value) => more.every((values) => values.includes(value)) && !isShut(value)) ?? true;
}
