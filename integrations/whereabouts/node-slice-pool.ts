import { createHash } from "node:crypto";
import {
  byAddress,
  covers,
  formatBlock,
  formatPrefix,
  type Issue,
  intervalOf,
  nodeNameOf,
  nodeOwner,
  ownerOfKey,
  parseBlock,
  parsePrefix,
  type Snapshot,
} from "../../core/index.ts";
import type { Findings } from "../../schema/findings.ts";
import type { ReadKind } from "../../schema/manifest-document.ts";
import { ownPrefix } from "../../schema/node.ts";
import type { Bag, LocatedObject } from "../../schema/objects.ts";
import { raw } from "../../schema/shape.ts";
import type { RenderedObject } from "../contract/integration.ts";
import { nameOf } from "../contract/object-metadata.ts";
import { isOfGroup } from "../networks/attachment-definition.ts";
import { asNodeSlicePool } from "./objects.ts";
import type { SliceNetwork } from "./slice-network.ts";

export const slicePoolGroup = "whereabouts.cni.cncf.io";
export const slicePoolKind = "NodeSlicePool";

export function isSlicePool({ apiVersion, kind }: Bag): boolean {
  return kind === slicePoolKind && isOfGroup(apiVersion, slicePoolGroup);
}

/** NodeSlicePools, among other objects. */
export const slicePoolReads: ReadKind = {
  group: slicePoolGroup,
  kind: slicePoolKind,
  plural: "nodeslicepools",
  owns: isSlicePool,
  mark: /sliceRange/,
  runsAsIs: true,
};

/** On a NodeSlicePool: changes with the slices, so that tools that do not compare status see the change. */
const digestAnnotation = `${ownPrefix}slices`;

/**
 * Renders the NodeSlicePool of a network: the slices that nodes have, by address, and no free ones. If you write the NodeSlicePool
 * yourself, its namespace, labels and annotations are kept.
 *
 *  the node's slice | is listed
 *  -----------------+-----------------------------------------------------------------------------------------
 *  live             | yes
 *  releasing        | until it is free, so that the pods that are left can end: without it, whereabouts cannot free
 *                   | their addresses. Not beside a live one: it reads the first of a node
 */
export function nodeSlicePool({ pool, attachments }: SliceNetwork, snapshot: Snapshot, own: Bag = {}): RenderedObject {
  const { metadata } = asNodeSlicePool(own);
  const { namespace = "kube-system", annotations } = metadata;
  const { labels } = raw(metadata);
  const byNode = new Map(
    [...snapshot.releasing, ...snapshot.allocations]
      .filter((line) => line.pool === pool.name)
      .flatMap((line) => {
        const node = nodeNameOf(ownerOfKey(line.claim));
        return node === undefined ? [] : [[node, line] as const];
      }),
  );
  const slices = [...byNode].sort(([, a], [, b]) => byAddress(a, b));
  const allocations = slices.map(([nodeName, line]) => ({ nodeName, sliceRange: formatBlock(line) }));
  const digest = createHash("sha256").update(JSON.stringify(allocations)).digest("hex").slice(0, 16);
  return {
    apiVersion: `${slicePoolGroup}/v1alpha1`,
    kind: slicePoolKind,
    metadata: {
      name: pool.name,
      namespace,
      ...(labels ? { labels } : {}),
      annotations: { ...annotations, [digestAnnotation]: digest },
    },
    spec: { range: formatPrefix(pool.prefix), sliceSize: attachments[0].value.config.size },
    status: { allocations },
  };
}

/** What a NodeSlicePool gives to a node, and where in its list that stands. */
export interface ListedSlice {
  readonly node: string;
  readonly slice: unknown;
  readonly index: number;
}

/** Returns the slice of each node, without free ones. If a node has several, whereabouts reads the first. */
export function listedSlices(object: Bag): ListedSlice[] {
  const { allocations } = asNodeSlicePool(object).status;
  const listed = allocations.flatMap(({ nodeName: node, sliceRange: slice }, index): ListedSlice[] => {
    return typeof node === "string" && node !== "" ? [{ node, slice, index }] : [];
  });
  const first = new Map(listed.toReversed().map((one) => [one.node, one]));
  return listed.filter((one) => first.get(one.node) === one);
}

const ifOtherwise =
  "If nodes have these slices now, import this file. If it is older than the record, take status out of it: render writes that.";

/** Adds the slice of each node, whichever controller gave it. */
export function readSlicePool({ object, at }: LocatedObject, found: Findings): void {
  if (!isSlicePool(object)) return;
  const range = parsePrefix(asNodeSlicePool(object).spec.range).value;
  const pool = nameOf(object);
  found.speaks = true;
  for (const { node, slice, index } of listedSlices(object)) {
    const place = at(["status", "allocations", index, "sliceRange"], typeof slice === "string" ? slice : "");
    const { value: block, issues = [] } = parseBlock(slice);
    found.issues.push(...issues.map((issue): Issue => ({ ...issue, at: place })));
    if (block === undefined) continue;
    if (range !== undefined && !covers([range], [intervalOf(block)]))
      found.issues.push({ message: `${slice} of ${node} is outside of range ${formatPrefix(range)}`, at: place });
    else found.uses.push({ ...block, owner: nodeOwner(node), pool, at: place, hint: ifOtherwise });
  }
}
