import { createHash } from "node:crypto";
import { IpamError, placed } from "../../core/index.ts";
import type { ClusterNode } from "../../schema/node.ts";
import { childLabels, hostnameLabel } from "../../schema/node.ts";
import type { Bag } from "../../schema/objects.ts";
import { labelsOf, ownersOf } from "../contract/object-metadata.ts";
import { copiedMetadata } from "./copied-metadata.ts";
import type { Policy, PolicyObject } from "./policy.ts";

const limit = 63;

/**
 * The name of one node's own policy: `<policy>--<node>`, and `<policy>--<node>---<hash>`, shortened, where either
 * part holds `--` or the whole is longer than a label value may be. Injective: no short form holds `---`, because no
 * name begins or ends with `-`; every long one does, and its hash covers both parts.
 */
export function childName(policy: string, node: string): string {
  const name = `${policy}--${node}`;
  if (name.length <= limit && !policy.includes("--") && !node.includes("--")) return name;
  return shorten(name, `---${hashOf(`${policy}/${node}`)}`);
}

/** Returns the name of the one policy for all nodes of a policy. No policy for one node has it: what comes after its `---` is no hash. */
export function fleetName(policy: string): string {
  return sharedName(policy, "fleet");
}

/** Returns the name of the one policy that takes addresses off the nodes of a policy. */
export function cleanupName(policy: string): string {
  return sharedName(policy, "cleanup");
}

/** Returns whether a policy is called as the one for all nodes of another. */
export function isFleetName(name: string): boolean {
  return /---(?:[0-9a-f]{12}-)?fleet$/.test(name);
}

/** Returns whether a policy is called as one that takes addresses off many nodes. */
export function isCleanupName(name: string): boolean {
  return /---(?:[0-9a-f]{12}-)?cleanup$/.test(name);
}

function sharedName(policy: string, end: string): string {
  const name = `${policy}---${end}`;
  return name.length <= limit ? name : shorten(policy, `---${hashOf(policy)}-${end}`);
}

/** Returns the name of the policy that sets the DNS servers of one node alone. */
export function resolverName(policy: string, node: string): string {
  return childName(`${policy}.dns`, node);
}

/** A text as a label value: itself, or shortened with a hash. */
export function labelValue(text: string): string {
  return text.length <= limit ? text : shorten(text, `-${hashOf(text)}`);
}

function shorten(text: string, suffix: string): string {
  return text.slice(0, limit - suffix.length).replace(/[-.]+$/, "") + suffix;
}

/** Returns a short text that is another one for another text. */
export function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 12);
}

/** The policy that a child comes from, as far as it is known: of one that is gone only the name. */
export type Origin = Pick<Policy, "name"> & Partial<Policy>;

/** Returns a policy that selects one node alone. All policies for single nodes are made here. */
export function childPolicy(
  origin: Origin,
  node: ClusterNode,
  {
    capture = {},
    desiredState,
  }: { readonly capture?: Policy["otherCaptures"] | undefined; readonly desiredState: unknown },
): PolicyObject {
  return {
    apiVersion: origin.apiVersion ?? "nmstate.io/v1",
    kind: "NodeNetworkConfigurationPolicy",
    metadata: { ...childMetadata(origin.name, node.name, origin), ...ownedBy(node) },
    spec: {
      nodeSelector: { [hostnameLabel]: hostnameOf(node) },
      ...(Object.keys(capture).length === 0 ? {} : { capture }),
      desiredState,
    },
  };
}

/** In a cluster a child goes with its node. */
function ownedBy({ name, uid }: ClusterNode) {
  return uid === undefined ? {} : { ownerReferences: [{ apiVersion: "v1", kind: "Node", name, uid }] };
}

/** Returns the node that a policy was made for: a label cannot hold every name. */
export function nodeOf(object: Bag): unknown {
  return owningNode(object) ?? labelsOf(object)[childLabels.node];
}

/** Returns the node that an object goes with. */
export function owningNode(object: Bag): string | undefined {
  const name = ownersOf(object).find(({ kind }) => kind === "Node")?.name;
  return typeof name === "string" ? name : undefined;
}

/** Returns the name, the labels with the policy and the node, and the labels and annotations that the user set on the policy. */
export function childMetadata(
  policyName: string,
  node: string,
  policy: Partial<Pick<Policy, "labels" | "annotations">>,
) {
  const annotations = copiedMetadata(policy.annotations);
  const labels = {
    ...copiedMetadata(policy.labels),
    [childLabels.policy]: labelValue(policyName),
    [childLabels.node]: labelValue(node),
  };
  const name = childName(policyName, node);
  return Object.keys(annotations).length === 0 ? { name, labels } : { name, labels, annotations };
}

/** Returns the value of a node's hostname label, which need not be its name. Throws `invalid` if it has none. */
export function hostnameOf(node: ClusterNode): string {
  const hostname = node.labels.get(hostnameLabel);
  if (hostname === undefined)
    throw new IpamError("invalid", [
      {
        message: `node ${node.name} has no label ${hostnameLabel}, so no policy can select it alone`,
        ...placed(node.at),
        hint: `Give all its labels: kubectl get nodes -o json, or ${node.name} ${hostnameLabel}=${node.name},label=value in the list.`,
      },
    ]);
  return hostname;
}
