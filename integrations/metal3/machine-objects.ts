import type { Address, Parsed } from "../../core/index.ts";
import { yamlOf } from "../../schema/yaml-text.ts";
import { clusterNameLabel } from "../contract/cluster-api.ts";
import type { RenderedObject } from "../contract/integration.ts";
import type { MachineOptions, ObjectOptions, TemplateOptions } from "./cluster.ts";
import { hostSecret } from "./host-objects.ts";
import { controllers, type Host, type Infra, objectName, type Unit } from "./infra.ts";
import { mappingScript } from "./mac-mapping.ts";
import { bareMetalHost, hostLabel, metadataFor } from "./object-parts.ts";
import { asKubeadmSpec } from "./objects.ts";
import { osNetConfig } from "./os-net-config.ts";

/**
 * A machine for one host of a unit, without MachineDeployment or control plane provider (R34):
 *
 *                 | network-data                                   | os-net-config
 *  ---------------+------------------------------------------------+------------------------------------------------------
 *  Secret         | the network data, with the host's MAC addresses| none (`mappingSecret`: one for the unit)
 *  Metal3Machine  | that Secret; selects the host itself           | selects the host itself
 *  KubeadmConfig  | what is given                                  | and its file, the mapping script, the command for both
 *  Machine        | all of these                                   | all of these
 *  BareMetalHost  | the label that it is selected by               | the same
 *
 * Both at once would give a node each address twice, on a link of cloud-init and on one of os-net-config. Metal3 honours the
 * label alone: it sets `providerID` and `consumerRef` itself, of the host that it has chosen.
 */
export function machineObjects(
  infra: Pick<Infra, "networks">,
  unit: Unit,
  host: Host,
  addresses: ReadonlyMap<string, Address>,
  options: MachineOptions,
): Parsed<RenderedObject[]> {
  const name = objectName(unit.name, host.name);
  const selected = bareMetalHost(unit, host.name, {}, options);
  if (options.network === "os-net-config") {
    const files = nodeFiles(unit.name, yamlOf(osNetConfig(infra, unit, addresses)));
    return { value: [kubeadmConfig(name, options, files), ...machine(name, unit, options), selected] };
  }
  const secret = hostSecret(infra, unit, host, addresses, options);
  if (secret.issues) return secret;
  return { value: [secret.value, kubeadmConfig(name, options, {}), ...machine(name, unit, options), selected] };
}

/** Returns the mapping script of a unit, with the MAC addresses of all its hosts: beyond a hundred it is too long for a KubeadmConfig. */
export function mappingSecret(unit: Pick<Unit, "name" | "hosts">, options: ObjectOptions): RenderedObject {
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: metadataFor(mappingSecretName(unit.name), options),
    stringData: { script: mappingScript(unit) },
  };
}

/** No object of a host has a dot in its name. */
function mappingSecretName(unit: string): string {
  return `${unit}.mac-mapping`;
}

const paths = {
  config: "/etc/os-net-config/config.yaml",
  mapping: "/etc/os-net-config/mapping.yaml",
  script: "/usr/local/sbin/nodeippool-mac-mapping",
};

/** One command: without a mapping, os-net-config would set up other NICs. */
function nodeFiles(unit: string, config: string) {
  const secret = { name: mappingSecretName(unit), key: "script" };
  return {
    files: [
      { path: paths.config, permissions: "0600", content: config },
      { path: paths.script, permissions: "0755", contentFrom: { secret } },
    ],
    preKubeadmCommands: [`${paths.script} && os-net-config -c ${paths.config} -m ${paths.mapping}`],
  };
}

interface NodeFiles {
  readonly files?: readonly object[];
  readonly preKubeadmCommands?: readonly string[];
}

/** The newer version takes no empty spec. */
function kubeadmConfig(name: string, options: MachineOptions, { files = [], preKubeadmCommands = [] }: NodeFiles) {
  const given = options.kubeadmConfig ?? {};
  const all = [...files, ...asKubeadmSpec(given).files];
  const commands = [...preKubeadmCommands, ...asKubeadmSpec(given).preKubeadmCommands];
  const spec = {
    ...given,
    ...(all.length === 0 ? {} : { files: all }),
    ...(commands.length === 0 ? {} : { preKubeadmCommands: commands }),
  };
  return {
    apiVersion: `bootstrap.cluster.x-k8s.io/${options.apiVersion}`,
    kind: "KubeadmConfig",
    metadata: metadataFor(name, options, clusterLabels(options)),
    ...(Object.keys(spec).length === 0 ? {} : { spec }),
  };
}

function machine(name: string, { name: unit, hostSelector }: Unit, options: MachineOptions): RenderedObject[] {
  const { apiVersion, clusterName, image, version, network } = options;
  const { matchLabels, matchExpressions } = hostSelector;
  const controlPlane = unit === controllers ? { "cluster.x-k8s.io/control-plane": "" } : {};
  const labels = { ...clusterLabels(options), ...controlPlane };
  const bootstrap = { configRef: referenceTo("bootstrap.cluster.x-k8s.io", "KubeadmConfig", name, options) };
  return [
    {
      apiVersion: `infrastructure.cluster.x-k8s.io/${apiVersion}`,
      kind: "Metal3Machine",
      metadata: metadataFor(name, options, labels),
      spec: {
        image,
        hostSelector: {
          matchLabels: { ...matchLabels, [hostLabel]: name },
          ...(matchExpressions.length > 0 && { matchExpressions }),
        },
        ...(network === "network-data" ? { networkData: { name } } : {}),
      },
    },
    {
      apiVersion: `cluster.x-k8s.io/${apiVersion}`,
      kind: "Machine",
      metadata: metadataFor(name, options, labels),
      spec: {
        clusterName,
        ...(version === undefined ? {} : { version }),
        bootstrap,
        infrastructureRef: referenceTo("infrastructure.cluster.x-k8s.io", "Metal3Machine", name, options),
      },
    },
  ];
}

function clusterLabels({ clusterName }: Pick<TemplateOptions, "clusterName">) {
  return { [clusterNameLabel]: clusterName };
}

/** Since v1beta2 a reference has a group, and no namespace. */
function referenceTo(group: string, kind: string, name: string, { apiVersion, namespace }: TemplateOptions) {
  if (apiVersion === "v1beta2") return { apiGroup: group, kind, name };
  return { apiVersion: `${group}/${apiVersion}`, kind, name, ...(namespace === undefined ? {} : { namespace }) };
}
