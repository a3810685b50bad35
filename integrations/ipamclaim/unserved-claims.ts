import { formatOwner, ownerOfKey } from "../../core/index.ts";
import type { SourceObject } from "../../schema/manifest-document.ts";
import type { Bag } from "../../schema/objects.ts";
import { nameOf, namespaceOf } from "../contract/object-metadata.ts";
import type { UnreadObject, Unserved } from "../contract/unserved.ts";
import { attachmentKind, attachmentTitle, parseNetworkConfig } from "../networks/attachment-definition.ts";
import { boundPools } from "../networks/bound-pools.ts";
import { claimNameOf } from "./claim-name.ts";
import { isIpamClaim, ownerOfIpamClaim, parseIpamClaim } from "./ipam-claim.ts";
import { mayPersist } from "./network.ts";
import { attachmentsOf, isVm } from "./virtual-machine.ts";

/** A request of a VM or of an IPAMClaim: the definition that the VM names, or the name of the network in its CNI configuration. */
interface Asking {
  readonly source: SourceObject;
  readonly owner: string;
  readonly definition?: string;
  readonly network?: string;
}

/**
 * Returns the objects that cannot be served.
 *
 *  it is                        | it asks                           | may have the addresses of
 *  -----------------------------+-----------------------------------+-----------------------------------------
 *  a network                    | if it names NodeIPPools, or a VM  | the VMs and IPAMClaims on it
 *                               |  or IPAMClaim is on it            |
 *  a VM, or an IPAMClaim        | if it is on a network that keeps  | its claims
 *                               |  addresses                        |
 */
export function unservedClaims(unread: readonly UnreadObject[], sources: readonly SourceObject[]): Unserved[] {
  const asking = sources.flatMap(askingIn);
  const definitions = sources.filter(({ object }) => mayPersist(object)).map(({ object }) => object);
  return unread.map(({ source, issues }) => {
    const { object } = source;
    const isNetwork = object.kind === attachmentKind;
    const own = asking.filter((one) => (isNetwork ? isOn(one, object, true) : one.source === source));
    const owners = new Set(own.map(({ owner }) => owner));
    const isKept = own.some((one) => definitions.some((definition) => isOn(one, definition, false)));
    const asks = isNetwork
      ? boundPools(object) !== undefined || asking.some((one) => isOn(one, object, false))
      : isKept;
    return { issues, asks, mayHave: (claim) => owners.has(ownerOfKey(claim)) };
  });
}

function askingIn(source: SourceObject): Asking[] {
  const { object } = source;
  const namespace = namespaceOf(object);
  const ownerOf = (name: string) => formatOwner(ownerOfIpamClaim({ name, namespace }));
  if (isVm(object))
    return attachmentsOf(object).map(({ network, definition }) => ({
      source,
      owner: ownerOf(claimNameOf(nameOf(object), network)),
      definition,
    }));
  if (!isIpamClaim(object)) return [];
  const network = parseIpamClaim(object).value?.network;
  return [{ source, owner: ownerOf(nameOf(object)), ...(network === undefined ? {} : { network }) }];
}

/** Returns whether a VM or an IPAMClaim is on a network; `ifUnknown` for an IPAMClaim, where the name of the network cannot be read. */
function isOn({ definition, network }: Asking, object: Bag, ifUnknown: boolean): boolean {
  if (definition !== undefined) return definition === attachmentTitle(object);
  const { value } = parseNetworkConfig(object);
  if (network === undefined) return false;
  return value === undefined ? ifUnknown : value.network === network;
}
