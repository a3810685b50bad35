/** A truth as nmstate reads it (bool_or_string); undefined for what it refuses. */
export function asTruth(value: unknown): boolean | undefined {
  const text = ["boolean", "number", "string"].includes(typeof value) ? String(value).toLowerCase() : "";
  if (/^(?:1|true|yes|on|y)$/.test(text)) return true;
  return /^(?:0|false|no|off|n)$/.test(text) ? false : undefined;
}

/** A whole number as nmstate reads it (u64_or_string); undefined for what it refuses. */
export function asNumber(value: unknown): number | undefined {
  const isText = typeof value === "string" && /^(?:\+?\d+|0x[\da-f]+)$/i.test(value);
  const number = isText || typeof value === "number" ? Number(value) : Number.NaN;
  return Number.isSafeInteger(number) && number >= 0 ? number : undefined;
}
