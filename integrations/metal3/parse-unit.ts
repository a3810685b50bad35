import { type Address, byCodeUnit, contains, type Issue, listed, type Parsed, parseAddress } from "../../core/index.ts";
import { didYouMean, unknownField } from "../../schema/nearest.ts";
import { asBag, type Bag } from "../../schema/objects.ts";
import { mapping } from "../../schema/shape.ts";
import type { Path } from "../../schema/yaml.ts";
import { flatDevices, readDevices } from "./device.ts";
import { misfitsOf } from "./device-misfits.ts";
import { parseHostSelector } from "./host-selector.ts";
import type { Host, Network, Unit } from "./infra.ts";
import type { HostSelector } from "./infra-spec.ts";
import { fillTemplates, literalFor, templatesIn, writtenAddresses } from "./template.ts";

/** Reads the controllers or a node pool. All issues, with their paths inside it. */
export function parseUnit(
  name: string,
  value: unknown,
  networks: ReadonlyMap<string, Network | undefined>,
): Parsed<Unit> {
  const reader = new UnitReader(networks);
  const unit = reader.unit(name, value);
  return unit === undefined || reader.issues.length > 0 ? { issues: reader.issues } : { value: unit };
}

const known = ["replicas", "hostSelector", "networkConfig", "macMapping"];

/** Returns what is wrong with the name of a unit or a host. It is a DNS label, because a dot separates the two. */
export function labelIssue(name: string): string | undefined {
  if (/^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/.test(name) && name.length <= 63) return undefined;
  return `${JSON.stringify(name.slice(0, 80))} is no name: at most 63 lower case letters, digits and -`;
}

/** Returns what is wrong with the name of a host as an owner. */
export function hostNameIssue(name: string): string | undefined {
  const [unit = "", host = "", ...rest] = name.split(".");
  if (host === "" || rest.length > 0) return `expected UNIT.HOST, got ${JSON.stringify(name)}`;
  return labelIssue(unit) ?? labelIssue(host);
}

class UnitReader {
  readonly issues: Issue[] = [];
  /** Undefined for those that cannot be read. */
  private readonly networks: ReadonlyMap<string, Network | undefined>;

  constructor(networks: ReadonlyMap<string, Network | undefined>) {
    this.networks = networks;
  }

  unit(name: string, value: unknown): Unit | undefined {
    const bag = asBag(value);
    if (bag === undefined) return this.fail(`a unit of hosts has the fields ${known.join(", ")}`, []);
    const unknown = unknownField(bag, known);
    if (unknown !== undefined) this.fail(unknown, [Object.keys(bag).find((key) => !known.includes(key)) ?? ""]);
    for (const field of known) if (bag[field] === undefined) this.fail(`${field} is missing`, []);
    const hosts = this.hosts(bag.macMapping);
    this.networkConfig(bag.networkConfig, hosts);
    return {
      name,
      replicas: this.replicas(bag.replicas, hosts.length),
      hostSelector: this.hostSelector(bag.hostSelector),
      networkConfig: Array.isArray(bag.networkConfig) ? bag.networkConfig : [],
      hosts: hosts.toSorted((a, b) => byCodeUnit(a.name, b.name)),
    };
  }

  private replicas(value: unknown, hosts: number): number {
    if (value === undefined) return 0;
    const replicas = typeof value === "number" && Number.isInteger(value) && value >= 0 ? value : undefined;
    if (replicas === undefined) this.fail("replicas must be a whole number", ["replicas"]);
    else if (value !== hosts)
      this.fail(`replicas is ${value}, and macMapping has ${hosts} hosts`, ["replicas"], "Each host is one replica.");
    return replicas ?? 0;
  }

  private hostSelector(value: unknown): HostSelector {
    const none: HostSelector = { matchLabels: {}, matchExpressions: [] };
    if (value === undefined) return none;
    const { value: selector, issues = [] } = parseHostSelector(value);
    for (const { message, path = [] } of issues) this.fail(message, ["hostSelector", ...path]);
    return selector ?? none;
  }

  private hosts(value: unknown): Host[] {
    if (value === undefined) return [];
    const entries = Object.entries(mapping(value));
    if (entries.length === 0)
      this.fail("macMapping has hosts, each with the MAC addresses of its NICs", ["macMapping"]);
    const hosts = entries.map(([name, macs]) => this.host(name, asBag(macs), ["macMapping", name]));
    const [first, ...others] = hosts;
    for (const host of others) {
      const [own, wanted] = [host, first].map((one) => [...(one?.macs.keys() ?? [])].sort().join(", "));
      if (own === wanted) continue;
      const message = `${host.name} has the NICs ${own || "none"}, and ${first?.name} has ${wanted || "none"}`;
      this.fail(message, ["macMapping", host.name], "All hosts of a unit have the same NICs.");
    }
    return hosts;
  }

  private host(name: string, macs: Bag | undefined, path: Path): Host {
    const issue = labelIssue(name);
    if (issue !== undefined) this.fail(issue, path);
    if (macs === undefined) this.fail(`${name} has the MAC addresses of its NICs: em0: "00:c8:7c:e6:f0:2e"`, path);
    for (const [nic, mac] of Object.entries(macs ?? {})) {
      if (!isNicName(nic))
        this.fail(`${JSON.stringify(nic)} is no name of a NIC: at most 15 letters, digits, -, _ and .`, [...path, nic]);
      if (typeof mac !== "string" || !/^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/i.test(mac))
        this.fail(`${nic} needs a MAC address: six pairs of hexadecimal digits with colons, in quotes`, [...path, nic]);
      else if (/^.[13579bdf]|^00(:00)*$/i.test(mac))
        this.fail(`${mac} is no MAC address of a NIC: it is ${/^00/.test(mac) ? "all zeros" : "multicast"}`, [
          ...path,
          nic,
        ]);
    }
    const entries = Object.entries(macs ?? {}).map(([nic, mac]): [string, string] => [nic, `${mac}`.toLowerCase()]);
    return { name, macs: new Map(entries.sort(byKey)) };
  }

  /** References first; then, with an address of each network in their place, what they are in. */
  private networkConfig(value: unknown, hosts: readonly Host[]): void {
    if (value === undefined) return;
    const root: Path = ["networkConfig"];
    const before = this.issues.length;
    const samples = new Map<string, Address>();
    for (const [name, network] of this.networks) {
      const first = network?.pool.range[0]?.first;
      if (first !== undefined) samples.set(name, first);
    }
    const networks = new Map(
      [...this.networks].flatMap(([name, one]) => (one === undefined ? [] : [[name, one] as const])),
    );
    const places = new Map<string, Path>();
    for (const one of templatesIn(value, root)) {
      if ("why" in one) this.fail(one.why, one.path);
      else if (!this.networks.has(one.network)) this.unknownNetwork(one.network, one.path);
      else if (this.networks.get(one.network) !== undefined) {
        const isThere = literalFor(one, networks, samples) !== undefined;
        const hint = `Write ${one.field} in infra.networks.${one.network}, or take this out.`;
        if (!isThere) this.fail(`network ${one.network} has no ${one.field}`, one.path, hint);
      }
      if ("field" in one && one.field === "ip") this.once(one.network, one.path, places);
    }
    for (const one of writtenAddresses(value, root)) this.written(one, hosts.length);
    if (this.issues.length > before || networks.size < this.networks.size) return;
    const filled = fillTemplates(value, networks, samples);
    this.devices(filled, root, hosts[0]);
  }

  /** All hosts of a unit would have an address that is written out, and the plan gives those of networks. */
  private written({ text, path }: { readonly text: string; readonly path: Path }, hosts: number): void {
    const address = parseAddress(text.split("/")[0] ?? "").value;
    const networks = [...this.networks].flatMap(([name, network]) =>
      network === undefined ? [] : [{ name, ...network }],
    );
    const of = networks.find(({ pool }) => address !== undefined && contains([pool.prefix], address));
    if (of !== undefined) {
      const hint = `Write "{{ ip['${of.name}'] }}", or an address of another subnet.`;
      this.fail(`${text} is of network ${of.name}, whose addresses are given to hosts by the plan`, path, hint);
    } else if (hosts > 1)
      this.fail(`each of the ${hosts} hosts would have ${text}`, path, "Define a network for it in infra.networks.");
  }

  private unknownNetwork(network: string, path: Path): void {
    const names = [...this.networks.keys()];
    const meant = didYouMean(network, names) || (names.length === 0 ? "" : `; defined are ${listed(names)}`);
    this.fail(`network ${network} is not defined${meant}`, path);
  }

  /** A host has one address of a network, so only one of its links can have it. */
  private once(network: string, path: Path, places: Map<string, Path>): void {
    const before = places.get(network);
    if (before === undefined) places.set(network, path);
    else {
      const hint = "Make a second network for the second link.";
      this.fail(`a host has one address of ${network}, and it stands at ${before.join(".")} already`, path, hint);
    }
  }

  private devices(filled: unknown, root: Path, host: Host | undefined): void {
    const { value: devices = [], issues = [] } = readDevices(filled, root);
    this.issues.push(...issues, ...misfitsOf(devices));
    if (issues.length === 0 && devices.length === 0) this.fail("networkConfig is empty", root);
    for (const { type, name, path } of flatDevices(devices)) {
      if (type !== "interface" || host === undefined || host.macs.has(name)) continue;
      this.fail(`NIC ${name} is not in macMapping${didYouMean(name, host.macs.keys())}`, [...path, "name"]);
    }
  }

  private fail(message: string, path: Path, hint?: string): undefined {
    this.issues.push({ message, path, ...(hint === undefined ? {} : { hint }) });
  }
}

/** What the kernel takes, without what a shell or a file name could trip over. */
function isNicName(name: string): boolean {
  return /^[A-Za-z0-9][\w.-]{0,14}$/.test(name);
}

function byKey([a]: readonly [string, string], [b]: readonly [string, string]): number {
  return byCodeUnit(a, b);
}
