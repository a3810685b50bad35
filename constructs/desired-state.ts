import type * as nmstate from "../integrations/nmstate/desired-state.ts";
import type * as nic from "../integrations/nmstate/interface.ts";
import type { AddressClaim } from "./address-claim.ts";

type Address = nic.InterfaceAddress | AddressClaim;

/** What nmstate is to make of a node, where claims of pools may stand for addresses. */
export type DesiredState = nmstate.DesiredState<Address>;

/** One interface of it. */
export type Interface = nic.Interface<Address>;

/** IPv4 of an interface. */
export type Ipv4 = nic.Ipv4<Address>;

/** IPv6 of an interface. */
export type Ipv6 = nic.Ipv6<Address>;
