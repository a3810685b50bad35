import { describe, expect, it } from "vitest";
import type { Observer } from "../../../controller/dependencies.ts";
import { logChange } from "../../../controller/log.ts";
import { EventWriter } from "../../../controller/write/event-writer.ts";
import { emptySnapshot } from "../../../core/index.ts";
import { asBag, type Bag } from "../../../schema/objects.ts";
import { policy } from "../../support/objects/controller-objects.ts";
import { SimController } from "../../support/sim/controller.ts";

/** A controller in memory that writes Events, and what it has written by now. */
function started({ isFailing = false } = {}) {
  const observer: Observer = {
    ran: () => {},
    recorded: (change) => {
      logChange(change, sim.log);
      events.recorded(change);
    },
    wrong: (about, problem, message) => events.wrong(about, problem, message),
  };
  const sim = new SimController(observer);
  let failures = 0;
  const objects = sim.server.client(async (_, run) => {
    if (!isFailing) return run();
    failures++;
    throw new Error("no");
  });
  const { world, allocator } = sim.engine;
  const deps = { objects, clock: sim.clock, today: () => new Date(sim.clock.now()), log: sim.log };
  const signal = new AbortController().signal;
  const events = new EventWriter(deps, (key) => world.get(key), allocator, signal);
  const written = () =>
    [...sim.server.objects]
      .filter(([key]) => key.startsWith("events/"))
      .map(([, event]) => {
        const { name, kind } = asBag(event.involvedObject) as Bag;
        return `${event.count} ${event.type} ${kind}/${name} ${event.reason}: ${event.message}`;
      });
  return { sim, events, written, failures: () => failures };
}

describe("Events", () => {
  it("tell who got what, once, and what is free again", async () => {
    const { sim, written } = started();
    sim.pool("p", "10.0.0.0/24", "10.0.0.9");
    sim.node("n1");
    sim.create(policy("a", "p", "eth1") as never);
    await sim.pass(20_000);
    const about = "NodeNetworkConfigurationPolicy/a";
    expect(written()).toEqual([
      `1 Normal Node/n1 Allocated: 10.0.0.1 of p for a`,
      `1 Normal NodeIPPool/p Allocated: n1 10.0.0.1 for a`,
      `1 Normal ${about} Allocated: n1 10.0.0.1 of p`,
    ]);
    sim.remove("Node", "n1");
    await sim.pass(60_000);
    // The node is gone, so nobody would read an Event on it.
    expect(written().slice(3)).toEqual([
      `1 Normal NodeIPPool/p Released: n1 10.0.0.1 for a`,
      `1 Normal ${about} Released: n1 10.0.0.1 of p`,
    ]);
  });

  it("of a full pool is one, whose count grows when it changes", async () => {
    const { sim, written } = started();
    sim.pool("p", "10.0.0.0/24", "10.0.0.1");
    for (const name of ["n1", "n2"]) sim.node(name);
    sim.create(policy("a", "p", "eth1") as never);
    await sim.pass(20_000);
    sim.engine.resync();
    await sim.pass(20_000);
    const full = () => written().filter((text) => /NodeIPPool.*ExhaustedIPPool/.test(text));
    expect(full()).toEqual([expect.stringMatching(/^1 Warning NodeIPPool\/p .*: 1 more needed, for n2\./)]);
    sim.node("n3");
    await sim.pass(20_000);
    expect(full()).toEqual([expect.stringMatching(/^2 Warning NodeIPPool\/p .*: 2 more needed, for n2, n3\./)]);
  });

  it("of a policy that cannot be read, and of an object of somebody else, are on the policy", async () => {
    const { sim, written } = started();
    sim.pool("p", "10.0.0.0/24", "10.0.0.9");
    sim.node("n1");
    sim.create(policy("wrong", "q", "eth1") as never);
    sim.create({
      apiVersion: "nmstate.io/v1",
      kind: "NodeNetworkConfigurationPolicy",
      metadata: { name: "a--n1" },
      spec: {},
    });
    sim.create(policy("a", "p", "eth1") as never);
    await sim.pass(20_000);
    const warnings = written().filter((text) => text.includes("Warning"));
    expect(warnings).toEqual([
      "1 Warning NodeNetworkConfigurationPolicy/a Refused: NodeNetworkConfigurationPolicy a--n1 was made by somebody else. Delete it, or rename it.",
      expect.stringMatching(/^1 Warning NodeNetworkConfigurationPolicy\/wrong Invalid: .*q/),
    ]);
  });

  it("tell of a record that is lost, and of what is adopted then; the log tells of each address", async () => {
    const { sim, written } = started();
    sim.pool("p", "10.0.0.0/24", "10.0.0.9");
    sim.node("n1");
    sim.create(policy("a", "p", "eth1") as never);
    await sim.pass(20_000);
    sim.shows("n1", "10.0.0.1");
    sim.record = emptySnapshot;
    sim.engine.resync();
    await sim.pass(20_000);
    for (const kind of ["Node", "NodeNetworkState"]) sim.remove(kind, "n1");
    await sim.pass(60_000);
    const onPool = written().filter((text) => text.includes("NodeIPPool/p"));
    expect(onPool).toEqual([
      "1 Normal NodeIPPool/p Allocated: n1 10.0.0.1 for a",
      "1 Normal NodeIPPool/p Adopted: n1 10.0.0.1 for a",
      expect.stringMatching(/^1 Warning NodeIPPool\/p RecordLost: The record of pool p is gone: it had 1 addresses\./),
      "1 Normal NodeIPPool/p Released: n1 10.0.0.1 for a",
    ]);
    const line = { level: "info", owner: "Node/n1", address: "10.0.0.1", pool: "p", claim: "a/address" };
    expect(sim.logged.filter(({ level }) => level === "info")).toEqual(
      ["allocated", "adopted", "releasing", "released"].map((message) => ({ ...line, message })),
    );
  });

  it("tell of a record that was lost while no controller ran", async () => {
    const { sim, written } = started();
    const range = { cidr: "10.0.0.0/24" };
    const object = { apiVersion: "nmstate.io/v1", kind: "NodeIPPool", metadata: { name: "p" } };
    sim.create({ ...object, spec: { range }, status: { allocated: 3 } });
    await sim.pass(5_000);
    expect(written()).toEqual([expect.stringMatching(/^1 Warning NodeIPPool\/p RecordLost: .* it had 3 addresses\./)]);
  });

  it("of a fleet are two for each batch", async () => {
    const { sim, written } = started();
    sim.pool("p", "10.0.0.0/16", "10.0.20.0");
    for (let i = 1; i <= 500; i++) sim.node(`n${i}`);
    sim.create(policy("a", "p", "eth1") as never);
    await sim.pass(5000);
    expect(written().map((text) => text.replace(/:.*/, ""))).toEqual([
      "1 Normal NodeIPPool/p Allocated",
      "1 Normal NodeNetworkConfigurationPolicy/a Allocated",
    ]);
  });

  it("of what is wrong are all written, however many there are, and whatever else is said again and again", async () => {
    const { sim, events, written } = started();
    const names = Array.from({ length: 250 }, (_, i) => `n${i}`);
    for (const name of names) sim.node(name);
    await sim.pass(1000);
    for (let second = 0; second < 5; second++) {
      for (const name of names) events.wrong(`Node/${name}`, "Refused", "waits");
      await sim.pass(1000);
    }
    expect(new Set(written()).size).toBe(250);
  });

  it("that cannot be written keep nothing from being done, and are complained of once", async () => {
    const { sim, failures } = started({ isFailing: true });
    sim.pool("p", "10.0.0.0/24", "10.0.0.9");
    sim.node("n1");
    sim.create(policy("a", "p", "eth1") as never);
    await sim.pass(20_000);
    expect(failures()).toBe(3);
    expect(sim.logged.filter(({ message }) => message === "an Event cannot be written")).toHaveLength(1);
    expect(sim.server.objects.has("nodenetworkconfigurationpolicies/a--n1")).toBe(true);
  });
});
