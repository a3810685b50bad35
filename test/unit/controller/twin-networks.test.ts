import { describe, expect, it } from "vitest";
import type { Snapshot } from "../../../core/index.ts";
import { asBag, asList } from "../../../schema/objects.ts";
import { policy } from "../../support/objects/controller-objects.ts";
import { begin as beginClaims, claim, pool } from "../../support/objects/ipam-claims.ts";
import { macvlanNetwork } from "../../support/objects/vm-objects.ts";
import { singlePod } from "../../support/objects/workload-objects.ts";
import { beginWorkloads } from "../../support/sim/begin-workloads.ts";
import { SimController } from "../../support/sim/controller.ts";

type Line = Snapshot["allocations"][number];

/** These lines are cut out of the record. */
function lose(sim: SimController, isLost: (line: Line) => boolean) {
  const { allocations, base } = sim.record;
  const cut = new Map([...base].map(([name, text]) => [name, `${text} cut`]));
  sim.record = { ...sim.record, allocations: allocations.filter((line) => !isLost(line)), base: cut };
  sim.engine.resync();
}

/** Pools `p` and `q` have the same addresses on two networks. */
function begin() {
  const sim = new SimController();
  sim.create(pool("p", "10.0.0.0/24", "10.0.0.9"));
  sim.create(pool("q", "10.0.0.0/24", "10.0.0.9", { network: "other" }));
  return sim;
}

function ask(sim: SimController, name: string, from: string, nic: string, role: string) {
  const { spec, ...rest } = policy(name, from, nic, { maxUnavailable: "100%" });
  sim.create({ ...rest, spec: { ...asBag(spec), nodeSelector: { role } } } as never);
}

function report(sim: SimController, name: string, nic: string, ip: string) {
  const ipv4 = { enabled: true, address: [{ ip, "prefix-length": 24 }] };
  const interfaces = [{ name: nic, type: "ethernet", state: "up", ipv4 }];
  const status = { currentState: { interfaces } };
  sim.create({ apiVersion: "nmstate.io/v1beta1", kind: "NodeNetworkState", metadata: { name }, status });
}

/** What the policies of nodes say. */
function written(sim: SimController): string[] {
  const made = sim.all("NodeNetworkConfigurationPolicy").filter(({ metadata }) => metadata.name.includes("--"));
  const said = made.map(({ metadata, spec }) => {
    const [nic] = asList(asBag(asBag(spec)?.desiredState)?.interfaces);
    const [address] = asList(asBag(asBag(nic)?.ipv4)?.address);
    return `${metadata.name} ${asBag(address)?.ip}`;
  });
  return said.sort();
}

describe("nodes on two networks that have the same addresses", () => {
  it.each([true, false])("keep what they have by hand (is the other network in use: %s)", async (isTwin) => {
    const sim = begin();
    sim.node("g1", { role: "green" });
    if (isTwin) ask(sim, "b", "q", "eth2", "green");
    await sim.pass(3000);
    sim.node("n1");
    report(sim, "n1", "eth1", "10.0.0.1");
    sim.node("n0");
    await sim.pass(3000);
    ask(sim, "a", "p", "eth1", "worker");
    await sim.pass(5000);
    expect(written(sim)).toEqual(["a--n0 10.0.0.2", "a--n1 10.0.0.1", ...(isTwin ? ["b--g1 10.0.0.1"] : [])]);
  });

  it.each([
    ["one network", ({ pool }: Line) => pool === "p"],
    ["both", () => true],
  ])("keep their addresses when the record of %s is lost", async (_, isLost) => {
    const sim = begin();
    ask(sim, "a", "p", "eth1", "worker");
    ask(sim, "b", "q", "eth2", "green");
    for (const name of ["n1", "n2"]) sim.node(name);
    for (const name of ["g1", "g2"]) sim.node(name, { role: "green" });
    await sim.pass(3000);
    const before = written(sim);
    expect(before).toEqual(["a--n1 10.0.0.1", "a--n2 10.0.0.2", "b--g1 10.0.0.1", "b--g2 10.0.0.2"]);
    for (const text of before) {
      const [, name = "", node = "", ip = ""] = /^(.)--(\S+) (.*)/.exec(text) ?? [];
      sim.enact(`${name}--${node}`, node, "Available");
      report(sim, node, name === "a" ? "eth1" : "eth2", ip);
    }
    // One with nothing is looked at before them.
    sim.node("m0");
    lose(sim, isLost);
    await sim.pass(60_000);
    expect(written(sim)).toEqual(["a--m0 10.0.0.3", ...before]);
  });
});

it.each([
  ["one network", ({ pool }: Line) => pool === "lan"],
  ["both", () => true],
])("pods keep their addresses when the record of %s of two with the same addresses is lost", async (_, isLost) => {
  const { sim, apps, create, pass, told } = beginWorkloads();
  apps.create(pool("twin", "10.0.0.0/24", "10.0.0.9", { network: "twin" }));
  apps.create(macvlanNetwork("green", "twin"));
  create("StatefulSet", "a", { replicas: 2 }, "red");
  create("StatefulSet", "b", { replicas: 2 }, "green");
  await pass();
  apps.create(singlePod("p1", "red"));
  await pass();
  const before = told();
  lose(sim, isLost);
  create("StatefulSet", "aa", { replicas: 1 }, "red");
  await pass(60_000);
  expect(told().filter((text) => !text.startsWith("aa"))).toEqual(before);
  expect(told().filter((text) => text.startsWith("aa"))).toEqual(["aa-0 10.0.0.4/24"]);
});

it("claims of two networks with the same IPv4 addresses keep them when the IPv4 lines of both are lost", async () => {
  const { sim, stands } = beginClaims({ pools: "lan, lan6" });
  sim.create(pool("twin", "10.0.0.0/24", "10.0.0.9", { network: "twin" }));
  sim.create(pool("twin6", "fd21::/64", "fd21::9"));
  sim.create(macvlanNetwork("green", "twin, twin6"));
  sim.create(claim("a.red"));
  sim.create(claim("b.green", {}, "green"));
  await sim.pass(5000);
  const before = ["a.red", "b.green"].map(stands);
  lose(sim, ({ pool }) => pool === "lan" || pool === "twin");
  await sim.pass(60_000);
  expect(["a.red", "b.green"].map(stands)).toEqual(before);
  expect(sim.lines().filter((text) => text.startsWith("10."))).toHaveLength(2);
});
