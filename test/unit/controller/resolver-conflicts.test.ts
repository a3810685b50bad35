import { describe, expect, it } from "vitest";
import { asBag, conditionOf } from "../../../schema/objects.ts";
import { policy } from "../../support/objects/controller-objects.ts";
import { SimController } from "../../support/sim/controller.ts";

const kind = "NodeNetworkConfigurationPolicy";
const asking = (...server: string[]) => ({ "dns-resolver": { config: { server } } });

/** A policy of pool p that also sets DNS servers. */
function withServers(name: string, nic: string, ...server: string[]) {
  const one = policy(name, "p", nic);
  const spec = asBag(one.spec);
  return { ...one, spec: { ...spec, desiredState: { ...asBag(spec?.desiredState), ...asking(...server) } } } as never;
}

/** A policy that takes nothing from pools. */
const foreign = (...server: string[]) =>
  ({
    apiVersion: "nmstate.io/v1",
    kind,
    metadata: { name: "dns" },
    spec: { nodeSelector: {}, desiredState: asking(...server) },
  }) as never;

const degradedOf = (sim: SimController, name: string) =>
  conditionOf(asBag(sim.object(kind, name)?.status)?.conditions, "Degraded");

async function begin(): Promise<SimController> {
  const sim = new SimController();
  sim.pool("p", "10.0.0.0/24", "10.0.0.9");
  sim.node("n1");
  return sim;
}

async function isQuiet(sim: SimController): Promise<void> {
  const writes = () => sim.requests.filter((one) => !one.startsWith("get")).length;
  await sim.pass(10_000);
  const before = writes();
  await sim.pass(60_000);
  expect(writes()).toBe(before);
}

describe("two policies that set different DNS servers on a node", () => {
  async function two(): Promise<SimController> {
    const sim = await begin();
    sim.create(withServers("b", "eth1", "10.0.0.53"));
    await sim.pass(3000);
    for (const name of ["b--n1", "b.dns--n1"]) sim.enact(name, "n1", "Available");
    sim.shows("n1", "10.0.0.1");
    await sim.pass(3000);
    sim.create(withServers("a", "eth2", "10.0.0.54", "10.0.0.55"));
    await sim.pass(5000);
    return sim;
  }
  const why =
    "policies b (10.0.0.53) and a (10.0.0.54, 10.0.0.55) set different DNS servers; a node has one resolver, and the policy applied last wins";

  it("the later one gets no address, says why in its status and an Event, and the earlier one keeps its own", async () => {
    const sim = await two();
    expect(sim.lines()).toEqual(["10.0.0.1 Node/n1/b/address"]);
    expect(degradedOf(sim, "a")?.message).toContain(why);
    expect(degradedOf(sim, "b")?.status).toBe("False");
    expect(sim.said.join()).toContain(`NodeNetworkConfigurationPolicy.nmstate.io/a Refused: ${why}`);
    await isQuiet(sim);
  });

  it("the later one is served once both name the same servers", async () => {
    const sim = await two();
    const changed = withServers("a", "eth2", "10.0.0.53") as { readonly spec: object };
    sim.change(kind, "a", (one) => ({
      ...one,
      spec: { ...asBag(one.spec), desiredState: asBag(changed.spec)?.desiredState },
    }));
    await sim.pass(5000);
    expect(sim.lines()).toEqual(["10.0.0.1 Node/n1/b/address", "10.0.0.2 Node/n1/a/address"]);
  });
});

describe("a policy with pools beside one without", () => {
  it("gets no address while their DNS servers differ, and one as soon as they do not", async () => {
    const sim = await begin();
    sim.create(foreign("10.0.0.54"));
    sim.create(withServers("b", "eth1", "10.0.0.53"));
    await sim.pass(5000);
    expect(sim.lines()).toEqual([]);
    expect(degradedOf(sim, "b")?.message).toContain(
      "policies dns (10.0.0.54) and b (10.0.0.53) set different DNS servers",
    );
    await isQuiet(sim);
    sim.change(kind, "dns", (one) => ({ ...one, spec: { ...asBag(one.spec), desiredState: asking("10.0.0.53") } }));
    await sim.pass(5000);
    expect(sim.lines()).toEqual(["10.0.0.1 Node/n1/b/address"]);
  });

  it("keeps the address that it has when the other one comes later", async () => {
    const sim = await begin();
    sim.create(withServers("b", "eth1", "10.0.0.53"));
    await sim.pass(5000);
    sim.create(foreign("10.0.0.54"));
    await sim.pass(5000);
    expect(sim.lines()).toEqual(["10.0.0.1 Node/n1/b/address"]);
    expect(sim.object(kind, "b--n1")).toBeDefined();
    expect(sim.said.join()).toContain(
      "b Refused: policies dns (10.0.0.54) and b (10.0.0.53) set different DNS servers",
    );
    await isQuiet(sim);
  });
});
