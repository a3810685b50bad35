import { describe, expect, it } from "vitest";
import { capi } from "../../../integrations/capi/in-cluster.ts";
import { nmstateInCluster } from "../../../integrations/nmstate/in-cluster.ts";
import { slicesInCluster } from "../../../integrations/whereabouts/in-cluster.ts";
import { conditionOf } from "../../../schema/objects.ts";
import { policy } from "../../support/objects/controller-objects.ts";
import { attachment, slicePool } from "../../support/objects/whereabouts-objects.ts";
import { SimController } from "../../support/sim/controller.ts";

const claim = {
  apiVersion: "ipam.cluster.x-k8s.io/v1beta2",
  kind: "IPAddressClaim",
  metadata: { name: "good", namespace: "metal3" },
  spec: { poolRef: { apiGroup: "nmstate.io", kind: "NodeIPPool", name: "p" } },
};

async function served(bad: (sim: SimController) => void): Promise<SimController> {
  const integrations = [nmstateInCluster, capi("v1beta2"), slicesInCluster("kube-system")];
  const sim = new SimController(undefined, undefined, undefined, integrations);
  sim.pool("p", "10.0.0.0/24", "10.0.0.20");
  sim.node("n1");
  sim.create(policy("other", "p", "eth7") as never);
  bad(sim);
  await sim.pass(2000);
  sim.create(claim as never);
  await sim.pass(30_000);
  return sim;
}

describe("what no record can hold stops nobody else", () => {
  it.each([
    ["an invisible character", "eth1\u200b"],
    ["nothing", ""],
  ])("a policy whose NIC has %s for a name says so itself", async (_, nic) => {
    const sim = await served((one) => one.create(policy("bad", "p", nic) as never));
    expect(sim.lines()).toEqual(["10.0.0.1 Node/n1/other/address", "10.0.0.2 IPAddressClaim/metal3:good/address"]);
    const [status] = sim.statuses("NodeNetworkConfigurationPolicy", "bad").slice(-1);
    expect(conditionOf(status?.conditions, "Degraded")?.message).toMatch(/cannot be printed/);
  });

  it("a NodeSlicePool of somebody else with a node called -", async () => {
    const sim = await served((one) => {
      one.create(slicePool("net", "10.5.0.0/24", "/28", { "-": "10.5.0.16/28" }) as never);
      one.create(attachment("net", { range: "10.5.0.0/24", node_slice_size: "/28" }) as never);
    });
    // What is listed is taken, whoever has it.
    expect(sim.lines()).toEqual([
      "10.0.0.1 Node/n1/other/address",
      "10.0.0.2 IPAddressClaim/metal3:good/address",
      "10.5.0.0/28 Node/n1/net",
    ]);
  });
});
