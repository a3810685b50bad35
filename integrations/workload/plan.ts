import {
  type Allocation,
  type Claim,
  claimKey,
  formatAddress,
  IpamError,
  type Issue,
  identityOf,
  nodesReaching,
  poolsAsked,
} from "../../core/index.ts";
import type { ReadKind, SourceObject } from "../../schema/manifest-document.ts";
import { type Bag, placeOfName } from "../../schema/objects.ts";
import {
  asRendered,
  type Facts,
  type Holdings,
  type Integration,
  type Left,
  type ReadObjects,
  type Rendered,
  type RenderedObject,
} from "../contract/integration.ts";
import { nameOf } from "../contract/object-metadata.ts";
import { type ReadObject, readApart } from "../contract/read-each.ts";
import { attachmentGroup, attachmentKind, attachmentPlural } from "../networks/attachment-definition.ts";
import { isBound, readBound } from "./bound-network.ts";
import { namespaceKind, readNamespace } from "./namespace.ts";
import { type NicAddresses, podAddresses, withPlannedPods, workloadOfMap } from "./pod-addresses.ts";
import type { PodNetwork } from "./pod-networks.ts";
import { usesOfMap } from "./pods.ts";
import { explainedFor } from "./pools-explained.ts";
import { asksOf, ownNetworks, type PoolSources, servedNetworks } from "./pools-of-workload.ts";
import { unservedWorkloads } from "./unserved-workloads.ts";
import type { WorkloadModel } from "./workload-model.ts";
import {
  claimOfIndex,
  hasNetworks,
  isOfWorkload,
  ownerOfWorkload,
  parseWorkload,
  type Workload,
  workloadGroup,
  workloadKinds,
} from "./workload-object.ts";

/** Fixed addresses of pods: each pod of a StatefulSet, and each that a Deployment may have at once, has one of its own on each network that takes addresses from NodeIPPools. */
export const workload: Integration<WorkloadModel> = {
  name: "workload",
  reads: readsOf(hasNetworks),
  read: (objects) => ({ value: readModel(objects, hasNetworks) }),
  unserved: unservedWorkloads,
  claims: (model, facts) =>
    model.workloads.flatMap(({ value, source }) =>
      claimsOfWorkload(value, model, facts).map((claim) => ({ ...claim, at: () => placeOfName(source) })),
    ),
  isClaim: isOfWorkload,
  render: renderWorkloads,
  uses: [
    {
      kind: "ConfigMap",
      marks: ["nodeippool.nmstate.io/statefulset", "nodeippool.nmstate.io/deployment"],
      reader: () => (map, found) => {
        if (workloadOfMap(map.object) === undefined) return;
        found.speaks = true;
        found.uses.push(...usesOfMap(map));
      },
    },
  ],
  explain: {
    selected: (model, facts, snapshot) => model.workloads.flatMap((one) => explainedFor(one, model, facts, snapshot)),
    freeOnce: "no pod has it in its annotations (kubectl get pods -A -o yaml)",
  },
};

/** Returns the kinds to read. `looksAt` selects the namespaces and the unbound networks: a plan reads those in its folder, and owns none. */
export function readsOf(owns: (object: Bag) => boolean, looksAt: (object: Bag) => boolean = () => false): ReadKind[] {
  return [
    ...workloadKinds.map((one) => ({
      ...{ ...one, group: workloadGroup, owns, mark: /cni\.cncf\.io\/networks|default-network/, runsAsIs: true },
    })),
    {
      group: attachmentGroup,
      kind: attachmentKind,
      plural: attachmentPlural,
      owns: (object: Bag) => isBound(object) || looksAt(object),
      mark: /nodeippool\.nmstate\.io\/pool|"ips|ips\\"/,
      runsAsIs: true,
    },
    {
      ...{ group: "", kind: namespaceKind, plural: "namespaces", owns: looksAt },
      ...{ mark: /(?!)/, runsAsIs: true, isBeside: true },
    },
  ];
}

export function readModel({ owned, others }: ReadObjects, isServed: (object: Bag) => boolean): WorkloadModel {
  const { read, unread } = readApart(
    owned.filter(({ object }) => isServed(object)),
    parseWorkload,
  );
  // In a cdk8s app, networks are objects like any other.
  const networks = [...owned, ...others].flatMap(({ object }) =>
    object.kind === attachmentKind ? readBound(object) : [],
  );
  const namespaces = [...owned, ...others].filter(({ object }) => object.kind === namespaceKind);
  return {
    workloads: read,
    unread,
    sources: owned.filter(({ object }) => isServed(object) || isBound(object)),
    networks: new Map(networks.map((one) => [one.title, one])),
    namespaces: new Map(namespaces.map(({ object }) => [nameOf(object), readNamespace(object)])),
  };
}

/** One claim for each pod, network and family. */
export function claimsOfWorkload(workload: Workload, sources: PoolSources, facts: Facts): Claim[] {
  return ownNetworks(workload, sources, facts).flatMap(({ network, pools }) =>
    pools.flatMap((of) =>
      workload.indexes.map((index) => {
        const name = claimOfIndex(index, network.nic);
        return { owner: ownerOfWorkload(workload), name, isOfPod: true, ...asksOf(of, facts.pools) };
      }),
    ),
  );
}

/** Returns whether the caller, a plan or the controller, allocates on any network of a workload. */
export function isServed(workload: Workload, sources: PoolSources, facts: Facts): boolean {
  return ownNetworks(workload, sources, facts).length > 0;
}

/** Returns why the networks of a workload cannot give addresses; undefined if they can. */
export function wrongWith(workload: Workload, sources: PoolSources, facts: Facts): Issue | undefined {
  return servedNetworks(workload, sources, facts).issues?.[0];
}

/** Lines, each by its pool and claim. */
type LinesByClaim = ReadonlyMap<string, Allocation>;

export function linesByClaim(lines: readonly Allocation[]): LinesByClaim {
  return new Map(lines.map((line) => [identityOf(line), line]));
}

/** Returns the recorded addresses of the pods of a workload; undefined on a network where one is missing. */
export function addressesByNic(byClaim: LinesByClaim, workload: Workload, model: WorkloadModel, facts: Facts) {
  const { pools } = facts;
  const own = new Map(ownNetworks(workload, model, facts).map((one) => [one.network, one.pools]));
  return (network: PodNetwork, index: number): NicAddresses | undefined => {
    const families = own.get(network) ?? [];
    const claim = claimKey(ownerOfWorkload(workload), claimOfIndex(index, network.nic));
    const found = families.flatMap((family) => {
      const lines = poolsAsked(asksOf(family, pools)).flatMap((pool) => byClaim.get(identityOf({ pool, claim })) ?? []);
      const known = lines.flatMap(({ address, pool: name }) => {
        const pool = pools.get(name);
        return pool === undefined ? [] : [{ ip: `${formatAddress(address)}/${pool.prefix.length}`, pool }];
      });
      return known.slice(0, 1);
    });
    if (found.length < families.length) return undefined;
    const its = found.map(({ pool }) => pool);
    return { ips: found.map(({ ip }) => ip), nodes: its.flatMap(nodesReaching), pools: its };
  };
}

/** Before a workload come the addresses of its pods; deploy/pod-addresses has the API server write them into these, or the controller does. */
function renderWorkloads(model: WorkloadModel, facts: Facts, { snapshot, set }: Holdings): Rendered {
  const byClaim = linesByClaim(snapshot.allocations);
  const rendered = ({ value, source }: ReadObject<Workload>): readonly RenderedObject[] => {
    if (!isServed(value, model, facts)) return [asRendered(source.object)];
    const known = addressesByNic(byClaim, value, model, facts);
    const addressesOn = (network: PodNetwork, index: number) => {
      const has = known(network, index);
      if (has !== undefined) return has;
      const key = claimKey(ownerOfWorkload(value), claimOfIndex(index, network.nic));
      throw new IpamError("stale", `no address of network ${network.definition} is recorded for ${key}`);
    };
    const map = podAddresses(value, addressesOn);
    return [map, withPlannedPods(source.object, map)];
  };
  const instead = new Map<SourceObject, readonly RenderedObject[]>([
    ...model.sources.map((source) => [source, [asRendered(source.object)]] as const),
    ...model.workloads.map((one) => [one.source, rendered(one)] as const),
  ]);
  const left = snapshot.releasing.filter((line) => line.set === set).map((line): Left => ({ line, why: mayRun }));
  return { instead, added: [], left };
}

const mayRun = "its pod may still run";
