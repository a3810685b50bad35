import { nodeOwner } from "../../core/index.ts";
import type { ClusterIntegration } from "../../integrations/contract/cluster-integration.ts";
import { kindInGroup, nameOfKind } from "../../integrations/contract/object-key.ts";
import type { Reconciler } from "../../integrations/contract/reconciler.ts";
import type { Concern, WatchedKind } from "../../integrations/contract/watched-kind.ts";
import { watchedNodes } from "../../integrations/contract/watched-nodes.ts";
import { asBag, asList, type Bag } from "../../schema/objects.ts";
import { selectionsOf, type WorldKind } from "./world-kind.ts";

/** NodeIPPool, as keys have it. */
export const poolKind = kindInGroup("NodeIPPool", "nmstate.io");

/** What every integration needs: nodes and pools. */
const common: readonly WorldKind[] = [
  {
    ...watchedNodes,
    isOwner: true,
    concerns: ({ metadata }) => ({ owners: [nodeOwner(`${asBag(metadata)?.name}`)], sources: [] }),
  },
  {
    apiVersion: "nmstate.io/v1",
    kind: "NodeIPPool",
    plural: "nodeippools",
    ignoresStatus: true,
    keep: ({ spec, status }) => ({ spec, status }),
    concerns: ({ metadata }) => ({ owners: "all", sources: [`${poolKind}/${asBag(metadata)?.name}`] }),
  },
];

/** Every kind that integrations watch. */
export function kindsOf(integrations: readonly ClusterIntegration[]): WorldKind[] {
  const own = integrations.flatMap(({ recording, uses }) =>
    recording.kinds.map(
      (kind): WorldKind => ({
        ...kind,
        ...(uses.some((one) => one.kind === kind.kind) && { shows: kind.isGrant ? "grant" : "report" }),
        concerns: (object) => (isWatched(object, kind) ? recording.concerns(object) : noConcern),
      }),
    ),
  );
  return mergedKinds([...common, ...own]);
}

const noConcern: Concern = { owners: [], sources: [] };

/**
 * Whether an object is one of those that an integration watches, by its namespace and name: a watch that several share also shows the
 * objects of the others. Labels do not count, because an object that has lost its label may still have an address.
 */
function isWatched({ metadata }: Bag, { where = {} }: WatchedKind): boolean {
  const { name, namespace } = asBag(metadata) ?? {};
  const isThere = where.namespace === undefined || where.namespace === namespace;
  return isThere && (where.fields === undefined || where.fields === `metadata.name=${name}`);
}

/** Every kind that a reconciler watches, and the parents of its objects. */
export function kindsOfReconciler(reconciler: Reconciler): WorldKind[] {
  return mergedKinds(
    reconciler.kinds.map((kind) => ({
      ...kind,
      concerns: (object) => ({ owners: reconciler.belongsTo(object), sources: [] }),
    })),
  );
}

/** Each kind once: what several keep of it is kept, and it concerns whom it does for any. */
export function mergedKinds(kinds: readonly WorldKind[]): WorldKind[] {
  return [...Map.groupBy(kinds, nameOfKind).values()].map((same) => same.reduce(merged));
}

function merged(a: WorldKind, b: WorldKind): WorldKind {
  const either = (
    question: "isOwner" | "isShared" | "isOwnSource" | "makesRoom" | "mayHaveAny" | "hasNoStatusSubresource",
  ) => [a, b].some((one) => one[question]);
  return {
    ...a,
    keep: (object) => union(a.keep(object), b.keep(object)),
    keepMade: (object) => union(a.keepMade?.(object) ?? {}, b.keepMade?.(object) ?? {}),
    // Whoever watches it alone must find the same.
    ...fixedInBoth(a, b),
    isOwner: either("isOwner"),
    isShared: either("isShared"),
    isOwnSource: either("isOwnSource"),
    ...shownByBoth(a, b),
    makesRoom: either("makesRoom"),
    mayHaveAny: either("mayHaveAny"),
    // Where it is a reason to decide anew for one of them.
    ignoresStatus: a.ignoresStatus === true && b.ignoresStatus === true,
    hasNoStatusSubresource: either("hasNoStatusSubresource"),
    selections: bothSelect(selectionsOf(a), selectionsOf(b)),
    concerns: (object) => concernOf(a.concerns(object), b.concerns(object)),
  };
}

/** What either shows counts, a grant before a report. */
function shownByBoth(a: WorldKind, b: WorldKind): Pick<WorldKind, "shows" | "showsIfMade"> {
  const showing = [a, b].filter(({ shows }) => shows !== undefined);
  if (showing.length === 0) return {};
  const shows = showing.some((one) => one.shows === "grant") ? "grant" : "report";
  return { shows, showsIfMade: showing.every(({ showsIfMade }) => showsIfMade === true) };
}

function fixedInBoth({ fixed: a }: WorldKind, { fixed: b }: WorldKind): Pick<WorldKind, "fixed"> {
  const own = a ?? b;
  if (own === undefined) return {};
  return { fixed: a === undefined || b === undefined || a === b ? own : (object) => [a(object), b(object)] };
}

/** Each selection once; who selects nothing watches all. */
function bothSelect(...all: readonly ReturnType<typeof selectionsOf>[]): ReturnType<typeof selectionsOf> {
  const found = new Map(all.flat().map((one) => [JSON.stringify(one), one]));
  const whole = found.get("{}");
  return whole === undefined ? [...found.values()] : [whole];
}

/** Of a list, of which each may keep a part, the longer one. */
function union(a: Bag, b: Bag): Bag {
  const merge = (one: unknown, other: unknown): unknown => {
    const [bag, more] = [asBag(one), asBag(other)];
    if (bag !== undefined && more !== undefined) return union(bag, more);
    return asList(one).length > asList(other).length ? one : (other ?? one);
  };
  const fields = new Set([...Object.keys(a), ...Object.keys(b)]);
  return Object.fromEntries([...fields].map((field) => [field, merge(a[field], b[field])]));
}

/** It is mere evidence where it is that for all whom it concerns. */
function concernOf(a: Concern, b: Concern): Concern {
  const concerned = [a, b].filter(({ owners, sources }) => owners.length + sources.length > 0);
  return {
    owners: a.owners === "all" || b.owners === "all" ? "all" : [...new Set([...a.owners, ...b.owners])],
    sources: [...new Set([...a.sources, ...b.sources])],
    isEvidence: concerned.every(({ isEvidence = false }) => isEvidence),
  };
}
