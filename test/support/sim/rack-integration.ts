import {
  type Allocation,
  type Claim,
  claimKey,
  formatAddress,
  nameOfKey,
  type Owner,
  ownerOfKey,
  type Parsed,
  type PoolSpec,
} from "../../../core/index.ts";
import type { ClusterIntegration } from "../../../integrations/contract/cluster-integration.ts";
import type { DefinedPool, Facts, RenderedObject } from "../../../integrations/contract/integration.ts";
import type { Known } from "../../../integrations/contract/known.ts";
import { type ReadObject, readEach } from "../../../integrations/contract/read-each.ts";
import type { Recording } from "../../../integrations/contract/recording.ts";
import type { Step } from "../../../integrations/contract/step.ts";
import type { Concern, WatchedKind } from "../../../integrations/contract/watched-kind.ts";
import { parsePoolSpec } from "../../../schema/node-ip-pool.ts";
import { asBag, asList, type Bag } from "../../../schema/objects.ts";

const apiVersion = "toys.example.org/v1";

interface Rack {
  readonly name: string;
  readonly pools: readonly Omit<DefinedPool, "at">[];
  readonly hosts: readonly string[];
  /** Does each node get an address of each network, too? */
  readonly isForNodes: boolean;
}

/**
 * A foreign system with a part in the cluster, in one file. A Rack has networks, which are pools, and hosts that take an
 * address of each. A Card is made for each host, and one Board for the rack: it lists what all have, in a status that is its
 * content.
 */
export const racks: ClusterIntegration<readonly ReadObject<Rack>[]> = {
  name: "racks",
  reads: [{ group: "toys.example.org", kind: "Rack", plural: "racks", owns: ({ kind }) => kind === "Rack", mark: /./ }],
  read: ({ owned }) => readEach(owned, parseRack),
  pools: (model) =>
    model.flatMap(({ value, source }) =>
      value.pools.map((one) => ({ ...one, at: source.at(["spec"], one.pool.name) })),
    ),
  claims: (model, { nodes }) => model.flatMap(({ value }) => claimsOf(value, nodes)),
  isClaim: (claim) => claim.startsWith("Host/") || (claim.startsWith("Node/") && !nameOfKey(claim).includes("/")),
  render: (model, _, { snapshot }) => {
    const { allocations, releasing } = snapshot;
    const made = ({ value: rack }: ReadObject<Rack>) => [
      ...cardsOf(rack, allocations),
      boardOf(rack, allocations, releasing),
    ];
    return { instead: new Map(model.map((one) => [one.source, made(one)])), added: [], left: [] };
  },
  uses: [],
  recording: recording(),
  report,
};

/** How a Rack is other than usual. */
interface RackOptions {
  readonly cidr?: string;
  /** The last address of its network. */
  readonly last?: number;
  readonly isForNodes?: boolean;
}

/** A Rack with one network, `lan`: the first addresses of 10.5.0.0/24. */
export function rack(name: string, hosts: readonly string[], { cidr, last = 9, isForNodes = false }: RackOptions = {}) {
  const lan = cidr === undefined ? { cidr: "10.5.0.0/24", end: `10.5.0.${last}` } : { cidr };
  return { apiVersion, kind: "Rack", metadata: { name }, spec: { networks: { lan }, hosts, isForNodes } };
}

function parseRack({ metadata, spec }: Bag): Parsed<Rack> {
  const { networks, hosts, isForNodes } = asBag(spec) ?? {};
  const parsed = Object.entries(asBag(networks) ?? {}).map(([name, range]) => {
    const spec = { range } as PoolSpec;
    return { spec, ...parsePoolSpec(name, spec) };
  });
  const issues = parsed.flatMap(({ issues: found = [] }) => found);
  if (issues.length > 0) return { issues };
  const pools = parsed.flatMap(({ value: pool, spec }) => (pool === undefined ? [] : { pool, spec }));
  const name = `${asBag(metadata)?.name}`;
  return { value: { name, pools, hosts: asList(hosts).map(String), isForNodes: isForNodes === true } };
}

function claimsOf({ name, pools, hosts, isForNodes }: Rack, nodes: Facts["nodes"]): Claim[] {
  const owners: Owner[] = [
    ...hosts.map((host) => ({ kind: "Host", name: `${name}.${host}` })),
    ...(isForNodes ? nodes.map((node) => ({ kind: "Node", name: node.name })) : []),
  ];
  return owners.flatMap((owner) => pools.map(({ pool }) => ({ owner, name: `${name}.${pool.name}`, pool: pool.name })));
}

/** A host is served once it has all that it asks for. */
function cardsOf(rack: Rack, lines: readonly Allocation[]): RenderedObject[] {
  const byClaim = new Map(lines.map((line) => [line.claim, line]));
  return rack.hosts.flatMap((host) => {
    const owner = { kind: "Host", name: `${rack.name}.${host}` };
    const own = rack.pools.map(({ pool: { name } }) => byClaim.get(claimKey(owner, `${rack.name}.${name}`)));
    if (own.some((line) => line === undefined)) return [];
    const metadata = { name: owner.name, labels: { rack: rack.name } };
    return [
      made("Card", { metadata, spec: { ips: own.flatMap((line) => (line ? formatAddress(line.address) : [])) } }),
    ];
  });
}

function boardOf({ name }: Rack, live: readonly Allocation[], releasing: readonly Allocation[]): RenderedObject {
  const text = (line: Allocation) => `${formatAddress(line.address)} ${ownerOfKey(line.claim)}`;
  const lines = [...live.map(text), ...releasing.map((line) => `${text(line)} releasing`)];
  return made("Board", { metadata: { name, labels: { rack: name } }, status: { lines } });
}

function made(kind: string, rest: Bag): RenderedObject {
  return { apiVersion, kind, ...rest } as RenderedObject;
}

function recording(): Recording {
  const kinds: WatchedKind[] = [
    { apiVersion, kind: "Rack", plural: "racks", ignoresStatus: true, keep: ({ spec, status }) => ({ spec, status }) },
    { apiVersion, kind: "Card", plural: "cards", keep: ({ spec }) => ({ spec }) },
    {
      apiVersion,
      kind: "Board",
      plural: "boards",
      isShared: true,
      hasNoStatusSubresource: true,
      keep: ({ status }) => ({ status }),
    },
  ];
  return {
    kinds,
    concerns,
    sourceOf: (claim) => `Rack.toys.example.org/${/^(?:Host|Node\/[^/]*)\/([^./]*)/.exec(claim)?.[1]}`,
    gone: (objects, _, releasing) => {
      const shown = new Set(objects.filter(({ kind }) => kind === "Card").flatMap((one) => concerns(one).owners));
      return releasing.filter(({ claim }) => !shown.has(ownerOfKey(claim)));
    },
  };
}

function report({ object, rejected, pools, pending }: Known): Step[] {
  const fields = {
    rejected: rejected ?? "",
    pending: pending.map(({ claim }) => claim),
    pools: Object.fromEntries(
      pools.map(({ name, conditions, fields }) => [name, `${conditions[0]?.reason} ${fields.allocated}`]),
    ),
  };
  return [{ verb: "status", object, fields, conditions: [] }];
}

function concerns({ kind, metadata }: Bag): Concern {
  const { name, labels } = asBag(metadata) ?? {};
  if (kind === "Rack") return { owners: "all", sources: [`Rack.toys.example.org/${name}`] };
  const sources = [`Rack.toys.example.org/${asBag(labels)?.rack}`];
  return { owners: kind === "Card" ? [`Host/${name}`] : sources, sources, isEvidence: true };
}
