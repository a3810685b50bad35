import type { Bag } from "../../schema/objects.ts";
import { raw } from "../../schema/shape.ts";
import { asDesiredState } from "./objects.ts";
import { asTruth } from "./truth.ts";

/** A desired state without its DNS servers, and another one that sets them alone. */
export interface WithoutResolver {
  readonly desiredState: unknown;
  readonly resolver?: Bag;
}

/**
 * Returns a desired state without its DNS servers, if it has some beside interfaces. nmstate 2.2.62 writes DNS servers also into the profile
 * of a NIC that the same state gives an address. It never takes them out again, and NetworkManager refuses to turn an address family off
 * in a profile that has some: the address could not be taken off the node. Servers in a state of their own are in no profile.
 */
export function withoutResolver(desiredState: unknown): WithoutResolver {
  const { "dns-resolver": resolver, ...others } = raw(asDesiredState(desiredState));
  if ((resolver ?? undefined) === undefined || others.interfaces === undefined || needsNic(desiredState))
    return { desiredState };
  return { desiredState: others, resolver: { "dns-resolver": resolver } };
}

/** Returns whether DNS servers stay in the state of a NIC, and so keep its addresses on the node for good. */
export function keepsResolver(desiredState: unknown): boolean {
  const { interfaces, "dns-resolver": resolver } = raw(asDesiredState(desiredState));
  const isSet = (resolver ?? undefined) !== undefined;
  return interfaces !== undefined && isSet && withoutResolver(desiredState).resolver === undefined;
}

/** Link-local servers (fe80::1%eth1), and servers asked before those of DHCP (`auto-dns: true`), mean something only beside their NIC. */
function needsNic(desiredState: unknown): boolean {
  const { interfaces, "dns-resolver": resolver } = asDesiredState(desiredState);
  const servers = resolver.config?.server ?? [];
  if (servers.some((server) => `${server}`.includes("%"))) return true;
  const families = interfaces.flatMap(({ ipv4, ipv6 }) => [ipv4, ipv6]);
  return families.some((family) => asTruth(family["auto-dns"]) === true);
}
