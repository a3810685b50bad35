import type { Snapshot } from "../../../core/allocation.ts";
import { IpamError } from "../../../core/errors.ts";
import { encode } from "../../../state/codec.ts";
import type { Fork } from "../state/branch.ts";
import { recordTexts } from "../state/record.ts";
import type { Versions } from "./merge.ts";
import type { Records } from "./rules.ts";

export function recordsOf({ base, ours, theirs }: Fork): Records {
  return { base: base.record, ours: ours.record, theirs: theirs.record };
}

export function textsOf(records: Records, write: (record: Snapshot) => string = encode): Versions {
  return { base: write(records.base), ours: write(records.ours), theirs: write(records.theirs) };
}

/** A value, or the code of the IpamError that came instead. */
export function outcome<T>(
  make: () => T,
): { readonly value: T; readonly code?: undefined } | { readonly code: string; readonly value?: undefined } {
  try {
    return { value: make() };
  } catch (error) {
    if (error instanceof IpamError) return { code: error.code };
    throw error;
  }
}

/** The few worst cases, each with its three records, as the message of a failed expectation. */
export function report(failures: readonly { readonly records: Records; readonly what: readonly string[] }[]): string {
  const one = ({ records, what }: (typeof failures)[number]) =>
    [
      ...what,
      ...(["base", "ours", "theirs"] as const).map((side) => `  ${side}: ${recordTexts(records[side]).join(" ; ")}`),
    ].join("\n");
  const smallest = [...failures].sort((a, b) => size(a.records) - size(b.records));
  return failures.length === 0
    ? "none"
    : `${failures.length} cases, the smallest:\n${smallest.slice(0, 2).map(one).join("\n")}`;
}

function size(records: Records): number {
  return recordTexts(records.base).length + recordTexts(records.ours).length + recordTexts(records.theirs).length;
}
