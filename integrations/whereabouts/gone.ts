import { type Allocation, nodeNameOf, ownerOfKey } from "../../core/index.ts";
import { asBag, type Bag } from "../../schema/objects.ts";
import type { Facts } from "../facts.ts";
import { ipPoolNames, isIPPool } from "./ip-pool.ts";

/**
 * The releasing slices of which no pod has an address any more, nor can get one.
 *
 *  its node | its network has a definition | its IPPool has addresses     | the slice is
 *  ---------+------------------------------+------------------------------+--------------
 *  any      | any                          | yes                          | not free
 *  there    | yes                          | no, or there is none         | not free
 *  there    | no                           | no, or there is none         | free
 *  gone     | any                          | no, or there is none         | free
 */
export function goneFromSlices(
  objects: readonly Bag[],
  { nodes, pools }: Facts,
  releasing: readonly Allocation[],
): Allocation[] {
  const there = new Set(nodes.map(({ name }) => name));
  const used = new Set(objects.filter((one) => isIPPool(one) && hasAddresses(one)).map(nameOf));
  return releasing.filter((line) => {
    const mayStart = there.has(`${nodeNameOf(ownerOfKey(line.claim))}`) && pools.has(line.pool);
    return !mayStart && !ipPoolNames(line).some((name) => used.has(name));
  });
}

function nameOf({ metadata }: Bag): string {
  return `${asBag(metadata)?.name}`;
}

function hasAddresses({ spec }: Bag): boolean {
  return Object.keys(asBag(asBag(spec)?.allocations) ?? {}).length > 0;
}
