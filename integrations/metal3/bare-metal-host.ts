import type { Bag } from "../../schema/objects.ts";
import { kindInGroup } from "../contract/object-key.ts";
import { usedAnnotation } from "./objects.ts";
import { asBareMetalHost } from "./views.ts";

export const hostGroup = "metal3.io";
export const hostKind = "BareMetalHost";

/** The key of the BareMetalHost of this name. */
export function keyOfHost(namespace: string, name: string): string {
  return `${kindInGroup(hostKind, hostGroup)}/${namespace}:${name}`;
}

/** What a BareMetalHost says of itself, as far as addresses depend on it. */
interface HostState {
  readonly name: string;
  readonly namespace: string;
  readonly isEnding: boolean;
  /** The Secret that its network data is in. */
  readonly networkData: { readonly name: string; readonly namespace: string } | undefined;
  /** The same for the time before it is provisioned. */
  readonly early: string | undefined;
  /** Where its provisioning stands, in the operator's words. */
  readonly state: string;
  /** Are its disks wiped before somebody else gets it? */
  readonly isCleaned: boolean;
  /** Secrets of other hosts that it named since it was available last, as the controller has seen it. */
  readonly used: readonly string[];
}

export function hostState(host: Bag): HostState {
  const { metadata, spec, status } = asBareMetalHost(host);
  const { name, namespace, deletionTimestamp, annotations } = metadata;
  const { networkData: reference, preprovisioningNetworkDataName: early, automatedCleaningMode } = spec;
  return {
    name: `${name}`,
    namespace: `${namespace}`,
    isEnding: deletionTimestamp !== undefined,
    networkData: reference && { name: `${reference.name}`, namespace: `${reference.namespace ?? namespace}` },
    early: typeof early === "string" ? early : undefined,
    state: `${status.provisioning.state ?? ""}`,
    isCleaned: automatedCleaningMode !== "disabled",
    used: `${annotations[usedAnnotation] ?? ""}`.split(",").filter((name) => name !== ""),
  };
}

/** The Secrets that it names. */
function named({ networkData, early }: HostState): string[] {
  return [networkData?.name, early].filter((name) => name !== undefined);
}

/** The Secrets, in its namespace, and the host itself, by whose names an address may be on it. */
export function namesIn(host: HostState): string[] {
  return [...new Set([host.name, ...named(host), ...host.used])];
}

/** Has nothing that it was provisioned with? It is available, or ready as that was called before, and its disks are wiped. */
function isBlank({ isCleaned, state }: HostState): boolean {
  return isCleaned && (state === "available" || state === "ready");
}

/**
 * May a host have an address that was in the Secret of this name, and is not any more? When in doubt, it may. Metal3 reads
 * `networkData` when it provisions a host and not again: what a provisioned host names now is not what it has. The network
 * data of its ramdisk is read more often, and nobody tells when.
 *
 *  the Secret   | the host                                                    | it
 *  -------------+-------------------------------------------------------------+-----------
 *  any          | names it for its ramdisk                                    | may
 *  is gone      | names it: what brings the Secret back brings the address    | may
 *  any          | has its name, names it, or did since it was available last: |
 *               |   is in any state but available                             | may
 *               |   is available, and its disks are not wiped                 | may
 *               |   is available, or ready as that was called before          | may not
 *  any          | else                                                        | may not
 */
export function mayUse(host: HostState, name: string, isThere: boolean): boolean {
  const isNamed = named(host).includes(name);
  if (host.early === name || (isNamed && !isThere)) return true;
  return (isNamed || host.name === name || host.used.includes(name)) && !isBlank(host);
}

/** What is to be remembered of a host: the Secrets of other hosts that it may have been provisioned with. */
export function usedBy(host: HostState, isOfHost: (secret: string) => boolean): string[] {
  const now = named(host).filter((name) => name !== host.name && isOfHost(name));
  return [...new Set([...(isBlank(host) ? [] : host.used), ...now])].sort();
}

/** What is to become of a host's network data. */
type Link = "none" | "set" | "refuse";

/**
 * What is done about the network data of a host, whose Secret has its name.
 *
 *  its Secret                      | it names         | to do
 *  --------------------------------+------------------+--------------------------------
 *  is not there, or somebody else's| anything         | none
 *  is there                        | none             | set, unless it is being deleted
 *  is there                        | that one         | none
 *  is there                        | another one      | refuse: that is somebody's word
 */
export function linkOf(host: HostState, hasSecret: boolean): Link {
  const { name, namespace, networkData, isEnding } = host;
  if (!hasSecret || isEnding) return "none";
  if (networkData === undefined) return "set";
  return networkData.name === name && networkData.namespace === namespace ? "none" : "refuse";
}
