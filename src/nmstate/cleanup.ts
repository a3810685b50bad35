import { type Allocation, familyOf } from "../core/index.ts";
import { type ClusterNode, hostnameLabel, type Policy, type PolicyObject } from "../schema/index.ts";
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
    else if (keepsAddresses((interfaces[at] as Bag)[section]))
      interfaces[at] = {
        ...interfaces[at],
        [section]: { ...noAddress[section], ...((interfaces[at] as Bag)[section] as Bag) },
      };
  }
  return interfaces.length === 0 ? desiredState : { ...state, interfaces };
}

/** nmstate keeps what a state does not mention: without a list of addresses, or `enabled: false`, the old ones stay. */
function keepsAddresses(section: unknown): boolean {
  const { enabled, address } = (section ?? {}) as Bag;
  return enabled !== false && address === undefined;
}

/** Takes all addresses off and leaves the link up; test/e2e tries it on a kernel. */
const noAddress: Record<string, Bag> = {
  ipv4: { enabled: true, dhcp: false, address: [] },
  ipv6: { enabled: true, dhcp: false, autoconf: false, address: [] },
};

/**
 * A node's policy that does nothing but give addresses up, because its policy is for the node no more (or is gone:
 * then its routes are not known and stay). A route over a NIC without addresses would fail the whole state.
 */
export function cleanupPolicy(
  policy: Pick<Policy, "name"> & Partial<Policy>,
  node: ClusterNode,
  releasing: readonly Allocation[],
): PolicyObject {
  const routes = routesOver(policy.desiredState, new Set(releasing.map((line) => line.interface)));
  return {
    apiVersion: policy.apiVersion ?? "nmstate.io/v1",
    kind: "NodeNetworkConfigurationPolicy",
    metadata: childMetadata(policy.name, node.name, policy),
    spec: {
      nodeSelector: { [hostnameLabel]: hostnameOf(node) },
      desiredState: removals(routes.length === 0 ? {} : { routes: { config: routes } }, releasing),
    },
  };
}

/** The routes that a desired state makes over these NICs, as routes to take away. */
function routesOver(desiredState: unknown, nics: ReadonlySet<string | undefined>): Bag[] {
  const { routes } = (desiredState ?? {}) as { routes?: { config?: Bag[] } };
  return (routes?.config ?? [])
    .filter((route) => nics.has(route["next-hop-interface"] as string) && typeof route.destination === "string")
    .map(({ destination, "next-hop-interface": nic, "table-id": table }) => ({
      destination,
      "next-hop-interface": nic,
      ...(table === undefined ? {} : { "table-id": table }),
      state: "absent",
    }));
}
