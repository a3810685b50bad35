import { asBag, type Bag } from "../../../schema/objects.ts";

/** A NetworkAttachmentDefinition of one plugin, whose configuration has the object's name. */
export function attachment(name: string, ipam: Bag, namespace = "default", config: Bag = {}): Bag {
  return definition(name, namespace, { name, type: "macvlan", master: "eth1", ipam: whereaboutsIpam(ipam), ...config });
}

/** One whose plugin is in a list, with another one behind it. */
export function listAttachment(name: string, ipam: Bag, namespace = "default"): Bag {
  const plugins = [{ type: "macvlan", master: "eth1", ipam: whereaboutsIpam(ipam) }, { type: "tuning" }];
  return definition(name, namespace, { name, plugins });
}

/** The same for the nodes of a selector; for all of them without one. */
export function selecting<T extends Bag>(selector: string | undefined, one: T): T {
  if (selector === undefined) return one;
  const annotations = { "nodeippool.nmstate.io/node-selector": selector };
  return { ...one, metadata: { ...asBag(one.metadata), annotations } };
}

function whereaboutsIpam(ipam: Bag): Bag {
  return { type: "whereabouts", ...ipam };
}

function definition(name: string, namespace: string, config: Bag): Bag {
  return {
    apiVersion: "k8s.cni.cncf.io/v1",
    kind: "NetworkAttachmentDefinition",
    metadata: { name, namespace },
    spec: { config: JSON.stringify({ cniVersion: "1.0.0", ...config }) },
  };
}

/** A NodeSlicePool as the controller of whereabouts writes it: with slices that are nobody's. */
export function slicePool(
  name: string,
  range: string,
  sliceSize: string,
  slices: Readonly<Record<string, string>>,
  free: readonly string[] = [],
): Bag {
  const nobody = free.map((sliceRange) => ({ nodeName: "", sliceRange }));
  const given = Object.entries(slices).map(([nodeName, sliceRange]) => ({ nodeName, sliceRange }));
  return {
    apiVersion: "whereabouts.cni.cncf.io/v1alpha1",
    kind: "NodeSlicePool",
    metadata: { name, namespace: "kube-system" },
    spec: { range, sliceSize },
    status: { allocations: [...given, ...nobody] },
  };
}
