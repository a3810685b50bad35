import { metal3InCluster } from "../../../integrations/metal3/in-cluster.ts";
import { asBag, type Bag } from "../../../schema/objects.ts";
import { SimController } from "../sim/controller.ts";

export const namespace = "metal3";

/** A file with one network, from .10 on, and one unit. */
export function file(hosts: readonly string[], { last = 19, more = "" } = {}): string {
  const macs = hosts.map((host) => `    ${host}: {em0: "02:00:00:00:00:0${host.slice(-1)}"}`);
  return `${more}infra:
  networks:
    lan: {netmask: 24, addressRange: {start: 10.0.0.10, end: 10.0.0.${last}}}
controllers:
  replicas: ${hosts.length}
  hostSelector: {rack: "1"}
  networkConfig: [{type: interface, name: em0, addresses: [{ip_netmask: "{{ ip['lan'] }}"}]}]
  macMapping:
${macs.join("\n")}
`;
}

/** The controller for the hosts of a namespace, in memory. */
export function begin() {
  const sim = new SimController(undefined, undefined, undefined, [metal3InCluster(namespace)]);
  const secrets = () => sim.all("Secret").map(({ metadata }) => metadata.name);
  const write = (text: string) =>
    sim.change("ConfigMap", "nodeippool-infra", (one) => ({ ...one, data: { "infra.yaml": text } }), namespace);
  const create = (text: string) =>
    sim.create({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "nodeippool-infra", namespace },
      data: { "infra.yaml": text },
    } as never);
  const host = (name: string, state: string, spec: Bag = {}) =>
    sim.create({
      apiVersion: "metal3.io/v1alpha1",
      kind: "BareMetalHost",
      metadata: { name, namespace },
      spec: { online: true, ...spec },
      status: { provisioning: { state } },
    } as never);
  const bareMetalHost = (name: string) => asBag(sim.object("BareMetalHost", name)?.spec);
  const edit = (name: string, spec: Bag, state: string) =>
    sim.change(
      "BareMetalHost",
      name,
      (one) => ({ ...one, spec: { online: true, ...spec }, status: { provisioning: { state } } }),
      namespace,
    );
  return { sim, secrets, write, create, host, bareMetalHost, edit };
}
