import {
  type Allocation,
  claimKey,
  formatAddress,
  IpamError,
  ownerOfKey,
  parseAddress,
  parseOwner,
} from "../../core/index.ts";
import type { Findings } from "../../schema/findings.ts";
import type { ReadKind, SourceObject } from "../../schema/manifest-document.ts";
import type { Bag, LocatedObject } from "../../schema/objects.ts";
import {
  type Aliases,
  asRendered,
  type Facts,
  type Holdings,
  type Integration,
  type Left,
  type ReadObjects,
  type Rendered,
} from "../contract/integration.ts";
import { readApart } from "../contract/read-each.ts";
import type { UnreadObject } from "../contract/unserved.ts";
import { attachmentGroup, attachmentKind, attachmentPlural, configText } from "../networks/attachment-definition.ts";
import { claimNameOf, vmOfClaimName } from "./claim-name.ts";
import { poolsFor, servedRequests } from "./claims.ts";
import {
  ipamClaim,
  ipamClaimKind,
  isIpamClaim,
  ownerOfIpamClaim,
  parseIpamClaim,
  usesOfIpamClaim,
} from "./ipam-claim.ts";
import { mayPersist, parsePersistentNetwork } from "./network.ts";
import { type Networks, persistentNetworks } from "./networks.ts";
import { type AddressRequest, requestsOf } from "./requests.ts";
import { unservedClaims } from "./unserved-claims.ts";
import { isOnNetworks, isVm, parseVm, vmGroup, vmiKind, vmKind } from "./virtual-machine.ts";

/** The networks that keep addresses, who asks for some, and all objects that were read. */
interface IpamClaimModel {
  readonly networks: Networks;
  readonly requests: readonly AddressRequest[];
  /** What cannot be read, or contradicts others. */
  readonly unread: readonly UnreadObject[];
  readonly sources: readonly SourceObject[];
}

/** Persistent addresses of VMs: each VM on a network that keeps addresses has an IPAMClaim with its own, whether it runs or not. */
export const ipamclaim: Integration<IpamClaimModel> = {
  name: "ipamclaim",
  reads: [
    read(
      attachmentGroup,
      attachmentKind,
      attachmentPlural,
      mayPersist,
      /allowPersistentIPs|nodeippool\.nmstate\.io\/pool/,
    ),
    read(vmGroup, vmKind, "virtualmachines", isOnNetworks, /networkName/),
    read(vmGroup, vmiKind, "virtualmachineinstances", isOnNetworks, /networkName/),
    read(attachmentGroup, ipamClaimKind, "ipamclaims", isIpamClaim, /kind: IPAMClaim/),
  ],
  read: readModel,
  pools: ({ networks }) => networks.pools,
  unserved: (model, facts) => unservedClaims([...model.unread, ...served(model, facts).unread], model.sources),
  claims: (model, facts) => served(model, facts).claims,
  isClaim: (claim) => claim.startsWith(`${ipamClaimKind}/`),
  render: renderClaims,
  uses: [
    { kind: ipamClaimKind, reader: () => usesOfIpamClaim },
    { kind: attachmentKind, reader: () => usesOfDefinition },
  ],
  aliases,
  explain: { freeOnce: "its IPAMClaim is gone (kubectl get ipamclaims -A)" },
};

function read(group: string, kind: string, plural: string, owns: ReadKind["owns"], mark: RegExp): ReadKind {
  return { group, kind, plural, owns, mark, runsAsIs: true };
}

/** Returns whether an object is ours; definitions of other networks are not. */
function isOwn(object: Bag): boolean {
  return mayPersist(object) || isVm(object) || isIpamClaim(object);
}

function readModel({ owned }: ReadObjects): { readonly value: IpamClaimModel } {
  const sources = owned.filter(({ object }) => isOwn(object));
  const definitions = readApart(
    sources.filter(({ object }) => mayPersist(object)),
    parsePersistentNetwork,
  );
  const vms = readApart(
    sources.filter(({ object }) => isVm(object)),
    parseVm,
  );
  const written = readApart(
    sources.filter(({ object }) => isIpamClaim(object)),
    parseIpamClaim,
  );
  const persistent = definitions.read.flatMap(({ value, source }) => (value ? [{ value, source }] : []));
  const { networks, unread } = persistentNetworks(persistent);
  const asked = requestsOf(networks, vms.read, written.read);
  return {
    value: {
      networks,
      requests: asked.requests,
      unread: [...definitions.unread, ...unread, ...vms.unread, ...written.unread, ...asked.unread],
      sources,
    },
  };
}

function served({ networks, requests }: IpamClaimModel, facts: Facts) {
  return servedRequests(networks, requests, facts);
}

/** Each object stands for itself, with the claims that a VM asks for behind it; a claim that is written gets its addresses. */
function renderClaims(model: IpamClaimModel, facts: Facts, { snapshot, set }: Holdings): Rendered {
  const lines = new Map(snapshot.allocations.map((line) => [`${line.pool} ${line.claim}`, line]));
  const instead = new Map(model.sources.map((source) => [source, [asRendered(source.object)]]));
  for (const request of served(model, facts).requests) {
    const { claim, podInterface, source, written } = request;
    const object = ipamClaim(claim, podInterface, addressesOf(request, facts, lines), written?.object);
    if (written !== undefined) instead.set(written, [object]);
    else instead.get(source)?.push(object);
  }
  const left = snapshot.releasing.filter((line) => line.set === set).map((line): Left => ({ line, why: mayBeUsed }));
  return { instead, added: [], left };
}

const mayBeUsed = "its VM may still have it";

function addressesOf(
  { claim, network }: AddressRequest,
  facts: Facts,
  lines: ReadonlyMap<string, Allocation>,
): string[] {
  return poolsFor(network, facts).map((pool) => {
    const key = claimKey(ownerOfIpamClaim(claim), pool.name);
    const line = lines.get(`${pool.name} ${key}`);
    if (line === undefined)
      throw new IpamError("stale", `no address of pool ${pool.name} is recorded for ${ownerOfKey(key)}`);
    return `${formatAddress(line.address)}/${pool.prefix.length}`;
  });
}

/** Adds the addresses that a definition names, such as those of its subnets and exclusions, as addresses that no owner has. */
function usesOfDefinition({ object }: LocatedObject, found: Findings): void {
  if (!mayPersist(object)) return;
  found.speaks = true;
  for (const word of configText(object).split(/[^\dA-Fa-f.:]+/)) {
    const address = parseAddress(word).value;
    if (address !== undefined) found.idle.add(address);
  }
}

/** Returns the names of the VM that a claim is for, because lists of VMs have no names of claims. The network selects one of its claims. */
function aliases(owner: string): Aliases | undefined {
  const { kind, namespace, name } = parseOwner(owner).value ?? {};
  const vm = kind === ipamClaimKind && name !== undefined ? vmOfClaimName(name) : undefined;
  if (vm === undefined) return undefined;
  return {
    names: [`${vmKind}/${namespace}:${vm}`, `${namespace}/${vm}`, `Node/${vm}`],
    isNic: (nic) => claimNameOf(vm, nic) === name,
  };
}
