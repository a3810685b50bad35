import { type Bag, conditionOf } from "../../schema/objects.ts";
import { isManaged } from "../contract/managed-by.ts";
import { annotationsOf, isDeleting, keyOf, labelsOf, nameOf, uidOf } from "../contract/object-metadata.ts";
import type { Reconciler } from "../contract/reconciler.ts";
import type { Step } from "../contract/step.ts";
import { watchedNodes } from "../contract/watched-nodes.ts";
import { capturedIn, isFleetEnactment, nodeOfEnactment, policyOfEnactment, unknownNic } from "./captured.ts";
import { childName, hashOf, nodeOf } from "./child.ts";
import { cleanedBy, isCleanupEnactment, isSharedEnactment, saidIn } from "./cleanup-form.ts";
import { hasCondition } from "./enactment.ts";
import { retryAnnotation } from "./fleet.ts";
import { keyOfPolicy } from "./node-objects.ts";
import { asDesiredState, asEnactment, asPolicy } from "./objects.ts";
import { enactmentKind, nmstateKinds, policyKind } from "./recording.ts";
import {
  cleanupGateOf,
  gateOf,
  isFleetPolicy,
  isGate,
  isSharedCleanup,
  isSharedPolicy,
  openGate,
  originOf,
  retryLabel,
} from "./shared-policy.ts";
import { listsOf } from "./taken-off.ts";

/**
 * Opens and closes the gates of a node: labels by which policies for many nodes select it.
 *
 *  the enactment of the node                                | the gate | the handler is to look
 *  ---------------------------------------------------------+----------+---------------------------------------------------
 *  none, or its policy is gone                              | closed   | no
 *  that of a clean-up whose policy is still to come         | open     | no: it looks once the policy comes
 *  a handler has made that of a clean-up anew               | closed   | no: it deletes the enactment
 *  lacks an address of a capture, or what is to be taken off| closed   | no
 *  has all, but a clean-up would take them off again: it is | closed   | no
 *   on the same NIC                                         |          |
 *  has all, and the policy no longer selects the node       | closed   | yes: it deletes the enactment
 *  has all, and a handler is at work                        | open     | no
 *  has all, and its desired state has them                  | open     | no: how it fares is the handler's business
 *  has all, and its desired state lacks one                 | open     | yes: it looked before, or wrote over them since
 *  is aborted, and no other node fails any more             | open     | yes
 *
 * `isFleet`: policies have the fleet form; otherwise only those that have a gate are looked at, as after a downgrade.
 */
export function gates(isFleet: boolean): Reconciler {
  return {
    kinds: [watchedNodes, ...nmstateKinds.filter(({ kind }) => kind !== "NodeNetworkState")],
    belongsTo: (object) => {
      if (object.kind === "Node") return isFleet || Object.keys(labelsOf(object)).some(isGate) ? [nameOf(object)] : [];
      if (object.kind !== policyKind) return isSharedEnactment(object) ? [nodeOfEnactment(object)] : [];
      if (isSharedPolicy(object)) return "all";
      return isFleet && givesNone(object) ? [nodeOf(object) ?? []].flat().map(String) : [];
    },
    steps: (_, belonging, find) => {
      const node = belonging.find(({ kind }) => kind === "Node");
      return node === undefined ? [] : stepsFor(node, belonging, find);
    },
  };
}

function stepsFor(node: Bag, belonging: readonly Bag[], find: (key: string) => Bag | undefined): Step[] {
  const enactments = belonging.filter(({ kind }) => kind === enactmentKind);
  const cleanups = belonging.filter((one) => one.kind === policyKind || isOwnCleanup(one));
  const seen = enactments.flatMap((one) => {
    const policy = find(keyOfPolicy(policyOfEnactment(one)));
    const own = policy && find(keyOfPolicy(childName(originOf(policy), nameOf(node))));
    const all = own !== undefined && givesNone(own) ? [...cleanups, own] : cleanups;
    return isFleetEnactment(one) && isCleanedUp(one, all) ? [] : (stateOf(one, node, policy) ?? []);
  });
  const open = new Set(seen.flatMap(({ gate, isOpen }) => (isOpen ? gate : [])));
  const labels = labelsOf(node);
  const closed = Object.keys(labels).filter((label) => isGate(label) && !open.has(label));
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
  return [{ verb: "change", object: node, fields: { metadata: { labels: Object.fromEntries(changes) } } }];
}

/** Returns whether a policy of one node gives no address: it takes some off. */
function givesNone(policy: Bag): boolean {
  return listsOf(asPolicy(policy).spec.desiredState).every(([, , addresses]) => addresses.length === 0);
}

/** Returns whether an enactment has what the controller wants to be taken off: one that a handler has made anew may have what it wanted before. */
function isOwnCleanup(enactment: Bag): boolean {
  return isCleanupEnactment(enactment) && isManaged(enactment);
}

/** Returns the NICs that a clean-up takes addresses off: a policy of one node, or the enactment of the one for many. */
function nicsOff(cleanup: Bag): unknown[] {
  const state = cleanup.kind === policyKind ? asPolicy(cleanup).spec.desiredState : cleanedBy(cleanup);
  return asDesiredState(state).interfaces.map(({ name }) => name);
}

interface GateState {
  readonly enactment: Bag;
  readonly gate: string;
  readonly isOpen: boolean;
  readonly mustLook: boolean;
  /** By which word of its policy it is tried again. */
  readonly retry?: unknown;
}

function stateOf(enactment: Bag, node: Bag, policy: Bag | undefined): GateState | undefined {
  if (policy === undefined && isOwnCleanup(enactment) && nicsOff(enactment).length > 0)
    return { enactment, gate: cleanupGateOf(originOf(enactment)), isOpen: true, mustLook: false };
  if (policy === undefined || isDeleting(policy)) return undefined;
  const isCleanup = isSharedCleanup(policy);
  if (isCleanup && !isManaged(enactment)) return undefined;
  if (!isCleanup && !isFleetPolicy(policy)) return undefined;
  const { nodeSelector, capture = {} } = asPolicy(policy).spec;
  const { isDesired, capturedStates } = asEnactment(enactment).status;
  const captured = new Set(isCleanup ? Object.keys(capturedStates) : capturedIn(enactment).map((one) => one.capture));
  if (!Object.keys(capture).every((name) => captured.has(name))) return undefined;
  const gate = isCleanup ? cleanupGateOf(originOf(policy)) : gateOf(originOf(policy));
  const labels = labelsOf(node);
  const isSelected = Object.entries(nodeSelector).every(([label, value]) => label === gate || labels[label] === value);
  const is = (type: string) => hasCondition(enactment, type);
  const retry = is("Aborted") ? annotationsOf(policy)[retryAnnotation] : undefined;
  const lacks = isDesired !== true && !is("Progressing") && !is("Pending");
  return { enactment, gate, isOpen: isSelected, mustLook: !isSelected || lacks || retry !== undefined, retry };
}

/** Returns whether one of these clean-ups takes addresses off a NIC to which an enactment gives one. It may be any NIC whose name is unknown. */
function isCleanedUp(enactment: Bag, cleanups: readonly Bag[]): boolean {
  const nics = new Set(cleanups.flatMap(nicsOff));
  return nics.size > 0 && capturedIn(enactment).some(({ nic }) => nic === unknownNic || nics.has(nic));
}

/** Returns a text that is another one once a handler has looked in vain, or has written over an address; undefined if nobody has to look. */
function lookOf(states: readonly GateState[]): string | undefined {
  if (states.length === 0) return undefined;
  const texts = states.map(({ enactment, retry }) => {
    const { conditions } = asEnactment(enactment).status;
    const failing = conditionOf(conditions, "Failing");
    const since = failing?.status === "True" ? failing.lastTransitionTime : conditions;
    return JSON.stringify([keyOf(enactment), uidOf(enactment), saidIn(enactment), retry ?? since]);
  });
  return hashOf(texts.sort().join());
}
