/**
 * What nmstate is to make of a node, in nmstate's own words (https://nmstate.io/devel/yaml_api.html). Closed where
 * nmstate refuses unknown fields, so that a slip of the pen does not compile; open where it takes anything. `A`: what may
 * stand in the address list of an interface.
 */
export interface DesiredState<A = InterfaceAddress> {
  readonly interfaces?: readonly Interface<A>[];
  readonly routes?: Routes;
  readonly "route-rules"?: RouteRules;
  readonly "dns-resolver"?: DnsResolver;
  readonly hostname?: { readonly running?: string; readonly config?: string };
  /** Open vSwitch' own database: keys of `external_ids` and `other_config` are free. */
  readonly "ovs-db"?: OvsDb;
  readonly ovn?: { readonly "bridge-mappings"?: readonly OvnBridgeMapping[] };
}

/** One interface. `type` decides which of the sections mean something. */
export interface Interface<A = InterfaceAddress> {
  readonly name: string;
  readonly type?:
    | "ethernet"
    | "vlan"
    | "bond"
    | "linux-bridge"
    | "ovs-bridge"
    | "ovs-interface"
    | "dummy"
    | "veth"
    | "vxlan"
    | "mac-vlan"
    | "mac-vtap"
    | "vrf"
    | "infiniband"
    | "ipvlan"
    | "macsec"
    | "hsr"
    | "ipsec"
    | "loopback"
    | "xfrm"
    | "team"
    | "tun"
    | "unknown";
  readonly state?: "up" | "down" | "absent" | "ignore";
  readonly description?: string;
  /** How the interface is found: by its name, or by `mac-address` or `pci-address`. */
  readonly identifier?: "name" | "mac-address" | "pci-address";
  readonly "profile-name"?: string;
  readonly "alt-names"?: readonly { readonly name: string; readonly state?: "absent" }[];
  readonly "mac-address"?: string;
  readonly "permanent-mac-address"?: string;
  readonly "pci-address"?: string;
  /** The bond or bridge member whose MAC address this interface takes. */
  readonly "copy-mac-from"?: string;
  readonly mtu?: number;
  readonly "min-mtu"?: number;
  readonly "max-mtu"?: number;
  /** The bond, bridge or VRF that it belongs to; "" takes it out. */
  readonly controller?: string;
  readonly "wait-ip"?: "any" | "ipv4" | "ipv6" | "ipv4+ipv6";
  readonly "accept-all-mac-addresses"?: boolean;
  readonly ipv4?: Ipv4<A>;
  readonly ipv6?: Ipv6<A>;
  readonly mptcp?: Section;
  readonly lldp?: { readonly enabled: boolean };
  readonly ethtool?: Section;
  readonly ethernet?: Ethernet;
  readonly "802.1x"?: Section;
  readonly vlan?: Vlan;
  readonly "link-aggregation"?: LinkAggregation;
  readonly bridge?: Bridge;
  readonly vxlan?: Vxlan;
  readonly vrf?: { readonly port?: readonly string[]; readonly "route-table-id": number };
  readonly veth?: { readonly peer: string };
  readonly "mac-vlan"?: MacVlan;
  readonly "mac-vtap"?: MacVlan;
  readonly infiniband?: Section;
  readonly ipvlan?: Section;
  readonly macsec?: Section;
  readonly hsr?: Section;
  /** Libreswan's options. */
  readonly libreswan?: Section;
  readonly patch?: { readonly peer: string };
  readonly dpdk?: Section;
  readonly "ovs-db"?: OvsDb;
  readonly dispatch?: { readonly "post-activation"?: string; readonly "post-deactivation"?: string };
}

/** A part of nmstate that is passed on as it stands. */
export interface Section {
  readonly [field: string]: unknown;
}

/** What both families have. */
export interface IpSettings<A> {
  readonly enabled?: boolean;
  readonly dhcp?: boolean;
  /** The whole list: nmstate takes addresses off that are not in it. */
  readonly address?: readonly A[];
  readonly "auto-dns"?: boolean;
  readonly "auto-gateway"?: boolean;
  readonly "auto-routes"?: boolean;
  readonly "auto-route-table-id"?: number;
  readonly "auto-route-metric"?: number;
  readonly "dhcp-client-id"?: string;
  readonly "dhcp-send-hostname"?: boolean;
  readonly "dhcp-custom-hostname"?: string;
}

/** IPv4 of an interface. */
export interface Ipv4<A = InterfaceAddress> extends IpSettings<A> {
  readonly forwarding?: boolean;
}

/** IPv6 of an interface. */
export interface Ipv6<A = InterfaceAddress> extends IpSettings<A> {
  readonly autoconf?: boolean;
  readonly "dhcp-duid"?: string;
  readonly "addr-gen-mode"?: "eui64" | "stable-privacy";
  readonly token?: string;
}

/** An address that is known without a pool. */
export interface InterfaceAddress {
  readonly ip: string;
  readonly "prefix-length": number;
  /** Seconds with the unit, as in `30sec`, or `forever`. */
  readonly "valid-life-time"?: string;
  readonly "preferred-life-time"?: string;
}

/** What an Ethernet interface negotiates. */
export interface Ethernet {
  readonly speed?: number;
  readonly duplex?: "full" | "half";
  readonly "auto-negotiation"?: boolean;
  readonly "sr-iov"?: Section;
}

/** A VLAN on top of another interface. */
export interface Vlan {
  readonly "base-iface": string;
  readonly id: number;
  readonly protocol?: "802.1q" | "802.1ad";
  readonly "reorder-headers"?: boolean;
  readonly loose?: boolean;
  readonly "registration-protocol"?: "none" | "gvrp" | "mvrp";
}

/** A bond and its members. */
export interface LinkAggregation {
  readonly mode:
    | "balance-rr"
    | "active-backup"
    | "balance-xor"
    | "broadcast"
    | "802.3ad"
    | "balance-tlb"
    | "balance-alb";
  readonly port?: readonly string[];
  readonly "ports-config"?: readonly Section[];
  /** The kernel's bond options, for example `miimon`. */
  readonly options?: Section;
}

/** Of a Linux bridge or an Open vSwitch bridge. */
export interface Bridge {
  readonly options?: Section;
  readonly port?: readonly BridgePort[];
  readonly "allow-extra-patch-ports"?: boolean;
}

/** A member of a bridge. */
export interface BridgePort {
  readonly name: string;
  readonly "stp-hairpin-mode"?: boolean;
  readonly "stp-path-cost"?: number;
  readonly "stp-priority"?: number;
  readonly vlan?: Section;
  readonly "link-aggregation"?: Section;
}

/** A VXLAN tunnel. */
export interface Vxlan {
  readonly id: number;
  readonly "base-iface"?: string;
  readonly remote?: string;
  readonly local?: string;
  readonly "destination-port"?: number;
  readonly learning?: boolean;
}

/** An interface with a MAC address of its own on top of another one: `mac-vlan` and `mac-vtap`. */
export interface MacVlan {
  readonly "base-iface": string;
  readonly mode: "vepa" | "bridge" | "private" | "passthru" | "source";
  readonly promiscuous?: boolean;
}

/** Routes to make or to take away; all others stay. */
export interface Routes {
  readonly config?: readonly Route[];
}

/** A route. Those to take away (`state: absent`) are all that match the fields given. */
export interface Route {
  readonly destination?: string;
  readonly "next-hop-interface"?: string;
  readonly "next-hop-address"?: string;
  readonly state?: "absent" | "ignore";
  readonly metric?: number;
  readonly "table-id"?: number;
  readonly weight?: number;
  readonly "route-type"?: "blackhole" | "unreachable" | "prohibit";
  readonly cwnd?: number;
  readonly initcwnd?: number;
  readonly initrwnd?: number;
  readonly mtu?: number;
  readonly quickack?: boolean;
  readonly advmss?: number;
  readonly source?: string;
  readonly "vrf-name"?: string;
}

/** Policy routing: rules to make or to take away. */
export interface RouteRules {
  readonly config?: readonly RouteRule[];
}

/** A rule that says which routing table is asked. */
export interface RouteRule {
  readonly "ip-from"?: string;
  readonly "ip-to"?: string;
  readonly priority?: number;
  readonly "route-table"?: number;
  readonly state?: "absent";
  readonly family?: "ipv4" | "ipv6";
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

/** Keys in Open vSwitch' own database. */
export interface OvsDb {
  readonly external_ids?: Section;
  readonly other_config?: Section;
}

/** Which bridge a localnet of OVN is on. */
export interface OvnBridgeMapping {
  readonly localnet: string;
  readonly bridge?: string;
  readonly state?: "present" | "absent";
}
