import { describe, expect, it } from "vitest";
import { asBag } from "../../../schema/objects.ts";
import { begin, claim, planned, pool, releaseFinalizer, showing } from "../../support/objects/ipam-claims.ts";
import { macvlanNetwork, ovnNetwork } from "../../support/objects/vm-objects.ts";
import { refused } from "../../support/sim/server.ts";

describe("an IPAMClaim on a network of NodeIPPools", () => {
  it("C6, C12: gets its addresses once they are recorded, with the standard's condition and a finalizer", async () => {
    const { sim, finalizers, stands } = begin({ pools: "lan, lan6" });
    sim.create(claim("vm-a.red"));
    await sim.pass(3000);
    expect(stands("vm-a.red")).toBe("10.0.0.1/24 fd20::1/64 True SuccessfulAllocation");
    expect(finalizers("vm-a.red")).toEqual([releaseFinalizer]);
    expect(sim.lines()).toEqual(["10.0.0.1 IPAMClaim/default:vm-a.red/lan", "fd20::1 IPAMClaim/default:vm-a.red/lan6"]);
  });

  it("on another network is somebody else's, whatever it shows", async () => {
    const { sim, object, finalizers } = begin();
    sim.create(ovnNetwork("blue", { subnets: "10.0.0.0/24" }));
    sim.create({ ...claim("vm-a.blue", {}, "blue"), status: { ips: ["10.0.0.1/24"] } });
    sim.create(claim("vm-a.green", {}, "green"));
    sim.create(claim("vm-a.red"));
    await sim.pass(3000);
    expect(sim.lines()).toEqual(["10.0.0.1 IPAMClaim/default:vm-a.red/lan"]);
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
    const { sim, stands, remove } = begin({ last: 2 });
    for (const name of ["a.red", "b.red"]) sim.create(claim(name));
    await sim.pass(2000);
    sim.create(claim("c.red"));
    await sim.pass(2000);
    expect(stands("c.red")).toBe("False SubnetExhausted");
    remove("a.red");
    await sim.pass(60_000);
    expect(stands("c.red")).toBe("10.0.0.1/24 True SuccessfulAllocation");
  });

  it("C9, C16: while others use it, it stays, and so do its addresses", async () => {
    const { sim, ips, object, finalizers, remove, edit } = begin({ last: 2 });
    const others = ["kubevirt.io/persistent-ipam"];
    sim.create(claim("a.red", { finalizers: others }));
    await sim.pass(2000);
    remove("a.red");
    for (const name of ["b.red", "c.red"]) sim.create(claim(name));
    await sim.pass(60_000);
    expect([ips("b.red"), ips("c.red")]).toEqual([["10.0.0.2/24"], []]);
    expect(finalizers("a.red")).toEqual([...others, releaseFinalizer]);
    expect(sim.lines()).toContain("10.0.0.1 IPAMClaim/default:a.red/lan releasing");
    edit("a.red", ({ metadata, ...rest }) => ({
      ...rest,
      metadata: { ...asBag(metadata), finalizers: [releaseFinalizer] },
    }));
    await sim.pass(60_000);
    expect([object("a.red"), ips("c.red")]).toEqual([undefined, ["10.0.0.1/24"]]);
  });

  it("C11: what claims show is theirs when the record is lost, and nobody else's before they are seen", async () => {
    const { sim, ips } = begin();
    for (const name of ["a.red", "b.red"]) sim.create(claim(name));
    await sim.pass(2000);
    const before = sim.lines();
    const { engine: _, record } = sim;
    sim.record = { ...record, allocations: [], releasing: [], pools: [], base: new Map() };
    sim.engine.resync();
    sim.create(claim("0.red"));
    await sim.pass(5000);
    expect(sim.lines()).toEqual(before);
    await sim.pass(15_000);
    expect(sim.lines()).toEqual([...before, "10.0.0.3 IPAMClaim/default:0.red/lan"]);
    expect(["a.red", "b.red"].map(ips)).toEqual([["10.0.0.1/24"], ["10.0.0.2/24"]]);
  });

  it("that shows an address before it has one gets that; what another one has, it does not, and it stays as it is", async () => {
    const { sim, stands } = begin();
    sim.create(showing("a.red", "10.0.0.7/24"));
    await sim.pass(2000);
    sim.create(showing("b.red", "10.0.0.7/24"));
    await sim.pass(2000);
    expect(stands("a.red")).toBe("10.0.0.7/24 True SuccessfulAllocation");
    expect(stands("b.red")).toBe("10.0.0.7/24 False IPAddressConflict");
    expect(sim.lines()).toEqual(["10.0.0.7 IPAMClaim/default:a.red/lan"]);
  });

  it("whose VM asks for an address gets that, with the prefix length of the pool, or nothing", async () => {
    const { sim, stands } = begin();
    for (const name of ["a.red", "b.red"]) sim.create(planned(name, "10.0.0.5"));
    await sim.pass(3000);
    expect(["a.red", "b.red"].map(stands)).toEqual([
      "10.0.0.5/24 True SuccessfulAllocation",
      "False IPAddressConflict",
    ]);
  });

  it("B3: addresses in a status are never replaced by others", async () => {
    const { sim, stands, shows } = begin();
    sim.create(claim("a.red"));
    await sim.pass(2000);
    shows("a.red", "10.0.0.8/24");
    await sim.pass(20_000);
    expect(stands("a.red")).toBe("10.0.0.8/24 False IPAddressConflict");
  });

  it("what was planned is written into its status, and nothing is allocated", async () => {
    const { sim, stands } = begin({ spec: { authority: "Plan" } });
    sim.create(planned("a.red", "10.0.0.5/24"));
    sim.create(claim("b.red"));
    sim.create(ovnNetwork("blue", { subnets: "192.168.10.0/24" }));
    sim.create(planned("a.blue", "192.168.10.8/24", "blue"));
    await sim.pass(3000);
    expect(["a.red", "a.blue", "b.red"].map(stands)).toEqual([
      "10.0.0.5/24 True SuccessfulAllocation",
      "192.168.10.8/24 True SuccessfulAllocation",
      "",
    ]);
    expect(sim.lines()).toEqual([]);
  });

  it("on a network whose pool is not there gets nothing until it is; an Event says what is missing", async () => {
    const { sim, ips } = begin({ pools: "lan9" });
    sim.create(claim("a.red"));
    await sim.pass(3000);
    expect([ips("a.red"), sim.said[0]]).toEqual([[], expect.stringContaining("there is no NodeIPPool lan9")]);
    sim.create(pool("lan9", "10.9.0.0/24", "10.9.0.9"));
    await sim.pass(3000);
    expect(ips("a.red")).toEqual(["10.9.0.1/24"]);
  });

  it("keeps what it has when its network goes, or cannot be read, and comes back", async () => {
    const { sim, ips } = begin({ last: 2 });
    sim.create(claim("a.red"));
    await sim.pass(2000);
    sim.remove("NetworkAttachmentDefinition", "red", "default");
    await sim.pass(60_000);
    sim.create(macvlanNetwork("red2", "lan"));
    sim.create(claim("b.red2", {}, "red2"));
    sim.create(claim("c.red2", {}, "red2"));
    await sim.pass(60_000);
    expect([ips("a.red"), ips("b.red2"), ips("c.red2")]).toEqual([["10.0.0.1/24"], ["10.0.0.2/24"], []]);
    sim.create(macvlanNetwork("red", "lan"));
    await sim.pass(3000);
    expect(sim.lines()[0]).toBe("10.0.0.1 IPAMClaim/default:a.red/lan");
  });
});

it("a claim whose addresses the API server refuses to take says so after a while, and what to do", async () => {
  const { sim } = begin();
  sim.server.webhook = (object) => {
    const why = 'admission webhook "claims.example" denied the request';
    if (object.kind === "IPAMClaim" && object.status !== undefined) throw refused(403, "Forbidden", why, "invalid");
    return object;
  };
  sim.create(claim("a.red"));
  await sim.pass(20_000);
  expect(sim.said).toEqual([]);
  await sim.pass(100_000);
  expect([...new Set(sim.said)]).toEqual([
    'IPAMClaim.k8s.cni.cncf.io/default:a.red Refused: the API server refuses to change ipamclaims a.red (status): Forbidden: admission webhook "claims.example" denied the request. Next: let that admission webhook or policy admit the controller\'s write. The controller tries again.',
  ]);
});
