import { describe, expect, it } from "vitest";
import { asBag, asList, conditionOf } from "../../../schema/objects.ts";
import { policy } from "../../support/controller-objects.ts";
import { SimController } from "../../support/sim-controller.ts";

const kind = "NodeNetworkConfigurationPolicy";

describe("a policy of two pools", () => {
  it.each([
    ["is missing", (_: SimController) => {}, /pool q, which is not defined/],
    [
      "is that of a plan",
      (sim: SimController) =>
        sim.create({
          apiVersion: "nmstate.io/v1",
          kind: "NodeIPPool",
          metadata: { name: "q" },
          spec: { range: { cidr: "10.0.1.0/24" }, authority: "Plan" },
        } as never),
      /pools of authority Plan and Cluster/,
    ],
  ])("of which one %s says so, and is parked", async (_, begin, message) => {
    const sim = new SimController();
    sim.pool("p", "10.0.0.0/24", "10.0.0.9");
    begin(sim);
    const two = policy("two", "p");
    const spec = asBag(two.spec);
    const interfaces = asList(asBag(spec?.desiredState)?.interfaces);
    const address = [{ ip: "{{ capture.other.ip }}", "prefix-length": "{{ capture.other.prefix-length }}" }];
    const other = { name: "eth2", type: "ethernet", state: "up", ipv4: { enabled: true, dhcp: false, address } };
    sim.create({
      ...two,
      spec: {
        ...spec,
        capture: { ...asBag(spec?.capture), other: "ippool.q.allocate" },
        desiredState: { interfaces: [...interfaces, other] },
      },
    } as never);
    await sim.pass(60_000);
    expect(sim.logged).toEqual([]);
    const there = sim.object(kind, "two");
    expect(conditionOf(asBag(there?.status)?.conditions, "Degraded")?.message).toMatch(message);
    expect(asBag(there?.spec)?.nodeSelector).toHaveProperty("nmstate.io/ippool-template");
  });
});
