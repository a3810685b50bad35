import { type Address, type Allocation, formatAddress, IpamError, type Pool } from "../../core/index.ts";
import type { ClusterNode } from "../../schema/node.ts";
import { type Field, hasTemplate, Reference } from "../../schema/template.ts";
import { childPolicy, resolverName } from "./child.ts";
import { removals } from "./cleanup.ts";
import { copiedMetadata } from "./copied-metadata.ts";
import type { DroppedRoutes } from "./dropped-routes.ts";
import { asPolicy } from "./objects.ts";
import type { Policy, PolicyObject } from "./policy.ts";
import { withoutResolver } from "./resolver.ts";
import { type Replaced, withoutOldRoutes } from "./routes.ts";
import { parkKey } from "./select.ts";

/** The input for expanding a policy for one node into a policy of its own with literal addresses. */
export interface ChildInput {
  readonly policy: Policy;
  readonly node: ClusterNode;
  /** The address and pool of each capture. */
  readonly addresses: ReadonlyMap<string, { readonly address: Address; readonly pool: Pool }>;
  /** Addresses of this policy that the node is to give up. */
  readonly releasing: readonly Allocation[];
  /** Releasing addresses, of whatever policy, that addresses of this one replace. */
  readonly replaced?: readonly Replaced[];
  readonly dropped?: DroppedRoutes;
}

/**
 * One node's policy, and beside it one for its DNS servers if they are better set alone (`withoutResolver`). Everything the user wrote
 * stays, but references become values of their own type, captures of pools are gone, and the selector is the node's own hostname label.
 */
export function expandPolicy({
  policy,
  node,
  addresses,
  releasing,
  replaced = [],
  dropped,
}: ChildInput): PolicyObject[] {
  const filled = fill(policy.desiredState, (reference) => literalOf(reference, addresses.get(reference.capture)));
  const { desiredState, resolver } = withoutResolver(filled);
  const own = childPolicy(policy, node, {
    capture: policy.otherCaptures,
    desiredState: withoutOldRoutes(removals(desiredState, releasing, policy), replaced, dropped?.(desiredState)),
  });
  return resolver === undefined ? [own] : [own, resolverPolicy(policy, node, resolver)];
}

function resolverPolicy(policy: Policy, node: ClusterNode, desiredState: unknown): PolicyObject {
  const capture = hasTemplate(JSON.stringify(desiredState)) ? policy.otherCaptures : undefined;
  const { metadata, ...others } = childPolicy(policy, node, { capture, desiredState });
  return { ...others, metadata: { ...metadata, name: resolverName(policy.name, node.name) } };
}

/** Throws IpamError `invalid` for what is not there: without it, the policy would be another one. */
export function literalOf(
  { capture, field }: Reference,
  known: { readonly address?: Address; readonly pool: Pool } | undefined,
): string | number {
  if (known === undefined) throw new IpamError("invalid", `capture.${capture} has no address`);
  const { address, pool } = known;
  const values: Record<Field, string | number | undefined> = {
    ip: address === undefined ? undefined : formatAddress(address),
    "prefix-length": pool.prefix.length,
    gateway: pool.gateway === undefined ? undefined : formatAddress(pool.gateway),
  };
  const value = values[field];
  if (value === undefined)
    throw new IpamError("invalid", `capture.${capture}.${field}: pool ${pool.name} has no ${field}`);
  return value;
}

/** A copy of plain data with every reference replaced. */
export function fill(value: unknown, replace: (reference: Reference) => unknown): unknown {
  if (value instanceof Reference) return replace(value);
  if (Array.isArray(value)) return value.map((item) => fill(item, replace));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fill(item, replace)]));
}

/** Returns whether a policy also selects nodes that no plan knows. Then its pool has a part for the controller, which needs the policy itself. */
export function servesLaterNodes({ captures }: Policy, pools: ReadonlyMap<string, Pool>): boolean {
  return [...captures.values()].some(({ pool }) => (pools.get(pool)?.clusterRange.length ?? 0) > 0);
}

/** Returns the policy itself, made to match no node: a controller expands it for nodes that join later. */
export function parkPolicy({ name, apiVersion, labels, annotations, source }: Policy): PolicyObject {
  const copied = { labels: copiedMetadata(labels), annotations: copiedMetadata(annotations) };
  const bags = Object.entries(copied).filter(([, bag]) => Object.keys(bag).length > 0);
  const nodeSelector = { ...asPolicy(source).spec.nodeSelector, [parkKey]: "parked" };
  return {
    apiVersion,
    kind: "NodeNetworkConfigurationPolicy",
    metadata: { name, ...Object.fromEntries(bags) },
    spec: { ...source.spec, nodeSelector },
  };
}
