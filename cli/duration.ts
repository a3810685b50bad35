import { IpamError } from "../core/errors.ts";

const units: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 };

/** Milliseconds of `90s`, `10m` or `2h`, which an option says; at most a week. Throws IpamError `invalid`. */
export function parseDuration(option: string, text: string, least = 0): number {
  const [, digits, unit = ""] = /^(\d{1,6})([smh])$/.exec(text) ?? [];
  const ms = Number(digits) * Number(units[unit]);
  if (ms >= least && ms <= 168 * 3_600_000) return ms;
  throw new IpamError("invalid", `${option} cannot be ${JSON.stringify(text)}`, {
    hint: `Write a duration as in 90s, 10m or 2h, from ${least / 1000}s to 168h.`,
  });
}
