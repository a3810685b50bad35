import { asBag, asList, type Bag } from "../../schema/objects.ts";

/** What an object's status is to be: fields, and conditions without their times. */
export interface Status {
  readonly fields?: Bag;
  readonly conditions: readonly Bag[];
}

/** Whether conditions have `observedGeneration`, and `lastHeartbeatTime`. */
export interface Style {
  readonly generation?: number | undefined;
  readonly hasHeartbeat: boolean;
}

/**
 * The merge patch that makes a status so; undefined if it is. The time of a condition changes with its status alone.
 * Conditions of other types are somebody else's and stay.
 */
export function statusPatch(
  there: Bag | undefined,
  { fields = {}, conditions }: Status,
  style: Style,
  now: string,
): Bag | undefined {
  const before = asList(there?.conditions).map((one) => asBag(one) ?? {});
  const isThere = conditions.every((wanted) => before.some((one) => isSame(one, wanted, style)));
  const hasFields = Object.entries(fields).every(
    ([name, value]) => JSON.stringify(there?.[name] ?? null) === JSON.stringify(value ?? null),
  );
  const isObserved = style.generation === undefined || there?.observedGeneration === style.generation;
  if (isThere && hasFields && isObserved) return undefined;
  const generation = style.generation === undefined ? {} : { observedGeneration: style.generation };
  return {
    ...generation,
    ...Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, value ?? null])),
    conditions: [
      ...before.filter((one) => !conditions.some(({ type }) => type === one.type)),
      ...conditions.map((wanted) => {
        const old = before.find((one) => one.type === wanted.type);
        const since = (old?.status === wanted.status ? old?.lastTransitionTime : undefined) ?? now;
        const heartbeat = style.hasHeartbeat ? { lastHeartbeatTime: now } : {};
        return { ...wanted, ...generation, ...heartbeat, lastTransitionTime: since };
      }),
    ],
  };
}

/** The server leaves out empty texts. */
function isSame(one: Bag, wanted: Bag, { generation }: Style): boolean {
  return (
    ["type", "status", "reason", "message"].every((field) => (one[field] ?? "") === (wanted[field] ?? "")) &&
    (generation === undefined || one.observedGeneration === generation)
  );
}
