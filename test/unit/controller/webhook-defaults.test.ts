import { describe, expect, it } from "vitest";
import { capi } from "../../../integrations/capi/capi.ts";
import { asBag, asList, type Bag } from "../../../schema/objects.ts";
import { policy } from "../../support/controller-objects.ts";
import { SimController } from "../../support/sim-controller.ts";

const policies = "nodenetworkconfigurationpolicies";

/** A webhook that adds to each policy of a node a field of the spec, one of each NIC, an owner and a label. */
function addDefaults(sim: SimController): void {
  sim.server.webhook = (object) => {
    if (!object.metadata.name.includes("--") && object.kind !== "IPAddress") return object;
    const spec = asBag(object.spec) as Bag;
    const { desiredState, ...others } = spec;
    const interfaces = asList(asBag(desiredState)?.interfaces).map((nic) => ({ ...asBag(nic), mtu: 1500 }));
    const owners = asList((object.metadata as Bag).ownerReferences).filter((one) => asBag(one)?.uid !== "w");
    const ownerReferences = [{ apiVersion: "v1", kind: "Team", name: "t", uid: "w" }, ...owners];
    const labels = { ...object.metadata.labels, "example.org/team": "net" };
    const more = {
      maxUnavailable: "50%",
      ...others,
      ...(desiredState !== undefined && { desiredState: { interfaces } }),
    };
    return { ...object, metadata: { ...object.metadata, labels, ownerReferences }, spec: more } as never;
  };
}

function begin(): SimController {
  const sim = new SimController();
  sim.pool("p", "10.0.0.0/24", "10.0.0.9");
  sim.node("n1");
  sim.create(policy("a", "p") as never);
  return sim;
}

const mtuOf = (sim: SimController) => {
  const spec = asBag(sim.object("NodeNetworkConfigurationPolicy", "a--n1")?.spec);
  return asBag(asList(asBag(spec?.desiredState)?.interfaces)[0])?.mtu;
};

describe("a webhook that adds defaults to a policy of a node", () => {
  it("leaves nothing to write", async () => {
    const sim = begin();
    addDefaults(sim);
    await sim.pass(30_000);
    expect(mtuOf(sim)).toBe(1500);
    expect(sim.requests.filter((one) => one.endsWith(policies) && one.startsWith("create"))).toHaveLength(1);
    sim.requests.length = 0;
    sim.engine.lookAgain();
    await sim.pass(30_000);
    expect(sim.requests.filter((one) => one.endsWith(policies))).toEqual([]);
  });

  it("after the policies were made is met by reading each once", async () => {
    const sim = begin();
    await sim.pass(5000);
    addDefaults(sim);
    // Somebody touches the policy of a node.
    sim.change("NodeNetworkConfigurationPolicy", "a--n1", (one) => ({ ...one }));
    sim.requests.length = 0;
    await sim.pass(30_000);
    expect(mtuOf(sim)).toBe(1500);
    expect(sim.requests.filter((one) => one.endsWith(policies))).toEqual([`get ${policies}`]);
  });

  it("does not hide what somebody changes", async () => {
    const sim = begin();
    addDefaults(sim);
    await sim.pass(10_000);
    sim.change("NodeNetworkConfigurationPolicy", "a--n1", (one) => {
      const state = asBag(asBag(one.spec)?.desiredState);
      const nics = asList(state?.interfaces).map((nic) => ({ ...asBag(nic), name: "eth9" }));
      return { ...one, spec: { ...asBag(one.spec), desiredState: { interfaces: nics } } };
    });
    await sim.pass(10_000);
    const spec = asBag(sim.object("NodeNetworkConfigurationPolicy", "a--n1")?.spec);
    expect(asBag(asList(asBag(spec?.desiredState)?.interfaces)[0])?.name).toBe("eth1");
  });
});

describe("a webhook that adds a default to what cannot be changed in an object", () => {
  it("does not have it deleted", async () => {
    const sim = new SimController(undefined, undefined, undefined, [capi("v1beta2")]);
    sim.pool("p", "10.0.0.0/24", "10.0.0.9");
    addDefaults(sim);
    sim.create({
      apiVersion: "ipam.cluster.x-k8s.io/v1beta2",
      kind: "IPAddressClaim",
      metadata: { name: "c", namespace: "metal3" },
      spec: { poolRef: { apiGroup: "nmstate.io", kind: "NodeIPPool", name: "p" } },
    } as never);
    await sim.pass(30_000);
    const writes = sim.requests.filter((one) => one.endsWith(" ipaddresses") && !/^(get|list)/.test(one));
    expect(writes).toEqual(["create ipaddresses"]);
  });
});
