import { type Allocation, formatBlock, nodeNameOf, ownerOfKey } from "../../core/index.ts";
import { partition } from "../../core/partition.ts";
import { type Bag, placeless } from "../../schema/objects.ts";
import type { Facts } from "../contract/facts.ts";
import { isManaged } from "../contract/managed-by.ts";
import { nameOf } from "../contract/object-metadata.ts";
import { namesSlices, parseAttachment } from "./attachment.ts";
import { ipPoolNames, isInUse, isIPPool } from "./ip-pool.ts";
import { isSlicePool, listedSlices } from "./node-slice-pool.ts";
import { readNetworks } from "./slice-network.ts";

/**
 * Returns the releasing slices of which no pod has an address any more, nor can get one.
 *
 *  its node | its network has a definition | its IPPool has addresses, or another   | the slice is
 *           |                              |  program's NodeSlicePool lists it      |
 *  ---------+------------------------------+----------------------------------------+--------------
 *  any      | any                          | yes                                    | not free
 *  any      | contradictory or unreadable  | no                                     | not free: our list stays as it is, and
 *           |  ones, and ours lists it     |                                        |  a node that comes back starts pods by it
 *  there    | yes, and ours lists it       | no                                     | not free
 *  there    | yes, and nothing lists it    | no                                     | free: the node is not selected
 *  there    | no                           | no                                     | free
 *  gone     | any other                    | no                                     | free
 */
export function goneFromSlices(objects: readonly Bag[], facts: Facts, releasing: readonly Allocation[]): Allocation[] {
  const { nodes, pools } = facts;
  const there = new Set(nodes.map(({ name }) => name));
  const used = new Set(objects.filter((one) => isIPPool(one) && isInUse(one)).map(nameOf));
  const [ours, others] = partition(objects.filter(isSlicePool), isManaged);
  const listed = new Set(ours.flatMap(textsOf));
  const listedByOthers = new Set(others.flatMap(textsOf));
  return releasing.filter((line) => {
    const node = `${nodeNameOf(ownerOfKey(line.claim))}`;
    const slice = `${line.pool} ${node} ${formatBlock(line)}`;
    const mayStart = listed.has(slice) && (staysListed(line.pool, facts) || (there.has(node) && pools.has(line.pool)));
    return !mayStart && !listedByOthers.has(slice) && !ipPoolNames(line).some((name) => used.has(name));
  });
}

/**
 * Reports whether our NodeSlicePool of a network stays as it is, because its definitions contradict each other or cannot be read. One
 * that cannot be read may be of any network without another definition. Where only the record does not fit, the list changes once slices are free.
 */
function staysListed(network: string, { pools, unserved = new Map() }: Facts): boolean {
  if (pools.has(network)) return false;
  const definitions = [...unserved.keys()].filter(namesSlices);
  const byNetwork = Map.groupBy(definitions, (one) => parseAttachment(one).value?.network);
  const own = byNetwork.get(network) ?? byNetwork.get(undefined) ?? [];
  return readNetworks(own.map((one) => placeless(one))).issues !== undefined;
}

function textsOf(object: Bag): string[] {
  return listedSlices(object).map(({ node, slice }) => `${nameOf(object)} ${node} ${slice}`);
}
