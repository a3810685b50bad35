import { blocksOverlap, formatBlock, intervalOf, parseBlock, parsePrefix, unwrap } from "../../../core/index.ts";
import type { KubeObject } from "../../../kube/index.ts";
import { asBag, asList, type Bag } from "../../../schema/objects.ts";

/** The slices that a NodeSlicePool lists, by node, as whereabouts reads them; none if it is not there. */
export function listIn(pool: Bag | undefined): Map<string, string> {
  const all = asList(asBag(pool?.status)?.allocations).map((one) => asBag(one) ?? {});
  return new Map(all.map(({ nodeName, sliceRange }) => [`${nodeName}`, `${sliceRange}`]));
}

/** What is wrong with a NodeSlicePool, whoever reads it. */
export function problemsOfList(object: Bag): string[] {
  const range = unwrap(parsePrefix(asBag(object.spec)?.range));
  const entries = [...asList(asBag(object.status)?.allocations)].map((one) => asBag(one) ?? {});
  const given = entries.filter(({ nodeName }) => nodeName !== "");
  const blocks = given.map(({ nodeName, sliceRange }) => ({ nodeName, ...unwrap(parseBlock(sliceRange)) }));
  return blocks.flatMap((block, i) => {
    const { first, last } = intervalOf(block);
    const others = blocks.slice(i + 1);
    return [
      ...(formatBlock(block) === given[i]?.sliceRange ? [] : [`${given[i]?.sliceRange} is not aligned`]),
      ...(first >= range.first && last <= range.last ? [] : [`${formatBlock(block)} is outside of its range`]),
      ...others.flatMap((other) => [
        ...(blocksOverlap(block, other) ? [`${block.nodeName} and ${other.nodeName} have ${formatBlock(block)}`] : []),
        ...(block.nodeName === other.nodeName ? [`${block.nodeName} is listed twice`] : []),
      ]),
    ];
  });
}

/** The IPPool of a slice as whereabouts writes it: `scope` is the `network_name`, if there is one. */
export function ipPoolOf(scope: string | undefined, node: string, slice: string, indexes: readonly number[]): IPPool {
  const name = `${scope === undefined ? "" : `${scope}-`}${node}-${slice.replace(/[:/]/g, "-")}`;
  const allocations = Object.fromEntries(indexes.map((index) => [`${index}`, { id: "c", podref: "default/pod" }]));
  return {
    apiVersion: "whereabouts.cni.cncf.io/v1alpha1",
    kind: "IPPool",
    metadata: { name, namespace: "kube-system" },
    spec: { range: slice, allocations },
  };
}

interface IPPool extends KubeObject {
  readonly kind: "IPPool";
  readonly spec: { readonly range: string; readonly allocations: Bag };
}
