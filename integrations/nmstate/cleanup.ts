import { type Allocation, familyOf, nameOfKey } from "../../core/index.ts";
import type { ClusterNode } from "../../schema/node.ts";
import type { Bag } from "../../schema/objects.ts";
import { list, mapping, raw } from "../../schema/shape.ts";
import { hasTemplate, Reference, referencesIn } from "../../schema/template.ts";
import { childPolicy, type Origin } from "./child.ts";
import { asDesiredState, asFamily, asNic, type Nic } from "./objects.ts";
import type { PolicyObject } from "./policy.ts";
import { portsIn } from "./ports.ts";
import { type ReadRoute, routesOf } from "./routes.ts";
import { asTruth } from "./truth.ts";

/**
 * Returns a desired state that also removes releasing addresses. nmstate replaces the address list of a NIC as a
 * whole: a NIC that the state already gives addresses of that family loses the old one by that alone; on any other
 * NIC the family loses its addresses. Addresses for which `whyLeft` returns a reason stay.
 */
export function removals(desiredState: unknown, releasing: readonly Allocation[], origin?: Origin): unknown {
  const lines = releasing.filter((line) => whyLeft(line, desiredState, releasing, origin) === undefined);
  if (lines.length === 0) return desiredState;
  const state = raw(asDesiredState(desiredState));
  const interfaces = list(mapping)(state.interfaces).slice();
  // nmstate takes the addresses of a port off by itself, and refuses a state with addresses for it.
  const ports = new Set<unknown>(portsIn(desiredState));
  for (const line of lines) {
    const family = sectionOf(line);
    for (const name of nicsOf(line, origin).filter((nic) => !ports.has(nic))) {
      const at = interfaces.findIndex((item) => isOfNic(asNic(item), name));
      const section = asNic(interfaces[at])[family];
      const bare = bareNic(name, family, origin);
      if (at < 0) interfaces.push(bare);
      else if ((interfaces[at]?.[family] ?? undefined) === undefined)
        interfaces[at] = { ...interfaces[at], [family]: bare[family] };
      // nmstate keeps what a state does not mention: a section without a list keeps the old addresses.
      else if (asTruth(section.enabled) !== false && (raw(section).address ?? undefined) === undefined)
        interfaces[at] = { ...interfaces[at], [family]: { ...raw(section), address: [] } };
    }
  }
  return { ...state, interfaces };
}

/**
 * Returns why this state cannot take a releasing address off, if so: its NIC is unknown, a capture gives that NIC its addresses, or the
 * NIC may be one that the state, or the removal of another address, names by a template. If a state names a NIC twice, nmstate ignores
 * one of the two.
 */
export function whyLeft(
  line: Allocation,
  desiredState: unknown,
  releasing: readonly Allocation[],
  origin: Origin | undefined,
): string | undefined {
  const { interfaces: items } = asDesiredState(desiredState);
  // A list that another capture makes on the node cannot be added to.
  if (typeof raw(asDesiredState(desiredState)).interfaces === "string")
    return "the interfaces of its policy come from a capture";
  const nics = nicsOf(line, origin);
  if (nics.length === 0) return "nobody recorded on which NIC it is, and no policy says it any more";
  const isCaptured = (item: Nic) =>
    typeof raw(item)[sectionOf(line)] === "string" && nics.some((nic) => isOfNic(item, nic));
  if (items.some(isCaptured)) return "the addresses of its NIC come from a capture";
  if (items.some((item) => item.state === "ignore" && nics.some((nic) => isOfNic(item, nic))))
    return "its policy has state: ignore for its NIC";
  const names = items.map((item) => item.name);
  const template = [...names, ...releasing.flatMap((other) => nicsOf(other, origin))].find(hasTemplate);
  const isLiteral = (nic: unknown) => !hasTemplate(nic) && !names.includes(nic);
  return template !== undefined && nics.some(isLiteral)
    ? `its NIC ${line.interface} may be the one that its policy calls ${template}`
    : undefined;
}

/** Returns whether an interface is the one with the addresses of the NIC of this name. An OVS bridge may share its port's name. */
function isOfNic(item: Pick<Nic, "name" | "type">, name: unknown): boolean {
  return item.name === name && item.type !== "ovs-bridge";
}

function sectionOf(line: Allocation): "ipv4" | "ipv6" {
  return familyOf(line.address) === 4 ? "ipv4" : "ipv6";
}

/** Returns the NICs that a line's address is on: the recorded one, else those to which the policy gives it, by whatever name. */
function nicsOf(line: Allocation, origin: Origin | undefined): unknown[] {
  if (line.interface !== undefined) return [line.interface];
  const capture = nameOfKey(line.claim).slice((origin?.name.length ?? 0) + 1);
  const gives = (item: Nic) =>
    item[sectionOf(line)].address.some(({ ip }) => ip instanceof Reference && ip.capture === capture);
  return asDesiredState(origin?.desiredState)
    .interfaces.filter(gives)
    .map(({ name }) => name);
}

/**
 * A NIC without addresses, found as its policy finds it. DHCP and SLAAC stay on: without them the node may be out of reach.
 * What the policy writes out by hand does not stay: it may be another node's by now. Nor does what it has of the pools.
 */
function bareNic(name: unknown, family: "ipv4" | "ipv6", origin: Origin | undefined): Bag {
  const known = asDesiredState(origin?.desiredState).interfaces.find((item) => isOfNic(item, name));
  const section = known?.[family] ?? asFamily(undefined);
  const isDynamic = [section.dhcp, section.autoconf].some((one) => asTruth(one) === true || hasTemplate(one));
  const kept = Object.entries(raw(section)).filter(([, value]) => referencesIn(value).length === 0);
  const found = (["identifier", "mac-address", "pci-address"] as const).flatMap((field) =>
    known?.identifier === undefined || known[field] === undefined ? [] : [[field, known[field]]],
  );
  if (name === "lo" || known?.type === "loopback")
    return { name, type: "loopback", [family]: noAddressOnLoopback[family] };
  return {
    name,
    ...Object.fromEntries(found),
    [family]: isDynamic ? { ...Object.fromEntries(kept), address: [] } : noAddress[family],
  };
}

/**
 * Takes all addresses and routes of a family off and leaves the link up. IPv6 with an empty list would keep the link-local address,
 * but NetworkManager refuses it while its profile has IPv6 routes, also where the same state removes them.
 */
const noAddress: Record<"ipv4" | "ipv6", Bag> = { ipv4: { enabled: false }, ipv6: { enabled: false } };

/** nmstate refuses to turn IPv4 of a loopback off; ::1 stays by itself. */
const noAddressOnLoopback: typeof noAddress = {
  ipv4: { enabled: true, address: [{ ip: "127.0.0.1", "prefix-length": 8 }] },
  ipv6: { enabled: true, dhcp: false, autoconf: false, address: [] },
};

/**
 * A node's policy that does nothing but give addresses up, because its policy is for the node no more, or is gone.
 * Undefined if their NICs are unknown.
 */
export function cleanupPolicy(
  origin: Origin,
  node: ClusterNode,
  releasing: readonly Allocation[],
): PolicyObject | undefined {
  const taken = releasing.filter((line) => whyLeft(line, undefined, releasing, origin) === undefined);
  const nics = new Set(taken.flatMap((line) => nicsOf(line, origin)));
  if (nics.size === 0) return undefined;
  // Routes of the other family may be those of a policy that has its addresses there now.
  const families = new Set(taken.map(sectionOf));
  const isOfFamily = ({ destination }: ReadRoute) => families.has(`${destination}`.includes(":") ? "ipv6" : "ipv4");
  const routes = routesOver(origin.desiredState, nics).filter(isOfFamily);
  const desiredState = removals(routes.length === 0 ? {} : { routes: { config: routes } }, releasing, origin);
  const needsCaptures = hasTemplate(JSON.stringify(desiredState));
  return childPolicy(origin, node, { capture: needsCaptures ? origin.otherCaptures : undefined, desiredState });
}

/** Returns the routes that a desired state makes over these NICs, as routes to take away: IPv6 ones stay behind otherwise. */
function routesOver(desiredState: unknown, nics: ReadonlySet<unknown>): ReadRoute[] {
  return routesOf(desiredState)
    .filter((route) => nics.has(route["next-hop-interface"]) && typeof route.destination === "string")
    .map(({ destination, "next-hop-interface": nic, "table-id": table }) => ({
      destination,
      "next-hop-interface": nic,
      ...(table === undefined ? {} : { "table-id": table }),
      state: "absent",
    }));
}
