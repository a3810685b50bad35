import type { Bag } from "../../schema/objects.ts";
import { kindInGroup } from "../contract/object-key.ts";
import { usedAnnotation } from "./object-parts.ts";
import { asBareMetalHost } from "./objects.ts";

export const hostGroup = "metal3.io";
export const hostKind = "BareMetalHost";

/** Returns the key of the BareMetalHost of this name. */
export function keyOfHost(namespace: string, name: string): string {
  return `${kindInGroup(hostKind, hostGroup)}/${namespace}:${name}`;
}

/** The fields of a BareMetalHost that addresses depend on. */
interface HostState {
  readonly name: string;
  readonly namespace: string;
  readonly isEnding: boolean;
  /** The Secret that its network data is in. */
  readonly networkData: { readonly name: string; readonly namespace: string } | undefined;
  /** The same for the time before it is provisioned. */
  readonly early: string | undefined;
  /** The state of its provisioning, as the operator reports it. */
  readonly state: string;
  /** Metal3 wipes its disks before it is available again. */
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

/** Returns the names of the Secrets that a host names. */
function named({ networkData, early }: HostState): string[] {
  return [networkData?.name, early].filter((name) => name !== undefined);
}

/** Returns the names under which an address may be on a host: its own, and those of Secrets in its namespace. */
export function namesIn(host: HostState): string[] {
  return [...new Set([host.name, ...named(host), ...host.used])];
}

/** Returns whether a host keeps nothing of its provisioning: it is available (formerly `ready`), and its disks are wiped. */
function isBlank({ isCleaned, state }: HostState): boolean {
  return isCleaned && (state === "available" || state === "ready");
}

/**
 * Returns whether a host may have an address that was in the Secret of this name, and no longer is. When in doubt, it may. Metal3
 * reads `networkData` only when it provisions a host, so a provisioned host need not have what it names now. Metal3 reads the network
 * data of the ramdisk more often, and does not report when.
 *
 *  the Secret   | the host                                                    | may use it
 *  -------------+-------------------------------------------------------------+-----------
 *  any          | names it for its ramdisk                                    | yes
 *  is gone      | names it: if the Secret comes back, so does the address     | yes
 *  any          | has its name, names it, or did since it was available last: |
 *               |   is in any state but available                             | yes
 *               |   is available, and its disks are not wiped                 | yes
 *               |   is available (formerly `ready`), and they are wiped       | no
 *  any          | else                                                        | no
 */
export function mayUse(host: HostState, name: string, isThere: boolean): boolean {
  const isNamed = named(host).includes(name);
  if (host.early === name || (isNamed && !isThere)) return true;
  return (isNamed || host.name === name || host.used.includes(name)) && !isBlank(host);
}

/** Returns the Secrets of other hosts that a host may have been provisioned with, for its annotation. */
export function usedBy(host: HostState, isOfHost: (secret: string) => boolean): string[] {
  const now = named(host).filter((name) => name !== host.name && isOfHost(name));
  return [...new Set([...(isBlank(host) ? [] : host.used), ...now])].sort();
}

/** What the controller does with the field `networkData` of a host. */
type Link = "none" | "set" | "refuse";

/**
 * Returns what the controller does with the field `networkData` of a host, whose Secret has the name of the host.
 *
 *  its Secret                      | it names         | to do
 *  --------------------------------+------------------+--------------------------------
 *  is not there, or not of its own | anything         | none
 *  is there                        | none             | set, unless the host is being deleted
 *  is there                        | its Secret       | none
 *  is there                        | another one      | refuse: a user set it
 */
export function linkOf(host: HostState, hasSecret: boolean): Link {
  const { name, namespace, networkData, isEnding } = host;
  if (!hasSecret || isEnding) return "none";
  if (networkData === undefined) return "set";
  return networkData.name === name && networkData.namespace === namespace ? "none" : "refuse";
}
