import { type Address, byCodeUnit, type Issue, overlaps, type Parsed, type Pool } from "../../core/index.ts";
import { unknownField } from "../../schema/nearest.ts";
import { asBag, type Bag } from "../../schema/objects.ts";
import { mapping } from "../../schema/shape.ts";
import type { Path } from "../../schema/yaml.ts";
import { controllers, type Infra, type Network, objectName, titleOfHost, type Unit, unitPath } from "./infra.ts";
import { namedAddresses } from "./named-addresses.ts";
import { noCluster, parseCluster } from "./parse-cluster.ts";
import { parseNetwork } from "./parse-network.ts";
import { labelIssue, parseUnit } from "./parse-unit.ts";

/** Reads the configuration of bare-metal clusters. All issues, with their paths. */
export function parseInfra(value: unknown): Parsed<Infra> {
  const reader = new InfraReader();
  const infra = reader.infra(mapping(value));
  return reader.issues.length > 0 ? { issues: reader.issues } : { value: infra };
}

class InfraReader {
  readonly issues: Issue[] = [];

  infra(document: Bag): Infra {
    this.refuseUnknown(document, ["cluster", "infra", controllers, "nodepools"], []);
    this.refuseUnknown(mapping(document.infra), ["networks"], ["infra"]);
    const networks = this.networks(mapping(mapping(document.infra).networks), namedAddresses(document));
    const units = this.units(document, networks).toSorted(inOrder);
    const cluster = "cluster" in document ? this.take(parseCluster(document.cluster), ["cluster"]) : undefined;
    this.checkNames(units);
    this.checkMacs(units);
    const known = [...networks].flatMap(([name, network]) => (network === undefined ? [] : [[name, network] as const]));
    return { cluster: cluster ?? noCluster, networks: new Map(known), units };
  }

  /** By name; undefined for those that cannot be read. */
  private networks(bag: Bag, named: ReadonlySet<Address>): ReadonlyMap<string, Network | undefined> {
    const path = ["infra", "networks"];
    const entries = Object.entries(bag).sort(([a], [b]) => byCodeUnit(a, b));
    if (entries.length === 0)
      this.fail("infra.networks has networks, each with netmask, and addressRange or addresses", path);
    const networks = entries.map(
      ([name, value]) => [name, this.take(parseNetwork(name, value, named), [...path, name])] as const,
    );
    const pools = networks.flatMap(([, network]) => network?.pool ?? []);
    for (const [i, pool] of pools.entries()) this.checkOverlap(pool, pools.slice(0, i));
    return new Map(networks);
  }

  private checkOverlap(pool: Pool, before: readonly Pool[]): void {
    const other = before.find(({ range }) => overlaps(range, pool.range));
    if (other === undefined) return;
    const message = `networks ${other.name} and ${pool.name} share addresses`;
    this.fail(message, ["infra", "networks", pool.name], "Give them separate ranges.");
  }

  private units(document: Bag, networks: ReadonlyMap<string, Network | undefined>): Unit[] {
    const nodepools = Object.entries(mapping(document.nodepools));
    if (document.nodepools !== undefined && asBag(document.nodepools) === undefined)
      this.fail("nodepools is a mapping: a name, and what belongs to it", ["nodepools"]);
    for (const [name] of nodepools) {
      const issue = name === controllers ? "a node pool cannot be called controllers" : labelIssue(name);
      if (issue !== undefined) this.fail(issue, ["nodepools", name]);
    }
    const all: [string, unknown][] = controllers in document ? [[controllers, document[controllers]]] : [];
    all.push(...nodepools.filter(([name]) => name !== controllers));
    if (all.length === 0) this.fail("there are neither controllers nor nodepools", []);
    return all.flatMap(([name, value]) => this.take(parseUnit(name, value, networks), unitPath(name)) ?? []);
  }

  /** `a-b` and `c`, and `a` and `b-c`, would give one name. */
  private checkNames(units: readonly Unit[]): void {
    this.unique(units, (unit, { name }) => {
      const object = objectName(unit.name, name);
      const path = [...unitPath(unit.name), "macMapping", name];
      if (object.length > 63) this.fail(`${object} is longer than the 63 characters of a label`, path, shorter);
      return [{ key: object, what: "makes objects called", path }];
    });
  }

  private checkMacs(units: readonly Unit[]): void {
    this.unique(units, (unit, { name, macs }) =>
      [...macs].map(([nic, mac]) => ({
        key: mac,
        what: `${nic} has the MAC address`,
        path: [...unitPath(unit.name), "macMapping", name, nic],
      })),
    );
  }

  private unique(
    units: readonly Unit[],
    keys: (unit: Unit, host: Unit["hosts"][number]) => { key: string; what: string; path: Path }[],
  ): void {
    const seen = new Map<string, { title: string; what: string; path: Path; isReported?: boolean }>();
    for (const unit of units)
      for (const host of unit.hosts)
        for (const { key, what, path } of keys(unit, host)) {
          const title = titleOfHost(unit.name, host.name);
          const first = seen.get(key) ?? { title, what, path };
          if (first.path !== path) this.fail(`${what} ${key}, which ${first.title} has already`, path);
          if (first.path !== path && !first.isReported)
            this.fail(`${first.what} ${key}, which ${title} has, too`, first.path);
          seen.set(key, first.path === path ? first : { ...first, isReported: true });
        }
  }

  private refuseUnknown(bag: Bag, known: readonly string[], path: Path): void {
    const message = unknownField(bag, known);
    if (message !== undefined)
      this.fail(message, [...path, Object.keys(bag).find((key) => !known.includes(key)) ?? ""]);
  }

  private take<T>({ value, issues = [] }: Parsed<T>, path: Path): T | undefined {
    for (const issue of issues) this.issues.push({ ...issue, path: [...path, ...(issue.path ?? [])] });
    return value;
  }

  private fail(message: string, path: Path, hint?: string): void {
    this.issues.push({ message, path, ...(hint === undefined ? {} : { hint }) });
  }
}

const shorter = "Give the unit or the host a shorter name.";

function inOrder(a: Unit, b: Unit): number {
  if (a.name === controllers || b.name === controllers) return a.name === b.name ? 0 : a.name === controllers ? -1 : 1;
  return byCodeUnit(a.name, b.name);
}
