import type { Captured, Interface, InterfaceAddress, InterfaceOvsDb } from "./interface.ts";

/**
 * What nmstate is to make of a node, in nmstate's own words (https://nmstate.io/devel/yaml_api.html). Closed where
 * nmstate refuses unknown fields, so that a slip of the pen does not compile; open where it takes anything. `A`: what may
 * stand in the address list of an interface.
 */
export interface DesiredState<A = InterfaceAddress> {
  readonly description?: string;
  readonly interfaces?: readonly Interface<A>[];
  readonly routes?: Routes;
  readonly "route-rules"?: RouteRules;
  readonly "dns-resolver"?: DnsResolver;
  readonly hostname?: { readonly running?: string; readonly config?: string };
  /** Open vSwitch' own database: keys of `external_ids` and `other_config` are free. */
  readonly "ovs-db"?: InterfaceOvsDb;
  readonly ovn?: { readonly "bridge-mappings"?: readonly OvnBridgeMapping[] };
}

/** Routes to make or to take away; all others stay. */
export interface Routes {
  readonly config?: readonly Route[] | Captured;
}

/** A route. Those to take away (`state: absent`) are all that match the fields given. */
export interface Route {
  readonly destination?: string;
  readonly "next-hop-interface"?: string;
  readonly "next-hop-address"?: string;
  readonly state?: "absent" | "ignore";
  readonly metric?: number;
  readonly "table-id"?: number;
  /** 1 to 256, for routes over several next hops. */
  readonly weight?: number;
  readonly "route-type"?: "blackhole" | "unreachable" | "prohibit";
  readonly cwnd?: number;
  readonly initcwnd?: number;
  readonly initrwnd?: number;
  readonly mtu?: number;
  readonly "lock-mtu"?: boolean;
  readonly quickack?: boolean;
  readonly advmss?: number;
  readonly source?: string;
  readonly "vrf-name"?: string;
}

/** Policy routing: rules to make or to take away. */
export interface RouteRules {
  readonly config?: readonly RouteRule[] | Captured;
}

/** A rule that selects a routing table. */
export interface RouteRule {
  readonly "ip-from"?: string;
  readonly "ip-to"?: string;
  readonly priority?: number;
  readonly "route-table"?: number;
  readonly state?: "absent";
  readonly family?: "ipv4" | "ipv6";
  /** A number, or its text, as in `0x20`. */
  readonly fwmark?: number | string;
  readonly fwmask?: number | string;
  readonly iif?: string;
  readonly action?: "blackhole" | "unreachable" | "prohibit";
  readonly "suppress-prefix-length"?: number;
}

/** The resolver of the node. */
export interface DnsResolver {
  readonly config?: {
    readonly server?: readonly string[];
    readonly search?: readonly string[];
    readonly options?: readonly string[];
  };
}

/** Which bridge a localnet of OVN is on. */
export interface OvnBridgeMapping {
  readonly localnet: string;
  readonly bridge?: string;
  readonly state?: "present" | "absent";
}
