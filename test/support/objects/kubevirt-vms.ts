import type { Bag } from "../../../schema/objects.ts";
import type { KubevirtNodes } from "../real/kubevirt-node.ts";
import { vm } from "./vm-objects.ts";

/** A VM as virt-controller takes it. */
export function realVm(name: string, networks: Readonly<Record<string, string>>, more: Bag = {}): Bag {
  const made = vm(name, networks);
  const { template } = made.spec as { readonly template: { readonly metadata: Bag; readonly spec: Bag } };
  const spec = { ...template.spec, ...machine(networks), terminationGracePeriodSeconds: 0 };
  return { ...made, spec: { ...(made.spec as Bag), ...more, template: { ...template, spec } } };
}

/** The interfaces of a VM, those of networks that are to be unplugged `absent`. */
export function machine(networks: Readonly<Record<string, string>>, absent: readonly string[] = []): Bag {
  const interfaces = [
    { name: "default", masquerade: {} },
    ...Object.keys(networks).map((name) => ({ name, bridge: {}, ...(absent.includes(name) && { state: "absent" }) })),
  ];
  return {
    domain: { devices: { interfaces }, resources: { requests: { memory: "64Mi" } } },
    networks: [
      { name: "default", pod: {} },
      ...Object.entries(networks).map(([name, networkName]) => ({ name, multus: { networkName } })),
    ],
  };
}

/** The pods of a VM that have not ended, the youngest last. */
export async function podsOfVm(nodes: KubevirtNodes, name: string) {
  const pods = await nodes.all("pods");
  return pods.filter(
    ({ metadata, status }) =>
      metadata.name.startsWith(`virt-launcher-${name}-`) && (status as Bag | undefined)?.phase !== "Succeeded",
  );
}
