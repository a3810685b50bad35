import { byCodeUnit } from "../../core/index.ts";
import { type ClusterNode, childLabels } from "../../schema/node.ts";
import { asList, type Bag } from "../../schema/objects.ts";
import { raw } from "../../schema/shape.ts";
import type { RenderedObject } from "../contract/integration.ts";
import { capturedPart, enactmentOf, isFleetEnactment, keepCaptured, policyOfEnactment } from "./captured.ts";
import { cleanupName, isCleanupName, labelValue } from "./child.ts";
import { asCaptured, asDesiredState, asEnactment, type Nic, type Section } from "./objects.ts";
import type { PolicyObject } from "./policy.ts";
import { cleanupGateOf, neverMatches, openGate } from "./shared-policy.ts";
import { asTruth } from "./truth.ts";

/*
 * In the fleet form one policy takes addresses off all nodes that are to lose them, too. Each node has what is to be taken off in its
 * enactment, as the state of one capture; the policy is nothing but that capture.
 */

const capture = "cleanup";

/** Returns the one policy that takes addresses off the nodes of a policy. A node that fails holds up no other. */
export function sharedCleanup(policy: string): PolicyObject {
  return {
    apiVersion: "nmstate.io/v1",
    kind: "NodeNetworkConfigurationPolicy",
    metadata: { name: cleanupName(policy), labels: { [childLabels.policy]: labelValue(policy) } },
    spec: {
      nodeSelector: { [cleanupGateOf(policy)]: openGate },
      maxUnavailable: "100%",
      capture: { [capture]: neverMatches },
      desiredState: {
        interfaces: `{{ capture.${capture}.interfaces }}`,
        routes: { config: `{{ capture.${capture}.routes.config }}` },
      },
    },
  };
}

/** Returns the enactment of a node with what is to be taken off it. */
export function cleanupEnactment(policy: string, node: ClusterNode, desiredState: unknown): RenderedObject {
  const { interfaces, routes } = asDesiredState(desiredState);
  const state = { interfaces: interfaces.map(raw), routes: { config: asList(routes.config) } };
  return enactmentOf(policy, cleanupName(policy), node, { [capture]: state });
}

/** Returns whether an enactment is of such a policy, whoever made it. */
export function isCleanupEnactment(object: Bag): boolean {
  return isCleanupName(policyOfEnactment(object));
}

/** Returns whether an enactment is of a policy for many nodes, whoever made it. */
export function isSharedEnactment(object: Bag): boolean {
  return isFleetEnactment(object) || isCleanupEnactment(object);
}

/** Returns the state that an enactment has a node get, with nothing left of what was taken off. */
export function cleanedBy(enactment: Bag): Bag {
  return raw(asCaptured(asEnactment(enactment).status.capturedStates[capture]).state);
}

/** Returns what the controller says in an enactment, as it compares it: nmstatectl adds fields to what it has captured. */
export function saidIn(enactment: Bag): Bag {
  if (!isCleanupEnactment(enactment)) return capturedPart(enactment);
  const { interfaces, routes } = asDesiredState(cleanedBy(enactment));
  return { interfaces: sectionsOf(interfaces), routes: asList(routes.config).length };
}

/** Returns what is kept of the states in an enactment: what it captures, and whether its desired state has all of that. */
export function keepStates(enactment: Bag): Bag {
  if (isFleetEnactment(enactment)) return keepCaptured(enactment);
  if (!isCleanupEnactment(enactment)) return {};
  const { capturedStates, desiredState } = asEnactment(enactment).status;
  const captured = sectionsOf(asDesiredState(cleanedBy(enactment)).interfaces);
  const desired = new Set(sectionsOf(asDesiredState(desiredState).interfaces));
  return { capturedStates, isDesired: captured.length > 0 && captured.every((one) => desired.has(one)) };
}

/** Returns what each family of these NICs is to have, as a text. */
function sectionsOf(interfaces: readonly Nic[]): string[] {
  const section = ({ enabled, dhcp, autoconf, address }: Section) =>
    asTruth(enabled) === false
      ? "off"
      : [asTruth(dhcp) === true, asTruth(autoconf) === true, address.map(({ ip }) => ip)];
  const parts = interfaces.flatMap((nic) => {
    const given = raw(nic);
    return (["ipv4", "ipv6"] as const).flatMap((family) =>
      (given[family] ?? undefined) === undefined ? [] : JSON.stringify([nic.name, family, section(nic[family])]),
    );
  });
  return parts.sort(byCodeUnit);
}
