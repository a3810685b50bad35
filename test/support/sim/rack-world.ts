import { formatAddress, formatPrefix, isNoop, planRelease, prefixAt } from "../../../core/index.ts";
import { provenGone } from "../../../integrations/nmstate/proven-gone.ts";
import { readDesired, renderDesired } from "../../../pipeline/desired.ts";
import { readEvidence } from "../../../pipeline/evidence.ts";
import { readFolder } from "../../../pipeline/folder.ts";
import { integrations } from "../../../pipeline/integrations.ts";
import { propose } from "../../../pipeline/proposal.ts";
import { memory } from "../../../state/memory.ts";
import type { Nncp } from "../real/e2e-handler.ts";
import { nodesOf, sourcesOf } from "../schema/text.ts";

/** A rack of a data centre: a policy for its nodes, and pools for the policy. */
export interface Rack {
  /** Its subnets are 10.`number`.0.0 and fd`number`::/64. */
  readonly number: number;
  /** The name of its policy. */
  policy: string;
  nic: string;
  families: readonly ("four" | "six")[];
  /** Whether it routes by the pool's gateway, or by another router. */
  routes: Record<string, "gateway" | "router">;
  /** Destinations that the policy removes, as docs/nmstate.md has it. */
  dropped: string[];
  /** The last part of the gateway's address. */
  gateway: 254 | 253;
  /** The prefix length of the IPv4 pool, and the last part of its last address. */
  length: 23 | 24;
  end: number;
  dns: string[];
  /** Whether the policy of its NIC sets the DNS servers, and not one of their own. */
  isDnsBeside: boolean;
  /** The NIC that the policy had before; the policy turns it off. */
  oldNic?: string;
}

export const destinations = { four: ["10.91.0.0/16", "10.92.0.0/16"], six: ["fd91::/32", "fd92::/32"] } as const;

export function rackOf(number: number, more: Partial<Rack> = {}): Rack {
  const routes = { "10.91.0.0/16": "gateway", "fd91::/32": "gateway" } as const;
  const fixed = { gateway: 254, length: 24, end: 20 } as const;
  const lists = { routes: { ...routes }, dropped: [], dns: [`10.${number}.0.53`], isDnsBeside: number === 2 };
  return { number, policy: `rack-${number}`, nic: "eth1", families: ["four", "six"], ...fixed, ...lists, ...more };
}

const familyOfText = (text: string) => (text.includes(":") ? "six" : "four");

/** The last hop of a route as the rack's owner wants it. */
function hopOf({ number, gateway, routes }: Rack, destination: string): string {
  const last = routes[destination] === "router" ? 1 : gateway;
  return familyOfText(destination) === "four" ? `10.${number}.0.${last}` : `fd${number}::${last}`;
}

function poolsOf({ number, gateway, length, end, families }: Rack): object[] {
  const subnet = formatPrefix(prefixAt(((10n << 24n) | (BigInt(number) << 16n)) as never, length));
  const four = { cidr: subnet, start: `10.${number}.0.10`, end: `10.${number}.0.${end}` };
  const six = { cidr: `fd${number}::/64`, start: `fd${number}::10` };
  const pool = (family: string, range: object, gate: string) => ({
    apiVersion: "nmstate.io/v1",
    kind: "NodeIPPool",
    metadata: { name: `${family}-${number}` },
    spec: { range, gateway: gate },
  });
  const both = [pool("four", four, `10.${number}.0.${gateway}`), pool("six", six, `fd${number}::${gateway}`)];
  return both.filter((_, i) => families.includes(i === 0 ? "four" : "six"));
}

function policyOf(rack: Rack): object {
  const { number, policy, nic, families, routes, dropped, oldNic } = rack;
  const address = (family: string) => [
    { ip: `{{ capture.${family}.ip }}`, "prefix-length": `{{ capture.${family}.prefix-length }}` },
  ];
  const sections = {
    ...(families.includes("four") && { ipv4: { enabled: true, dhcp: false, address: address("four") } }),
    ...(families.includes("six") && { ipv6: { enabled: true, dhcp: false, autoconf: false, address: address("six") } }),
  };
  const bridge = { type: "linux-bridge", bridge: { options: { stp: { enabled: false } }, port: [{ name: "eth1" }] } };
  const off = { ipv4: { enabled: false }, ipv6: { enabled: false } };
  const interfaces = [
    { name: nic, state: "up", ...(nic === "br1" ? bridge : { type: "ethernet" }), ...sections },
    ...(nic === "br1" ? [] : [{ name: "br1", type: "linux-bridge", state: "absent" }]),
    ...(oldNic === undefined || oldNic === "br1" || (nic === "br1" && oldNic === "eth1")
      ? []
      : [{ name: oldNic, type: "ethernet", ...off }]),
  ];
  const isServed = (destination: string) => families.includes(familyOfText(destination));
  const config = [
    ...dropped.map((destination) => ({ destination, "next-hop-interface": nic, state: "absent" })),
    ...Object.keys(routes)
      .filter(isServed)
      .map((destination) => {
        const family = familyOfText(destination);
        const hop = routes[destination] === "gateway" ? `{{ capture.${family}.gateway }}` : hopOf(rack, destination);
        return { destination, "next-hop-interface": nic, "next-hop-address": hop };
      }),
  ];
  const capture = Object.fromEntries(families.map((family) => [family, `ippool.${family}-${number}.allocate`]));
  return {
    apiVersion: "nmstate.io/v1",
    kind: "NodeNetworkConfigurationPolicy",
    metadata: { name: policy },
    spec: {
      nodeSelector: { rack: `${number}` },
      capture,
      desiredState: { interfaces, routes: { config }, ...(rack.isDnsBeside && resolverIn(rack)) },
    },
  };
}

function resolverIn({ dns }: Rack): object {
  return dns.length === 0 ? {} : { "dns-resolver": { config: { server: dns, search: [] } } };
}

/** The policy of a rack for DNS alone. */
function resolverOf(rack: Rack): object[] {
  const spec = { nodeSelector: { rack: `${rack.number}` }, desiredState: resolverIn(rack) };
  return rack.isDnsBeside || rack.dns.length === 0 ? [] : [{ metadata: { name: `dns-${rack.number}` }, spec }];
}

/** What the node is to have: by NIC its addresses, and its routes. */
export interface Wanted {
  readonly addresses: Record<string, readonly string[]>;
  readonly routes: readonly string[];
  /** Those that a policy set last: nothing takes them off. */
  readonly dns: readonly string[];
}

/** A node that changes racks, and racks that change. What is planned is recorded in memory. */
export class RackWorld {
  readonly racks: Rack[];
  /** The number of the rack that the node is in; 0 is none. */
  rack = 0;
  private state = memory();
  private moved: { from: string; to: string }[] = [];
  private dns: readonly string[] = [];

  constructor(racks: Rack[]) {
    this.racks = racks;
  }

  rename(rack: Rack, policy: string): void {
    const claims = ["four", "six"].map((family) => [`Node/n1/${rack.policy}/${family}`, `Node/n1/${policy}/${family}`]);
    this.moved.push(...claims.map(([from = "", to = ""]) => ({ from, to })));
    rack.policy = policy;
  }

  /** The subnet of a rack gets another length, in the pool and in the lock. */
  async resize(rack: Rack): Promise<void> {
    rack.length = rack.length === 24 ? 23 : 24;
    const snapshot = await this.state.read();
    const pools = snapshot.pools.map((pool) =>
      pool.name === `four-${rack.number}` ? { ...pool, prefix: prefixAt(pool.prefix.first, rack.length) } : pool,
    );
    this.state = memory({ ...snapshot, pools });
  }

  /** Plans, records and renders; returns the policies of the node. */
  async render(): Promise<Nncp[]> {
    const objects = this.racks.flatMap((rack) => [...poolsOf(rack), policyOf(rack)]);
    const files = objects.map((object, i): [string, string] => [`${i}.yaml`, JSON.stringify(object)]);
    const nodes = nodesOf(`n1 kubernetes.io/hostname=n1,rack=${this.rack}`);
    const desired = readDesired({ ...readFolder(sourcesOf(Object.fromEntries(files))), nodes }, integrations);
    const options = { set: "default", moved: this.moved };
    const { plan } = propose(() => desired, await this.state.read(), options);
    if (plan.pending.length > 0) throw new Error(JSON.stringify(plan.pending));
    const snapshot = isNoop(plan) ? await this.state.read() : await this.state.commit(plan);
    this.moved = [];
    const { instead, added } = renderDesired(desired, { snapshot, set: "default" });
    const all = [...[...instead.values()].flat(), ...added];
    const made = all.filter(({ kind }) => kind === "NodeNetworkConfigurationPolicy");
    const own = this.racks.filter(({ number }) => number === this.rack);
    return [...made, ...own.flatMap(resolverOf)] as unknown as Nncp[];
  }

  /** `nodeippool release --evidence`; returns how many addresses are still releasing. */
  async release(states: string): Promise<number> {
    const snapshot = await this.state.read();
    const { nodes, uses } = readEvidence({ path: "nns.json", text: states });
    const plan = planRelease(snapshot, provenGone(snapshot.releasing, nodes, uses).gone);
    return (isNoop(plan) ? snapshot : await this.state.commit(plan)).releasing.length;
  }

  /** `nodeippool release ADDRESS --confirm` of what was on a NIC that is gone: no report proves that. */
  async confirm(nic: string): Promise<void> {
    const snapshot = await this.state.read();
    const lines = snapshot.releasing.filter((line) => line.interface === nic);
    if (lines.length > 0) await this.state.commit(planRelease(snapshot, lines));
  }

  async wanted(): Promise<Wanted> {
    const rack = this.racks.find(({ number }) => number === this.rack);
    if (rack !== undefined && rack.dns.length > 0) this.dns = [...rack.dns];
    const { dns } = this;
    if (rack === undefined) return { addresses: {}, routes: [], dns };
    const { allocations } = await this.state.read();
    const own = allocations.map(({ address }) => formatAddress(address));
    const length = (ip: string) => (familyOfText(ip) === "four" ? rack.length : 64);
    const served = Object.keys(rack.routes).filter((one) => rack.families.includes(familyOfText(one)));
    return {
      addresses: { [rack.nic]: own.map((ip) => `${ip}/${length(ip)}`).sort() },
      routes: served.map((one) => `${one} via ${hopOf(rack, one)} dev ${rack.nic}`).sort(),
      dns,
    };
  }
}
