import {
  type Allocation,
  type Authority,
  type Claim,
  countingSource,
  familyOf,
  formatOwner,
  hasWildcards,
  type Issue,
  isCalled,
  isPlanned,
  nodesReaching,
  type Parsed,
  type Pool,
} from "../../core/index.ts";
import type { Facts } from "../contract/facts.ts";
import { attachmentKind, networksAnnotation } from "../networks/attachment-definition.ts";
import type { BoundNetwork } from "./bound-network.ts";
import { namedByPod, namesPools } from "./named-pools.ts";
import { type Namespace, unknownNamespace } from "./namespace.ts";
import { type FreeIn, type NicPools, poolsForNic } from "./nic-pools.ts";
import type { PodNetwork } from "./pod-networks.ts";
import { ownerOfWorkload, pathOfAnnotation, type Workload } from "./workload-object.ts";

/** The objects, beside a workload itself, that decide which pools it may have addresses of. */
export interface PoolSources {
  /** By the NetworkAttachmentDefinition, as `namespace/name`. */
  readonly networks: ReadonlyMap<string, BoundNetwork>;
  /** By their names; as far as they are known. */
  readonly namespaces: ReadonlyMap<string, Namespace>;
}

/** A network of the pods of a workload, and the pools that give addresses on it. */
export interface ServedNetwork {
  readonly network: PodNetwork;
  readonly pools: readonly NicPools[];
}

/**
 * Returns the networks on which pods get addresses of pools, or all issues.
 *
 *  a network of the pods                     | the network
 *  ------------------------------------------+---------------------------------------------------
 *  takes the addresses in a pod's `ips`, and | is served
 *   pools are named for it                   |
 *  the same, and the template writes out ips | is an error: all pods would have the same ones
 *  takes none, and names pools itself        | is an error
 *  takes none                                | keeps the IPAM that it has
 *  is not there                              | is an error in the cluster; a plan knows only those in its folder
 *
 * Of pods that name pools, one network must take addresses.
 */
export function servedNetworks(
  workload: Workload,
  sources: PoolSources,
  facts: Facts,
  freeIn?: FreeIn,
): Parsed<readonly ServedNetwork[]> {
  const before = known.get(workload);
  if (freeIn === undefined && before?.sources === sources && before.facts === facts) return before.found;
  const found = networksServed(workload, sources, facts, freeIn);
  if (freeIn === undefined) known.set(workload, { sources, facts, found });
  return found;
}

/** The last result for a workload, so that the claims, the ConfigMap and the Event of one reconcile agree. */
const known = new WeakMap<Workload, { sources: PoolSources; facts: Facts; found: Parsed<readonly ServedNetwork[]> }>();

function networksServed(
  workload: Workload,
  { networks, namespaces }: PoolSources,
  facts: Facts,
  freeIn?: FreeIn,
): Parsed<readonly ServedNetwork[]> {
  const { annotations, labels, nodeSelector, namespace } = workload;
  const { pools, authority = "Plan" } = facts;
  const { named, ...known } = namespaces.get(namespace) ?? unknownNamespace(namespace);
  const owner = formatOwner(ownerOfWorkload(workload));
  const isByPod = namesPools(annotations);
  const issues: Issue[] = [];
  const served = workload.networks.flatMap((network, place): ServedNetwork[] => {
    const bound = networks.get(network.definition);
    if (bound === undefined || !bound.takesIps) {
      issues.push(...placedAt(network, whyNone(network, bound, authority)));
      return [];
    }
    const byPod = namedByPod(annotations, { nic: network.nic, place });
    issues.push(...placedAt(network, [...(byPod.issues ?? []), ...((!isByPod && named.issues) || [])]));
    const sources = { ...byPod.value, namespace: named.value ?? {}, network: bound.named };
    const pod = { namespace: { name: namespace, ...known }, labels, nodeSelector, owner };
    const found = poolsForNic({ ...pod, network: bound.title, named: sources }, facts, freeIn);
    for (const { message, ...issue } of placedAt(network, found.issues ?? []))
      issues.push({ ...issue, message: isByPod ? message : `${attachmentKind} ${bound.title}: ${message}` });
    if (found.value === undefined || found.value.length === 0) return [];
    if (network.element.ips !== undefined) issues.push(...placedAt(network, [writtenOut(network)]));
    return [{ network, pools: found.value }];
  });
  if (issues.length === 0 && served.length === 0 && isByPod) issues.push(noneTakesAny);
  issues.push(...mixed(served, pools));
  const path = pathOfAnnotation(workload.networks[0]?.annotation ?? networksAnnotation);
  return issues.length > 0 ? { issues: issues.map((issue) => ({ path, ...issue })) } : { value: served };
}

function placedAt({ annotation }: PodNetwork, issues: readonly Issue[]): Issue[] {
  return issues.map((issue) => ({ ...issue, path: pathOfAnnotation(annotation) }));
}

/** Returns the networks of pools that the caller decides: a plan and the controller each allocate from the pools of their authority. */
export function ownNetworks(workload: Workload, sources: PoolSources, facts: Facts): readonly ServedNetwork[] {
  const { value = [] } = servedNetworks(workload, sources, facts);
  const isOwn = (pool: string) => isPlannedBy(facts.pools.get(pool)) === ((facts.authority ?? "Plan") === "Plan");
  return value.filter(({ pools }) => pools.every(({ first }) => isOwn(first)));
}

/**
 * Returns whether the pool of a line may be named for a network of a workload. It may if no pools are named, if the names cannot be
 * read, or if a named pool does not exist.
 */
export function maySelect(
  { pool, address }: Pick<Allocation, "pool" | "address">,
  { annotations, namespace, networks: all }: Pick<Workload, "annotations" | "namespace" | "networks">,
  network: PodNetwork,
  { networks, namespaces }: PoolSources,
  isThere: (pool: string) => boolean,
): boolean {
  const bound = networks.get(network.definition);
  const byPod = namedByPod(annotations, { nic: network.nic, place: all.indexOf(network) }).value;
  const { named } = namespaces.get(namespace) ?? unknownNamespace(namespace);
  if (bound === undefined || byPod === undefined || (!namesPools(annotations) && named.issues)) return true;
  const sources = { ...byPod, namespace: named.value ?? {}, network: bound.named };
  const source = countingSource(sources);
  if (source === "cluster") return true;
  const { [familyOf(address)]: own = [], any = [] } = sources[source] ?? {};
  if ([...own, ...any].some((name) => isCalled(pool, name))) return true;
  return Object.values(sources[source] ?? {}).some((list) =>
    list.some((name) => !hasWildcards(name) && !isThere(name)),
  );
}

/** Returns the pool that a claim asks for; without `choice` if only one pool is possible, and that for all nodes. */
export function asksOf({ choice, first }: NicPools, pools: ReadonlyMap<string, Pool>): Pick<Claim, "pool" | "choice"> {
  const pool = pools.get(first);
  const isAny = pool !== undefined && nodesReaching(pool).length === 0;
  const isOne = isAny && choice.tried.length === 1 && choice.kept.length === 0 && choice.unread === undefined;
  return { pool: first, ...(isOne ? {} : { choice }) };
}

function isPlannedBy(pool: Pool | undefined): boolean {
  return pool !== undefined && isPlanned(pool);
}

/** Returns why a network gives no addresses; empty if it is not meant to. */
function whyNone({ definition }: PodNetwork, bound: BoundNetwork | undefined, authority: Authority): Issue[] {
  if (bound === undefined)
    return authority === "Plan"
      ? []
      : [{ message: `there is no ${attachmentKind} ${definition}: define it, or name another one` }];
  return Object.keys(bound.named).length === 0 ? [] : [takesNone(definition)];
}

/** Returns why pods get no addresses on a network, with the next step. */
export function takesNone(definition: string): Issue {
  return {
    message: `${attachmentKind} ${definition} takes no addresses`,
    hint: 'Give its plugin "capabilities": {"ips": true} and "ipam": {"type": "static"}.',
  };
}

function writtenOut({ definition }: PodNetwork): Issue {
  return {
    message: `network ${definition} writes out ips, which all pods of the set would have`,
    hint: "Leave them out; reserve addresses in the pool instead.",
  };
}

const noneTakesAny: Issue = {
  message: "its pods name pools, and none of their networks takes addresses",
  hint: 'Give the plugin of a NetworkAttachmentDefinition "capabilities": {"ips": true} and "ipam": {"type": "static"}.',
};

/** Returns an issue if both a plan and the controller would allocate for a workload: its one ConfigMap has all its addresses. */
function mixed(served: readonly ServedNetwork[], pools: ReadonlyMap<string, Pool>): Issue[] {
  const asked = served.flatMap((one) =>
    one.pools.flatMap(({ choice, first }) => (choice.tried.length > 0 ? choice.tried : first)),
  );
  const found = asked.flatMap((name) => pools.get(name) ?? []);
  const [planned, other] = [found.find(isPlanned), found.find((pool) => !isPlanned(pool))];
  if (planned === undefined || other === undefined) return [];
  return [
    {
      message: `its networks take addresses from NodeIPPool ${planned.name}, of plans, and ${other.name}, of the controller`,
      hint: "Let all of them be of one authority: one ConfigMap has them.",
    },
  ];
}
