import { type Allocation, familyOf } from "../core/index.ts";
import { type ClusterNode, hostnameLabel, type PolicyObject } from "../schema/index.ts";
import { childMetadata, hostnameOf } from "./child.ts";

type Bag = { readonly [field: string]: unknown };

/**
 * The desired state, and in it the removal of releasing addresses. nmstate replaces the address list of a NIC as a
 * whole: a NIC that the state already gives addresses of that family loses the old one by that alone; for any other
 * NIC an empty list is asked for.
 */
export function removals(desiredState: unknown, releasing: readonly Allocation[]): unknown {
  const state = (desiredState ?? {}) as Bag;
  const interfaces = [...((state.interfaces as Bag[] | undefined) ?? [])];
  for (const line of releasing) {
    if (line.interface === undefined) continue;
    const section = familyOf(line.address) === 4 ? "ipv4" : "ipv6";
    const at = interfaces.findIndex((item) => item.name === line.interface);
    if (at < 0) interfaces.push({ name: line.interface, [section]: noAddress[section] });
    else if (!(section in (interfaces[at] as Bag)))
      interfaces[at] = { ...interfaces[at], [section]: noAddress[section] };
  }
  return interfaces.length === 0 ? desiredState : { ...state, interfaces };
}

/** Takes all addresses off and leaves the link up; test/e2e tries it on a kernel. */
const noAddress: Record<string, Bag> = {
  ipv4: { enabled: true, dhcp: false, address: [] },
  ipv6: { enabled: true, dhcp: false, autoconf: false, address: [] },
};

/** A node's policy that does nothing but give addresses up: the one it had is gone from the manifests. */
export function cleanupPolicy(policyName: string, node: ClusterNode, releasing: readonly Allocation[]): PolicyObject {
  return {
    apiVersion: "nmstate.io/v1",
    kind: "NodeNetworkConfigurationPolicy",
    metadata: childMetadata(policyName, node.name),
    spec: {
      nodeSelector: { [hostnameLabel]: hostnameOf(node) },
      desiredState: removals({}, releasing),
    },
  };
}
