import { type Bag, conditionOf } from "../../schema/objects.ts";

/** The health of the nodes of a parked policy. */
export interface Count {
  /** Nodes that the policy selects. */
  readonly nodes: number;
  readonly available: number;
  /** How they are configured, to follow the word; empty if that goes without saying. */
  readonly form: string;
  /** The names of the nodes whose handlers failed, and gave up. */
  readonly failing: readonly string[];
  readonly notReady: number;
  /** The names of the nodes that are Ready and whose handlers have yet to finish. */
  readonly unfinished: readonly string[];
  /** The names of the nodes that are not Ready and have yet to apply a change, also one that only takes addresses off. */
  readonly away: readonly string[];
  /** The names of the nodes that get no address, and each reason once. */
  readonly waiting: readonly string[];
  readonly reasons: readonly string[];
  /** Why the policy is not expanded at all. */
  readonly rejected?: string | undefined;
}

/**
 * The conditions of a parked policy, in the handler's own style (pkg/policyconditions of kubernetes-nmstate v0.86): what waits on
 * a policy waits on these.
 *
 *  the policy                   | true        | reason                   | message
 *  -----------------------------+-------------+--------------------------+--------------------------------------------
 *  cannot be expanded           | Degraded    | FailedToConfigure        | why
 *  selects no node              | Ignored     | NoMatchingNode           | Policy does not match any node
 *  selects none that is Ready,  | Ignored     | NoMatchingNode           | Policy does not match any Ready node, N are
 *   and none is configured      |             |                          |  NotReady (a handler would say Available here)
 *  a node gets no address       | Degraded    | FailedToConfigure        | why, how many nodes, and the first three
 *  a node fails                 | Degraded    | FailedToConfigure        | N/M nodes failed to configure, which, what to do
 *  nodes are not finished       | Progressing | ConfigurationProgressing | Policy is progressing N/M nodes finished, and
 *                               |             |                          |  which are on their way
 *  all nodes are configured     | Available   | SuccessfullyConfigured   | N/M nodes successfully configured, and in
 *                               |             |                          |  which form if that is asked for
 *
 * But for Degraded, the message also names the nodes that the policy waits for because they are not Ready, and what to do.
 */
export function policyConditions(count: Count): Bag[] {
  const { nodes, available, form, failing, notReady, unfinished, away, waiting, reasons, rejected } = count;
  const ignored = `${notReady === 0 ? "" : `, ${notReady} nodes ignored due to NotReady state`}${waitsFor(away)}`;
  const ready = nodes - notReady;
  if (rejected !== undefined) return failed(rejected);
  if (nodes === 0) return unmatched(`Policy does not match any node${waitsFor(away)}`);
  const without = `${waiting.length}/${nodes} nodes get no address (${listed(waiting)}): ${reasons.slice(0, 3).join("; ")}`;
  const problems = [...(waiting.length > 0 ? [without] : []), ...(failing.length > 0 ? [whyFailing(count)] : [])];
  if (problems.length > 0) return failed(problems.join(". "));
  if (available === 0 && ready === 0)
    return unmatched(`Policy does not match any Ready node, ${notReady} are NotReady${waitsFor(away)}`);
  if (available < ready)
    return conditions("ConfigurationProgressing", {
      Degraded: "Unknown",
      Available: "Unknown",
      Progressing: [
        "True",
        `Policy is progressing ${available}/${ready} nodes finished${onTheWay(unfinished)}${ignored}`,
      ],
      Ignored: "False",
    });
  return conditions("SuccessfullyConfigured", {
    Degraded: "False",
    Available: ["True", `${available}/${nodes} nodes successfully configured${form}${ignored}`],
    Progressing: "False",
    Ignored: "False",
  });
}

function whyFailing({ nodes, failing }: Count): string {
  const next = `kubectl get nnce -l nmstate.io/node=${failing[0]} -o yaml`;
  return `${failing.length}/${nodes} nodes failed to configure (${listed(failing)}). The rollout stops until that is mended: ${next}`;
}

function onTheWay([first, ...others]: readonly string[]): string {
  if (first === undefined) return "";
  return `, waiting for ${listed([first, ...others])} (kubectl get nnce -l nmstate.io/node=${first})`;
}

function waitsFor(away: readonly string[]): string {
  if (away.length === 0) return "";
  const step = `Start such a node again or, if it does not come back, delete it: kubectl delete node ${away[0]}`;
  return `. It waits for nodes that are not Ready: ${listed(away)}. ${step}`;
}

function listed(names: readonly string[]): string {
  return `${names.slice(0, 3).join(", ")}${names.length > 3 ? ` and ${names.length - 3} more` : ""}`;
}

/**
 * kubernetes-nmstate refuses to change a policy as long as its condition Available has no reason, or reports that it is being
 * configured. Undefined where neither is so.
 */
export function unlocking(there: unknown): Bag[] | undefined {
  const reason = conditionOf(there, "Available")?.reason ?? "";
  if (reason !== "" && reason !== "ConfigurationProgressing") return undefined;
  const message = ["Unknown", "The policy is being parked for the controller"] as const;
  return conditions("Parking", { Degraded: "Unknown", Available: "Unknown", Progressing: message, Ignored: "Unknown" });
}

function unmatched(message: string): Bag[] {
  return conditions("NoMatchingNode", {
    Degraded: "False",
    Available: "False",
    Progressing: "False",
    Ignored: ["True", message],
  });
}

function failed(message: string): Bag[] {
  return conditions("FailedToConfigure", {
    Degraded: ["True", message],
    Available: "False",
    Progressing: "False",
    Ignored: "False",
  });
}

function conditions(reason: string, states: Record<string, string | readonly [string, string]>): Bag[] {
  return Object.entries(states).map(([type, state]) => {
    const [status, message = ""] = [state].flat();
    return { type, status, reason, message };
  });
}
