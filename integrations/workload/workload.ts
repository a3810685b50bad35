import { type Claim, IpamError, type Issue, type Pool } from "../../core/index.ts";
import type { SourceObject } from "../../schema/manifest-document.ts";
import { issueIn } from "../../schema/objects.ts";
import { attachmentGroup, attachmentKind, attachmentPlural } from "../attachment-definition.ts";
import type { Facts, Holdings, Integration, Left, ReadObjects, Rendered, RenderedObject } from "../integration.ts";
import { type ReadObject, readEach } from "../read-each.ts";
import { type BoundNetwork, isBound, poolsOfBound, readBound } from "./bound-network.ts";
import { isPodAddresses, podAddresses, usesOfPodAddresses, withPlannedPods } from "./pod-addresses.ts";
import {
  claimOfPod,
  hasNetworks,
  networksPath,
  ownerOfSet,
  parseStatefulSet,
  type StatefulSet,
  statefulSetKind,
} from "./stateful-set.ts";

/** The StatefulSets, and the networks that take addresses from pools. */
interface WorkloadModel {
  readonly sets: readonly ReadObject<StatefulSet>[];
  /** By the NetworkAttachmentDefinition, as `namespace/name`. */
  readonly networks: ReadonlyMap<string, BoundNetwork>;
}

/** Fixed addresses of pods: each pod of a StatefulSet has one of its own on each network that takes addresses from NodeIPPools. */
export const workload: Integration<WorkloadModel> = {
  name: "workload",
  reads: [
    {
      group: "apps",
      kind: statefulSetKind,
      plural: "statefulsets",
      owns: hasNetworks,
      mark: /cni\.cncf\.io\/networks/,
      runsAsIs: true,
    },
    {
      group: attachmentGroup,
      kind: attachmentKind,
      plural: attachmentPlural,
      owns: isBound,
      mark: /nodeippool\.nmstate\.io\/pool/,
      runsAsIs: true,
    },
  ],
  usedIn: ["ConfigMap"],
  usedMark: "nodeippool.nmstate.io/statefulset",
  read: readModel,
  claims: ({ sets, networks }, facts) => sets.flatMap((one) => claimsOfSet(one, networks, facts)),
  isClaim: (claim) => claim.startsWith(`${statefulSetKind}/`),
  render: renderSets,
  uses: () => (located, found) => {
    if (isPodAddresses(located.object)) usesOfPodAddresses(located, found);
  },
  freeOnce: "its pod is gone (kubectl get pods -A)",
};

function readModel({ owned }: ReadObjects) {
  const sets = readEach(
    owned.filter(({ object }) => hasNetworks(object)),
    parseStatefulSet,
  );
  if (sets.issues) return sets;
  const networks = owned.flatMap(({ object }) => (isBound(object) ? readBound(object) : []));
  return { value: { sets: sets.value, networks: new Map(networks.map((one) => [one.title, one])) } };
}

/**
 * One claim for each pod, network and family. Throws IpamError `invalid` where a network gives none.
 *
 *  a network of the pods        | they get
 *  -----------------------------+---------------------------------------------------
 *  is bound to NodeIPPools      | an address of each of them
 *  the same, and writes out ips | an error: all pods would have the same ones
 *  any other                    | from whoever gave them before
 */
function claimsOfSet(
  { value: set, source }: ReadObject<StatefulSet>,
  networks: WorkloadModel["networks"],
  facts: Facts,
): Claim[] {
  const fail = (issue: Issue): never => {
    throw new IpamError("invalid", [issueIn(source, { ...issue, path: networksPath })]);
  };
  return set.networks.flatMap(({ definition, nic, element }) => {
    const network = networks.get(definition);
    if (network === undefined) return [];
    if (element.ips !== undefined)
      return fail({
        message: `network ${definition} writes out ips, which all pods of the set would have`,
        hint: "Leave them out; reserve addresses in the pool instead.",
      });
    const pools = poolsOfBound(network, facts);
    if ("message" in pools) return fail(pools);
    return set.ordinals.flatMap((ordinal) =>
      pools.map((pool): Claim => ({ owner: ownerOfSet(set), name: claimOfPod(ordinal, nic), pool: pool.name })),
    );
  });
}

/** Before a StatefulSet come the addresses of its pods; deploy/pod-addresses has the API server write them into these. */
function renderSets({ sets, networks }: WorkloadModel, facts: Facts, { snapshot, set }: Holdings): Rendered {
  const lines = new Map(snapshot.allocations.map((line) => [`${line.pool} ${line.claim}`, line]));
  const poolsOf = (definition: string): readonly Pool[] => {
    const network = networks.get(definition);
    const pools = network && poolsOfBound(network, facts);
    return pools === undefined || "message" in pools ? [] : pools;
  };
  const served = sets.filter(({ value }) => value.networks.some(({ definition }) => networks.has(definition)));
  const instead = new Map<SourceObject, readonly RenderedObject[]>(
    served.map(({ value, source }) => [source, [podAddresses(value, poolsOf, lines), withPlannedPods(source.object)]]),
  );
  for (const { source } of sets)
    if (!instead.has(source)) instead.set(source, [source.object as unknown as RenderedObject]);
  const left = snapshot.releasing.filter((line) => line.set === set).map((line): Left => ({ line, why: mayRun }));
  return { instead, added: [], left };
}

const mayRun = "its pod may still run";
