import { describe, expect, it } from "vitest";
import { timing } from "../../../controller/timing.ts";
import { nmstateInCluster } from "../../../integrations/nmstate/in-cluster.ts";
import { resetAnnotation } from "../../../schema/node-ip-pool.ts";
import { asBag, type Bag, conditionOf } from "../../../schema/objects.ts";
import { policy, pool } from "../../support/objects/controller-objects.ts";
import { SimController } from "../../support/sim/controller.ts";
import { rack, racks } from "../../support/sim/rack-integration.ts";

function begin() {
  const sim = new SimController(undefined, undefined, undefined, [nmstateInCluster, racks]);
  const status = (name = "r") => asBag(sim.object("Rack", name)?.status);
  const board = (name = "r") => asBag(sim.object("Board", name)?.status)?.lines;
  const hosts = (name: string, list: readonly string[]) =>
    sim.change("Rack", name, (one) => ({ ...one, spec: { ...asBag(one.spec), hosts: list } }));
  return { sim, status, board, hosts };
}

function beginBesideLan() {
  const known = begin();
  const available = () => conditionOf(asBag(known.sim.object("NodeIPPool", "lan")?.status)?.conditions, "Available");
  return { ...known, available };
}

describe("pools that an integration defines", () => {
  it("are given from, and reported where they are defined", async () => {
    const { sim, status } = begin();
    sim.create(rack("r", ["h1", "h2"]));
    await sim.pass(2000);
    expect(sim.lines()).toEqual(["10.5.0.1 Host/r.h1/r.lan", "10.5.0.2 Host/r.h2/r.lan"]);
    expect(sim.all("Card").map(({ metadata, spec }) => [metadata.name, asBag(spec)?.ips])).toEqual([
      ["r.h1", ["10.5.0.1"]],
      ["r.h2", ["10.5.0.2"]],
    ]);
    expect(status()?.pools).toEqual({ lan: "ReconciledPool 2" });
  });

  it("serve whoever asks for them by their name", async () => {
    const { sim } = begin();
    sim.create(rack("r", ["h1"]));
    sim.create(policy("a", "lan") as never);
    sim.node("n1");
    await sim.pass(2000);
    expect(sim.lines()).toEqual(["10.5.0.1 Host/r.h1/r.lan", "10.5.0.2 Node/n1/a/address"]);
  });

  it("serve hosts whatever another integration says of a kind that both watch", async () => {
    const card = racks.recording.kinds.filter(({ kind }) => kind === "Card");
    const rollout = { limit: () => 0, health: () => "failing" as const };
    const concerns = () => ({ owners: [], sources: [] });
    const recording = { kinds: card, concerns, sourceOf: (claim: string) => claim, gone: () => [] };
    const watcher = { ...racks, name: "watcher", reads: [], isClaim: () => false, recording, made: { rollout } };
    const sim = new SimController(undefined, undefined, undefined, [watcher, racks]);
    sim.create(rack("r", ["h1", "h2"]));
    await sim.pass(2000);
    expect(sim.all("Card")).toHaveLength(2);
  });

  it("alike in two objects are one, which is there as long as one of them is", async () => {
    const { sim, status } = begin();
    for (const name of ["r", "s"]) sim.create(rack(name, ["h1"]));
    await sim.pass(2000);
    const given = ["10.5.0.1 Host/r.h1/r.lan", "10.5.0.2 Host/s.h1/s.lan"];
    expect(sim.lines()).toEqual(given);
    expect([status("r")?.pools, status("s")?.pools]).toEqual([
      { lan: "ReconciledPool 2" },
      { lan: "ReconciledPool 2" },
    ]);
    sim.remove("Rack", "r");
    await sim.pass(2 * timing.hold);
    expect([sim.lines(), status("s")?.pools]).toEqual([[given[1]], { lan: "ReconciledPool 1" }]);
  });

  it("of one name in two ways: the one in use gives addresses, and the other one says why it gives none", async () => {
    const { sim, status } = begin();
    const since = (name: string, second: number) =>
      sim.change("Rack", name, (one) => ({
        ...one,
        metadata: { ...asBag(one.metadata), creationTimestamp: `2026-01-01T00:00:0${second}Z` },
      }));
    sim.create(rack("s", ["h1"], { last: 5 }));
    since("s", 1);
    await sim.pass(2000);
    sim.create(rack("r", ["h1"]));
    since("r", 2);
    await sim.pass(2000);
    expect(sim.lines()).toEqual(["10.5.0.1 Host/s.h1/s.lan"]);
    expect(status("r")?.rejected).toMatch("pool lan of Rack s has the name of this one. Rename this one");
    expect(status("s")?.rejected).toBe("");
  });

  it("that are full say so, and their hosts are served once they grow", async () => {
    const { sim, status } = begin();
    sim.create(rack("r", ["h1", "h2"], { last: 1 }));
    await sim.pass(2000);
    expect([status()?.pools, status()?.pending]).toEqual([{ lan: "ExhaustedIPPool 1" }, ["Host/r.h2/r.lan"]]);
    expect(sim.said.at(-1)).toMatch(/^Rack.toys.example.org\/r ExhaustedIPPool: /);
    sim.change("Rack", "r", (one) => ({ ...one, spec: rack("r", ["h1", "h2"]).spec }));
    await sim.pass(2000);
    expect(sim.lines()).toHaveLength(2);
  });

  const lan = () => ({ ...pool("lan", 5, 9), spec: { range: { cidr: "10.6.0.0/24" } } }) as never;

  it("of the name of a NodeIPPool that was there before says why it gives nothing, and the NodeIPPool gives addresses", async () => {
    const { sim, status, available } = beginBesideLan();
    sim.create(lan());
    sim.create(policy("a", "lan") as never);
    sim.node("n1");
    await sim.pass(2000);
    sim.create(rack("r", ["h1"]));
    await sim.pass(2000);
    sim.node("n2");
    await sim.pass(20_000);
    expect(sim.lines()).toEqual(["10.6.0.1 Node/n1/a/address", "10.6.0.2 Node/n2/a/address"]);
    expect(status()?.rejected).toMatch(/NodeIPPool lan has the name of this one\. Rename this one/);
    expect(available()?.reason).toBe("ReconciledPool");
    expect(sim.said.join("\n")).toMatch(
      /NodeIPPool.nmstate.io\/lan OverlappingIPPool: The pool lan of Rack r has the name of this one/,
    );
  });

  it("goes on beside a newer NodeIPPool of its name, which says why it gives nothing", async () => {
    const { sim, status, available } = beginBesideLan();
    sim.create(rack("r", ["h1"]));
    await sim.pass(2000);
    sim.create(lan());
    sim.change("Rack", "r", (one) => ({ ...one, spec: rack("r", ["h1", "h2"]).spec }));
    await sim.pass(20_000);
    expect(sim.lines()).toEqual(["10.5.0.1 Host/r.h1/r.lan", "10.5.0.2 Host/r.h2/r.lan"]);
    expect(status()?.rejected).toBe("");
    expect(available()).toMatchObject({
      reason: "OverlappingIPPool",
      message: expect.stringMatching(/pool lan of Rack r has the name of this one\. Rename this one/),
    });
    sim.remove("Rack", "r");
    await sim.pass(90_000);
    expect([sim.lines(), available()?.reason]).toEqual([[], "ReconciledPool"]);
  });

  it("says why it gives nothing where it shares addresses with a NodeIPPool", async () => {
    const { sim, status } = begin();
    sim.create({ ...pool("other", 5, 9), spec: { range: { cidr: "10.5.0.0/24" } } } as never);
    await sim.pass(2000);
    sim.create(rack("r", ["h1"]));
    await sim.pass(2000);
    expect(sim.lines()).toEqual([]);
    expect(status()?.rejected).toMatch(/NodeIPPool other is overlapping with this one/);
    expect(sim.said).toContainEqual(
      expect.stringMatching(/^NodeIPPool.nmstate.io\/other OverlappingIPPool: The pool lan of Rack r is overlapping/),
    );
  });

  it("keeps what it gave while its object cannot be read, or is gone", async () => {
    const { sim } = begin();
    sim.create(rack("r", ["h1"]));
    await sim.pass(2000);
    const given = sim.lines();
    const { spec } = rack("r", ["h1"]);
    sim.change("Rack", "r", (one) => ({ ...one, spec: { networks: { lan: { cidr: "x" } } } }));
    await sim.pass(60_000);
    expect(sim.lines()).toEqual(given);
    expect(sim.all("Card")).toHaveLength(1);
    sim.remove("Rack", "r");
    await sim.pass(60_000);
    expect(sim.lines()).toEqual(given);
    sim.create({ ...rack("r", ["h0", "h1"]), spec: { ...asBag(spec), hosts: ["h0", "h1"] } });
    await sim.pass(5000);
    expect(sim.lines()).toEqual([...given, "10.5.0.2 Host/r.h0/r.lan"]);
  });

  it("keeps what it gave while something else is wrong with its object", async () => {
    const { sim } = begin();
    sim.create(rack("r", ["h1"]));
    await sim.pass(2000);
    const given = sim.lines();
    sim.create({ ...pool("other", 5, 9), spec: { range: { cidr: "10.5.0.0/24" } } } as never);
    await sim.pass(60_000);
    expect(sim.lines()).toEqual(given);
    expect(sim.all("Card")).toHaveLength(1);
  });

  it("gets back what a host had that is no more", async () => {
    const { sim, hosts } = begin();
    sim.create(rack("r", ["h1", "h2"]));
    await sim.pass(2000);
    hosts("r", ["h2"]);
    await sim.pass(2000);
    expect(sim.lines()).toEqual(["10.5.0.2 Host/r.h2/r.lan", "10.5.0.1 Host/r.h1/r.lan releasing"]);
    await sim.pass(2 * timing.hold);
    expect(sim.lines()).toEqual(["10.5.0.2 Host/r.h2/r.lan"]);
  });

  it("is asked for a reset on the object that defines it", async () => {
    const { sim } = begin();
    sim.create(rack("r", ["h1"]));
    await sim.pass(2000);
    const annotations = { [resetAnnotation]: "" };
    sim.change("Rack", "r", (one) => ({ ...one, metadata: { ...asBag(one.metadata), annotations } }));
    await sim.pass(5000);
    expect(sim.said).toEqual([]);
    expect(asBag(sim.object("Rack", "r")?.metadata)?.annotations).toEqual({});
  });
});

describe("an object that is made of many owners", () => {
  it("lists them all, whoever was looked at, and goes after its source, once none of them is left", async () => {
    const { sim, board, hosts } = begin();
    sim.create(rack("r", ["h1"], { isForNodes: true }));
    for (const name of ["n1", "n2"]) sim.node(name);
    await sim.pass(2000);
    expect(board()).toEqual(["10.5.0.1 Host/r.h1", "10.5.0.2 Node/n1", "10.5.0.3 Node/n2"]);
    sim.node("n3");
    await sim.pass(2000);
    expect(board()).toEqual(["10.5.0.1 Host/r.h1", "10.5.0.2 Node/n1", "10.5.0.3 Node/n2", "10.5.0.4 Node/n3"]);
    hosts("r", []);
    await sim.pass(2000);
    expect(board()).toContain("10.5.0.1 Host/r.h1 releasing");
    await sim.pass(2 * timing.hold);
    expect(board()).toEqual(["10.5.0.2 Node/n1", "10.5.0.3 Node/n2", "10.5.0.4 Node/n3"]);
    sim.remove("Rack", "r");
    await sim.pass(2000);
    expect(board()).toHaveLength(3);
    await sim.pass(2 * timing.hold);
    expect(sim.all("Board")).toEqual([]);
  });

  it("lists a thousand, which are decided for in several batches", async () => {
    const { sim, board } = begin();
    const hosts = Array.from({ length: 1001 }, (_, i) => `h${i}`);
    sim.create(rack("r", hosts, { cidr: "10.5.0.0/16" }));
    await sim.pass(5000);
    expect(board()).toHaveLength(1001);
  });

  it("is there where there are none", async () => {
    const { sim, board } = begin();
    sim.create(rack("r", []));
    await sim.pass(2000);
    expect(board()).toEqual([]);
  });

  it("is mended when somebody changes its status, which is its content", async () => {
    const { sim, board } = begin();
    sim.create(rack("r", ["h1"]));
    await sim.pass(2000);
    sim.change("Board", "r", (one) => ({ ...one, status: { lines: ["stolen"] } }));
    await sim.pass(10_000);
    expect(board()).toEqual(["10.5.0.1 Host/r.h1"]);
  });

  it("follows what another controller writes into the record", async () => {
    const { sim, board } = begin();
    sim.create(rack("r", ["h1", "h2"]));
    await sim.pass(2000);
    const [first, second] = sim.record.allocations;
    if (first === undefined || second === undefined) throw new Error("nothing was given");
    sim.record = { ...sim.record, allocations: [first], releasing: [second], base: new Map([["lan", "theirs"]]) };
    sim.engine.resync();
    await sim.pass(2000);
    expect(board()).toEqual(["10.5.0.1 Host/r.h1", "10.5.0.2 Host/r.h2"]);
  });

  it("stays as it is while its source cannot be acted upon", async () => {
    const { sim, board } = begin();
    sim.create(rack("r", ["h1"]));
    await sim.pass(2000);
    sim.change("Rack", "r", (one) => ({ ...one, spec: { networks: { lan: { cidr: "x" } } } }));
    await sim.pass(20_000);
    expect(board()).toEqual(["10.5.0.1 Host/r.h1"]);
  });
});

describe("an owner of two integrations", () => {
  /** A node that no policy can select alone. */
  const nameless = (sim: SimController) => sim.node("n1", { role: "worker", "kubernetes.io/hostname": "twin" });

  it("for whom one can make nothing is served by the other one", async () => {
    const { sim } = begin();
    sim.create(pool("p", 0, 9) as never);
    sim.create(policy("a", "p") as never);
    sim.create(rack("r", [], { isForNodes: true }));
    nameless(sim);
    sim.node("n2", { role: "worker", "kubernetes.io/hostname": "twin" });
    await sim.pass(2000);
    expect(sim.lines()).toEqual(["10.5.0.1 Node/n1/r.lan", "10.5.0.2 Node/n2/r.lan"]);
  });

  it("loses what one gave it although the other one can make nothing for it", async () => {
    const { sim } = begin();
    sim.create(rack("r", [], { isForNodes: true }));
    for (const name of ["n1", "n2"]) sim.node(name, { "kubernetes.io/hostname": "twin" });
    await sim.pass(2000);
    sim.change("Rack", "r", (one) => ({ ...one, spec: { ...asBag(one.spec), isForNodes: false } as Bag }));
    await sim.pass(2000);
    expect(sim.lines()).toEqual(["10.5.0.1 Node/n1/r.lan releasing", "10.5.0.2 Node/n2/r.lan releasing"]);
  });

  it("gets what one gives although the pool of the other one is full", async () => {
    const { sim } = begin();
    sim.create(pool("p", 0, 1) as never);
    sim.create(policy("a", "p") as never);
    sim.create(rack("r", [], { isForNodes: true }));
    for (const name of ["n1", "n2"]) sim.node(name);
    await sim.pass(2000);
    expect(sim.lines()).toEqual(["10.0.0.1 Node/n1/a/address", "10.5.0.1 Node/n1/r.lan", "10.5.0.2 Node/n2/r.lan"]);
  });
});
