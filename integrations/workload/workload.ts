import {
  type Allocation,
  type Claim,
  claimKey,
  formatAddress,
  IpamError,
  type Issue,
  isPlanned,
  type Pool,
} from "../../core/index.ts";
import type { ReadKind, SourceObject } from "../../schema/manifest-document.ts";
import { type Bag, issueIn } from "../../schema/objects.ts";
import { attachmentGroup, attachmentKind, attachmentPlural } from "../attachment-definition.ts";
import type { Facts, Holdings, Integration, Left, ReadObjects, Rendered, RenderedObject } from "../integration.ts";
import { type ReadObject, readEach } from "../read-each.ts";
import { type BoundNetwork, isBound, poolsOfBound, readBound } from "./bound-network.ts";
import { podAddresses, usesOfPodAddresses, withPlannedPods, workloadOfMap } from "./pod-addresses.ts";
import type { PodNetwork } from "./pod-networks.ts";
import {
  claimOfPlace,
  hasNetworks,
  isOfWorkload,
  networksPath,
  ownerOfWorkload,
  parseWorkload,
  type Workload,
  workloadGroup,
  workloadKinds,
} from "./workload-object.ts";

/** What makes pods, and the networks that take addresses from pools. */
export interface WorkloadModel {
  readonly workloads: readonly ReadObject<Workload>[];
  /** By the NetworkAttachmentDefinition, as `namespace/name`. */
  readonly networks: ReadonlyMap<string, BoundNetwork>;
}

/** Fixed addresses of pods: each pod of a StatefulSet, and each that a Deployment may have at once, has one of its own on each network that takes addresses from NodeIPPools. */
export const workload: Integration<WorkloadModel> = {
  name: "workload",
  reads: readsOf(hasNetworks),
  usedIn: ["ConfigMap"],
  usedMarks: ["nodeippool.nmstate.io/statefulset", "nodeippool.nmstate.io/deployment"],
  read: (objects) => readModel(objects, hasNetworks),
  claims: (model, facts) =>
    model.workloads.flatMap((one) => {
      const wrong = wrongWith(one.value, model, facts);
      if (wrong !== undefined) throw new IpamError("invalid", [issueIn(one.source, wrong)]);
      return claimsOfWorkload(one.value, model, facts);
    }),
  isClaim: isOfWorkload,
  render: renderWorkloads,
  uses: () => (located, found) => {
    const its = workloadOfMap(located.object);
    if (its !== undefined) usesOfPodAddresses(located, its, found);
  },
  freeOnce: "its pod is gone (kubectl get pods -A)",
};

export function readsOf(owns: (object: Bag) => boolean): ReadKind[] {
  return [
    ...workloadKinds.map((one) => ({
      ...{ ...one, group: workloadGroup, owns, mark: /cni\.cncf\.io\/networks/, runsAsIs: true },
    })),
    {
      group: attachmentGroup,
      kind: attachmentKind,
      plural: attachmentPlural,
      owns: isBound,
      mark: /nodeippool\.nmstate\.io\/pool/,
      runsAsIs: true,
    },
  ];
}

export function readModel({ owned }: ReadObjects, isServed: (object: Bag) => boolean) {
  const workloads = readEach(
    owned.filter(({ object }) => isServed(object)),
    parseWorkload,
  );
  if (workloads.issues) return workloads;
  const networks = owned.flatMap(({ object }) => (isBound(object) ? readBound(object) : []));
  return { value: { workloads: workloads.value, networks: new Map(networks.map((one) => [one.title, one])) } };
}

/**
 * One claim for each pod, network and family.
 *
 *  a network of the pods                | they get
 *  -------------------------------------+---------------------------------------------------
 *  is bound to NodeIPPools of who asks  | an address of each of them
 *  is bound to NodeIPPools of the other | nothing here: that one gives them
 *   (authority)                         |
 *  any other                            | from whoever gave them before
 */
export function claimsOfWorkload(workload: Workload, model: Pick<WorkloadModel, "networks">, facts: Facts): Claim[] {
  return workload.networks.flatMap((network) =>
    ownPools(network, model, facts).flatMap((pool) =>
      workload.places.map((place) => {
        const name = claimOfPlace(place, network.nic);
        return { owner: ownerOfWorkload(workload), name, pool: pool.name };
      }),
    ),
  );
}

/** The pools that give addresses on a network of a pod. */
function boundPoolsOf({ definition }: PodNetwork, networks: WorkloadModel["networks"], facts: Facts): readonly Pool[] {
  const network = networks.get(definition);
  const pools = network && poolsOfBound(network, facts);
  return pools === undefined || "message" in pools ? [] : pools;
}

/** The same, of who asks. */
function ownPools(network: PodNetwork, { networks }: Pick<WorkloadModel, "networks">, facts: Facts): readonly Pool[] {
  return boundPoolsOf(network, networks, facts).filter((pool) => isOwn(pool, facts));
}

/** Is any of its networks to take addresses from who asks? */
export function isServed({ networks }: Workload, model: Pick<WorkloadModel, "networks">, facts: Facts): boolean {
  return networks.some((network) => ownPools(network, model, facts).length > 0);
}

function isOwn(pool: Pool, { authority = "Plan" }: Facts): boolean {
  return isPlanned(pool) === (authority === "Plan");
}

/** Why the networks of a workload cannot give addresses; undefined if they can. */
export function wrongWith(
  workload: Workload,
  { networks }: Pick<WorkloadModel, "networks">,
  facts: Facts,
): Issue | undefined {
  const path = networksPath;
  const bound = workload.networks.filter(({ definition }) => networks.has(definition));
  const written = bound.find(({ element }) => element.ips !== undefined);
  if (written !== undefined)
    return {
      message: `network ${written.definition} writes out ips, which all pods of the set would have`,
      hint: "Leave them out; reserve addresses in the pool instead.",
      path,
    };
  for (const network of new Set(bound.flatMap(({ definition }) => networks.get(definition) ?? []))) {
    const pools = poolsOfBound(network, facts);
    if ("message" in pools) return { ...pools, path };
  }
  const pools = bound.flatMap((network) => boundPoolsOf(network, networks, facts));
  const [planned, other] = [pools.find(isPlanned), pools.find((pool) => !isPlanned(pool))];
  if (planned === undefined || other === undefined) return undefined;
  return {
    message: `its networks take addresses from NodeIPPool ${planned.name}, of plans, and ${other.name}, of the controller`,
    hint: "Let all of them be of one authority: one ConfigMap has them.",
    path,
  };
}

/** What the pods of a workload are told of the record: the lines by pool and claim; undefined where one is missing. */
export function ipsIn(lines: readonly Allocation[], workload: Workload, model: WorkloadModel, facts: Facts) {
  const byClaim = new Map(lines.map((line) => [`${line.pool} ${line.claim}`, line]));
  return (network: PodNetwork, place: number): readonly string[] | undefined => {
    const pools = ownPools(network, model, facts);
    const key = claimKey(ownerOfWorkload(workload), claimOfPlace(place, network.nic));
    const ips = pools.flatMap((pool) => {
      const line = byClaim.get(`${pool.name} ${key}`);
      return line === undefined ? [] : `${formatAddress(line.address)}/${pool.prefix.length}`;
    });
    return ips.length < pools.length ? undefined : ips;
  };
}

/** Before a workload come the addresses of its pods; deploy/pod-addresses has the API server write them into these, or the controller does. */
function renderWorkloads(model: WorkloadModel, facts: Facts, { snapshot, set }: Holdings): Rendered {
  const rendered = ({ value, source }: ReadObject<Workload>): readonly RenderedObject[] => {
    if (!isServed(value, model, facts)) return [source.object as unknown as RenderedObject];
    const known = ipsIn(snapshot.allocations, value, model, facts);
    const ipsOf = (network: PodNetwork, place: number) => {
      const ips = known(network, place);
      if (ips !== undefined) return ips;
      const key = claimKey(ownerOfWorkload(value), claimOfPlace(place, network.nic));
      throw new IpamError("stale", `no address of network ${network.definition} is recorded for ${key}`);
    };
    return [podAddresses(value, ipsOf), withPlannedPods(source.object)];
  };
  const instead = new Map<SourceObject, readonly RenderedObject[]>(
    model.workloads.map((one) => [one.source, rendered(one)]),
  );
  const left = snapshot.releasing.filter((line) => line.set === set).map((line): Left => ({ line, why: mayRun }));
  return { instead, added: [], left };
}

const mayRun = "its pod may still run";
