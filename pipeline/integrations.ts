import type { Allocation } from "../core/index.ts";
import { capiSystem } from "../integrations/capi/system.ts";
import type { ClusterIntegration } from "../integrations/contract/cluster-integration.ts";
import type { Integration, UseKind } from "../integrations/contract/integration.ts";
import type { Reconciler } from "../integrations/contract/reconciler.ts";
import type { AskedInCluster, System } from "../integrations/contract/system.ts";
import { ipamClaimSystem } from "../integrations/ipamclaim/system.ts";
import { metal3System } from "../integrations/metal3/system.ts";
import { nmstateSystem } from "../integrations/nmstate/system.ts";
import { whereaboutsSystem } from "../integrations/whereabouts/system.ts";
import { workloadSystem } from "../integrations/workload/system.ts";
import type { ReadKind } from "../schema/manifest-document.ts";

/** Every foreign system that nodeippool knows. A new one is a folder in integrations/, and a line here. */
const systems: readonly System[] = [
  nmstateSystem,
  capiSystem,
  metal3System,
  whereaboutsSystem,
  ipamClaimSystem,
  workloadSystem,
];

/** What every surface knows of them. */
export const integrations: Integration[] = systems.flatMap(({ plan }) => plan ?? []);

/** The kinds of objects that they read. */
export function readKinds(known: readonly Integration[] = integrations): ReadKind[] {
  return known.flatMap(({ reads }) => reads);
}

/** What the controller allocates for; `more` are systems beside those that nodeippool knows. */
export function integrationsInCluster(asked: AskedInCluster, more: readonly System[] = []): ClusterIntegration[] {
  return [...systems, ...more].flatMap(({ inCluster }) => inCluster?.(asked).integration ?? []);
}

/** What it sees to besides, where no addresses are decided. */
export function reconcilersInCluster(asked: AskedInCluster, more: readonly System[] = []): Reconciler[] {
  return [...systems, ...more].flatMap(({ inCluster }) => inCluster?.(asked).reconcilers ?? []);
}

/** When a line that is releasing may be freed, in the words of whose it is; undefined where nodes report it, or nobody says. */
export function freeOnce({ claim }: Pick<Allocation, "claim">): string | undefined {
  return integrations.find(({ isClaim }) => isClaim(claim))?.explain?.freeOnce;
}

/** The kinds whose objects tell of somebody's addresses. */
export function tellingKinds(): string[] {
  return telling().map(({ kind }) => kind);
}

/** A word for each of these objects that their text has in it, and few others. */
export function tellingWords(): string[] {
  return telling().flatMap(({ kind, marks }) => marks ?? [kind]);
}

/** Returns whether a text may have addresses of owners. A text that names none of the kinds is not parsed. */
export function tellsAddresses(text: string): boolean {
  return telling().some(({ kind, marks = [""] }) => text.includes(kind) && marks.some((mark) => text.includes(mark)));
}

/** These kinds; their text tells them apart. */
function telling(): UseKind[] {
  return integrations.flatMap(({ uses }) => uses).filter(({ marks }) => marks?.length !== 0);
}
