import {
  type Allocation,
  familyOf,
  formatAddress,
  type Pool,
  type Prefix,
  parseAddress,
  parsePrefix,
} from "../../core/index.ts";
import { asBag, asList, type Bag } from "../../schema/objects.ts";
import { raw } from "../../schema/shape.ts";
import { hasTemplate } from "../../schema/template.ts";
import { asDesiredState } from "./objects.ts";
import { asNumber } from "./truth.ts";

/** An address that another one replaces on its NIC, and what it came from, as far as that is known. */
export interface Replaced {
  readonly line: Allocation;
  readonly pool: Pool | undefined;
  /** The desired state of the policy that gave it, if that policy is no longer for the node. */
  readonly desiredState?: unknown;
}

/**
 * Returns a desired state that also removes the routes in the way of its own. nmstate keeps every route that a state does not
 * mention, and NetworkManager then uses the old route beside the new one, or in its place. See docs/adr/0021.
 *
 *  a route of the node, over the NIC of a route of the state | is removed
 *  ----------------------------------------------------------+------------------------------------------
 *  same destination and table                                | yes: the state has all of these
 *  `dropped`                                                 | yes: the policy had it before
 *  next hop in a subnet that leaves the NIC, known by the    | yes: the next hop is out of reach
 *  pool's gateway or by the policy that gave the address     |
 *  any other                                                 | no: another policy or a person may need it
 *
 * A state whose routes come from a capture is returned as it is.
 */
export function withoutOldRoutes(
  desiredState: unknown,
  replaced: readonly Replaced[],
  dropped: readonly Bag[] = [],
): unknown {
  const state = raw(asDesiredState(desiredState));
  const { routes } = asDesiredState(desiredState);
  const config = routes.config ?? undefined;
  if (asBag(desiredState) === undefined || hasTemplate(state.routes) || hasTemplate(config)) return desiredState;
  const wanted = routesIn(config).map((route) => (isWanted(route) ? inItsTable(route) : route));
  const removed: ReadRoute[] = [
    ...wanted.filter(isWanted).map(sameDestination),
    ...replaced.flatMap((one) => throughOldSubnet(one, desiredState, wanted)),
    ...dropped,
  ];
  if (removed.length === 0) return desiredState;
  const unique = new Map(removed.map((route) => [JSON.stringify(route), route]));
  return { ...state, routes: { ...raw(routes), config: [...unique.values(), ...wanted] } };
}

/** A route, as far as it is read here. */
export type ReadRoute = {
  readonly [field in RouteField]?: unknown;
};
type RouteField = "destination" | "state" | "next-hop-interface" | "next-hop-address" | "table-id" | "vrf-name";

/** Returns whether a route is to exist, over a NIC. */
export function isWanted({ destination, state, "next-hop-interface": nic }: ReadRoute): boolean {
  return typeof destination === "string" && typeof nic === "string" && (state ?? undefined) === undefined;
}

/** The main table, which nmstate means where a route names none. */
const mainTable = 254;

/** nmstate finds a route by its table only if both name one, and removes routes of every table if none is named. */
function inItsTable(route: ReadRoute): ReadRoute {
  const isNamed = route["vrf-name"] !== undefined || (asNumber(route["table-id"] ?? 0) ?? 1) > 0;
  return isNamed ? route : { ...route, "table-id": mainTable };
}

/** Returns the removal of all routes to the destination of a route, over its NIC and in its table. */
export function sameDestination(given: ReadRoute): ReadRoute {
  const route = inItsTable(given);
  const fields = ["destination", "next-hop-interface", "table-id", "vrf-name"];
  const same = Object.entries(route).filter(([field, value]) => fields.includes(field) && value !== undefined);
  return { ...Object.fromEntries(same), state: "absent" };
}

/** Returns the removal of the routes through the subnet that leaves the NIC with a replaced address. */
function throughOldSubnet(
  { line, pool, desiredState }: Replaced,
  state: unknown,
  wanted: readonly ReadRoute[],
): ReadRoute[] {
  const nic = line.interface;
  const hopsIn = (routes: readonly ReadRoute[]) =>
    routes
      .filter((route) => route["next-hop-interface"] === nic)
      .map((route) => parseAddress(route["next-hop-address"]).value);
  const before = hopsIn(routesOf(desiredState));
  const kept = hopsIn(wanted);
  const subnets = subnetsOf(state, nic);
  return [pool?.gateway, ...before].flatMap((hop) => {
    if (hop === undefined || familyOf(hop) !== familyOf(line.address) || kept.includes(hop)) return [];
    if (subnets.some(({ first, last }) => first <= hop && hop <= last)) return [];
    return [{ "next-hop-interface": nic, "next-hop-address": formatAddress(hop), state: "absent" }];
  });
}

/** Returns the routes of a desired state. */
export function routesOf(desiredState: unknown): ReadRoute[] {
  return routesIn(asDesiredState(desiredState).routes.config);
}

function routesIn(config: unknown): ReadRoute[] {
  return asList(config)
    .map(asBag)
    .filter((route) => route !== undefined);
}

/** Returns the subnets of the addresses that a desired state gives a NIC. */
function subnetsOf(desiredState: unknown, nic: unknown): Prefix[] {
  const own = asDesiredState(desiredState).interfaces.filter(({ name }) => name === nic);
  const listed = own.flatMap(({ ipv4, ipv6 }) => [...ipv4.address, ...ipv6.address]);
  return listed.flatMap(({ ip, "prefix-length": length }) => parsePrefix(`${ip}/${asNumber(length)}`).value ?? []);
}
