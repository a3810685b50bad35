import { capi } from "../integrations/capi/capi.ts";
import type { ClusterApiVersion } from "../integrations/cluster-api.ts";
import type { Integration } from "../integrations/integration.ts";
import { metal3 } from "../integrations/metal3/metal3.ts";
import { nmstate } from "../integrations/nmstate/nmstate.ts";
import type { ReadKind } from "../schema/manifest-document.ts";

/** Every foreign system that nodeippool knows. A new one is a folder in integrations/, and a line here. */
export const integrations: Integration[] = [nmstate, metal3 as Integration];

/** The kinds of objects that they read. */
export function readKinds(known: readonly Integration[] = integrations): ReadKind[] {
  return known.flatMap(({ reads }) => reads);
}

/** Those that the controller serves: what is made at run time, too, if it is asked for. */
export function integrationsInCluster(asked: { readonly clusterApi?: ClusterApiVersion | undefined }): Integration[] {
  const { clusterApi } = asked;
  const atRunTime = clusterApi === undefined ? [] : [capi(clusterApi) as Integration];
  return [...integrations, ...atRunTime].filter(({ inCluster }) => inCluster !== undefined);
}

/** The kinds whose objects tell of somebody's addresses. */
export function tellingKinds(): string[] {
  return integrations.flatMap(({ usedIn }) => usedIn);
}

/** A word for each of these objects that their text has in it, and few others. */
export function tellingWords(): string[] {
  return integrations.flatMap(({ usedIn, usedMark }) => usedMark ?? usedIn);
}

/** May a text tell of somebody's addresses? One that names none of the kinds need not be parsed. */
export function tellsAddresses(text: string): boolean {
  return integrations.some(
    ({ usedIn, usedMark = "" }) => text.includes(usedMark) && usedIn.some((kind) => text.includes(kind)),
  );
}
