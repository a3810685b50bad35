import { familyOf, type Pool } from "../../core/index.ts";
import { childLabels, ownPrefix } from "../../schema/node.ts";
import type { Bag } from "../../schema/objects.ts";
import { poolOfCapture, type Reference } from "../../schema/template.ts";
import { nameOf, uidOf } from "../contract/object-metadata.ts";
import { capturedBy } from "./captured.ts";
import { fleetName, labelValue } from "./child.ts";
import { fill, literalOf } from "./expand.ts";
import { asDesiredState, asPolicy } from "./objects.ts";
import type { Policy, PolicyObject } from "./policy.ts";
import { selectorOf } from "./select.ts";
import { gateOf, hasGates, neverMatches, openGate } from "./shared-policy.ts";

/*
 * The fleet form: one policy for all nodes that a parked policy selects. A handler takes the captured states of an enactment as the cache
 * of its captures: each node's enactment has the node's addresses there before a label of the Node, the gate, lets the policy select it.
 */

/** On a policy of the fleet form: another value has the handlers of aborted nodes try again. */
export const retryAnnotation = `${ownPrefix}retry`;

/**
 * Returns why a policy cannot have the fleet form; undefined if it can. With a cache, nmstatectl evaluates no capture, so one with
 * captures of its own cannot; DNS servers beside interfaces need a policy of their own (resolver.ts).
 */
export function whyNotFleet(policy: Bag): string | undefined {
  const { capture = {}, desiredState } = asPolicy(policy).spec;
  if (!hasGates(nameOf(policy))) return "its name has more than 63 characters";
  const isOfPool = (one: unknown) => typeof one === "string" && typeof poolOfCapture(one) === "string";
  const own = Object.keys(capture).find((name) => !isOfPool(capture[name]));
  if (own !== undefined) return `capture ${own} is not of a pool`;
  if (asDesiredState(desiredState)["dns-resolver"].config !== undefined) return "it sets DNS servers";
  const isAddressUsed = /\{\{ capture\.[\w-]+\.ip \}\}/.test(JSON.stringify(desiredState) ?? "");
  return isAddressUsed ? undefined : "its desired state has no address of a pool";
}

/** Returns the one policy that a parked policy becomes. What is the same on each node, such as the gateway, is literal. Throws `invalid` for what a pool does not have. */
export function fleetPolicy(policy: Policy, pools: ReadonlyMap<string, Pool>, source: Bag): PolicyObject {
  const { apiVersion, name, captures, desiredState } = policy;
  const { maxUnavailable } = asPolicy(source).spec;
  const poolOf = (capture: string) => pools.get(captures.get(capture)?.pool ?? "");
  return {
    apiVersion,
    kind: "NodeNetworkConfigurationPolicy",
    metadata: {
      name: fleetName(name),
      labels: { [childLabels.policy]: labelValue(name) },
      ownerReferences: [{ apiVersion, kind: "NodeNetworkConfigurationPolicy", name, uid: uidOf(source) }],
    },
    spec: {
      nodeSelector: { ...Object.fromEntries(selectorOf(policy)), [gateOf(name)]: openGate },
      ...(maxUnavailable === undefined ? {} : { maxUnavailable }),
      capture: Object.fromEntries([...capturedBy(desiredState)].map((capture) => [capture, neverMatches])),
      desiredState: fill(desiredState, (reference) => templateOf(reference, poolOf(reference.capture))),
    },
  };
}

function templateOf(reference: Reference, pool: Pool | undefined): string | number {
  const { capture, field } = reference;
  if (field !== "ip" || pool === undefined) return literalOf(reference, pool && { pool });
  return `{{ capture.${capture}.interfaces.0.ipv${familyOf(pool.prefix.first)}.address.0.ip }}`;
}
