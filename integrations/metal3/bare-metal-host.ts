import { asBag, type Bag } from "../../schema/objects.ts";
import { kindInGroup } from "../object-key.ts";

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
}

export function hostState({ metadata, spec, status }: Bag): HostState {
  const { name, namespace, deletionTimestamp } = asBag(metadata) ?? {};
  const { networkData, preprovisioningNetworkDataName: early, automatedCleaningMode } = asBag(spec) ?? {};
  const reference = asBag(networkData);
  return {
    name: `${name}`,
    namespace: `${namespace}`,
    isEnding: deletionTimestamp !== undefined,
    networkData: reference && { name: `${reference.name}`, namespace: `${reference.namespace ?? namespace}` },
    early: typeof early === "string" ? early : undefined,
    state: `${asBag(asBag(status)?.provisioning)?.state ?? ""}`,
    isCleaned: automatedCleaningMode !== "disabled",
  };
}

/** The Secrets, in its namespace, and the host itself, by whose names an address may be on it. */
export function namesIn({ name, networkData, early }: HostState): string[] {
  return [...new Set([name, ...(networkData === undefined ? [] : [networkData.name]), ...(early ? [early] : [])])];
}

/**
 * May an address that is in the network data of a Secret of this name be on a host? When in doubt, it may.
 *
 *  the host                                            | it
 *  ----------------------------------------------------+-----------
 *  has another name, and does not name the Secret      | cannot be
 *  names the Secret                                    | may be
 *  is provisioned, or in any state but available       | may be
 *  is available, and its disks are not wiped           | may be
 *  is available, or ready as that was called before    | cannot be
 */
export function mayUse(host: HostState, name: string): boolean {
  const isNamed = host.networkData?.name === name || host.early === name;
  if (isNamed || host.name !== name) return isNamed;
  return !host.isCleaned || (host.state !== "available" && host.state !== "ready");
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
