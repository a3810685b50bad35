import {
  type Address,
  type Family,
  familyOf,
  formatAddress,
  formatPrefix,
  type Issue,
  type Parsed,
  type PoolSpec,
  type Prefix,
  parseAddress,
  parsePrefix,
} from "../../core/index.ts";
import type { Bag } from "../../schema/objects.ts";
import type { Of } from "../../schema/shape.ts";
import { attachmentTitle, configPath, configText, parseNetworkConfig } from "../networks/attachment-definition.ts";
import { boundPools, pluginsTakeIps } from "../networks/bound-pools.ts";
import type { asPlugin } from "../networks/objects.ts";
import { poolNameOf } from "./claim-name.ts";

/** A network whose VMs keep their addresses, as one NetworkAttachmentDefinition has it. */
export interface PersistentNetwork {
  /** The NetworkAttachmentDefinition, as `namespace/name`. */
  readonly title: string;
  readonly namespace: string;
  /** The name in its CNI configuration, which IPAMClaims refer to. */
  readonly network: string;
  /** OVN-Kubernetes assigns its addresses, and reads its claims. */
  readonly isOvn: boolean;
  /** Its pods take the addresses in their Multus annotation (`ips`). */
  readonly takesIps: boolean;
  /** The NodeIPPools that it is bound to; undefined where it has pools of its own. */
  readonly bound: readonly string[] | undefined;
  /** Its own pools. */
  readonly pools: readonly { readonly name: string; readonly family: Family; readonly spec: PoolSpec }[];
}

/** Returns whether a definition may keep addresses, by its text alone. `parsePersistentNetwork` reads the values. */
export function mayPersist(object: Bag): boolean {
  const text = configText(object);
  return text !== "" && (text.includes('"allowPersistentIPs"') || boundPools(object) !== undefined);
}

/**
 * Parses a network whose VMs keep their addresses; undefined if it does not keep them.
 *
 *  annotation | allowPersistentIPs | subnets | its VMs get their addresses
 *  -----------+--------------------+---------+-----------------------------------------------------------
 *  yes        | yes                | any     | of the NodeIPPools in the annotation; on a primary or layer3 network
 *             |                    |         |  that is an error: OVN-Kubernetes gives them itself
 *  yes        | no                 | any     | the same; on a network of OVN-Kubernetes that is an error:
 *             |                    |         |  it would read no claim
 *  no         | yes                | yes     | of its subnets; a primary or layer3 network has no claims
 *  no         | yes                | no      | from no IPAM: it has no addresses
 *  no         | no                 | any     | from the IPAM that it has
 */
export function parsePersistentNetwork(object: Bag): Parsed<PersistentNetwork | undefined> {
  const { value: config, issues } = parseNetworkConfig(object);
  if (issues !== undefined) return { issues };
  const { network, plugins } = config;
  const plugin = plugins.find(({ allowPersistentIPs }) => allowPersistentIPs === true);
  const title = attachmentTitle(object);
  const isOvn = plugins.some(({ type }) => type === "ovn-k8s-cni-overlay");
  const takesIps = pluginsTakeIps(plugins);
  const common = { title, namespace: title.slice(0, title.indexOf("/")), network, isOvn, takesIps };
  const hasClaims = plugin !== undefined && plugin.role !== "primary" && plugin.topology !== "layer3";
  const bound = boundPools(object);
  if (bound !== undefined) {
    const message =
      "OVN-Kubernetes reads claims of secondary networks alone, with allowPersistentIPs: true, and not of layer3";
    return isOvn && !hasClaims
      ? { issues: [{ message, path: configPath }] }
      : { value: { ...common, bound, pools: [] } };
  }
  if (!hasClaims) return { value: undefined };
  const own = new SubnetReader(network, plugin);
  const pools = own.pools();
  if (own.issues.length > 0) return { issues: own.issues.map((issue) => ({ ...issue, path: configPath })) };
  return { value: pools.length === 0 ? undefined : { ...common, bound: undefined, pools } };
}

type Plugin = Of<typeof asPlugin>;
/** The keys that are texts, with commas between several. */
type TextKey = "subnets" | "excludeSubnets" | "infrastructureSubnets" | "reservedSubnets" | "defaultGatewayIPs";

/**
 * Reads the subnets of a network as pools.
 *
 *  key                                    | in a pool
 *  ---------------------------------------+-----------------------------------------------------------
 *  subnets                                | one of each family
 *  excludeSubnets, infrastructureSubnets  | never allocated
 *  reservedSubnets                        | the range for claims: OVN-Kubernetes allocates the rest by itself
 *  defaultGatewayIPs                      | never allocated
 */
class SubnetReader {
  readonly issues: Issue[] = [];
  private readonly network: string;
  private readonly plugin: Plugin;

  constructor(network: string, plugin: Plugin) {
    this.network = network;
    this.plugin = plugin;
  }

  pools(): PersistentNetwork["pools"] {
    const byFamily = Map.groupBy(this.prefixes("subnets"), ({ first }) => familyOf(first));
    const kept = this.prefixes("reservedSubnets");
    const excluded = [...this.prefixes("excludeSubnets"), ...this.prefixes("infrastructureSubnets")];
    const gateways = this.texts("defaultGatewayIPs").flatMap((text) => this.take(parseAddress(text)) ?? []);
    const name = poolNameOf(this.network);
    return [...byFamily].flatMap(([family, [prefix, ...more]]) => {
      if (prefix === undefined) return [];
      const isOfFamily = ({ first }: Prefix) => familyOf(first) === family;
      if (more.length > 0)
        this.issues.push({ message: `subnets has several of IPv${family}; a claim gets one address` });
      const gateway = gateways.find((address) => familyOf(address) === family);
      if (prefix.length > (family === 4 ? 30 : 127))
        this.issues.push({ message: `subnet ${formatPrefix(prefix)} has no address that OVN-Kubernetes allocates` });
      const spec = {
        ...rangesOf(prefix, excluded.filter(isOfFamily), kept.filter(isOfFamily)),
        ...(gateway === undefined ? {} : { gateway: formatAddress(gateway) }),
        network: name,
        authority: "Plan" as const,
        ...(family === 4 ? { allowZeroAnd255: true } : {}),
      };
      return { name: family === 4 ? name : `${name}-ipv6`, family, spec };
    });
  }

  private prefixes(key: TextKey): Prefix[] {
    return this.texts(key).flatMap((text) => this.take(parsePrefix(text)) ?? []);
  }

  private texts(key: TextKey): string[] {
    const value = this.plugin[key];
    if (value !== undefined && typeof value !== "string")
      this.issues.push({ message: `${key} must be text, with commas between several` });
    const texts = typeof value === "string" ? value.split(",").map((text) => text.trim()) : [];
    return texts.filter((text) => text !== "");
  }

  private take<T>({ value, issues = [] }: Parsed<T>): T | undefined {
    this.issues.push(...issues);
    return value;
  }
}

/** OVN-Kubernetes allocates at most 65,535 addresses of an IPv6 subnet, from its start. */
function rangesOf(subnet: Prefix, excluded: readonly Prefix[], kept: readonly Prefix[]) {
  const cidr = formatPrefix(subnet);
  const isWide = familyOf(subnet.first) === 6 && subnet.length < 112;
  const end = isWide && kept.length === 0 ? { end: formatAddress((subnet.first + 65_535n) as Address) } : {};
  const exclude = excluded.length === 0 ? {} : { exclude: excluded.map(formatPrefix) };
  const [first, ...more] = kept.map((one) => ({ start: formatAddress(one.first), end: formatAddress(one.last) }));
  return {
    range: { cidr, ...first, ...end, ...exclude },
    ...(more.length === 0 ? {} : { additionalRanges: more }),
  };
}
