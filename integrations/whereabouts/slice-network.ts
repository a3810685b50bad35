import {
  byCodeUnit,
  type Claim,
  formatAddress,
  formatBlock,
  formatPrefix,
  type Issue,
  type Parsed,
  type Pool,
  type PoolSpec,
  type PoolWords,
} from "../../core/index.ts";
import { formatSelector, isSelected } from "../../schema/label-selector.ts";
import type { ReadKind, SourceObject } from "../../schema/manifest-document.ts";
import { parsePoolSpec } from "../../schema/node-ip-pool.ts";
import { issueIn, placeOfName } from "../../schema/objects.ts";
import type { Facts } from "../contract/facts.ts";
import type { IdleObject } from "../contract/integration.ts";
import { refuseUnknownLabels } from "../contract/known-labels.ts";
import { issuesOf, type ReadObject, readApart } from "../contract/read-each.ts";
import type { UnreadObject } from "../contract/unserved.ts";
import { attachmentGroup, attachmentKind, attachmentPlural, configPath } from "../networks/attachment-definition.ts";
import { type Attachment, namesSlices, parseAttachment, selectorAnnotation, selectorPath } from "./attachment.ts";
import type { SliceConfig } from "./slice-config.ts";

/** A network whose nodes have a slice each: a pool of blocks, and the definitions that share it, by namespace and name. */
export interface SliceNetwork {
  readonly pool: Pool;
  /** The spec that a NodeIPPool for it would have. */
  readonly spec: PoolSpec;
  readonly attachments: readonly [ReadObject<Attachment>, ...ReadObject<Attachment>[]];
}

/** The definitions of networks with slices, among other objects. */
export const attachmentReads: ReadKind = {
  group: attachmentGroup,
  kind: attachmentKind,
  plural: attachmentPlural,
  owns: namesSlices,
  mark: /node_slice_size/,
  runsAsIs: true,
};

/** Returns the networks that some objects define, or all issues. */
export function readNetworks(objects: readonly SourceObject[]): Parsed<readonly SliceNetwork[]> {
  const { networks, unread } = sliceNetworks(objects);
  return unread.length > 0 ? { issues: issuesOf(unread) } : { value: networks };
}

/** Returns the same. A definition that cannot be read, or differs from another one of its network, does not stop other networks. */
export function sliceNetworks(objects: readonly SourceObject[]): {
  readonly networks: readonly SliceNetwork[];
  readonly unread: readonly UnreadObject[];
} {
  const attachments = readApart(
    objects.filter(({ object }) => namesSlices(object)),
    parseAttachment,
  );
  const unread = [...attachments.unread];
  const sorted = attachments.read
    .flatMap(({ value, source }) => (value === undefined ? [] : { value, source }))
    .toSorted((a, b) => byCodeUnit(a.value.title, b.value.title));
  const groups = [...Map.groupBy(sorted, ({ value }) => value.network)].sort(([a], [b]) => byCodeUnit(a, b));
  const networks = groups.flatMap(([name, all]): SliceNetwork[] => {
    const [first, ...more] = all;
    if (first === undefined) return [];
    const { value, issues } = sliceNetwork(name, [first, ...more]);
    if (issues !== undefined) unread.push(...all.map(({ source }) => ({ source, issues })));
    return value === undefined ? [] : [value];
  });
  return { networks, unread };
}

/** Returns the network of definitions that share its name, or all issues, each with its place. The definitions must agree. */
function sliceNetwork(
  name: string,
  [first, ...more]: readonly [ReadObject<Attachment>, ...ReadObject<Attachment>[]],
): Parsed<SliceNetwork> {
  const found = more.flatMap((one) => disagreement(first, one) ?? []);
  const spec = specOf(first.value.config, [first, ...more]);
  const { value: pool, issues: wrong = [] } = parsePoolSpec(name, spec);
  for (const { path, ...issue } of wrong) {
    const isScope = path?.[0] === "network";
    const message = isScope ? `network_name ${name} has others than a to z, 0 to 9 and -` : `network ${issue.message}`;
    found.push(issueIn(first.source, { ...issue, message, path: configPath }));
  }
  if (pool === undefined || found.length > 0) return { issues: found };
  const nodeSelector = formatSelector(first.value.selector);
  const own = { words, ...(nodeSelector !== "" && { nodeSelector }) };
  return { value: { pool: { ...pool, ...own }, spec, attachments: [first, ...more] } };
}

const words: PoolWords = {
  grows:
    "a wider range, or smaller slices for nodes that join (node_slice_size). A slice with the gateway, with an address that is excluded, or with allocations in an IPPool of another node (kubectl get ippools -A) is not allocated",
  fields: "range, range_start, range_end, gateway, exclude",
  without: "exclude it",
  renumber: "give the node another slice",
  another: "a network of another name",
};

/** Returns the spec of a network. The addresses that one of its definitions excludes are excluded for all. */
function specOf({ prefix, first, last, length, scope }: SliceConfig, all: readonly ReadObject<Attachment>[]): PoolSpec {
  const withheld = new Set(all.flatMap(({ value }) => value.config.withheld.map(formatBlock)));
  return {
    range: {
      cidr: formatPrefix(prefix),
      start: formatAddress(first),
      end: formatAddress(last),
      ...(withheld.size === 0 ? {} : { exclude: [...withheld].sort(byCodeUnit) }),
    },
    ...(scope === undefined ? {} : { network: scope }),
    blockLength: length,
    authority: "Plan",
  };
}

/** Returns the setting in which two definitions of one network differ. */
function disagreement(one: ReadObject<Attachment>, other: ReadObject<Attachment>): Issue | undefined {
  const settingsOf = ({ value: { config, selector } }: ReadObject<Attachment>) => ({
    range: formatPrefix(config.prefix),
    range_start: formatAddress(config.first),
    range_end: formatAddress(config.last),
    node_slice_size: `/${config.length}`,
    network_name: config.scope ?? "none",
    [selectorAnnotation]: formatSelector(selector) || "none",
  });
  const [a, b] = [Object.entries(settingsOf(one)), Object.entries(settingsOf(other))];
  const [key, here] = a.find(([, value], i) => value !== b[i]?.[1]) ?? [];
  if (key === undefined) return undefined;
  const there = b.find(([name]) => name === key)?.[1];
  const { title, network } = one.value;
  return issueIn(other.source, {
    message: `${attachmentKind}s ${title} and ${other.value.title} share network ${network}, and differ in ${key}: ${here} and ${there}`,
    path: key === selectorAnnotation ? selectorPath : configPath,
    hint: "Let both say the same, or give each a network_name of its own.",
  });
}

/** Returns the nodes that the definitions of a network select. Throws IpamError `invalid` if a selector cannot be evaluated. */
export function nodesOnNetwork({ attachments }: SliceNetwork, { nodes }: Facts): ReadonlySet<string> {
  const selected = attachments.flatMap(({ source, value: { title, selector } }) => {
    const known = source.nodes ?? nodes;
    const keys = selector.map(({ key }) => key);
    refuseUnknownLabels(`${attachmentKind} ${title}`, keys, known);
    return known.filter(({ labels }) => isSelected(labels, selector));
  });
  return new Set(selected.map(({ name }) => name));
}

/** Returns one claim for each of these nodes, by the name of the network. */
export function claimsOnNetwork(network: SliceNetwork, facts: Facts): Claim[] {
  const { name: pool } = network.pool;
  const [{ source }] = network.attachments;
  return [...nodesOnNetwork(network, facts)]
    .sort(byCodeUnit)
    .map((name) => ({ owner: { kind: "Node", name }, name: pool, pool, at: () => placeOfName(source) }));
}

/** Returns the definitions that select no node. */
export function idleDefinitions(networks: readonly SliceNetwork[], { nodes }: Facts): IdleObject[] {
  const [node, ...others] = nodes;
  const which = node === undefined || others.length > 0 ? "selects none of the nodes" : `does not select ${node.name}`;
  return networks.flatMap(({ pool: { name }, attachments }) =>
    attachments
      .filter(({ value: { selector } }) => !nodes.some(({ labels }) => isSelected(labels, selector)))
      .map(({ source, value: { title, selector } }) => ({
        name,
        at: source.at(selectorPath, formatSelector(selector)),
        why: `${attachmentKind} ${title} ${which}: its ${selectorAnnotation} is ${formatSelector(selector)}`,
      })),
  );
}

/** Returns whether a claim's key is that of a node's slice: names of networks have no `/`, those of policies' claims do. */
export function isSliceClaim(claim: string): boolean {
  return /^Node\/[^/]+\/[^/]+$/.test(claim);
}
