import { asBag, asList, type Bag } from "../../schema/objects.ts";

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

export function enactmentConditions(state: EnactmentState, message: string, before: unknown): Bag[] {
  return timed(enactmentRows[state](message), before);
}

/** Of the enactments of a policy's generation. */
interface EnactmentCount {
  readonly available: number;
  readonly failed: number;
  readonly aborted: number;
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
  return { available: count("Available"), failed: count("Failing", "Progressing"), aborted: count("Aborted") };
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
 *  some     | none            | all             | Available
 */
export function policyConditions(count: PolicyCount, before: unknown): Bag[] {
  const { matching, ready, available, failed, aborted } = count;
  const ignored = matching > ready ? `, ${matching - ready} nodes ignored due to NotReady state` : "";
  const finished = available + failed + aborted;
  const stopped = aborted > 0 ? `, ${aborted} nodes aborted configuration` : "";
  const rows = (): Row[] => {
    if (matching === 0) return rowsOf("Ignored", "NoMatchingNode", "Policy does not match any node");
    if (failed + aborted > 0)
      return rowsOf("Degraded", "FailedToConfigure", `${failed}/${matching} nodes failed to configure${stopped}`);
    if (finished < ready)
      return rowsOf(
        "Progressing",
        "ConfigurationProgressing",
        `Policy is progressing ${finished}/${ready} nodes finished${ignored}`,
      );
    return rowsOf(
      "Available",
      "SuccessfullyConfigured",
      `${available}/${matching} nodes successfully configured${ignored}`,
    );
  };
  return timed(rows(), before);
}

const policyTypes = ["Available", "Progressing", "Degraded", "Ignored"] as const;

function rowsOf(holds: (typeof policyTypes)[number], reason: string, message: string): Row[] {
  return policyTypes.map((type): Row => {
    if (type === holds) return [type, "True", reason, message];
    if (holds === "Progressing" && type !== "Ignored") return [type, "Unknown", reason];
    return [type, "False", holds === "Degraded" && type === "Progressing" ? "ConfigurationProgressing" : reason];
  });
}

/** A policy that a handler begins with. No reason, so that nothing may be changed in its spec meanwhile. */
export function unknownConditions(): Bag[] {
  return timed(
    policyTypes.map((type): Row => [type, "Unknown"]),
    [],
  );
}

export function isTrue(conditions: unknown, type: string): boolean {
  return asList(conditions).some((one) => asBag(one)?.type === type && asBag(one)?.status === "True");
}

function timed(rows: readonly Row[], before: unknown): Bag[] {
  const now = new Date().toISOString().replace(/\.\d+Z$/, "Z");
  return rows.map(([type, status, reason, message]) => {
    const old = asList(before)
      .map(asBag)
      .find((one) => one?.type === type);
    const lastTransitionTime = old?.status === status ? old.lastTransitionTime : now;
    return { type, status, reason, message, lastHeartbeatTime: now, lastTransitionTime };
  });
}
