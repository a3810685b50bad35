import type { Bag } from "../../../schema/objects.ts";

type Made = Bag & { readonly kind: string };

/** A network of OVN-Kubernetes that keeps addresses. */
export function ovnNetwork(name: string, config: Bag, namespace = "default"): Made {
  return definition(`${name}-netconfig`, namespace, {
    name,
    type: "ovn-k8s-cni-overlay",
    topology: "layer2",
    allowPersistentIPs: true,
    netAttachDefName: `${namespace}/${name}-netconfig`,
    ...config,
  });
}

/** A network of macvlan that takes addresses from NodeIPPools. */
export function macvlanNetwork(name: string, pools: string, namespace = "default"): Made {
  const plugins = [
    { type: "macvlan", master: "eth1", capabilities: { ips: true, mac: true }, ipam: { type: "static" } },
  ];
  return definition(name, namespace, { name, plugins }, { "nodeippool.nmstate.io/pool": pools });
}

export function definition(name: string, namespace: string, config: Bag, annotations: Bag = {}): Made {
  return {
    apiVersion: "k8s.cni.cncf.io/v1",
    kind: "NetworkAttachmentDefinition",
    metadata: { name, namespace, annotations },
    spec: { config: JSON.stringify({ cniVersion: "1.0.0", ...config }) },
  };
}

/** A VM on these networks: the name of each, and its NetworkAttachmentDefinition. */
export function vm(
  name: string,
  networks: Readonly<Record<string, string>>,
  { namespace = "default", wanted }: { readonly namespace?: string; readonly wanted?: Bag } = {},
): Made {
  const annotations = wanted && { "network.kubevirt.io/addresses": JSON.stringify(wanted) };
  const names = Object.keys(networks);
  return {
    apiVersion: "kubevirt.io/v1",
    kind: "VirtualMachine",
    metadata: { name, namespace },
    spec: {
      runStrategy: "Always",
      template: {
        metadata: { annotations },
        spec: {
          domain: { devices: { interfaces: names.map((network) => ({ name: network, bridge: {} })) } },
          networks: [
            { name: "default", pod: {} },
            ...names.map((network) => ({ name: network, multus: { networkName: networks[network] } })),
          ],
        },
      },
    },
  };
}
