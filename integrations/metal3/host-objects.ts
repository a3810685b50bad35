import type { Address, Parsed } from "../../core/index.ts";
import type { RenderedObject } from "../contract/integration.ts";
import type { ObjectOptions, TemplateOptions } from "./cluster.ts";
import { type Host, type Infra, objectName, type Unit } from "./infra.ts";
import { networkData } from "./network-data.ts";
import { bareMetalHost, metadataFor, networkDataSecret } from "./object-parts.ts";

/**
 * A host with its network data, whichever machine comes to it: for MachineDeployments and control planes. Metal3's provider
 * leaves the network data of a host alone as long as no template of the machine has any (`metaDataTemplate`).
 */
export function hostObjects(
  infra: Pick<Infra, "networks">,
  unit: Unit,
  host: Host,
  addresses: ReadonlyMap<string, Address>,
  options: ObjectOptions,
): Parsed<RenderedObject[]> {
  const secret = hostSecret(infra, unit, host, addresses, options);
  if (secret.issues) return secret;
  const name = objectName(unit.name, host.name);
  const { namespace } = options;
  const reference = { name, ...(namespace === undefined ? {} : { namespace }) };
  return { value: [secret.value, bareMetalHost(unit, host.name, { spec: { networkData: reference } }, options)] };
}

/** Returns the Secret with the network data of a host, or all issues about settings that network data cannot express. */
export function hostSecret(
  infra: Pick<Infra, "networks">,
  unit: Unit,
  host: Host,
  addresses: ReadonlyMap<string, Address>,
  options: ObjectOptions,
): Parsed<RenderedObject> {
  const data = networkData(infra, unit, host, addresses);
  return data.issues ? data : { value: networkDataSecret(unit.name, host.name, data.value, options) };
}

/** Returns the template for the machines of a unit: names, and no network data. */
export function metaDataTemplate({ name }: Pick<Unit, "name">, options: TemplateOptions): RenderedObject {
  return {
    apiVersion: `infrastructure.cluster.x-k8s.io/${options.apiVersion}`,
    kind: "Metal3DataTemplate",
    metadata: metadataFor(name, options),
    spec: { clusterName: options.clusterName, metaData },
  };
}

/** What cloud-init calls the machine. */
export const metaData = {
  objectNames: ["name", "local-hostname", "local_hostname"].map((key) => ({ key, object: "machine" })),
};
