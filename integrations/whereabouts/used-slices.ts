import { type Block, compareAddresses, nodeOwner, type Use } from "../../core/index.ts";
import type { SourceObject } from "../../schema/manifest-document.ts";
import { placeless } from "../../schema/objects.ts";
import type { Facts } from "../contract/facts.ts";
import { kindInGroup } from "../contract/object-key.ts";
import { nameOf } from "../contract/object-metadata.ts";
import { ipPoolKind, isInUse, sliceOfIPPool } from "./ip-pool.ts";
import { listedSlices, slicePoolGroup, slicePoolKind } from "./node-slice-pool.ts";
import { readNetworks, type SliceNetwork } from "./slice-network.ts";

/** The slice of a network that an IPPool is of, as far as its name shows. */
interface Reading {
  readonly network: SliceNetwork;
  readonly node: string;
  readonly slice: Block;
  readonly source: SourceObject;
}

/**
 * Returns the slices of which pods have addresses, by IPPools, of each network that such a slice is in. No other node gets one, whether its own
 * node exists, is Ready and selected or not, and whatever size it has: the record and the NodeSlicePool may both lack it.
 *
 *  the node of the IPPool                             | gets that slice
 *  ---------------------------------------------------+------------------------------------------
 *  has another one in the NodeSlicePool               | no
 *  has several IPPools with addresses                 | the first one, by address
 *  any other                                          | yes, if it has the size of the network's
 */
export function usedSlices(objects: readonly SourceObject[], { nodes, allOf = () => [] }: Facts): Use[] {
  const used = allOf(kindInGroup(ipPoolKind, slicePoolGroup)).filter(isInUse).map(placeless);
  if (used.length === 0) return [];
  const lists = allOf(kindInGroup(slicePoolKind, slicePoolGroup));
  const { value: networks = [] } = readNetworks(objects);
  const there = new Set(nodes.map(({ name }) => name));
  const all = used.flatMap((source) => readingsOf(source, networks, there));
  return networks.flatMap((network) => {
    const list = lists.find((one) => nameOf(one) === network.pool.name);
    const listed = list === undefined ? [] : listedSlices(list).map(({ node }) => node);
    const own = all.filter((one) => one.network === network);
    return usesIn(network, own, new Set(listed));
  });
}

/** `red-a-10.5.0.0-24` is of node `a` in network `red`. It may be of node `red-a` in a network without a name, only if that node exists. */
function readingsOf(source: SourceObject, networks: readonly SliceNetwork[], there: ReadonlySet<string>): Reading[] {
  const readings = networks.flatMap((network): Reading[] => {
    const found = sliceOfIPPool(source.object, network);
    return found === undefined ? [] : [{ network, source, ...found }];
  });
  const isNamed = ({ network }: Reading) => network.attachments[0].value.config.scope !== undefined;
  return readings.some(isNamed) ? readings.filter((one) => isNamed(one) || there.has(one.node)) : readings;
}

function usesIn({ pool }: SliceNetwork, readings: readonly Reading[], listed: ReadonlySet<string>): Use[] {
  const settled = new Set(listed);
  const inOrder = readings.toSorted((a, b) => compareAddresses(a.slice.address, b.slice.address));
  return inOrder.map(({ node, slice, source }) => {
    const isOther = settled.has(node);
    if (slice.length === pool.blockLength) settled.add(node);
    const use = { ...slice, owner: nodeOwner(node), pool: pool.name, at: source.at(["spec", "range"], "") };
    return isOther ? { ...use, isTemporary: true } : use;
  });
}
