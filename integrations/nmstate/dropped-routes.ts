import type { ClusterNode } from "../../schema/node.ts";
import type { Bag } from "../../schema/objects.ts";
import { mapping } from "../../schema/shape.ts";
import type { Facts } from "../contract/integration.ts";
import { isManaged } from "../contract/managed-by.ts";
import { childName } from "./child.ts";
import { healthBy } from "./enactment.ts";
import { keyOfEnactment, keyOfPolicy } from "./node-objects.ts";
import { asPolicy } from "./objects.ts";
import type { Policy } from "./policy.ts";
import { isWanted, type ReadRoute, routesOf, sameDestination } from "./routes.ts";
import type { ScopedPolicy } from "./scoped-policy.ts";

/** Returns the routes that a node may have of an earlier policy, and a desired state lacks, as routes to remove. */
export type DroppedRoutes = (desiredState: unknown) => readonly Bag[];

/**
 * Finds the routes that the controller's policy for a node had and no longer has: nmstate keeps every route that a state does not mention.
 *
 *  the policy in the cluster | a route in it                                | is removed
 *  --------------------------+----------------------------------------------+-----------
 *  made by the controller    | that is still wanted                         | no
 *                            | that another policy of the node wants        | no
 *                            | no longer wanted                             | yes
 *                            | to be removed, and the node is not that far  | yes
 *                            | to be removed, and the node has applied that | no
 *  any other, or none        | any                                          | no
 */
export function droppedRoutes(
  { name: policy }: Pick<Policy, "name">,
  { name: node }: Pick<ClusterNode, "name">,
  find: NonNullable<Facts["find"]>,
  policies: () => readonly ScopedPolicy[],
): DroppedRoutes {
  const name = childName(policy, node);
  const child = find(keyOfPolicy(name));
  if (child === undefined || !isManaged(child)) return () => [];
  const routes = routesOf(asPolicy(child).spec.desiredState);
  const isApplied = healthBy(child, find(keyOfEnactment(node, name))) === "available";
  const had = routes.filter((route) => isWanted(route) || (!isApplied && isRemovalByDestination(route)));
  if (had.length === 0) return () => [];
  return (desiredState) => {
    const kept = new Set(wantedIn(desiredState));
    const dropped = had.map(sameDestination).filter((route) => !kept.has(keyOf(route)));
    if (dropped.length === 0) return [];
    const isOther = (one: ScopedPolicy) =>
      one.name !== policy && one.name !== name && one.nodes.some((its) => its.name === node);
    const theirs = new Set(
      policies()
        .filter(isOther)
        .flatMap(({ desiredState: state }) => wantedIn(state)),
    );
    return dropped.filter((route) => !theirs.has(keyOf(route)));
  };
}

/** Returns the routes of a desired state, as routes to remove, that a later one neither has nor removes. */
export function lostRoutes(before: unknown, after: unknown): ReadRoute[] {
  const later = routesOf(after);
  const isRemoved = (route: ReadRoute) =>
    later.some(({ state, destination, "next-hop-interface": nic }) => {
      const isMeant = (destination ?? route.destination) === route.destination && nic === route["next-hop-interface"];
      return state === "absent" && isMeant;
    });
  const kept = new Set(wantedIn(after));
  const had = routesOf(before).filter(isWanted).map(sameDestination);
  return had.filter((route) => !kept.has(keyOf(route)) && !isRemoved(route));
}

/** Returns the fields of a policy that decide which routes it has, and which it removes. */
export function keepRoute(route: unknown): Bag {
  const fields = ["destination", "next-hop-interface", "table-id", "vrf-name", "state"];
  return Object.fromEntries(Object.entries(mapping(route)).filter(([field]) => fields.includes(field)));
}

function wantedIn(desiredState: unknown): string[] {
  return routesOf(desiredState).filter(isWanted).map(sameDestination).map(keyOf);
}

function isRemovalByDestination(route: ReadRoute): boolean {
  const { destination, "next-hop-interface": nic, state } = route;
  return state === "absent" && typeof destination === "string" && typeof nic === "string";
}

function keyOf(route: ReadRoute): string {
  return (["destination", "next-hop-interface", "table-id", "vrf-name"] as const)
    .map((field) => `${route[field]}`)
    .join(" ");
}
