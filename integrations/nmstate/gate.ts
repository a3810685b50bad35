import { ownPrefix } from "../../schema/node.ts";
import { type Bag, conditionOf } from "../../schema/objects.ts";
import { annotationsOf, isDeleting, keyOf, labelsOf, nameOf, uidOf } from "../contract/object-metadata.ts";
import type { Reconciler } from "../contract/reconciler.ts";
import type { Step } from "../contract/step.ts";
import { watchedNodes } from "../contract/watched-nodes.ts";
import { capturedIn, enactmentLabels, isFleetEnactment, nodeOfEnactment } from "./captured.ts";
import { childName, hashOf, nodeOf } from "./child.ts";
import { hasCondition } from "./enactment.ts";
import { gateOf, isFleetPolicy, openGate, originOf, policyOfGate, retryAnnotation } from "./fleet.ts";
import { keyOfPolicy } from "./node-objects.ts";
import { asEnactment, asPolicy } from "./objects.ts";
import { enactmentKind, nmstateKinds, policyKind } from "./recording.ts";
import { listsOf } from "./taken-off.ts";

/** A change of it has the handler of a node look at the policies of the node. */
const retryLabel = `${ownPrefix}retry`;

/**
 * Opens and closes the gates of a node: labels by which policies of the fleet form select it.
 *
 *  the enactment of the node                                | the gate | the handler is to look
 *  ---------------------------------------------------------+----------+---------------------------------------------------
 *  none, or its policy is gone                              | closed   | no
 *  lacks an address of a capture                            | closed   | no
 *  has all, but a clean-up policy would take them off again | closed   | no
 *  has all, and the policy no longer selects the node       | closed   | yes: it deletes the enactment
 *  has all, and a handler is at work                        | open     | no
 *  has all, and its desired state has them                  | open     | no: how it fares is the handler's business
 *  has all, and its desired state lacks one                 | open     | yes: it looked before, or wrote over them since
 *  is aborted, and no other node fails any more             | open     | yes
 */
export const gates: Reconciler = {
  kinds: [watchedNodes, ...nmstateKinds.filter(({ kind }) => kind !== "NodeNetworkState")],
  belongsTo: (object) => {
    if (object.kind === "Node") return [nameOf(object)];
    if (object.kind !== policyKind) return isFleetEnactment(object) ? [nodeOfEnactment(object)] : [];
    if (isFleetPolicy(object)) return "all";
    return givesNone(object) ? [nodeOf(object) ?? []].flat().map(String) : [];
  },
  steps: (_, belonging, find) => {
    const node = belonging.find(({ kind }) => kind === "Node");
    if (node === undefined) return [];
    const enactments = belonging.filter(({ kind }) => kind === enactmentKind);
    const seen = enactments.flatMap((one) => stateOf(one, node, find) ?? []);
    const open = new Set(seen.flatMap(({ policy, isOpen }) => (isOpen ? gateOf(policy) : [])));
    const labels = labelsOf(node);
    const closed = Object.keys(labels).filter((label) => policyOfGate(label) !== undefined && !open.has(label));
    const retry = lookOf(seen.filter(({ mustLook }) => mustLook));
    const wanted = [
      ...[...open].map((label) => [label, openGate] as const),
      ...(retry === undefined ? [] : [[retryLabel, retry] as const]),
    ];
    const changes = [
      ...wanted.filter(([label, value]) => labels[label] !== value),
      ...closed.map((label) => [label, null] as const),
    ];
    if (changes.length === 0) return [];
    return [
      { verb: "change", object: node, fields: { metadata: { labels: Object.fromEntries(changes) } } },
    ] satisfies Step[];
  },
};

/** Returns whether a policy of one node gives no address: it takes some off. */
function givesNone(policy: Bag): boolean {
  return listsOf(asPolicy(policy).spec.desiredState).every(([, , addresses]) => addresses.length === 0);
}

interface GateState {
  readonly enactment: Bag;
  readonly policy: string;
  readonly isOpen: boolean;
  readonly mustLook: boolean;
  /** By which word of its policy it is tried again. */
  readonly retry?: unknown;
}

function stateOf(enactment: Bag, node: Bag, find: (key: string) => Bag | undefined): GateState | undefined {
  const policy = find(keyOfPolicy(`${labelsOf(enactment)[enactmentLabels.policy]}`));
  if (policy === undefined || !isFleetPolicy(policy) || isDeleting(policy)) return undefined;
  const { nodeSelector, capture = {} } = asPolicy(policy).spec;
  const origin = originOf(policy);
  const captured = new Set(capturedIn(enactment).map((one) => one.capture));
  if (!Object.keys(capture).every((name) => captured.has(name))) return undefined;
  const own = find(keyOfPolicy(childName(origin, nameOf(node))));
  if (own !== undefined && givesNone(own)) return undefined;
  const labels = labelsOf(node);
  const isSelected = Object.entries(nodeSelector).every(
    ([label, value]) => label === gateOf(origin) || labels[label] === value,
  );
  const { isDesired } = asEnactment(enactment).status;
  const is = (type: string) => hasCondition(enactment, type);
  const retry = is("Aborted") ? annotationsOf(policy)[retryAnnotation] : undefined;
  const lacks = isDesired !== true && !is("Progressing") && !is("Pending");
  return {
    enactment,
    policy: origin,
    isOpen: isSelected,
    mustLook: !isSelected || lacks || retry !== undefined,
    retry,
  };
}

/** Returns a text that is another one once a handler has looked in vain, or has written over an address; undefined if nobody has to look. */
function lookOf(states: readonly GateState[]): string | undefined {
  if (states.length === 0) return undefined;
  const texts = states.map(({ enactment, retry }) => {
    const { conditions } = asEnactment(enactment).status;
    const failing = conditionOf(conditions, "Failing");
    const since = failing?.status === "True" ? failing.lastTransitionTime : conditions;
    return JSON.stringify([keyOf(enactment), uidOf(enactment), capturedIn(enactment), retry ?? since]);
  });
  return hashOf(texts.sort().join());
}
