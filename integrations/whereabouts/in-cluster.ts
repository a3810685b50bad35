import {
  type Address,
  type Allocation,
  type Claim,
  lengthOf,
  nodeNameOf,
  ownerOfKey,
  type Parsed,
  type Use,
} from "../../core/index.ts";
import { partition } from "../../core/partition.ts";
import { emptyFindings } from "../../schema/findings.ts";
import type { SourceObject } from "../../schema/manifest-document.ts";
import type { Bag } from "../../schema/objects.ts";
import type { ClusterIntegration } from "../contract/cluster-integration.ts";
import type { Facts } from "../contract/facts.ts";
import type { Holdings, ReadObjects, Rendered, RenderedObject } from "../contract/integration.ts";
import { ipPoolReads, isInUse, isIPPool, sliceOfIPPool } from "./ip-pool.ts";
import { nodeSlicePool, readSlicePool, slicePoolKind, slicePoolReads } from "./node-slice-pool.ts";
import { slicesPart } from "./recording.ts";
import {
  attachmentReads,
  claimsOnNetwork,
  isSliceClaim,
  nodesOnNetwork,
  readNetworks,
  type SliceNetwork,
} from "./slice-network.ts";

/** Networks with slices, what nodes have by NodeSlicePools of others, and the IPPools that pods have addresses of. */
interface SlicesModel {
  readonly networks: readonly SliceNetwork[];
  readonly listed: readonly Use[];
  readonly used: readonly Bag[];
}

/** The same networks, for the controller: it gives a slice to each node, and writes the NodeSlicePools of this namespace. */
export function slicesInCluster(namespace: string): ClusterIntegration<SlicesModel> {
  return {
    name: "whereabouts",
    reads: [attachmentReads, { ...slicePoolReads, owns: () => false }, ipPoolReads],
    read: readSlices,
    // A definition has no authority: here it is the controller.
    pools: ({ networks }) =>
      networks.map(({ pool, spec, attachments: [{ source }] }) => ({
        pool: { ...pool, authority: "Cluster" },
        spec: { ...spec, authority: "Cluster" },
        at: source.at([], pool.name),
      })),
    claims: (model, facts) =>
      model.networks.flatMap((network) => {
        const kept = nodesOfOtherSize(network, model.listed);
        return claimsOfNodes(network, model, facts).filter(({ owner }) => !kept.has(owner.name));
      }),
    isClaim: isSliceClaim,
    render: (model, facts, holdings) => renderPools(model, namespace, facts, holdings),
    uses: [{ kind: slicePoolKind, reader: () => readSlicePool }],
    ...slicesPart(namespace),
  };
}

function readSlices({ owned, others }: ReadObjects): Parsed<SlicesModel> {
  const networks = readNetworks(owned);
  if (networks.issues) return networks;
  const found = emptyFindings();
  for (const one of others) readSlicePool(one, found);
  const used = others.map(({ object }) => object).filter((object) => isIPPool(object) && isInUse(object));
  return { value: { networks: networks.value, listed: found.uses, used } };
}

/**
 * Returns the nodes to which another controller gave a slice of another size. The record cannot have that slice, and the nodes get no other
 * one beside it: while it is listed, their pods have addresses of it.
 */
function nodesOfOtherSize({ pool }: SliceNetwork, listed: readonly Use[]): ReadonlySet<string> {
  const isOther = (use: Use) => use.pool === pool.name && lengthOf(use) !== pool.blockLength;
  return new Set(listed.filter(isOther).flatMap(({ owner = "" }) => nodeNameOf(owner) ?? []));
}

/**
 * Returns the nodes that ask for a slice of a network: those that a definition selects, and others that have one already, as uses show.
 *
 *  a definition | the NodeSlicePool   | its IPPool has     | the node asks for
 *   selects it  | of others lists it  | addresses          |
 *  -------------+---------------------+--------------------+------------------------------------------------
 *  yes          | any                 | any                | a slice: what is listed, or that of the IPPool
 *  no           | yes                 | any                | what is listed
 *  no           | no                  | yes                | the slice of the IPPool
 *  no           | no                  | of another size    | what it has on record, or the slice that holds that
 *  no           | no                  | no                 | nothing
 *
 * If a node that no definition selects has a slice, the controller records it: another controller gave it, or the record was lost. If the
 * node is gone, the slice is releasing then. If the node exists, the slice stays as long as the NodeSlicePool or the IPPool shows it:
 * a releasing slice is not listed, and without a listed slice the pods of the node could not end.
 */
function claimsOfNodes(network: SliceNetwork, { listed, used }: SlicesModel, facts: Facts): Claim[] {
  const { name: pool, blockLength } = network.pool;
  const slices = used.flatMap((one) => sliceOfIPPool(one, network) ?? []);
  const [alike, others] = partition(slices, ({ slice }) => slice.length === blockLength);
  const byList = listed.flatMap(({ owner = "", pool: of }) => (of === pool ? (nodeNameOf(owner) ?? []) : []));
  const wanted = new Map<string, Address | undefined>([
    ...others.map(({ node, slice }) => [node, slice.address] as const),
    ...[...alike.map(({ node }) => node), ...byList].map((node) => [node, undefined] as const),
  ]);
  const claims = claimsOnNetwork(network, facts);
  for (const { owner } of claims) wanted.delete(owner.name);
  const more = [...wanted].map(
    ([name, address]): Claim => ({
      owner: { kind: "Node", name },
      name: pool,
      pool,
      ...(address !== undefined && { wanted: address }),
    }),
  );
  return [...claims, ...more];
}

/**
 * Renders the NodeSlicePools. They omit releasing slices of nodes that exist and are not selected: no pod has an address of such a slice,
 * and none must get one before another node has the slice.
 */
function renderPools({ networks }: SlicesModel, namespace: string, facts: Facts, { snapshot }: Holdings): Rendered {
  const there = new Set(facts.nodes.map(({ name }) => name));
  const made = new Map(
    networks.map((network): [SourceObject, RenderedObject[]] => {
      const selected = nodesOnNetwork(network, facts);
      const isListed = ({ claim }: Allocation) => {
        const node = nodeNameOf(ownerOfKey(claim)) ?? "";
        return selected.has(node) || !there.has(node);
      };
      const known = { ...snapshot, releasing: snapshot.releasing.filter(isListed) };
      const object = nodeSlicePool(network, known, { metadata: { namespace } });
      // With the owner references of whereabouts' controller it would be deleted with a definition, while pods still use it.
      return [network.attachments[0].source, [{ ...object, metadata: { ...object.metadata, ownerReferences: [] } }]];
    }),
  );
  return { instead: made, added: [], left: [] };
}
