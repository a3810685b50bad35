import { ApiObject } from "cdk8s";
import type { Construct } from "constructs";
import { byCodeUnit, IpamError, type Place } from "../core/index.ts";
import type { Integration } from "../integrations/contract/integration.ts";
import type { Desired } from "../pipeline/desired.ts";
import { readDesired } from "../pipeline/desired.ts";
import { integrations } from "../pipeline/integrations.ts";
import { Names } from "../pipeline/names.ts";
import type { SourceObject } from "../schema/manifest-document.ts";
import { type ClusterNode, hostnameLabel } from "../schema/node.ts";
import { asBag, flat, type LocatedObject } from "../schema/objects.ts";
import { type Holders, replaceTokens } from "./address-token.ts";
import type { PlannedObject, PlannedPool } from "./planned-construct.ts";
import { describeUnexpanded, howToExpand, isUnexpanded } from "./unexpanded.ts";

/** What an app says of addresses, and which construct each object is from. */
export interface AppDesired extends Desired {
  readonly constructs: ReadonlyMap<SourceObject, PlannedObject>;
  /** The objects that integrations look at, and that nothing of ours has made. */
  readonly others: readonly LocatedObject[];
}

/** What an app has, at one moment. */
export interface AppObjects {
  readonly app: Construct;
  readonly pools: readonly PlannedPool[];
  readonly objects: readonly PlannedObject[];
  /** The objects that the last plan has added to the app: they say nothing new. */
  readonly added: readonly ApiObject[];
}

/**
 * Reads an app like a folder of manifests. With `holders`, tokens are addresses.
 * Throws IpamError `invalid` with everything that is wrong with them.
 */
export function readApp(
  { app, pools: poolConstructs, objects, added }: AppObjects,
  holders?: Holders,
  known: readonly Integration[] = integrations,
): AppDesired {
  const pools = poolConstructs.map((one) => ({ ...one.pool, at: placeOf(one) }));
  const names = new Names();
  for (const one of objects) {
    names.take(asBag(one.object) ?? {}, one.node.path);
    const refusal = one.refusal?.(pools);
    if (refusal !== undefined) throw refusal;
  }
  const constructs = new Map(objects.map((one) => [sourceOf(one, holders), one]));
  const others = otherObjects(app, [...added, ...objects.flatMap(({ subject = [] }) => subject)], known);
  const unexpanded = others.filter(({ object }) => isUnexpanded(object, known));
  if (unexpanded.length > 0)
    throw new IpamError(
      "invalid",
      unexpanded.map(({ object, at }) => ({ message: describeUnexpanded(object), at: at([], ""), hint: howToExpand })),
    );
  const source = { owned: [...constructs.keys()], others, pools, nodes: nodesOf(objects) };
  return { ...readDesired(source, known), constructs, others };
}

function sourceOf(construct: PlannedObject, holders: Holders | undefined): SourceObject {
  const object = holders === undefined ? construct.object : withAddresses(construct.object, holders);
  const { nodes } = construct;
  const source = { object: asBag(object) ?? {}, at: placeOf(construct) };
  return nodes === undefined ? source : { ...source, nodes };
}

function placeOf({ node }: Construct): () => Place {
  return () => ({ file: node.path, line: 0, column: 0 });
}

/** Objects of the app, as they are synthesised, of the kinds that integrations read. What cannot be is nothing: synthesis says why. */
function otherObjects(app: Construct, added: readonly ApiObject[], known: readonly Integration[]): LocatedObject[] {
  const kinds = new Set<unknown>(known.flatMap(({ reads }) => reads.map(({ kind }) => kind)));
  const own = new Set<Construct>(added);
  return app.node.findAll().flatMap((one) => {
    if (!ApiObject.isApiObject(one) || own.has(one) || !(kinds.has(one.kind) || one.kind.endsWith("List"))) return [];
    const at = placeOf(one);
    return flat(jsonOf(one)).flatMap(({ object }) => (kinds.has(object.kind) ? { object, at } : []));
  });
}

function jsonOf(object: ApiObject): unknown {
  try {
    return object.toJson();
  } catch {
    return undefined;
  }
}

/** All nodes that constructs know: who is selected no more may still have an address. */
function nodesOf(objects: readonly PlannedObject[]): ClusterNode[] {
  const known = new Map<string, ClusterNode>();
  for (const node of objects.flatMap(({ nodes = [] }) => nodes)) {
    const other = known.get(node.name) ?? node;
    const [is, was] = [node, other].map(({ labels }) => labels.get(hostnameLabel));
    if (is !== was)
      throw new IpamError("invalid", `node ${node.name} has the label ${hostnameLabel}: ${was}, and elsewhere ${is}`, {
        hint: "Give all policies the same nodes.",
      });
    known.set(node.name, node);
  }
  return [...known.values()].sort((a, b) => byCodeUnit(a.name, b.name));
}

/** A copy of plain data with addresses for tokens. Throws IpamError `invalid` for one that cannot be looked up. */
function withAddresses(value: unknown, holders: Holders): unknown {
  if (typeof value === "string") return replaceTokens(value, holders);
  if (Array.isArray(value)) return value.map((item) => withAddresses(item, holders));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withAddresses(item, holders)]));
}
