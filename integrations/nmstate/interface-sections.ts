/** What an Ethernet interface negotiates, and its virtual functions. */
export interface Ethernet {
  readonly speed?: number;
  readonly duplex?: "full" | "half";
  readonly "auto-negotiation"?: boolean;
  readonly "sr-iov"?: {
    readonly "drivers-autoprobe"?: boolean;
    readonly "total-vfs"?: number;
    readonly vfs?: readonly VirtualFunction[];
  };
}

/** A virtual function of an SR-IOV interface. */
export interface VirtualFunction {
  readonly id: number;
  readonly "mac-address"?: string;
  readonly "spoof-check"?: boolean;
  readonly trust?: boolean;
  readonly "min-tx-rate"?: number;
  readonly "max-tx-rate"?: number;
  readonly "vlan-id"?: number;
  readonly qos?: number;
  readonly "vlan-proto"?: "802.1q" | "802.1ad";
}

/** What ethtool sets. */
export interface Ethtool {
  readonly pause?: { readonly rx?: boolean; readonly tx?: boolean; readonly autoneg?: boolean };
  /** The kernel's own names, for example `rx-gro`. */
  readonly feature?: { readonly [name: string]: boolean };
  readonly coalesce?: { readonly [name: string]: boolean | number };
  readonly ring?: {
    readonly rx?: number;
    readonly "rx-jumbo"?: number;
    readonly "rx-mini"?: number;
    readonly tx?: number;
  };
  readonly fec?: { readonly auto?: boolean; readonly mode?: "off" | "rs" | "baser" | "llrs" };
}

/** A VLAN on top of another interface. */
export interface Vlan {
  readonly "base-iface": string;
  readonly id: number;
  readonly protocol?: "802.1q" | "802.1ad";
  readonly "registration-protocol"?: "none" | "gvrp" | "mvrp";
  readonly "reorder-headers"?: boolean;
  readonly "loose-binding"?: boolean;
  readonly "ingress-qos-map"?: readonly { readonly from: number; readonly to: number }[];
  readonly "egress-qos-map"?: readonly { readonly from: number; readonly to: number }[];
}

/** Of an interface of type `bond`. */
export interface Bond {
  readonly mode:
    | "balance-rr"
    | "active-backup"
    | "balance-xor"
    | "broadcast"
    | "802.3ad"
    | "balance-tlb"
    | "balance-alb";
  readonly port?: readonly string[];
  readonly "ports-config"?: readonly {
    readonly name: string;
    readonly priority?: number;
    readonly "queue-id"?: number;
  }[];
  /** The kernel's bond options, for example `miimon` or `xmit_hash_policy`. */
  readonly options?: { readonly [option: string]: string | number | boolean | readonly string[] };
}

/** Of an interface of type `linux-bridge` or `ovs-bridge`. */
export interface Bridge {
  /** Many, and others for each type: `stp`, `mac-ageing-time`, `fail-mode`, ... */
  readonly options?: { readonly [option: string]: unknown };
  readonly port?: readonly BridgePort[];
  readonly "allow-extra-ports"?: boolean;
  /** Of an `ovs-bridge` alone. */
  readonly "allow-extra-patch-ports"?: boolean;
}

/** A member of a bridge. */
export interface BridgePort {
  readonly name: string;
  readonly "stp-hairpin-mode"?: boolean;
  readonly "stp-path-cost"?: number;
  readonly "stp-priority"?: number;
  readonly vlan?: {
    readonly mode?: "access" | "trunk";
    readonly tag?: number;
    readonly "enable-native"?: boolean;
    readonly "trunk-tags"?: readonly {
      readonly id?: number;
      readonly "id-range"?: { readonly min: number; readonly max: number };
    }[];
  };
  /** Of an `ovs-bridge` alone. */
  readonly "link-aggregation"?: {
    readonly mode?: "active-backup" | "balance-slb" | "balance-tcp" | "lacp";
    readonly port?: readonly { readonly name: string }[];
    readonly "bond-downdelay"?: number;
    readonly "bond-updelay"?: number;
  };
}

/** A VXLAN tunnel. */
export interface Vxlan {
  readonly id: number;
  readonly "base-iface"?: string;
  readonly local?: string;
  readonly remote?: string;
  readonly "destination-port"?: number;
  readonly learning?: boolean;
}

/** An interface with a MAC address of its own on top of another one: `mac-vlan` and `mac-vtap`. */
export interface MacVlan {
  readonly "base-iface": string;
  readonly mode: "vepa" | "bridge" | "private" | "passthru" | "source";
  readonly promiscuous?: boolean;
}

/** An interface with the MAC address of the one that it is on top of. */
export interface IpVlan {
  readonly "base-iface": string;
  readonly mode: "l2" | "l3" | "l3s";
  readonly private?: boolean;
  readonly vepa?: boolean;
}

/** A tunnel of IP in IP. */
export interface IpTunnel {
  readonly mode: "ipip" | "sit" | "ip6ip6" | "ipip6";
  readonly "base-iface"?: string;
  readonly local?: string;
  readonly remote?: string;
  readonly ttl?: number;
  readonly tos?: number;
  readonly "flow-label"?: number;
  readonly "pmtu-disc"?: boolean;
  readonly "encap-limit"?: number;
  readonly fwmark?: number;
  readonly "ip6tun-flags"?: readonly string[];
}

/** IP over InfiniBand. */
export interface Infiniband {
  readonly mode: "datagram" | "connected";
  readonly "base-iface"?: string;
  /** A number, or its text, as in `0x8001`. */
  readonly pkey?: number | string;
}

/** Encryption of one link. */
export interface MacSec {
  readonly "base-iface": string;
  readonly encrypt: boolean;
  readonly "mka-cak"?: string;
  readonly "mka-ckn"?: string;
  readonly port: number;
  readonly validation: "disabled" | "check" | "strict";
  readonly "send-sci": boolean;
  readonly offload?: "off" | "phy" | "mac";
}

/** Two ports as one, for redundancy: HSR and PRP. */
export interface Hsr {
  readonly port1: string;
  readonly port2: string;
  readonly interlink?: string;
  readonly "multicast-spec": number;
  readonly protocol: "hsr" | "hsr-2012" | "prp";
}
