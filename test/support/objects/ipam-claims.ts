import { ipamClaimsInCluster } from "../../../integrations/ipamclaim/in-cluster.ts";
import { asBag, asList, type Bag, conditionOf } from "../../../schema/objects.ts";
import { SimController } from "../sim/controller.ts";
import { macvlanNetwork } from "./vm-objects.ts";

/** On a claim for as long as the controller holds addresses for it. */
export const releaseFinalizer = "nmstate.io/release-addresses";

export function pool(name: string, cidr: string, end?: string, spec: Bag = {}) {
  return {
    apiVersion: "nmstate.io/v1",
    kind: "NodeIPPool",
    metadata: { name },
    spec: { range: { cidr, ...(end === undefined ? {} : { end }) }, ...spec },
  };
}

export function claim(name: string, metadata: Bag = {}, network = "red") {
  return {
    apiVersion: "k8s.cni.cncf.io/v1alpha1",
    kind: "IPAMClaim",
    metadata: { name, namespace: "default", ...metadata },
    spec: { network, interface: "net1" },
  };
}

/** One whose status has these addresses already. */
export function showing(name: string, ...ips: readonly string[]) {
  return { ...claim(name), status: { ips } };
}

/** One that was planned, with what the plan says. */
export function planned(name: string, addresses: string, network = "red") {
  return claim(name, { annotations: { "nodeippool.nmstate.io/addresses": addresses } }, network);
}

/** How a claim stands: `10.0.0.1/24 fd20::1/64 True SuccessfulAllocation`; empty before anything is said of it. */
export function standing(object: Bag | undefined): string {
  const { ips, conditions } = asBag(object?.status) ?? {};
  const { status, reason } = conditionOf(conditions, "IPsAllocated") ?? {};
  return [...asList(ips), status, reason].filter((one) => one !== undefined).join(" ");
}

interface Begin {
  readonly pools?: string;
  readonly last?: number;
  readonly last6?: string;
  readonly spec?: Bag;
  readonly around?: ConstructorParameters<typeof SimController>[1];
}

/** The controller for IPAMClaims, in memory: pools `lan` and `lan6`, and network `red`, which is bound to `pools`. */
export function begin({ pools = "lan", last = 9, last6 = "fd20::9", spec = {}, around }: Begin = {}) {
  const sim = new SimController(undefined, around, undefined, [ipamClaimsInCluster]);
  sim.create(pool("lan", "10.0.0.0/24", `10.0.0.${last}`, spec));
  sim.create(pool("lan6", "fd20::/64", last6));
  sim.create(macvlanNetwork("red", pools));
  const object = (name: string) => sim.object("IPAMClaim", name);
  const stands = (name: string) => standing(object(name));
  const ips = (name: string) => asBag(object(name)?.status)?.ips;
  const finalizers = (name: string) => asBag(object(name)?.metadata)?.finalizers;
  const remove = (name: string) => sim.remove("IPAMClaim", name, "default");
  const edit = (name: string, update: (object: Bag) => Bag) => sim.change("IPAMClaim", name, update, "default");
  /** Somebody writes these addresses into a status. */
  const shows = (name: string, ...list: readonly string[]) =>
    edit(name, (one) => ({ ...one, status: { ...asBag(one.status), ips: list } }));
  /** A network names other pools. */
  const bind = (name: string, to: string, namespace = "default") =>
    sim.change(
      "NetworkAttachmentDefinition",
      name,
      (one) => ({
        ...one,
        metadata: { ...asBag(one.metadata), annotations: { "nodeippool.nmstate.io/pool": to } },
      }),
      namespace,
    );
  return { sim, object, stands, ips, finalizers, remove, edit, shows, bind };
}
