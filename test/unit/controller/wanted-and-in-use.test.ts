import { expect, it } from "vitest";
import { ipamClaimsInCluster } from "../../../integrations/ipamclaim/in-cluster.ts";
import { nmstateInCluster } from "../../../integrations/nmstate/in-cluster.ts";
import { asBag, type Bag } from "../../../schema/objects.ts";
import { policy } from "../../support/objects/controller-objects.ts";
import { macvlanNetwork } from "../../support/objects/vm-objects.ts";
import { SimController } from "../../support/sim/controller.ts";

const claim = (more: Bag) => ({
  apiVersion: "k8s.cni.cncf.io/v1alpha1",
  kind: "IPAMClaim",
  metadata: { name: "v", namespace: "default", ...asBag(more.metadata) },
  spec: { network: "red", interface: "net1" },
  ...(more.status ? { status: more.status } : {}),
});
it("what node m1 reports to have on a NIC is still given to it there, whoever asks for it", async () => {
  const sim = new SimController(undefined, undefined, undefined, [nmstateInCluster, ipamClaimsInCluster]);
  sim.pool("p", "10.0.0.0/24", "10.0.0.20");
  sim.create(macvlanNetwork("red", "p") as never);
  sim.create(claim({ metadata: { annotations: { "nodeippool.nmstate.io/addresses": "10.0.0.5/24" } } }) as never);
  sim.node("m1");
  sim.shows("m1", "10.0.0.5");
  sim.create(policy("a", "p") as never);
  await sim.pass(5000);
  expect(sim.lines()).toEqual(["10.0.0.5 Node/m1/a/address"]);
});

it.each<[string, (sim: SimController) => void]>([
  [
    "an IPAMClaim that was planned",
    (sim) =>
      sim.create(claim({ metadata: { annotations: { "nodeippool.nmstate.io/addresses": "10.0.0.5/24" } } }) as never),
  ],
  ["an IPAMClaim that shows it", (sim) => sim.create(claim({ status: { ips: ["10.0.0.5/24"] } }) as never)],
  [
    "a node that it is reserved for",
    (sim) => {
      sim.create(policy("a", "p") as never);
      sim.node("b");
    },
  ],
])("what node m1 reports to have is not given to %s, which is told so", async (what, ask) => {
  const sim = new SimController(undefined, undefined, undefined, [nmstateInCluster, ipamClaimsInCluster]);
  const spec = {
    range: { cidr: "10.0.0.0/24", end: "10.0.0.20" },
    reservations: [{ address: "10.0.0.5", owner: "Node/b" }],
  };
  const isReserved = what.startsWith("a node");
  sim.create({
    apiVersion: "nmstate.io/v1",
    kind: "NodeIPPool",
    metadata: { name: "p" },
    spec: isReserved ? spec : { range: spec.range },
  } as never);
  sim.create(macvlanNetwork("red", "p") as never);
  sim.node("m1", {});
  sim.shows("m1", "10.0.0.5");
  await sim.pass(3000);
  ask(sim);
  await sim.pass(5000);
  expect(sim.lines()).toEqual([]);
  const about = isReserved ? sim.object("NodeIPPool", "p") : sim.object("IPAMClaim", "v");
  expect(JSON.stringify(about?.status)).toContain(
    "10.0.0.5 is in use by Node/m1 eth1, and on record for nobody. Take it off there, or want another one",
  );
});
