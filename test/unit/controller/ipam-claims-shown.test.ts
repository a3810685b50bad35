import { describe, expect, it } from "vitest";
import { asBag } from "../../../schema/objects.ts";
import { begin, claim, planned, pool, releaseFinalizer, showing } from "../../support/objects/ipam-claims.ts";
import { macvlanNetwork } from "../../support/objects/vm-objects.ts";
import { refused } from "../../support/sim/server.ts";

describe("what IPAMClaims show before it is on record", () => {
  it.each([[["fd00::1/64"]], [["10.0.0.4/24", "10.0.0.5/24"]], [["banana"]]])(
    "%j stops nobody else, and stays",
    async (ips) => {
      const { sim, stands } = begin();
      sim.create(showing("a.red", ...ips));
      sim.create(claim("b.red"));
      await sim.pass(3000);
      expect(stands("a.red")).toBe(`${ips.join(" ")} False IPAddressConflict`);
      expect(stands("b.red")).toMatch(/^10\.0\.0\.[12]\/24 True SuccessfulAllocation$/);
      expect(sim.logged).toEqual([]);
    },
  );

  it("a network that loses a family goes on serving", async () => {
    const { sim, stands, bind } = begin({ pools: "lan, lan6" });
    sim.create(claim("a.red"));
    await sim.pass(3000);
    bind("red", "lan");
    sim.create(claim("b.red"));
    await sim.pass(3000);
    expect(stands("b.red")).toBe("10.0.0.2/24 True SuccessfulAllocation");
    expect(stands("a.red")).toBe("10.0.0.1/24 fd20::1/64 True SuccessfulAllocation");
  });

  it("is nobody else's while its claim waits for its other family, and free when that claim is gone", async () => {
    const { sim, stands, object } = begin({ pools: "lan, lan6", last: 3, last6: "fd20::1" });
    sim.create(claim("x.red"));
    await sim.pass(3000);
    sim.create(macvlanNetwork("green", "lan"));
    sim.create(showing("b.red", "10.0.0.2/24"));
    for (const name of ["a.green", "c.green"]) sim.create(claim(name, {}, "green"));
    await sim.pass(3000);
    expect(["b.red", "a.green", "c.green"].map(stands)).toEqual([
      "10.0.0.2/24 False SubnetExhausted",
      "10.0.0.3/24 True SuccessfulAllocation",
      "False SubnetExhausted",
    ]);
    sim.remove("IPAMClaim", "b.red", "default");
    await sim.pass(60_000);
    expect([object("b.red"), stands("c.green")]).toEqual([undefined, "10.0.0.2/24 True SuccessfulAllocation"]);
  });

  it("is nobody else's where it is looked at later than they are: more than a batch, or it is being deleted", async () => {
    const { sim, stands } = begin({ pools: "big" });
    sim.create(pool("big", "10.8.0.0/16", "10.8.255.254"));
    for (let i = 0; i < 501; i++) sim.create(claim(`a${1000 + i}.red`));
    sim.create(showing("z.red", "10.8.0.1/16"));
    const ending = { finalizers: ["kubevirt.io/persistent-ipam"], deletionTimestamp: "2026-01-01T00:00:00Z" };
    sim.create({ ...claim("y.red", ending), status: { ips: ["10.8.0.2/16"] } });
    await sim.pass(3000);
    expect(sim.lines().slice(0, 2)).toEqual([
      "10.8.0.1 IPAMClaim/default:z.red/big",
      "10.8.0.3 IPAMClaim/default:a1000.red/big",
    ]);
    expect(stands("a1000.red")).toBe("10.8.0.3/16 True SuccessfulAllocation");
  });

  it.each(["10.0.0.2/24", "10.0.0.2"])("%s in place of what it has is nobody else's", async (ip) => {
    const { sim, stands, shows } = begin();
    sim.create(claim("a.red"));
    await sim.pass(3000);
    shows("a.red", ip);
    await sim.pass(1000);
    sim.create(claim("b.red"));
    await sim.pass(3000);
    expect(["a.red", "b.red"].map(stands)).toEqual([
      `${ip} False IPAddressConflict`,
      "10.0.0.3/24 True SuccessfulAllocation",
    ]);
  });

  it("an address that is written otherwise is the same one", async () => {
    const { sim, stands } = begin({ pools: "lan6" });
    sim.create(showing("a.red", "FD20:0::1/64"));
    sim.create(showing("b.red", "fd20::2"));
    await sim.pass(3000);
    expect(["a.red", "b.red"].map(stands)).toEqual([
      "fd20::1/64 True SuccessfulAllocation",
      "fd20::2/64 True SuccessfulAllocation",
    ]);
  });
});

it("a claim is told no address by a record that is outdated: another controller has taken it back meanwhile", async () => {
  const { sim, stands } = begin();
  const patch = Reflect.get(sim.server, "patch").bind(sim.server);
  /** What is on record at each write of a claim. */
  const written: string[][] = [];
  let isDown = true;
  const patched = (...request: readonly unknown[]) => {
    if (isDown) throw refused(500, "InternalError", "not now");
    if (`${request[0]}`.startsWith("ipamclaims/")) written.push(sim.lines());
    return patch(...request);
  };
  await sim.pass(1000);
  Object.assign(sim.server, { patch: patched });
  sim.create(claim("a.red"));
  await sim.pass(1000);
  const { allocations } = sim.record;
  expect(sim.lines()).toEqual(["10.0.0.1 IPAMClaim/default:a.red/lan"]);
  sim.record = { ...sim.record, allocations: [], releasing: allocations, base: new Map() };
  await sim.pass(2500);
  isDown = false;
  await sim.pass(10_000);
  expect(stands("a.red")).toBe("10.0.0.1/24 True SuccessfulAllocation");
  expect(written.filter(([line]) => line?.endsWith("releasing"))).toEqual([]);
});

it("an IPAMClaim that bears the label of what the controller makes is served, and not deleted", async () => {
  const { sim, object, stands, edit } = begin();
  const labels = { "app.kubernetes.io/managed-by": "nodeippool-controller" };
  sim.create(claim("a.red", { labels }));
  sim.create(claim("b.red"));
  await sim.pass(3000);
  edit("b.red", (one) => ({ ...one, metadata: { ...asBag(one.metadata), labels } }));
  await sim.pass(20_000);
  expect(asBag(object("b.red")?.metadata)?.deletionTimestamp).toBeUndefined();
  expect(["a.red", "b.red"].map(stands)).toEqual([
    "10.0.0.1/24 True SuccessfulAllocation",
    "10.0.0.2/24 True SuccessfulAllocation",
  ]);
});

describe("what was planned for IPAMClaims on a pool of the cluster", () => {
  it("is recorded for them, and nobody else's", async () => {
    const { sim, object, stands } = begin();
    sim.create(planned("b.red", "10.0.0.1/24"));
    sim.create(claim("a.red"));
    await sim.pass(3000);
    sim.create(planned("c.red", "10.0.0.2/24"));
    await sim.pass(3000);
    expect(["a.red", "b.red", "c.red"].map(stands)).toEqual([
      "10.0.0.2/24 True SuccessfulAllocation",
      "10.0.0.1/24 True SuccessfulAllocation",
      "False IPAddressConflict",
    ]);
    expect(asBag(object("b.red")?.metadata)?.finalizers).toEqual([releaseFinalizer]);
  });

  it("is written as it is where the plan gives the rest of the pool", async () => {
    const { sim, stands } = begin({
      spec: { authority: "Plan", clusterRange: { start: "10.0.0.5", end: "10.0.0.9" } },
    });
    sim.create(planned("a.red", "10.0.0.1/24"));
    sim.create(claim("b.red"));
    await sim.pass(3000);
    expect([stands("a.red"), sim.lines()]).toEqual([
      "10.0.0.1/24 True SuccessfulAllocation",
      ["10.0.0.5 IPAMClaim/default:b.red/lan"],
    ]);
  });

  it.each(["", "banana"])("%j is no plan, and is not written", async (addresses) => {
    const { sim, stands } = begin();
    sim.create(planned("a.red", addresses));
    await sim.pass(3000);
    expect([stands("a.red"), sim.lines()]).toEqual(["False InternalError", []]);
  });
});
