import { byCodeUnit, isPlanned, nodeNameOf, nodeOwner, ownerOfKey, policyOfKey } from "../../core/index.ts";
import { partition } from "../../core/partition.ts";
import { inSentences } from "../../schema/issues.ts";
import { type ClusterNode, childLabels, hostnameLabel } from "../../schema/node.ts";
import { asList, type Bag } from "../../schema/objects.ts";
import { raw } from "../../schema/shape.ts";
import type { ClusterIntegration } from "../contract/cluster-integration.ts";
import type { Facts } from "../contract/integration.ts";
import type { Known } from "../contract/known.ts";
import type { RolloutHealth } from "../contract/made-objects.ts";
import { isManaged } from "../contract/managed-by.ts";
import { metadataOf } from "../contract/object-metadata.ts";
import type { Step } from "../contract/step.ts";
import type { Concern, WatchedKind } from "../contract/watched-kind.ts";
import { isReadyNode } from "../contract/watched-nodes.ts";
import { childName, nodeOf } from "./child.ts";
import { keepRoute } from "./dropped-routes.ts";
import { healthBy } from "./enactment.ts";
import { goneFromNodes } from "./gone.ts";
import { type NmstateModel, replaceCaptures } from "./model.ts";
import { evidenceOf, keyOfPolicy } from "./node-objects.ts";
import { asDesiredState, asEnactment, asNic, asPolicy, asReport, type Nic } from "./objects.ts";
import { parsePolicy } from "./parse-policy.ts";
import { nmstate } from "./plan.ts";
import { type Policy, usesPools } from "./policy.ts";
import { type Count, policyConditions, unlocking } from "./policy-status.ts";
import { setsResolver } from "./resolver-conflicts.ts";
import { parkKey, selectedBy } from "./select.ts";

const policyKind = "NodeNetworkConfigurationPolicy";

const kinds: readonly WatchedKind[] = [
  {
    apiVersion: "nmstate.io/v1",
    kind: policyKind,
    plural: "nodenetworkconfigurationpolicies",
    keep: keepPolicy,
    ignoresStatus: true,
    isGrant: true,
    showsIfMade: true,
    keepMade: (policy) => {
      const state = asDesiredState(asPolicy(policy).spec.desiredState);
      const interfaces = state.interfaces.map(keepGiven);
      const config = asList(state.routes.config).map(keepRoute);
      return { spec: { desiredState: { interfaces, ...(config.length === 0 ? {} : { routes: { config } }) } } };
    },
    // kubernetes-nmstate refuses a change of `capture`.
    fixed: (policy) => raw(asPolicy(policy).spec).capture ?? {},
  },
  {
    apiVersion: "nmstate.io/v1beta1",
    kind: "NodeNetworkConfigurationEnactment",
    plural: "nodenetworkconfigurationenactments",
    keep: (enactment) => {
      const { policyGeneration, conditions } = asEnactment(enactment).status;
      return { status: { policyGeneration, conditions } };
    },
  },
  {
    apiVersion: "nmstate.io/v1beta1",
    kind: "NodeNetworkState",
    plural: "nodenetworkstates",
    keep: (report) => {
      const { status } = asReport(report);
      const interfaces = status.currentState.interfaces.map(keepInterface);
      const { conditions, lastSuccessfulUpdateTime } = raw(status);
      return { status: { currentState: { interfaces }, conditions, lastSuccessfulUpdateTime } };
    },
  },
];

function keepPolicy(policy: Bag): Bag {
  const { apiVersion, spec } = policy;
  return { apiVersion, spec, status: { conditions: asPolicy(policy).status.conditions } };
}

/** Returns the fields of an interface in a policy that decide which NIC gets which addresses. */
function keepGiven(nic: Nic): Bag {
  const fields = ["name", "state", "ipv4", "ipv6", "identifier", "profile-name", "mac-address", "pci-address"];
  return Object.fromEntries(Object.entries(raw(nic)).filter(([field]) => fields.includes(field)));
}

/** Returns the fields of a reported interface that have its names and addresses. */
function keepInterface(nic: unknown): Bag {
  const { name, state, type, ipv4, ipv6, ...rest } = raw(asNic(nic));
  const names = Object.entries(rest).filter(([field]) => namesOfNic.includes(field));
  return {
    name,
    state,
    type,
    ...(ipv4 === undefined ? {} : { ipv4 }),
    ...(ipv6 === undefined ? {} : { ipv6 }),
    ...Object.fromEntries(names),
  };
}

const namesOfNic = ["alt-names", "profile-name", "identifier", "permanent-mac-address", "mac-address", "pci-address"];

/**
 * Returns the owners and sources that an object concerns.
 *
 *  object                         | owners        | sources
 *  -------------------------------+---------------+------------------------------
 *  policy that uses pools         | all           | itself
 *  policy made for a node         | the node      | the policy that it comes from
 *  any other policy that sets the | all           | none
 *   resolver of its nodes         |               |
 *  any other policy               | none          | none
 *  enactment                      | its node      | the policy that it enacts
 *  NodeNetworkState               | its node      | none
 */
function concerns(object: Bag): Concern {
  const { name, labels } = metadataOf(object);
  const nodes = (node: unknown) => (typeof node === "string" ? [nodeOwner(node)] : []);
  const policies = (policy: unknown) => (typeof policy === "string" ? [keyOfPolicy(policy)] : []);
  switch (object.kind) {
    case policyKind:
      if (usesPools(object)) return { owners: "all", sources: policies(name) };
      if (nodeOf(object) === undefined && setsResolver(object)) return { owners: "all", sources: [] };
      // Where a plan has a policy for a node, the node asks for nothing.
      return {
        owners: nodes(nodeOf(object)),
        sources: policies(labels[childLabels.policy]),
        isEvidence: isManaged(object),
      };
    case "NodeNetworkConfigurationEnactment": {
      const owners = nodes(labels["nmstate.io/node"]);
      return { owners, sources: policies(labels["nmstate.io/policy"]), isEvidence: true };
    }
    case "NodeNetworkState":
      return { owners: nodes(name), sources: [], isEvidence: true };
    default:
      return { owners: [], sources: [] };
  }
}

/** Reports about a parked policy: the key that parks it, and the health of its nodes. */
function report({ object, made, rejected, pending }: Known, facts: Facts): Step[] {
  const { nodes } = facts;
  const { value: policy, issues = [] } = parsePolicy(object);
  if (policy !== undefined && !asksHere(policy, facts)) return [];
  const step = issues.some(({ path }) => path?.[1] === "capture") ? { hint: replaceCaptures } : {};
  const spec = { nodeSelector: { [parkKey]: "parked" } };
  const selected = policy === undefined ? [] : selectedBy(policy, nodes);
  const children = made.filter(({ object: one }) => one.kind === policyKind);
  const byHealth = nodesByHealth(selected, `${policy?.name}`, children);
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
    available: byHealth.get("available")?.length ?? 0,
    failing: failing.sort(byCodeUnit),
    notReady: selected.filter(({ isReady }) => isReady === false).length,
    ...unfinishedIn(children, nodes),
    waiting: [...waiting],
    reasons: [...new Set(reasons)],
    rejected: rejected === undefined ? undefined : inSentences({ message: rejected, ...step }),
  });
  const status = (conditions: readonly Bag[]) => ({ verb: "status", object, conditions, hasHeartbeat: true }) as const;
  const isParked = asPolicy(object).spec.nodeSelector?.[parkKey] === "parked";
  const unlock = isParked ? undefined : unlocking(asPolicy(object).status.conditions);
  return [...(unlock === undefined ? [] : [status(unlock)]), { verb: "apply", object, spec }, status(conditions)];
}

/** Returns the nodes that have a policy of their own, by health. If a node has a second policy for its DNS servers, the worse of both counts. */
function nodesByHealth(
  nodes: readonly ClusterNode[],
  policy: string,
  children: Known["made"],
): Map<RolloutHealth, string[]> {
  const byNode = Map.groupBy(children, ({ object }) => nodeOf(object));
  const hasOwn = (name: string) =>
    byNode.get(name)?.some(({ object }) => metadataOf(object).name === childName(policy, name)) ?? false;
  const names = nodes.map(({ name }) => name).filter(hasOwn);
  return Map.groupBy(names, (name): RolloutHealth => {
    const all = (byNode.get(name) ?? []).map(({ object, about }) => healthBy(object, about[0]));
    return (["failing", "progressing"] as const).find((health) => all.includes(health)) ?? "available";
  });
}

/** Returns the nodes that have yet to apply a policy: those that are Ready, and the others. */
function unfinishedIn(children: Known["made"], nodes: Facts["nodes"]): Pick<Count, "unfinished" | "away"> {
  const unready = new Set<unknown>(nodes.filter(({ isReady }) => isReady === false).map(({ name }) => name));
  const onTheirWay = children.filter(({ object, about }) => healthBy(object, about[0]) === "progressing");
  const names = [...new Set(onTheirWay.map(({ object }) => `${nodeOf(object)}`))].sort(byCodeUnit);
  const [away, unfinished] = partition(names, (name) => unready.has(name));
  return { away, unfinished };
}

/**
 * Returns whether a policy asks the controller for addresses. What a plan renders has no capture of a pool left, so one whose pools
 * are all missing asks the controller, too.
 *
 *  its pools in the cluster  | asks
 *  --------------------------+-----
 *  any of authority Cluster  | yes
 *  any of authority Plan     | no
 *  none                      | yes
 */
function asksHere({ captures }: Policy, { pools, unsound }: Facts): boolean {
  const arePlanned = [...captures.values()].map(({ pool: name }) => {
    const pool = pools.get(name);
    return pool === undefined ? unsound?.get(name)?.isPlanned : isPlanned(pool);
  });
  return arePlanned.includes(false) || (captures.size > 0 && !arePlanned.includes(true));
}

/** Returns why nodes get no policy: a policy for one node alone needs a hostname label that no other node has. */
export function unselectable({ nodes }: Pick<Facts, "nodes">): Map<string, string> {
  const byHostname = Map.groupBy(nodes, ({ labels }) => labels.get(hostnameLabel));
  return new Map(
    [...byHostname].flatMap(([hostname, named]) => {
      if (hostname !== undefined && named.length === 1) return [];
      const all = named.map(({ name }) => name).join(", ");
      return named.map(({ name }): [string, string] => [
        nodeOwner(name),
        hostname === undefined
          ? `node ${name} has no label ${hostnameLabel}. Let its kubelet set it`
          : `nodes ${all} have the same label ${hostnameLabel}: ${hostname}. Give each its own hostname`,
      ]);
    }),
  );
}

/** Returns `maxUnavailable` as the handler reads it: a count or a percentage that is rounded up, at least one; by default half of the nodes. */
function limit(policy: Bag, made: number): number {
  const text = String(asPolicy(policy).spec.maxUnavailable ?? "50%");
  const [, number, percent] = /^(\d+)(%?)$/.exec(text) ?? [text, "50", "%"];
  const count = percent === "%" ? Math.ceil((Number(number) * made) / 100) : Number(number);
  return Math.max(1, count);
}

/** kubernetes-nmstate in a cluster: policies that take addresses from pools stay parked, and nodes get policies of their own. */
export const nmstateInCluster: ClusterIntegration<NmstateModel> = {
  ...nmstate,
  recording: {
    kinds,
    concerns,
    sourceOf: (claim) => keyOfPolicy(policyOfKey(claim)),
    evidenceOf,
    gone: goneFromNodes,
    owners: { unservable: unselectable },
  },
  report,
  made: {
    rollout: {
      limit,
      health: (child, [enactment], node) => healthBy(child, enactment, node !== undefined && isReadyNode(node)),
    },
  },
};
