import type {
  Bond,
  Bridge,
  Ethernet,
  Ethtool,
  Hsr,
  Infiniband,
  IpTunnel,
  IpVlan,
  MacSec,
  MacVlan,
  Vlan,
  Vxlan,
} from "./interface-sections.ts";

/** A value that the handler takes from one of the policy's `capture`s, or a whole section of it. */
export type Captured = `{{ capture.${string} }}`;

/** One interface. `type` decides which of the sections mean something. */
export interface Interface<A = InterfaceAddress> {
  readonly name: string;
  readonly type?:
    | "ethernet"
    | "veth"
    | "vlan"
    | "bond"
    | "linux-bridge"
    | "ovs-bridge"
    | "ovs-interface"
    | "dummy"
    | "vxlan"
    | "mac-vlan"
    | "mac-vtap"
    | "vrf"
    | "ipvlan"
    | "ip-tunnel"
    | "infiniband"
    | "macsec"
    | "hsr"
    | "ipsec"
    | "xfrm"
    | "loopback";
  readonly state?: "up" | "down" | "absent" | "ignore";
  readonly description?: string;
  /** How the interface is found: by its name, or by `mac-address` or `pci-address`. */
  readonly identifier?: "name" | "mac-address" | "pci-address";
  readonly "profile-name"?: string;
  readonly "alt-names"?: readonly { readonly name: string; readonly state?: "absent" }[];
  readonly "mac-address"?: string;
  readonly "pci-address"?: string;
  /** The bond or bridge member whose MAC address this interface takes. */
  readonly "copy-mac-from"?: string;
  readonly mtu?: number | Captured;
  /** The bond, bridge or VRF that it belongs to; "" takes it out. */
  readonly controller?: string;
  readonly "wait-ip"?: "any" | "ipv4" | "ipv6" | "ipv4+ipv6";
  readonly "accept-all-mac-addresses"?: boolean;
  readonly ipv4?: Ipv4<A> | Captured;
  readonly ipv6?: Ipv6<A> | Captured;
  readonly mptcp?: { readonly "address-flags"?: readonly MptcpFlag[] };
  readonly lldp?: { readonly enabled: boolean };
  readonly ethtool?: Ethtool;
  readonly "802.1x"?: InterfaceSection;
  readonly dispatch?: { readonly "post-activation"?: string; readonly "post-deactivation"?: string };
  readonly "ovs-db"?: InterfaceOvsDb;
  readonly ethernet?: Ethernet;
  readonly veth?: { readonly peer: string };
  readonly vlan?: Vlan;
  readonly "link-aggregation"?: Bond;
  readonly bridge?: Bridge;
  readonly vxlan?: Vxlan;
  readonly vrf?: { readonly port?: readonly string[]; readonly "route-table-id": number };
  readonly "mac-vlan"?: MacVlan;
  readonly "mac-vtap"?: MacVlan;
  readonly ipvlan?: IpVlan;
  readonly "ip-tunnel"?: IpTunnel;
  readonly infiniband?: Infiniband;
  readonly macsec?: MacSec;
  readonly hsr?: Hsr;
  /** Libreswan's options, of an interface of type `ipsec`. */
  readonly libreswan?: InterfaceSection;
  /** The other end, of an `ovs-interface` that joins two bridges. */
  readonly patch?: { readonly peer: string };
  readonly dpdk?: InterfaceSection;
}

/** A part of nmstate that is passed on as it stands. */
export interface InterfaceSection {
  readonly [field: string]: unknown;
}

/** Keys in Open vSwitch' own database. */
export interface InterfaceOvsDb {
  readonly external_ids?: InterfaceSection;
  readonly other_config?: InterfaceSection;
}

/** How Multipath TCP uses an address. */
export type MptcpFlag = "signal" | "subflow" | "backup" | "fullmesh";

/** What both families have. */
export interface IpSettings<A> {
  readonly enabled?: boolean;
  readonly dhcp?: boolean;
  /** The whole list: nmstate takes addresses off that are not in it. */
  readonly address?: readonly A[] | Captured;
  readonly "auto-dns"?: boolean;
  readonly "auto-gateway"?: boolean;
  readonly "auto-routes"?: boolean;
  readonly "auto-route-table-id"?: number;
  readonly "auto-route-metric"?: number;
  /** Whether addresses that others put there may stay, at the check after the change. */
  readonly "allow-extra-address"?: boolean;
  readonly "dhcp-send-hostname"?: boolean;
  readonly "dhcp-custom-hostname"?: string;
}

/** IPv4 of an interface. */
export interface Ipv4<A = InterfaceAddress> extends IpSettings<A> {
  readonly forwarding?: boolean;
  readonly "dhcp-client-id"?: string;
  readonly "prefix-route-metric"?: number;
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
  readonly "prefix-length": number | Captured;
  readonly "mptcp-flags"?: readonly MptcpFlag[];
  /** Seconds with the unit, as in `30sec`, or `forever`. */
  readonly "valid-life-time"?: string;
  readonly "preferred-life-time"?: string;
}
