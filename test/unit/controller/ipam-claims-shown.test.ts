import { describe, expect, it } from "vitest";
import { formatAddress } from "../../../core/index.ts";
import type { Integration } from "../../../integrations/integration.ts";
import { ipamClaimsInCluster } from "../../../integrations/ipamclaim/claims-in-cluster.ts";
import { asBag, type Bag, conditionOf } from "../../../schema/objects.ts";
import { SimController } from "../../support/sim-controller.ts";
import { macvlanNetwork } from "../../support/vm-objects.ts";

const stake = "nmstate.io/release-addresses";
const pool = (name: string, cidr: string, end: string, spec: Bag = {}) => ({
  apiVersion: "nmstate.io/v1",
  kind: "NodeIPPool",
  metadata: { name },
  spec: { range: { cidr, end }, ...spec },
});
const claim = (name: string, metadata: Bag = {}, network = "red") => ({
  apiVersion: "k8s.cni.cncf.io/v1alpha1",
  kind: "IPAMClaim",
  metadata: { name, namespace: "default", ...metadata },
  spec: { network, interface: "net1" },
});
const showing = (name: string, ...ips: string[]) => ({ ...claim(name), status: { ips } });
const planned = (name: string, addresses: string) =>
  claim(name, { annotations: { "nodeippool.nmstate.io/addresses": addresses } });

/** Pool `lan` of network `red`, and `lan6`, which is bound by `pools`. */
function begin({ pools = "lan", last = 9, last6 = "fd20::9", spec = {} }: Bag = {}) {
  const sim = new SimController(undefined, undefined, undefined, [ipamClaimsInCluster as Integration]);
  sim.create(pool("lan", "10.0.0.0/24", `10.0.0.${last}`, spec as Bag));
  sim.create(pool("lan6", "fd20::/64", `${last6}`));
  sim.create(macvlanNetwork("red", `${pools}`) as never);
  const object = (name: string) => sim.object("IPAMClaim", name);
  const stands = (name: string) => {
    const { ips, conditions } = asBag(object(name)?.status) ?? {};
    const { status, reason } = conditionOf(conditions, "IPsAllocated") ?? {};
    return `${ips} ${status} ${reason}`;
  };
  const lines = () => sim.record.allocations.map(({ address, claim: key }) => `${formatAddress(address)} ${key}`);
  return { sim, object, stands, lines };
}

describe("what IPAMClaims show before it is on record", () => {
  it.each([[["fd00::1/64"]], [["10.0.0.4/24", "10.0.0.5/24"]], [["banana"]]])(
    "%j stops nobody else, and stays",
    async (ips) => {
      const { sim, stands } = begin();
      sim.create(showing("a.red", ...ips) as never);
      sim.create(claim("b.red"));
      await sim.pass(3000);
      expect(stands("a.red")).toBe(`${ips} False IPAddressConflict`);
      expect(stands("b.red")).toMatch(/^10\.0\.0\.[12]\/24 True SuccessfulAllocation$/);
      expect(sim.logged).toEqual([]);
    },
  );

  it("a network that loses a family goes on serving", async () => {
    const { sim, stands } = begin({ pools: "lan, lan6" });
    sim.create(claim("a.red"));
    await sim.pass(3000);
    const annotations = { "nodeippool.nmstate.io/pool": "lan" };
    sim.change(
      "NetworkAttachmentDefinition",
      "red",
      (one) => ({ ...one, metadata: { ...asBag(one.metadata), annotations } }),
      "default",
    );
    sim.create(claim("b.red"));
    await sim.pass(3000);
    expect(stands("b.red")).toBe("10.0.0.2/24 True SuccessfulAllocation");
    expect(stands("a.red")).toBe("10.0.0.1/24,fd20::1/64 True SuccessfulAllocation");
  });

  it("is nobody else's while its claim waits for its other family, and free when that claim is gone", async () => {
    const { sim, stands, object } = begin({ pools: "lan, lan6", last: 3, last6: "fd20::1" });
    sim.create(claim("x.red"));
    await sim.pass(3000);
    sim.create(macvlanNetwork("green", "lan") as never);
    sim.create(showing("b.red", "10.0.0.2/24") as never);
    for (const name of ["a.green", "c.green"]) sim.create(claim(name, {}, "green"));
    await sim.pass(3000);
    expect(["b.red", "a.green", "c.green"].map(stands)).toEqual([
      "10.0.0.2/24 False SubnetExhausted",
      "10.0.0.3/24 True SuccessfulAllocation",
      " False SubnetExhausted",
    ]);
    sim.remove("IPAMClaim", "b.red", "default");
    await sim.pass(3000);
    expect([object("b.red"), stands("c.green")]).toEqual([undefined, "10.0.0.2/24 True SuccessfulAllocation"]);
  });

  it("is nobody else's where it is looked at later than they are: more than a batch, or it is being deleted", async () => {
    const { sim, stands, lines } = begin({ pools: "big" });
    sim.create(pool("big", "10.8.0.0/16", "10.8.255.254"));
    for (let i = 0; i < 501; i++) sim.create(claim(`a${1000 + i}.red`));
    sim.create(showing("z.red", "10.8.0.1/16") as never);
    const ending = { finalizers: ["kubevirt.io/persistent-ipam"], deletionTimestamp: "2026-01-01T00:00:00Z" };
    sim.create({ ...claim("y.red", ending), status: { ips: ["10.8.0.2/16"] } } as never);
    await sim.pass(3000);
    expect(lines().slice(0, 2)).toEqual([
      "10.8.0.1 IPAMClaim/default:z.red/big",
      "10.8.0.3 IPAMClaim/default:a1000.red/big",
    ]);
    expect(stands("a1000.red")).toBe("10.8.0.3/16 True SuccessfulAllocation");
  });

  it.each(["10.0.0.2/24", "10.0.0.2"])("%s in place of what it has is nobody else's", async (ip) => {
    const { sim, stands } = begin();
    sim.create(claim("a.red"));
    await sim.pass(3000);
    sim.change("IPAMClaim", "a.red", (one) => ({ ...one, status: { ...asBag(one.status), ips: [ip] } }), "default");
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
    sim.create(showing("a.red", "FD20:0::1/64") as never);
    sim.create(showing("b.red", "fd20::2") as never);
    await sim.pass(3000);
    expect(["a.red", "b.red"].map(stands)).toEqual([
      "fd20::1/64 True SuccessfulAllocation",
      "fd20::2/64 True SuccessfulAllocation",
    ]);
  });
});

it("an IPAMClaim that bears the label of what the controller makes is served, and not deleted", async () => {
  const { sim, object, stands } = begin();
  const labels = { "app.kubernetes.io/managed-by": "nodeippool-controller" };
  sim.create(claim("a.red", { labels }));
  sim.create(claim("b.red"));
  await sim.pass(3000);
  sim.change("IPAMClaim", "b.red", (one) => ({ ...one, metadata: { ...asBag(one.metadata), labels } }), "default");
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
      " False IPAddressConflict",
    ]);
    expect(asBag(object("b.red")?.metadata)?.finalizers).toEqual([stake]);
  });

  it("is written as it is where the plan gives the rest of the pool", async () => {
    const { sim, stands, lines } = begin({
      spec: { authority: "Plan", clusterRange: { start: "10.0.0.5", end: "10.0.0.9" } },
    });
    sim.create(planned("a.red", "10.0.0.1/24"));
    sim.create(claim("b.red"));
    await sim.pass(3000);
    expect([stands("a.red"), lines()]).toEqual([
      "10.0.0.1/24 True SuccessfulAllocation",
      ["10.0.0.5 IPAMClaim/default:b.red/lan"],
    ]);
  });

  it.each(["", "banana"])("%j is no plan, and is not written", async (addresses) => {
    const { sim, stands, lines } = begin();
    sim.create(planned("a.red", addresses));
    await sim.pass(3000);
    expect([stands("a.red"), lines()]).toEqual([" False InternalError", []]);
  });
});
