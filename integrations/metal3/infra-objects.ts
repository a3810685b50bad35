import type { Address, Issue, Parsed, Snapshot } from "../../core/index.ts";
import type { Holdings, RenderedObject } from "../contract/integration.ts";
import type { Cluster } from "./cluster.ts";
import { heldAddresses } from "./held-addresses.ts";
import { hostObjects, metaDataTemplate } from "./host-objects.ts";
import { type Host, hostOfClaim, type Infra, type Network, objectName, type Unit } from "./infra.ts";
import { machineObjects, mappingSecret } from "./machine-objects.ts";
import { annotatedHost, type Holder, ipPool, poolTemplate } from "./pool-objects.ts";

/**
 * The objects that a configuration becomes, as its cluster section says (`Cluster`): first those of units and networks, then
 * those of hosts. All issues, with their paths. Throws IpamError `stale` if the record lacks an address.
 */
export function infraObjects(infra: Infra, holdings: Holdings): Parsed<RenderedObject[]> {
  const writer = new ObjectWriter(infra, holdings);
  const value = writer.objects(infra.cluster);
  const issues = distinct(writer.issues);
  return issues.length > 0 ? { issues } : { value };
}

type OfMode<Mode> = Extract<Cluster, { mode: Mode }>;

class ObjectWriter {
  readonly issues: Issue[] = [];
  private readonly infra: Infra;
  private readonly snapshot: Snapshot;
  private readonly hosts: readonly { unit: Unit; host: Host; addresses: ReadonlyMap<string, Address> }[];

  constructor(infra: Infra, holdings: Holdings) {
    this.infra = infra;
    this.snapshot = holdings.snapshot;
    const heldBy = heldAddresses(holdings);
    this.hosts = infra.units.flatMap((unit) =>
      unit.hosts.map((host) => ({ unit, host, addresses: heldBy(unit, host.name) })),
    );
  }

  objects(cluster: Cluster): RenderedObject[] {
    if (cluster.mode === "machines") return this.ofMachines(cluster);
    return cluster.mode === "pools" ? this.ofPools(cluster) : this.ofHosts(cluster);
  }

  private ofHosts({ clusterName, ...options }: OfMode<"hosts">): RenderedObject[] {
    const { units } = this.infra;
    const templates =
      clusterName === undefined ? [] : units.map((unit) => metaDataTemplate(unit, { ...options, clusterName }));
    const each = this.hosts.flatMap(({ unit, host, addresses }) =>
      this.take(hostObjects(this.infra, unit, host, addresses, options)),
    );
    return [...templates, ...each];
  }

  private ofMachines(options: OfMode<"machines">): RenderedObject[] {
    const isByOsNetConfig = options.network === "os-net-config";
    const secrets = isByOsNetConfig ? this.infra.units.map((unit) => mappingSecret(unit, options)) : [];
    const each = this.hosts.flatMap(({ unit, host, addresses }) =>
      this.take(machineObjects(this.infra, unit, host, addresses, options)),
    );
    return [...secrets, ...each];
  }

  private ofPools(options: OfMode<"pools">): RenderedObject[] {
    const { networks, units } = this.infra;
    const pools = [...networks.values()].flatMap((network) => {
      const holders = this.holders(network);
      return holders.length === 0 ? [] : [ipPool(network, holders, options)];
    });
    const templates = units.flatMap((unit) => {
      const addresses = this.hosts.find((one) => one.unit === unit)?.addresses ?? new Map();
      const { value, issues } = poolTemplate(this.infra, unit, addresses, options);
      return this.take(issues ? { issues } : { value: [value] });
    });
    return [...pools, ...templates, ...this.hosts.map(({ unit, host }) => annotatedHost(unit, host, options))];
  }

  /**
   * Each host once, by the name that Metal3 knows it by. Also those that are releasing, theirs are for nobody else; but what a
   * host had before it moved is in no list.
   */
  private holders({ pool }: Network): Holder[] {
    const { allocations, releasing } = this.snapshot;
    const byName = new Map<string, Holder>();
    for (const { pool: name, claim, address } of [...releasing, ...allocations]) {
      const host = name === pool.name ? hostOfClaim(claim) : undefined;
      if (host !== undefined) byName.set(objectName(host.unit, host.host), { ...host, address });
    }
    return [...byName.values()];
  }

  private take<T>({ value, issues = [] }: Parsed<readonly T[]>): readonly T[] {
    this.issues.push(...issues);
    return value ?? [];
  }
}

/** Returns issues without repetitions: an issue with a unit comes up for each of its hosts. */
function distinct(issues: readonly Issue[]): Issue[] {
  return [...new Map(issues.map((issue) => [JSON.stringify(issue), issue])).values()];
}
