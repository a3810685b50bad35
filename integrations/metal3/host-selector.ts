import { byCodeUnit, type Issue, type Parsed } from "../../core/index.ts";
import { unknownField } from "../../schema/nearest.ts";
import { asBag, asList, type Bag } from "../../schema/objects.ts";
import { mapping } from "../../schema/shape.ts";
import type { HostRequirement, HostSelector } from "./infra-spec.ts";

const operators = ["in", "notin", "exists", "!", "=", "==", "!=", "gt", "lt"];

/**
 * Reads a hostSelector: labels alone (`{role: worker}`), or the form of Metal3's API (`{matchLabels: {role: worker}, matchExpressions: [...]}`).
 * Label values are text; `true` and whole numbers, as people write them, are read as the text that they look like.
 */
export function parseHostSelector(value: unknown): Parsed<HostSelector> {
  const bag = mapping(value);
  const isLong = asBag(bag.matchLabels) !== undefined || Array.isArray(bag.matchExpressions);
  const labels = isLong ? mapping(bag.matchLabels) : bag;
  const expressions = isLong ? asList(bag.matchExpressions) : [];
  const issues: Issue[] = [];
  if (Object.keys(labels).length + expressions.length === 0)
    issues.push({ message: 'hostSelector has labels: {metal3.io/controller: "true"}' });
  const unknown = isLong ? unknownField(bag, ["matchLabels", "matchExpressions"]) : undefined;
  if (unknown !== undefined) issues.push({ message: `${unknown} in hostSelector` });
  issues.push(...labelIssues(labels, isLong ? ["matchLabels"] : []));
  const read = expressions.map((one, i) => requirement(mapping(one), ["matchExpressions", i], issues));
  if (issues.length > 0) return { issues };
  const entries = Object.entries(labels).map(([key, label]) => [key, `${label}`] as const);
  return {
    value: { matchLabels: Object.fromEntries(entries.sort(([a], [b]) => byCodeUnit(a, b))), matchExpressions: read },
  };
}

/** Returns the labels of a host that the selector takes. */
export function labelsOfHost({ matchLabels, matchExpressions }: HostSelector): Record<string, string> {
  const demanded = matchExpressions.flatMap(({ key, operator, values: [value = ""] = [] }) =>
    ["in", "=", "==", "exists"].includes(operator) ? [[key, value] as const] : [],
  );
  return { ...Object.fromEntries(demanded), ...matchLabels };
}

function labelIssues(labels: Bag, path: readonly (string | number)[]): Issue[] {
  return Object.entries(labels).flatMap(([key, label]): Issue[] => [
    ...(isLabel(key) ? [] : [{ message: `${JSON.stringify(key)} is no label`, path: [...path, key] }]),
    ...(isValue(label)
      ? []
      : [
          {
            message: `the value of ${key} must be text in quotes: at most 63 letters, digits, -, _ and .`,
            path: [...path, key],
          },
        ]),
  ]);
}

function requirement(bag: Bag, path: readonly (string | number)[], issues: Issue[]): HostRequirement {
  const { key, operator } = bag;
  const values = asList(bag.values);
  const unknown = unknownField(bag, ["key", "operator", "values"]);
  if (unknown !== undefined) issues.push({ message: unknown, path });
  if (typeof key !== "string" || !isLabel(key)) issues.push({ message: "key is a label", path: [...path, "key"] });
  if (typeof operator !== "string" || !operators.includes(operator))
    issues.push({ message: `operator is one of ${operators.join(", ")}`, path: [...path, "operator"] });
  values.forEach((one, i) => {
    if (!isValue(one)) issues.push({ message: "a value is the text of a label", path: [...path, "values", i] });
  });
  return {
    key: `${key}`,
    operator: `${operator}`,
    ...(values.length > 0 && { values: values.map((one) => `${one}`) }),
  };
}

const isLabel = (key: string) => /^([a-z0-9.-]{1,253}\/)?[A-Za-z0-9]([\w.-]{0,61}[A-Za-z0-9])?$/.test(key);

function isValue(label: unknown): boolean {
  const isText = typeof label === "string" || typeof label === "boolean" || Number.isSafeInteger(label);
  return isText && /^([A-Za-z0-9]([\w.-]{0,61}[A-Za-z0-9])?)?$/.test(`${label}`);
}
