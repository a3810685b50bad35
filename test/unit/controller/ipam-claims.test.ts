import { describe, expect, it } from "vitest";
import { formatAddress } from "../../../core/index.ts";
import type { Integration } from "../../../integrations/integration.ts";
import { ipamClaimsInCluster } from "../../../integrations/ipamclaim/claims-in-cluster.ts";
import { asBag, type Bag, conditionOf } from "../../../schema/objects.ts";
import { SimController } from "../../support/sim-controller.ts";
import { macvlanNetwork, ovnNetwork } from "../../support/vm-objects.ts";

const stake = "nmstate.io/release-addresses";
const pool = (name: string, cidr: string, end: string, spec: Bag = {}) => ({
  apiVersion: "nmstate.io/v1",
  kind: "NodeIPPool",
  metadata: { name },
  spec: { range: { cidr, end }, ...spec },
});
const claim = (name: string, network = "red", metadata: Bag = {}) => ({
  apiVersion: "k8s.cni.cncf.io/v1alpha1",
  kind: "IPAMClaim",
  metadata: { name, namespace: "default", ...metadata },
  spec: { network, interface: "net1" },
});

function begin(last = 9, pools = "lan", spec: Bag = {}) {
  const said: string[] = [];
  const wrong = (about: string, problem: string, message: string) => void said.push(`${about} ${problem}: ${message}`);
  const sim = new SimController({ wrong, ran: () => {}, recorded: () => {} }, undefined, undefined, [
    ipamClaimsInCluster as Integration,
  ]);
  sim.create(pool("lan", "10.0.0.0/24", `10.0.0.${last}`, spec));
  sim.create(macvlanNetwork("red", pools) as never);
  const object = (name: string) => sim.object("IPAMClaim", name);
  const finalizers = (name: string) => asBag(object(name)?.metadata)?.finalizers;
  const ips = (name: string) => asBag(object(name)?.status)?.ips;
  const ready = (name: string) => {
    const { status, reason } = conditionOf(asBag(object(name)?.status)?.conditions, "IPsAllocated") ?? {};
    return `${status} ${reason}`;
  };
  const lines = () => {
    const { allocations, releasing } = sim.record;
    return [...allocations, ...releasing.map((line) => ({ ...line, left: " releasing" }))].map(
      ({ address, claim: key, ...rest }) => `${formatAddress(address)} ${key}${"left" in rest ? rest.left : ""}`,
    );
  };
  const remove = (name: string) => sim.remove("IPAMClaim", name, "default");
  const shows = (name: string, update: (object: Bag) => Bag) => sim.change("IPAMClaim", name, update, "default");
  return { sim, said, object, finalizers, ips, ready, lines, remove, shows };
}

describe("an IPAMClaim on a network of NodeIPPools", () => {
  it("C6, C12: gets its addresses once they are recorded, with the standard's condition and a finalizer", async () => {
    const { sim, finalizers, ips, ready, lines } = begin(9, "lan, lan6");
    sim.create(pool("lan6", "fd20::/64", "fd20::9"));
    sim.create(claim("vm-a.red"));
    await sim.pass(3000);
    expect([ips("vm-a.red"), ready("vm-a.red")]).toEqual([["10.0.0.1/24", "fd20::1/64"], "True SuccessfulAllocation"]);
    expect(finalizers("vm-a.red")).toEqual([stake]);
    expect(lines()).toEqual(["10.0.0.1 IPAMClaim/default:vm-a.red/lan", "fd20::1 IPAMClaim/default:vm-a.red/lan6"]);
  });

  it("on another network is somebody else's, whatever it shows", async () => {
    const { sim, lines, object, finalizers } = begin();
    sim.create(ovnNetwork("blue", { subnets: "10.0.0.0/24" }) as never);
    sim.create({ ...claim("vm-a.blue", "blue"), status: { ips: ["10.0.0.1/24"] } } as never);
    sim.create(claim("vm-a.green", "green"));
    sim.create(claim("vm-a.red"));
    await sim.pass(3000);
    expect(lines()).toEqual(["10.0.0.1 IPAMClaim/default:vm-a.red/lan"]);
    expect(finalizers("vm-a.blue")).toBeUndefined();
    expect(object("vm-a.green")?.status).toBeUndefined();
  });

  it("C8: keeps them, whoever else comes and goes; made anew under its name, it has them again", async () => {
    const { sim, ips, remove } = begin();
    for (const name of ["a.red", "b.red", "c.red"]) sim.create(claim(name));
    await sim.pass(3000);
    remove("a.red");
    sim.create(claim("d.red"));
    await sim.pass(1000);
    sim.create(claim("a.red"));
    await sim.pass(60_000);
    expect(["b.red", "c.red"].map(ips)).toEqual([["10.0.0.2/24"], ["10.0.0.3/24"]]);
    expect(new Set(["a.red", "b.red", "c.red", "d.red"].map((name) => `${ips(name)}`)).size).toBe(4);
  });

  it("C12: on a full pool says so, and is served the moment one is free", async () => {
    const { sim, ips, ready, remove } = begin(2);
    for (const name of ["a.red", "b.red"]) sim.create(claim(name));
    await sim.pass(2000);
    sim.create(claim("c.red"));
    await sim.pass(2000);
    expect([ips("c.red"), ready("c.red")]).toEqual([[], "False SubnetExhausted"]);
    remove("a.red");
    await sim.pass(60_000);
    expect([ips("c.red"), ready("c.red")]).toEqual([["10.0.0.1/24"], "True SuccessfulAllocation"]);
  });

  it("C9, C16: while others use it, it stays, and so do its addresses", async () => {
    const { sim, ips, lines, object, finalizers, remove, shows } = begin(2);
    const others = ["kubevirt.io/persistent-ipam"];
    sim.create(claim("a.red", "red", { finalizers: others }));
    await sim.pass(2000);
    remove("a.red");
    for (const name of ["b.red", "c.red"]) sim.create(claim(name));
    await sim.pass(60_000);
    expect([ips("b.red"), ips("c.red")]).toEqual([["10.0.0.2/24"], []]);
    expect(finalizers("a.red")).toEqual([...others, stake]);
    expect(lines()).toContain("10.0.0.1 IPAMClaim/default:a.red/lan releasing");
    shows("a.red", ({ metadata, ...rest }) => ({ ...rest, metadata: { ...asBag(metadata), finalizers: [stake] } }));
    await sim.pass(60_000);
    expect([object("a.red"), ips("c.red")]).toEqual([undefined, ["10.0.0.1/24"]]);
  });

  it("C11: what claims show is theirs when the record is lost, and nobody else's before they are seen", async () => {
    const { sim, ips, lines } = begin();
    for (const name of ["a.red", "b.red"]) sim.create(claim(name));
    await sim.pass(2000);
    const before = lines();
    const { engine: _, record } = sim;
    sim.record = { ...record, allocations: [], releasing: [], pools: [], base: new Map() };
    sim.engine.lookAgain();
    sim.create(claim("0.red"));
    await sim.pass(5000);
    expect(lines()).toEqual([...before, "10.0.0.3 IPAMClaim/default:0.red/lan"]);
    expect(["a.red", "b.red"].map(ips)).toEqual([["10.0.0.1/24"], ["10.0.0.2/24"]]);
  });

  it("that shows an address before it has one gets that; what another one has, it does not, and it stays as it is", async () => {
    const { sim, ips, ready, lines } = begin();
    sim.create({ ...claim("a.red"), status: { ips: ["10.0.0.7/24"] } } as never);
    await sim.pass(2000);
    sim.create({ ...claim("b.red"), status: { ips: ["10.0.0.7/24"] } } as never);
    await sim.pass(2000);
    expect([ips("a.red"), ready("a.red")]).toEqual([["10.0.0.7/24"], "True SuccessfulAllocation"]);
    expect([ips("b.red"), ready("b.red")]).toEqual([["10.0.0.7/24"], "False IPAddressConflict"]);
    expect(lines()).toEqual(["10.0.0.7 IPAMClaim/default:a.red/lan"]);
  });

  it("whose VM asks for an address gets that, with the prefix length of the pool, or nothing", async () => {
    const { sim, ips, ready } = begin();
    const annotations = { "nodeippool.nmstate.io/addresses": "10.0.0.5" };
    for (const name of ["a.red", "b.red"]) sim.create(claim(name, "red", { annotations }));
    await sim.pass(3000);
    expect([ips("a.red"), ready("a.red")]).toEqual([["10.0.0.5/24"], "True SuccessfulAllocation"]);
    expect([ips("b.red"), ready("b.red")]).toEqual([[], "False IPAddressConflict"]);
  });

  it("B3: addresses in a status are never replaced by others", async () => {
    const { sim, ips, ready, shows } = begin();
    sim.create(claim("a.red"));
    await sim.pass(2000);
    shows("a.red", (object) => ({ ...object, status: { ...asBag(object.status), ips: ["10.0.0.8/24"] } }));
    await sim.pass(20_000);
    expect([ips("a.red"), ready("a.red")]).toEqual([["10.0.0.8/24"], "False IPAddressConflict"]);
  });

  it("what was planned is written into its status, and nothing is allocated", async () => {
    const { sim, ips, ready, lines } = begin(9, "lan", { authority: "Plan" });
    const annotations = { "nodeippool.nmstate.io/addresses": "10.0.0.5/24" };
    sim.create(claim("a.red", "red", { annotations }));
    sim.create(claim("b.red"));
    sim.create(ovnNetwork("blue", { subnets: "192.168.10.0/24" }) as never);
    sim.create(claim("a.blue", "blue", { annotations: { "nodeippool.nmstate.io/addresses": "192.168.10.8/24" } }));
    await sim.pass(3000);
    expect([ips("a.red"), ready("a.red")]).toEqual([["10.0.0.5/24"], "True SuccessfulAllocation"]);
    expect([ips("a.blue"), ips("b.red"), lines()]).toEqual([["192.168.10.8/24"], undefined, []]);
  });

  it("on a network whose pool is not there gets nothing until it is; an Event says what is missing", async () => {
    const { sim, said, ips } = begin(9, "lan9");
    sim.create(claim("a.red"));
    await sim.pass(3000);
    expect([ips("a.red"), said[0]]).toEqual([undefined, expect.stringContaining("there is no NodeIPPool lan9")]);
    sim.create(pool("lan9", "10.9.0.0/24", "10.9.0.9"));
    await sim.pass(3000);
    expect(ips("a.red")).toEqual(["10.9.0.1/24"]);
  });

  it("keeps what it has when its network goes, or cannot be read, and comes back", async () => {
    const { sim, ips, lines } = begin(2);
    sim.create(claim("a.red"));
    await sim.pass(2000);
    sim.remove("NetworkAttachmentDefinition", "red", "default");
    await sim.pass(60_000);
    sim.create(macvlanNetwork("red2", "lan") as never);
    sim.create(claim("b.red2", "red2"));
    sim.create(claim("c.red2", "red2"));
    await sim.pass(60_000);
    expect([ips("a.red"), ips("b.red2"), ips("c.red2")]).toEqual([["10.0.0.1/24"], ["10.0.0.2/24"], []]);
    sim.create(macvlanNetwork("red", "lan") as never);
    await sim.pass(3000);
    expect(lines()[0]).toBe("10.0.0.1 IPAMClaim/default:a.red/lan");
  });
});
