import { type Allocation, formatBlock, nodeNameOf, ownerOfKey } from "../../core/index.ts";
import { partition } from "../../core/partition.ts";
import { asBag, type Bag } from "../../schema/objects.ts";
import type { Facts } from "../facts.ts";
import { isManaged } from "../in-cluster.ts";
import { ipPoolNames, isInUse, isIPPool } from "./ip-pool.ts";
import { isSlicePool, listedSlices } from "./node-slice-pool.ts";

/**
 * The releasing slices of which no pod has an address any more, nor can get one.
 *
 *  its node | its network has a definition | its IPPool has addresses, or somebody  | the slice is
 *           |                              |  else's NodeSlicePool lists it         |
 *  ---------+------------------------------+----------------------------------------+--------------
 *  any      | any                          | yes                                    | not free
 *  there    | yes, and ours lists it       | no                                     | not free
 *  there    | yes, and nothing lists it    | no                                     | free: the node is not selected
 *  there    | no                           | no                                     | free
 *  gone     | any                          | no                                     | free
 */
export function goneFromSlices(
  objects: readonly Bag[],
  { nodes, pools }: Facts,
  releasing: readonly Allocation[],
): Allocation[] {
  const there = new Set(nodes.map(({ name }) => name));
  const used = new Set(objects.filter((one) => isIPPool(one) && isInUse(one)).map(nameOf));
  const [ours, others] = partition(objects.filter(isSlicePool), isManaged);
  const listed = new Set(ours.flatMap(textsOf));
  const listedByOthers = new Set(others.flatMap(textsOf));
  return releasing.filter((line) => {
    const node = `${nodeNameOf(ownerOfKey(line.claim))}`;
    const slice = `${line.pool} ${node} ${formatBlock(line)}`;
    const mayStart = there.has(node) && pools.has(line.pool) && listed.has(slice);
    return !mayStart && !listedByOthers.has(slice) && !ipPoolNames(line).some((name) => used.has(name));
  });
}

function textsOf(object: Bag): string[] {
  return listedSlices(object).map(({ node, slice }) => `${nameOf(object)} ${node} ${slice}`);
}

function nameOf({ metadata }: Bag): string {
  return `${asBag(metadata)?.name}`;
}
