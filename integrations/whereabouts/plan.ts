import { byCodeUnit, claimKey, IpamError, identityOf, nameOfKey, parseAddress } from "../../core/index.ts";
import type { Findings } from "../../schema/findings.ts";
import type { SourceObject } from "../../schema/manifest-document.ts";
import type { LocatedObject } from "../../schema/objects.ts";
import type { Facts, Holdings, Integration, Left, Rendered } from "../contract/integration.ts";
import { asRendered } from "../contract/integration.ts";
import { metadataOf } from "../contract/object-metadata.ts";
import type { UnreadObject, Unserved } from "../contract/unserved.ts";
import { attachmentKind, configPath } from "../networks/attachment-definition.ts";
import { asAttachmentDefinition } from "../networks/objects.ts";
import { namesSlices } from "./attachment.ts";
import { isSlicePool, nodeSlicePool, readSlicePool, slicePoolKind, slicePoolReads } from "./node-slice-pool.ts";
import {
  attachmentReads,
  claimsOnNetwork,
  idleDefinitions,
  isSliceClaim,
  type SliceNetwork,
  sliceNetworks,
} from "./slice-network.ts";

/** Networks with slices, and all objects that were read. */
interface WhereaboutsModel {
  readonly networks: readonly SliceNetwork[];
  /** Definitions that cannot be read, or contradict each other. */
  readonly unread: readonly UnreadObject[];
  readonly sources: readonly SourceObject[];
}

/** Whereabouts: each node gets a slice of the range of each network, where its CNI plugin finds it: in a NodeSlicePool. */
export const whereabouts: Integration<WhereaboutsModel> = {
  name: "whereabouts",
  reads: [attachmentReads, slicePoolReads],
  read: ({ owned }) => {
    const sources = owned.filter(({ object }) => namesSlices(object) || isSlicePool(object));
    return { value: { ...sliceNetworks(owned), sources } };
  },
  unserved: unservedNetworks,
  pools: ({ networks }) =>
    networks.map(({ pool, spec, attachments: [{ source }] }) => ({ pool, spec, at: source.at(configPath, pool.name) })),
  claims: ({ networks }, facts) => networks.flatMap((network) => claimsOnNetwork(network, facts)),
  isClaim: isSliceClaim,
  render: renderSlices,
  uses: [
    { kind: slicePoolKind, reader: () => readSlicePool },
    { kind: attachmentKind, reader: () => usesOfDefinition },
  ],
  explain: {
    idle: ({ networks }, facts) => idleDefinitions(networks, facts),
    freeOnce: "its IPPool has no allocations (kubectl get ippools -A -o yaml)",
  },
};

/** Each object stands for itself; beside the first definition of a network, or in place of a NodeSlicePool that is there, is its NodeSlicePool. */
function renderSlices({ networks, sources }: WhereaboutsModel, facts: Facts, { snapshot, set }: Holdings): Rendered {
  const held = new Set(snapshot.allocations.map(identityOf));
  const lacking = networks
    .flatMap((network) => claimsOnNetwork(network, facts))
    .find(({ owner, name, pool }) => !held.has(identityOf({ pool, claim: claimKey(owner, name) })));
  if (lacking !== undefined)
    throw new IpamError("stale", `no slice of network ${lacking.pool} is recorded for node ${lacking.owner.name}`);
  const instead = new Map(sources.map((source) => [source, [asRendered(source.object)]]));
  const written = new Map(
    sources
      .filter(({ object }) => isSlicePool(object))
      .toSorted((a, b) => byCodeUnit(namespaceOf(b), namespaceOf(a)))
      .map((source) => [metadataOf(source.object).name, source]),
  );
  for (const network of networks) {
    const own = written.get(network.pool.name);
    const object = nodeSlicePool(network, snapshot, own?.object);
    if (own !== undefined) instead.set(own, [object]);
    else instead.get(network.attachments[0].source)?.push(object);
  }
  const left = snapshot.releasing.filter((line) => line.set === set).map((line): Left => ({ line, why: mayBeUsed }));
  return { instead, added: [], left };
}

/** Networks whose nodes get no slice. Which network one is cannot be read: nodes keep the slices of all that are not defined here. */
function unservedNetworks({ networks, unread }: WhereaboutsModel): Unserved[] {
  const defined = new Set(networks.map(({ pool }) => pool.name));
  const mayHave = (claim: string) => isSliceClaim(claim) && !defined.has(nameOfKey(claim));
  return unread.map(({ issues }) => ({ issues, asks: true, mayHave }));
}

function namespaceOf({ object }: SourceObject): string {
  return `${metadataOf(object).namespace}`;
}

const mayBeUsed = "its pods may have addresses of it";

/** Adds the addresses that a definition names, such as those of its range and exclusions, as addresses that no owner has. */
function usesOfDefinition({ object }: LocatedObject, found: Findings): void {
  if (!namesSlices(object)) return;
  found.speaks = true;
  for (const word of `${asAttachmentDefinition(object).spec.config}`.split(/[^\dA-Fa-f.:]+/)) {
    const address = parseAddress(word).value;
    if (address !== undefined) found.idle.add(address);
  }
}
