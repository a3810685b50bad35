import { byCodeUnit, nodeNameOf, nodeOwner, ownerOfKey, type Parsed } from "../../core/index.ts";
import { inSentences } from "../../schema/issues.ts";
import type { Bag } from "../../schema/objects.ts";
import type { ClusterIntegration } from "../contract/cluster-integration.ts";
import type { Facts } from "../contract/integration.ts";
import type { Known } from "../contract/known.ts";
import type { Step } from "../contract/step.ts";
import { isReadyNode } from "../contract/watched-nodes.ts";
import { asksHere } from "./asks-here.ts";
import { usesOfEnactment } from "./captured.ts";
import { fleetName } from "./child.ts";
import { isSharedEnactment } from "./cleanup-form.ts";
import { healthBy } from "./enactment.ts";
import { whyNotFleet } from "./fleet.ts";
import { formSteps } from "./fleet-steps.ts";
import { type NmstateModel, replaceCaptures } from "./model.ts";
import { asPolicy } from "./objects.ts";
import { parsePolicy } from "./parse-policy.ts";
import { nodesByHealth, partsOf, unfinishedIn } from "./parts.ts";
import { nmstate } from "./plan.ts";
import type { Policy } from "./policy.ts";
import { policyConditions, unlocking } from "./policy-status.ts";
import { enactmentKind, fleetRecording, nmstateRecording, policyKind, unselectable } from "./recording.ts";
import { renderPolicies } from "./render.ts";
import { parkKey, selectedBy } from "./select.ts";

/** Reports about a parked policy: the one policy of the fleet form, and how the parked one stands. */
function report(known: Known, facts: Facts, isFleet: boolean): Step[] {
  const parsed = parsePolicy(known.object);
  const { value: policy } = parsed;
  if (policy === undefined) return standing(parsed, known, facts);
  if (!asksHere(policy, facts)) return [];
  const whyNot = isFleet ? whyNotFleet(known.object) : undefined;
  const form = isFleet ? inForm(policy, whyNot) : "";
  return [...formSteps(policy, known, facts, isFleet && whyNot === undefined), ...standing(parsed, known, facts, form)];
}

/** Says by which policies the nodes get their addresses. */
function inForm({ name }: Policy, whyNotFleet: string | undefined): string {
  return whyNotFleet === undefined
    ? ` by policy ${fleetName(name)}`
    : `, each by a policy of its own, because ${whyNotFleet}`;
}

/** The key that parks a policy, and the health of its nodes. */
function standing(parsed: Parsed<Policy>, { object, made, rejected, pending }: Known, facts: Facts, form = ""): Step[] {
  const { nodes } = facts;
  const { value: policy, issues = [] } = parsed;
  const step = issues.some(({ path }) => path?.[1] === "capture") ? { hint: replaceCaptures } : {};
  const spec = { nodeSelector: { [parkKey]: "parked" } };
  const selected = policy === undefined ? [] : selectedBy(policy, nodes);
  const parts = partsOf(`${policy?.name}`, made);
  const byHealth = nodesByHealth(selected, parts);
  const failing = byHealth.get("failing") ?? [];
  const unservable = unselectable(facts);
  const left = selected.filter(({ name }) => unservable.has(nodeOwner(name)));
  const waiting = new Set([
    ...pending.map(({ claim }) => `${nodeNameOf(ownerOfKey(claim))}`),
    ...left.map(({ name }) => name),
  ]);
  const reasons = [
    ...pending.map(({ message }) => message),
    ...left.map(({ name }) => `${unservable.get(nodeOwner(name))}`),
  ];
  const conditions = policyConditions({
    nodes: selected.length,
    form,
    available: byHealth.get("available")?.length ?? 0,
    failing: failing.sort(byCodeUnit),
    notReady: selected.filter(({ isReady }) => isReady === false).length,
    ...unfinishedIn(parts, nodes),
    waiting: [...waiting],
    reasons: [...new Set(reasons)],
    rejected: rejected === undefined ? undefined : inSentences({ message: rejected, ...step }),
  });
  const status = (conditions: readonly Bag[]) => ({ verb: "status", object, conditions, hasHeartbeat: true }) as const;
  const isParked = asPolicy(object).spec.nodeSelector?.[parkKey] === "parked";
  const unlock = isParked ? undefined : unlocking(asPolicy(object).status.conditions);
  return [...(unlock === undefined ? [] : [status(unlock)]), { verb: "apply", object, spec }, status(conditions)];
}

/** Returns `maxUnavailable` as the handler reads it: a count or a percentage that is rounded up, at least one; by default half of the nodes. */
function limit(policy: Bag, made: number): number {
  const text = String(asPolicy(policy).spec.maxUnavailable ?? "50%");
  const [, number, percent] = /^(\d+)(%?)$/.exec(text) ?? [text, "50", "%"];
  const count = percent === "%" ? Math.ceil((Number(number) * made) / 100) : Number(number);
  return Math.max(1, count);
}

/**
 * kubernetes-nmstate in a cluster: policies that take addresses from pools stay parked. `isFleet`: what can have the fleet form has it;
 * otherwise each node gets a policy of its own.
 */
function inCluster(isFleet: boolean): ClusterIntegration<NmstateModel> {
  const hasFleet = (policy: Bag) => isFleet && whyNotFleet(policy) === undefined;
  return {
    ...nmstate,
    recording: isFleet ? fleetRecording : nmstateRecording,
    uses: [...nmstate.uses, { kind: enactmentKind, reader: () => usesOfEnactment }],
    render: (model, facts, holdings) => renderPolicies(model, facts, holdings, isFleet),
    report: (known, facts) => report(known, facts, isFleet),
    made: {
      // Its handler makes it again where somebody has deleted it.
      takesOver: (object, _, wanted) => wanted !== undefined && isSharedEnactment(object),
      rollout: {
        // Handlers see to it themselves.
        limit: (policy, made) => (hasFleet(policy) ? Number.POSITIVE_INFINITY : limit(policy, made)),
        health: (object, [enactment], node) =>
          object.kind === policyKind
            ? healthBy(object, enactment, node !== undefined && isReadyNode(node))
            : "available",
      },
    },
  };
}

export const nmstateInCluster = inCluster(false);
export const fleetInCluster = inCluster(true);
