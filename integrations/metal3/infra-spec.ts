import type { RangeText } from "../../core/index.ts";
import type { Cluster } from "./cluster.ts";

/** A configuration of bare-metal clusters, word for word as it stands in its file. */
export interface InfraSpec {
  /** Which objects the hosts become. Default: network data and a BareMetalHost for each (mode `hosts`). */
  readonly cluster?: ClusterSpec;
  readonly infra: { readonly networks: { readonly [name: string]: NetworkSpec } };
  readonly controllers?: UnitSpec;
  readonly nodepools?: { readonly [name: string]: UnitSpec };
}

/** A network that hosts get addresses of: from a range, or from a list. */
export type NetworkSpec =
  | (CommonNetworkSpec & { readonly addressRange: RangeText; readonly addresses?: never })
  | (CommonNetworkSpec & { readonly addresses: readonly string[]; readonly addressRange?: never });

interface CommonNetworkSpec {
  /** The prefix length. */
  readonly netmask: number;
  readonly gateway?: string;
  readonly dnsServers?: readonly string[];
}

/** Hosts with the same NICs and the same network configuration. */
export interface UnitSpec {
  /** How many hosts there are in `macMapping`. */
  readonly replicas: number;
  /** The labels of the BareMetalHosts that are for this unit; or a selector as Metal3Machine has it. */
  readonly hostSelector: { readonly [label: string]: string } | Partial<HostSelector>;
  /** As os-net-config has it; `{{ ip['net0'] }}` and its like are filled in for each host. */
  readonly networkConfig: readonly DeviceSpec[];
  /** By host: the MAC address of each NIC, by the name that `networkConfig` calls it. */
  readonly macMapping: { readonly [host: string]: { readonly [nic: string]: string } };
}

/** Which BareMetalHosts a unit's machines take, as Metal3Machine has it. */
export interface HostSelector {
  readonly matchLabels: Readonly<Record<string, string>>;
  readonly matchExpressions: readonly HostRequirement[];
}

/** The operators are Metal3's: in, notin, exists, !, =, ==, !=, gt, lt. */
export interface HostRequirement {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

/** An entry of a network configuration. Fields beside these are os-net-config's own. */
export interface DeviceSpec {
  readonly type: string;
  readonly name?: string;
  readonly addresses?: readonly { readonly ip_netmask: string }[];
  readonly routes?: readonly { readonly [field: string]: unknown }[];
  /** A list, or a template that stands for one. */
  readonly dns_servers?: string | readonly string[];
  readonly members?: readonly DeviceSpec[];
  readonly [field: string]: unknown;
}

/** Which objects the hosts become, by mode, as `Cluster` says. */
export type ClusterSpec = HostsSpec | MachinesSpec | PoolsSpec;

type ApiVersion = Extract<Cluster, { mode: "hosts" }>["apiVersion"];

interface HostsSpec {
  readonly mode?: "hosts";
  /** Left out: no Metal3DataTemplates. */
  readonly name?: string;
  readonly namespace?: string;
  /** Of Cluster API and Metal3's provider. Default v1beta2. */
  readonly apiVersion?: ApiVersion;
}

interface MachinesSpec {
  readonly mode: "machines";
  readonly name: string;
  readonly namespace?: string;
  /** Of Cluster API and Metal3's provider. Default v1beta2. */
  readonly apiVersion?: ApiVersion;
  /** Of Metal3Machine: `format` is the word of v1beta1, `diskFormat` that of v1beta2. */
  readonly image: {
    readonly url: string;
    readonly checksum: string;
    readonly checksumType?: string;
    readonly diskFormat?: string;
    readonly format?: string;
  };
  /** Of Kubernetes: v1.36.3. */
  readonly version?: string;
  /** What sets up the network of a node. Default network-data. */
  readonly network?: "network-data" | "os-net-config";
  /** The spec of every KubeadmConfig; files and commands of ours come first. */
  readonly kubeadmConfig?: { readonly [field: string]: unknown };
}

interface PoolsSpec {
  readonly mode: "pools";
  readonly name: string;
  readonly namespace?: string;
}
