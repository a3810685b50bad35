import type { Allocation } from "../core/index.ts";
import { capi } from "../integrations/capi/capi.ts";
import type { ClusterApiVersion } from "../integrations/contract/cluster-api.ts";
import type { FreeingNodes } from "../integrations/contract/freeing-nodes.ts";
import type { Integration } from "../integrations/contract/integration.ts";
import type { Reconciler } from "../integrations/contract/reconciler.ts";
import { ipamClaimsAndPods } from "../integrations/ipamclaim/claims-and-pods.ts";
import { ipamClaimsInCluster } from "../integrations/ipamclaim/claims-in-cluster.ts";
import { ipamclaim } from "../integrations/ipamclaim/ipamclaim.ts";
import { virtualMachines } from "../integrations/ipamclaim/vm-in-cluster.ts";
import { metal3 } from "../integrations/metal3/metal3.ts";
import { metal3InCluster } from "../integrations/metal3/metal3-in-cluster.ts";
import { nmstate } from "../integrations/nmstate/nmstate.ts";
import { slicesInCluster } from "../integrations/whereabouts/slices-in-cluster.ts";
import { whereabouts } from "../integrations/whereabouts/whereabouts.ts";
import { freedPods } from "../integrations/workload/freed-pods.ts";
import { podDelivery } from "../integrations/workload/pod-delivery.ts";
import { workload } from "../integrations/workload/workload.ts";
import { workloadsInCluster } from "../integrations/workload/workload-in-cluster.ts";
import type { ReadKind } from "../schema/manifest-document.ts";

/** Every foreign system that nodeippool knows. A new one is a folder in integrations/, and a line here. */
export const integrations: Integration[] = [
  nmstate,
  metal3 as Integration,
  whereabouts as Integration,
  ipamclaim as Integration,
  workload as Integration,
];

/** The kinds of objects that they read. */
export function readKinds(known: readonly Integration[] = integrations): ReadKind[] {
  return known.flatMap(({ reads }) => reads);
}

/** What the controller is asked to serve besides. */
interface AskedInCluster {
  /** The claims of Cluster API, at this version. */
  readonly clusterApi?: ClusterApiVersion | undefined;
  /** The bare-metal hosts of this namespace. */
  readonly metal3?: string | undefined;
  /** Networks with node slices, whose NodeSlicePools are in this namespace. */
  readonly nodeSlices?: string | undefined;
  /** IPAMClaims on networks that take addresses from NodeIPPools. */
  readonly ipamClaims?: boolean | undefined;
  /** The lives of the IPAMClaims of VMs. */
  readonly vmClaims?: boolean | undefined;
  /** The pods of VMs, which are told their addresses. */
  readonly vmAddresses?: boolean | undefined;
  /** The pods of StatefulSets, Deployments and others: addresses for them, in a ConfigMap each, which are written into them. */
  readonly workloadAddresses?: boolean | undefined;
  /** Of these, pods that never end: on which nodes their addresses are free, so many milliseconds after they should have. */
  readonly freeTerminating?: FreeingNodes | undefined;
  readonly freeTerminatingAfter?: number | undefined;
}

/** What it sees to besides, where no addresses are decided. */
export function reconcilersInCluster(asked: AskedInCluster): Reconciler[] {
  const { vmClaims = false, vmAddresses = false, workloadAddresses = false } = asked;
  const { freeTerminating = "never", freeTerminatingAfter = 60_000 } = asked;
  return [
    ...(vmClaims || vmAddresses ? [virtualMachines({ claims: vmClaims, addresses: vmAddresses })] : []),
    ...(workloadAddresses ? [podDelivery] : []),
    ...(workloadAddresses && freeTerminating !== "never" ? [freedPods(freeTerminating, freeTerminatingAfter)] : []),
  ];
}

/** Those that the controller serves: what is made at run time, too, if it is asked for. */
export function integrationsInCluster({
  clusterApi,
  metal3: hosts,
  nodeSlices,
  ipamClaims,
  vmAddresses,
  workloadAddresses,
}: AskedInCluster): Integration[] {
  const asked = [
    ...(clusterApi === undefined ? [] : [capi(clusterApi) as Integration]),
    ...(hosts === undefined ? [] : [metal3InCluster(hosts) as Integration]),
    ...(nodeSlices === undefined ? [] : [slicesInCluster(nodeSlices) as Integration]),
    ...(ipamClaims ? [(vmAddresses ? ipamClaimsAndPods : ipamClaimsInCluster) as Integration] : []),
    ...(workloadAddresses ? [workloadsInCluster as Integration] : []),
  ];
  return [...integrations, ...asked].filter(({ inCluster }) => inCluster !== undefined);
}

/** When a line that is releasing may be freed, in the words of whose it is; undefined where nodes report it, or nobody says. */
export function freeOnce({ claim }: Pick<Allocation, "claim">): string | undefined {
  return integrations.find(({ isClaim }) => isClaim(claim))?.freeOnce;
}

/** The kinds whose objects tell of somebody's addresses. */
export function tellingKinds(): string[] {
  return integrations.flatMap(({ usedIn }) => usedIn);
}

/** A word for each of these objects that their text has in it, and few others. */
export function tellingWords(): string[] {
  return integrations.flatMap(({ usedIn, usedMarks }) => usedMarks ?? usedIn);
}

/** May a text tell of somebody's addresses? One that names none of the kinds need not be parsed. */
export function tellsAddresses(text: string): boolean {
  return integrations.some(
    ({ usedIn, usedMarks = [""] }) =>
      usedMarks.some((mark) => text.includes(mark)) && usedIn.some((kind) => text.includes(kind)),
  );
}
