import { asBag, asList, type Bag } from "../../../schema/objects.ts";

/** Conditions as the handler of kubernetes-nmstate v0.86 writes them: type, status, reason, message. */
type Row = readonly [type: string, status: "True" | "False" | "Unknown", reason?: string, message?: string];

/** In which state an enactment is, and what it says. */
export type EnactmentState = "progressing" | "available" | "retrying" | "failing" | "pending" | "aborted";

const enactmentRows: Readonly<Record<EnactmentState, (message: string) => Row[]>> = {
  progressing: (message) => [
    ["Progressing", "True", "ConfigurationProgressing", message],
    ["Failing", "Unknown", "ConfigurationProgressing"],
    ["Available", "Unknown", "ConfigurationProgressing"],
    ["Pending", "False", "ConfigurationProgressing"],
    ["Aborted", "False", "ConfigurationProgressing"],
  ],
  available: (message) => [
    ["Available", "True", "SuccessfullyConfigured", message],
    ...["Failing", "Progressing", "Pending", "Aborted"].map((type): Row => [type, "False", "SuccessfullyConfigured"]),
  ],
  retrying: (message) => [
    ["Failing", "True", "Retrying", message],
    ["Progressing", "True", "Retrying", message],
    ["Available", "False", "Retrying"],
    ["Pending", "False", "Retrying"],
    ["Aborted", "False", "SuccessfullyConfigured"],
  ],
  failing: (message) => [
    ["Failing", "True", "FailedToConfigure", message],
    ["Available", "False", "FailedToConfigure"],
    ["Progressing", "False", "FailedToConfigure"],
    ["Pending", "False", "FailedToConfigure"],
    ["Aborted", "False", "SuccessfullyConfigured"],
  ],
  pending: (message) => [
    ["Pending", "True", "MaxUnavailableLimitReached", message],
    ["Progressing", "False", "MaxUnavailableLimitReached", message],
    ...["Failing", "Available", "Aborted"].map((type): Row => [type, "False", "MaxUnavailableLimitReached"]),
  ],
  aborted: (message) => [
    ["Aborted", "True", "ConfigurationAborted", message],
    ...["Failing", "Available", "Progressing", "Pending"].map((type): Row => [type, "False", "ConfigurationAborted"]),
  ],
};

export function enactmentConditions(state: EnactmentState, message: string, before: unknown, now?: string): Bag[] {
  return timed(enactmentRows[state](message), before, now);
}

/** Counts of the enactments of a policy's generation. */
interface EnactmentCount {
  readonly available: number;
  /** Also those that will be tried again. */
  readonly failed: number;
  readonly givenUp: number;
  readonly aborted: number;
  readonly pending: number;
}

/** What the handler counts before it says how a policy stands. */
export interface PolicyCount extends EnactmentCount {
  /** Nodes that run a handler and that the policy selects. */
  readonly matching: number;
  readonly ready: number;
}

export function countOf(enactments: readonly { readonly status?: Bag }[], generation: number): EnactmentCount {
  const own = enactments.filter(({ status }) => status?.policyGeneration === generation);
  const count = (type: string, not?: string) =>
    own.filter(({ status }) => isTrue(status?.conditions, type) && (!not || !isTrue(status?.conditions, not))).length;
  return {
    available: count("Available"),
    failed: count("Failing"),
    givenUp: count("Failing", "Progressing"),
    aborted: count("Aborted"),
    pending: count("Pending"),
  };
}

/** How many nodes of a policy may be configured at once: half of them unless said, and never none. */
export function mostAtOnce(maxUnavailable: unknown, nodes: number): number {
  const text = `${maxUnavailable ?? "50%"}`;
  const [, number, percent] = /^(\d+)(%?)$/.exec(text) ?? ["", "50", "%"];
  return Math.max(1, percent === "%" ? Math.ceil((Number(number) * nodes) / 100) : Number(number));
}

/**
 *  matching | failed, aborted | finished        | the policy
 *  ---------+-----------------+-----------------+------------
 *  none     | any             | any             | Ignored
 *  some     | some            | any             | Degraded
 *  some     | none            | fewer than ready| Progressing
 *  some     | none            | all, some wait  | Progressing
 *  some     | none            | all             | Available
 */
export function policyConditions(count: PolicyCount, before: unknown, now?: string): Bag[] {
  const { matching, ready, available, failed, aborted, pending } = count;
  const ignored = matching > ready ? `, ${matching - ready} nodes ignored due to NotReady state` : "";
  const finished = available + failed + aborted;
  const stopped = aborted > 0 ? `, ${aborted} nodes aborted configuration` : "";
  const rows = (): Row[] => {
    if (matching === 0) return rowsOf("Ignored", "NoMatchingNode", "Policy does not match any node");
    if (failed + aborted > 0)
      return rowsOf("Degraded", "FailedToConfigure", `${failed}/${matching} nodes failed to configure${stopped}`);
    const waiting = finished < ready ? "" : `, ${pending} pending`;
    if (finished < ready || pending > 0)
      return rowsOf(
        "Progressing",
        "ConfigurationProgressing",
        `Policy is progressing ${finished}/${ready} nodes finished${waiting}${ignored}`,
      );
    return rowsOf(
      "Available",
      "SuccessfullyConfigured",
      `${available}/${matching} nodes successfully configured${ignored}`,
    );
  };
  return timed(rows(), before, now);
}

const policyTypes = ["Available", "Degraded", "Progressing", "Ignored"] as const;

function rowsOf(holds: (typeof policyTypes)[number], reason: string, message: string): Row[] {
  return policyTypes.map((type): Row => {
    if (type === holds) return [type, "True", reason, message];
    if (holds === "Progressing" && type !== "Ignored") return [type, "Unknown", reason];
    return [type, "False", holds === "Degraded" && type === "Progressing" ? "ConfigurationProgressing" : reason];
  });
}

/** A policy that a handler begins with. No reason, so that nothing may be changed in its spec meanwhile. */
export function unknownConditions(before: unknown): Bag[] {
  return timed(
    policyTypes.map((type): Row => [type, "Unknown"]),
    before,
  );
}

/** A policy without conditions is in no known state, either. */
export function isUnknown(conditions: unknown): boolean {
  const available = asList(conditions).find((one) => asBag(one)?.type === "Available");
  return available === undefined || asBag(available)?.status === "Unknown";
}

export function isTrue(conditions: unknown, type: string): boolean {
  return asList(conditions).some((one) => asBag(one)?.type === type && asBag(one)?.status === "True");
}

/** Conditions that were there keep their places; new ones come after them. */
function timed(rows: readonly Row[], before: unknown, now = new Date().toISOString().replace(/\.\d+Z$/, "Z")): Bag[] {
  const old = asList(before).map((one) => asBag(one) ?? {});
  const placeOf = (type: string) => {
    const place = old.findIndex((one) => one.type === type);
    return place === -1 ? old.length : place;
  };
  return rows
    .toSorted(([a], [b]) => placeOf(a) - placeOf(b))
    .map(([type, status, reason, message]) => {
      const was = old[placeOf(type)];
      const lastTransitionTime = was?.status === status ? was.lastTransitionTime : now;
      return { type, status, reason, message, lastHeartbeatTime: now, lastTransitionTime };
    });
}
