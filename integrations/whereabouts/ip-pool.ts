import {
  type Allocation,
  type Block,
  covers,
  formatBlock,
  intervalOf,
  nodeNameOf,
  nodeOwner,
  ownerOfKey,
  parseBlock,
} from "../../core/index.ts";
import type { ReadKind } from "../../schema/manifest-document.ts";
import type { Bag } from "../../schema/objects.ts";
import { nameOf } from "../contract/object-metadata.ts";
import { isOfGroup } from "../networks/attachment-definition.ts";
import { slicePoolGroup } from "./node-slice-pool.ts";
import { asIPPool } from "./objects.ts";
import type { SliceNetwork } from "./slice-network.ts";

/** The kind in which whereabouts records which pod has which address: one for each slice of a node. */
export const ipPoolKind = "IPPool";

/** IPPools, among other objects: they show which slices pods have addresses of. */
export const ipPoolReads: ReadKind = {
  group: slicePoolGroup,
  kind: ipPoolKind,
  plural: "ippools",
  owns: () => false,
  mark: /(?!)/,
};

export function isIPPool({ apiVersion, kind }: Bag): boolean {
  return kind === ipPoolKind && isOfGroup(apiVersion, slicePoolGroup);
}

/** Returns the names that the IPPool of a slice may have: with the name of its network only if that is a `network_name`. */
export function ipPoolNames(line: Allocation): readonly string[] {
  const own = `${nodeNameOf(ownerOfKey(line.claim))}-${normalised(formatBlock(line))}`;
  return [own, `${line.pool}-${own}`];
}

/** Returns each node whose slice an IPPool may be of: any dash may be the one before the node's name. */
export function ownersOfIPPool(ipPool: Bag): string[] {
  const end = `-${normalised(`${asIPPool(ipPool).spec.range}`)}`;
  const name = nameOf(ipPool);
  if (!name.endsWith(end)) return [];
  const start = name.slice(0, -end.length);
  return [start, ...[...start.matchAll(/-/g)].map(({ index }) => start.slice(index + 1))].map(nodeOwner);
}

/** Returns whether a pod has an address of an IPPool. */
export function isInUse(ipPool: Bag): boolean {
  return Object.keys(asIPPool(ipPool).spec.allocations).length > 0;
}

/**
 * The slice of a network that an IPPool is of, also one of another size, and the node that it is of; undefined if it is of none. That of
 * a network without slices may be called the same: most often it has the whole range.
 */
export function sliceOfIPPool(
  ipPool: Bag,
  { pool, attachments }: SliceNetwork,
): { readonly node: string; readonly slice: Block } | undefined {
  const { scope } = attachments[0].value.config;
  const start = scope === undefined ? "" : `${scope}-`;
  const name = nameOf(ipPool);
  if (!name.startsWith(start)) return undefined;
  const { slice, end } = rangeOfIPPool(ipPool);
  if (slice === undefined || !covers([pool.prefix], [intervalOf(slice)])) return undefined;
  if (slice.length !== pool.blockLength && slice.length === pool.prefix.length) return undefined;
  const isOf = name.endsWith(end) && name.length > start.length + end.length;
  return isOf ? { node: name.slice(start.length, -end.length), slice } : undefined;
}

/** What an IPPool has as its range, and how its name ends by that. */
interface IPPoolRange {
  readonly slice: Block | undefined;
  readonly end: string;
}

const known = new WeakMap<Bag, IPPoolRange>();

/** Of a fleet there are thousands, and all of them are read for each node that joins. */
function rangeOfIPPool(ipPool: Bag): IPPoolRange {
  const before = known.get(ipPool);
  if (before !== undefined) return before;
  const { value: slice } = parseBlock(asIPPool(ipPool).spec.range);
  const range = { slice, end: slice === undefined ? "" : `-${normalised(formatBlock(slice))}` };
  known.set(ipPool, range);
  return range;
}

/** As whereabouts writes a range in a name (`normalizeRange`). */
function normalised(range: string): string {
  return range.replace(/:$/, ":0").replace(/[:/]/g, "-");
}
