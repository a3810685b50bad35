/** A value as text: the same for the same value, whatever the order of its fields. */
export function textOf(value: unknown): string {
  return JSON.stringify(sorted(value));
}

/** Are two values the same, whatever the order of their fields? */
export function sameValue(a: unknown, b: unknown): boolean {
  return textOf(a) === textOf(b);
}

function sorted(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, item]) => [key, sorted(item)]),
  );
}
