import type { Bag } from "../../schema/objects.ts";
import type { ClusterApiVersion } from "../contract/cluster-api.ts";

/** What every object of a cluster has in common. */
export interface ObjectOptions {
  /** Left out: wherever they are applied. */
  readonly namespace?: string;
}

/** What templates of a cluster need. */
export interface TemplateOptions extends ObjectOptions {
  readonly apiVersion: ClusterApiVersion;
  readonly clusterName: string;
}

/** The settings of machines that are not in the configuration of their hosts. */
export interface MachineOptions extends TemplateOptions {
  /** What sets up the network of a node: cloud-init by network data, or os-net-config before kubeadm runs. */
  readonly network: "network-data" | "os-net-config";
  /** Of Metal3Machine, in the words of the chosen version. */
  readonly image: Bag;
  /** Of Kubernetes. */
  readonly version?: string;
  /** The spec of every KubeadmConfig, in the words of the chosen version; files and commands of ours come first. */
  readonly kubeadmConfig?: Bag;
}

/**
 * Which objects the hosts of a configuration become:
 *
 *  mode     | for each host                                          | for each unit, or network
 *  ---------+--------------------------------------------------------+------------------------------------------------
 *  hosts    | its network data, and a BareMetalHost that names it    | Metal3DataTemplate, if the cluster has a name
 *  machines | Machine, Metal3Machine, KubeadmConfig, BareMetalHost;  | Secret with the mapping script, with network:
 *           |  Secret with network data, unless network is           |  os-net-config
 *           |  os-net-config (machine-objects.ts)                    |
 *  pools    | a BareMetalHost with its MAC addresses                 | Metal3DataTemplate; IPPool for each network
 */
export type Cluster =
  | ({ readonly mode: "hosts" } & Omit<TemplateOptions, "clusterName"> & Partial<Pick<TemplateOptions, "clusterName">>)
  | ({ readonly mode: "machines" } & MachineOptions)
  | ({ readonly mode: "pools" } & Omit<TemplateOptions, "apiVersion">);
