/** A LabelSelector of Kubernetes: all of it must hold. */
export interface PoolLabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly LabelExpression[];
}

/** One requirement on a label. `values` belongs to `In` and `NotIn`. */
export interface LabelExpression {
  readonly key: string;
  readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
  readonly values?: readonly string[];
}

/** Labels of an object. */
export type Labels = Readonly<Record<string, string>>;

/**
 * Do labels meet a selector? As Kubernetes reads it.
 *
 *  operator     | it holds where the label is
 *  -------------+-----------------------------
 *  In           | there, and one of the values
 *  NotIn        | not there, or none of the values
 *  Exists       | there
 *  DoesNotExist | not there
 */
export function meets(labels: Labels, { matchLabels = {}, matchExpressions = [] }: PoolLabelSelector): boolean {
  return (
    Object.entries(matchLabels).every(([key, value]) => labelOf(labels, key) === value) &&
    matchExpressions.every((one) => meetsOne(labelOf(labels, one.key), one))
  );
}

function meetsOne(label: string | undefined, { operator, values = [] }: LabelExpression): boolean {
  if (operator === "Exists") return label !== undefined;
  if (operator === "DoesNotExist") return label === undefined;
  const isIn = label !== undefined && values.includes(label);
  return operator === "In" ? isIn : !isIn;
}

function labelOf(labels: Labels, key: string): string | undefined {
  return Object.hasOwn(labels, key) ? labels[key] : undefined;
}
