import { describe, expect, it } from "vitest";
import { emptySnapshot, IpamError } from "../../../core/index.ts";
import { capi } from "../../../integrations/capi/in-cluster.ts";
import type { ClusterIntegration } from "../../../integrations/contract/cluster-integration.ts";
import { managedBy } from "../../../integrations/contract/managed-by.ts";
import { asBag, type Bag, conditionOf } from "../../../schema/objects.ts";
import { SimController } from "../../support/sim/controller.ts";
import { rack, racks } from "../../support/sim/rack-integration.ts";

const ipam = "ipam.cluster.x-k8s.io/v1beta2";
const pool = (last: number, spec: Bag = {}) => ({
  apiVersion: "nmstate.io/v1",
  kind: "NodeIPPool",
  metadata: { name: "p" },
  spec: { range: { cidr: "10.0.0.0/24", start: "10.0.0.1", end: `10.0.0.${last}` }, gateway: "10.0.0.254", ...spec },
});
const claim = (name: string, more: Bag = {}, metadata: Bag = {}) => ({
  apiVersion: ipam,
  kind: "IPAddressClaim",
  metadata: { name, namespace: "metal3", ...metadata },
  spec: { poolRef: { apiGroup: "nmstate.io", kind: "NodeIPPool", name: "p" }, ...more },
});
const cluster = (paused: boolean) => ({
  apiVersion: "cluster.x-k8s.io/v1beta2",
  kind: "Cluster",
  metadata: { name: "c", namespace: "metal3" },
  spec: { paused },
});

function begin(last = 9, others: readonly ClusterIntegration[] = []) {
  const sim = new SimController(undefined, undefined, undefined, [capi("v1beta2"), ...others]);
  sim.create(pool(last) as never);
  const addresses = () =>
    sim
      .all("IPAddress")
      .map(({ metadata, spec }) => `${metadata.name} ${asBag(spec)?.address}`)
      .sort();
  const ready = (name: string) => conditionOf(asBag(sim.object("IPAddressClaim", name)?.status)?.conditions, "Ready");
  const remove = (name: string) => sim.remove("IPAddressClaim", name, "metal3");
  return { sim, addresses, ready, remove };
}

describe("an IPAddressClaim", () => {
  it("whose finalizer another program took off, without a word, is tried again", async () => {
    const { sim, addresses } = begin();
    let isStripping = true;
    sim.server.webhook = (object) =>
      isStripping && object.kind === "IPAddressClaim"
        ? { ...object, metadata: { ...object.metadata, finalizers: [] } as never }
        : object;
    sim.create(claim("a") as never);
    await sim.pass(3000);
    expect(addresses()).toEqual([]);
    isStripping = false;
    await sim.pass(3000);
    expect(addresses()).toEqual(["a 10.0.0.1"]);
  });

  it("gets an IPAddress as the contract wants it", async () => {
    const { sim, ready } = begin();
    const labels = { "cluster.x-k8s.io/cluster-name": "", "app.kubernetes.io/instance": "machines" };
    sim.create(claim("a", {}, { labels }) as never);
    await sim.pass(2000);
    const [address] = sim.all("IPAddress");
    const asked = sim.object("IPAddressClaim", "a");
    expect(address?.metadata.labels).toEqual({ "cluster.x-k8s.io/cluster-name": "", ...managedBy });
    expect(address?.spec).toEqual({
      claimRef: { name: "a" },
      poolRef: { apiGroup: "nmstate.io", kind: "NodeIPPool", name: "p" },
      address: "10.0.0.1",
      prefix: 24,
      gateway: "10.0.0.254",
    });
    const owners = asBag(address?.metadata)?.ownerReferences as Bag[];
    expect(
      owners.map(({ kind, uid, controller, blockOwnerDeletion }) => [kind, uid, controller, blockOwnerDeletion]),
    ).toEqual([
      ["IPAddressClaim", asked?.metadata.uid, true, true],
      ["NodeIPPool", sim.object("NodeIPPool", "p")?.metadata.uid, false, true],
    ]);
    expect([asBag(asked?.status)?.addressRef, ready("a")?.status]).toEqual([{ name: "a" }, "True"]);
  });

  it("gets its IPAddress without a pause: only what is said of it waits for more to say", async () => {
    const { sim, addresses, ready } = begin();
    await sim.pass(5000);
    sim.create(claim("a") as never);
    const began = sim.clock.now();
    const create = sim.server.create.bind(sim.server);
    const times: number[] = [];
    sim.server.create = (...args) => {
      times.push(sim.clock.now() - began);
      return create(...args);
    };
    await sim.pass(2000);
    expect([addresses(), ready("a")?.status]).toEqual([["a 10.0.0.1"], "True"]);
    expect(times[0]).toBeLessThan(20);
  });

  /** Patches of claims are refused until the function that this returns is called. */
  const refusingFinalizers = (sim: SimController) => {
    sim.server.webhook = (object) => {
      if (object.kind === "IPAddressClaim") throw new IpamError("unavailable", "the webhook does not answer");
      return object;
    };
    return () => {
      sim.server.webhook = (object) => object;
    };
  };

  it("has no address on record before its finalizer is on: a claim that goes before that leaves nothing", async () => {
    const { sim, addresses, ready, remove } = begin();
    for (const name of ["a", "b"]) sim.create(claim(name) as never);
    const allow = refusingFinalizers(sim);
    await sim.pass(300);
    expect([sim.lines(), addresses()]).toEqual([[], []]);
    allow();
    remove("a");
    await sim.pass(3000);
    expect([addresses(), ready("b")?.status, sim.lines()]).toEqual([
      ["b 10.0.0.1"],
      "True",
      ["10.0.0.1 IPAddressClaim/metal3:b/address"],
    ]);
  });

  it("adopts the IPAddresses that other programs make before its finalizer is on, in whatever order", async () => {
    const { sim, addresses, ready } = begin();
    for (const name of ["a", "b"]) sim.create(claim(name) as never);
    const allow = refusingFinalizers(sim);
    await sim.pass(300);
    sim.create(strange("a", { address: "10.0.0.2" }));
    sim.create(strange("b", { address: "10.0.0.1" }));
    await sim.pass(300);
    allow();
    await sim.pass(5000);
    expect(addresses()).toEqual(["a 10.0.0.2", "b 10.0.0.1"]);
    expect([ready("a")?.status, ready("b")?.status]).toEqual(["True", "True"]);
  });

  it("on a pool of another group is another provider's", async () => {
    const { sim } = begin();
    sim.create(claim("a", { poolRef: { apiGroup: "ipam.metal3.io", kind: "NodeIPPool", name: "p" } }) as never);
    await sim.pass(70_000);
    expect([sim.lines(), sim.all("IPAddress"), sim.said]).toEqual([[], [], []]);
    expect(sim.object("IPAddressClaim", "a")?.metadata).not.toHaveProperty("finalizers");
  });

  it("whose poolRef.kind is misspelt says which kind is meant, and can be deleted", async () => {
    const { sim, ready, remove } = begin();
    sim.create(claim("a", { poolRef: { apiGroup: "nmstate.io", kind: "NodeIpPool", name: "p" } }) as never);
    await sim.pass(5000);
    const why = /there is no kind NodeIpPool in nmstate\.io: make the claim again with poolRef\.kind NodeIPPool/;
    expect(ready("a")?.message).toMatch(why);
    expect(sim.said.join()).toMatch(why);
    remove("a");
    await sim.pass(5000);
    expect([sim.object("IPAddressClaim", "a"), sim.lines()]).toEqual([undefined, []]);
  });

  const paused = { "cluster.x-k8s.io/paused": "" };
  it.each<[string, (sim: SimController) => void, Bag, RegExp]>([
    ["its Cluster does not exist", () => {}, {}, /Cluster metal3\/c does not exist\. Create it/],
    [
      "its Cluster is paused",
      (sim) => sim.create(cluster(true) as never),
      {},
      /Cluster metal3\/c has spec\.paused: true/,
    ],
    ["it is paused itself", () => {}, paused, /IPAddressClaim a has annotation cluster\.x-k8s\.io\/paused\. Remove it/],
    [
      "its pool is paused",
      (sim) =>
        sim.change("NodeIPPool", "p", (one) => ({ ...one, metadata: { ...asBag(one.metadata), annotations: paused } })),
      {},
      /NodeIPPool p has annotation cluster\.x-k8s\.io\/paused\. Remove it/,
    ],
  ])("has an Event after a minute if %s; its status is not written", async (_, prepare, annotations, why) => {
    const { sim } = begin();
    prepare(sim);
    await sim.pass(1000);
    sim.create(claim("a", { clusterName: "c" }, { annotations }) as never);
    await sim.pass(50_000);
    expect(sim.said).toEqual([]);
    await sim.pass(20_000);
    expect(sim.said).toContainEqual(expect.stringMatching(why));
    expect(sim.object("IPAddressClaim", "a")).not.toHaveProperty("status");
  });

  it("has no Event if its Cluster comes within a minute", async () => {
    const { sim, addresses } = begin();
    sim.create(claim("a", { clusterName: "c" }) as never);
    await sim.pass(30_000);
    sim.create(cluster(false) as never);
    await sim.pass(60_000);
    expect([addresses(), sim.said.filter((one) => one.includes("Refused"))]).toEqual([["a 10.0.0.1"], []]);
  });

  it("on a pool that is not there is served once it is", async () => {
    const { sim, ready, addresses } = begin();
    sim.create(claim("a", { poolRef: { apiGroup: "nmstate.io", kind: "NodeIPPool", name: "q" } }) as never);
    await sim.pass(2000);
    expect([ready("a")?.reason, ready("a")?.message]).toEqual([
      "PoolNotReady",
      expect.stringContaining("NodeIPPool q"),
    ]);
    sim.create({ ...pool(9), metadata: { name: "q" }, spec: { range: { cidr: "10.9.0.0/24" } } } as never);
    await sim.pass(2000);
    expect([ready("a")?.status, addresses()]).toEqual(["True", ["a 10.9.0.1"]]);
  });

  it("on a pool that gives nothing as it stands says so", async () => {
    const { sim, ready } = begin();
    sim.create({
      ...pool(9),
      metadata: { name: "q" },
      spec: { range: { cidr: "10.9.0.0/24", end: "10.8.0.9" } },
    } as never);
    sim.create(claim("a", { poolRef: { apiGroup: "nmstate.io", kind: "NodeIPPool", name: "q" } }) as never);
    await sim.pass(2000);
    expect(ready("a")?.message).toContain("NodeIPPool q gives nothing as it stands");
  });

  const deleted = (more: Bag) => (one: Bag) => ({
    ...one,
    metadata: { ...asBag(one.metadata), deletionTimestamp: "2026-01-02T00:00:00Z", ...more },
  });
  const changed = (more: Bag) => (one: Bag) => ({ ...one, spec: { ...asBag(one.spec), ...more } });
  it.each<[string, (one: Bag) => Bag, RegExp]>([
    ["is being deleted", deleted({}), /stays as it is: NodeIPPool p gives nothing as it stands/],
    ["is gone", deleted({ finalizers: [] }), /stays as it is: there is no NodeIPPool p/],
    ["becomes a plan's", changed({ authority: "Plan" }), /stays as it is: NodeIPPool p gives nothing as it stands/],
    ["cannot be read", changed({ range: { cidr: "10.0.0.0/99" } }), /stays as it is: NodeIPPool p gives nothing/],
    [
      "excludes its address",
      changed({ range: { cidr: "10.0.0.0/24", exclude: ["10.0.0.1"] } }),
      /stays as it is: 10\.0\.0\.1 is held by .* but pool p hands it out no more/,
    ],
  ])("that has its IPAddress stays Ready when its pool %s, and says so", async (what, spoil, why) => {
    const { sim, ready, addresses } = begin();
    sim.create(claim("a") as never);
    await sim.pass(3000);
    sim.change("NodeIPPool", "p", spoil as never);
    await sim.pass(3000);
    sim.create(claim("b") as never);
    await sim.pass(60_000);
    expect([ready("a")?.status, ready("a")?.message, addresses()[0]]).toEqual([
      "True",
      expect.stringMatching(why),
      "a 10.0.0.1",
    ]);
    expect(asBag(sim.object("IPAddressClaim", "a")?.status)?.addressRef).toEqual({ name: "a" });
    expect(sim.lines()).toContain("10.0.0.1 IPAddressClaim/metal3:a/address");
    expect(ready("b")?.reason).toBe(what.startsWith("excludes") ? "Ready" : "PoolNotReady");
  });

  it("on a pool that is no NodeIPPool by its name gets nothing", async () => {
    const { sim, ready } = begin(9, [racks]);
    sim.create(rack("r", []));
    sim.create(claim("a", { poolRef: { apiGroup: "nmstate.io", kind: "NodeIPPool", name: "lan" } }) as never);
    await sim.pass(2000);
    expect([ready("a")?.message, sim.lines()]).toEqual([expect.stringContaining("there is no NodeIPPool lan"), []]);
    await sim.pass(60_000);
    sim.pool("lan", "10.7.0.0/24", "10.7.0.9");
    await sim.pass(3000);
    expect([ready("a")?.status, sim.lines()]).toEqual(["True", ["10.7.0.1 IPAddressClaim/metal3:a/address"]]);
  });

  it.each<[string, Bag, RegExp]>([
    [
      "has room",
      { cidr: "10.9.0.0/30", start: "10.9.0.1", end: "10.9.0.1" },
      /q is exhausted\. Let the pool grow: a later end/,
    ],
    [
      "has no room",
      { cidr: "10.9.0.0/32" },
      /q is exhausted\. Take addresses from another pool too: this one has its whole prefix/,
    ],
  ])("on a full pool whose cidr %s is told what to do, as the pool is", async (_, range, next) => {
    const { sim, ready } = begin();
    sim.create({ ...pool(9), metadata: { name: "q" }, spec: { range } } as never);
    const poolRef = { apiGroup: "nmstate.io", kind: "NodeIPPool", name: "q" };
    for (const name of ["a", "b"]) sim.create(claim(name, { poolRef }) as never);
    await sim.pass(3000);
    expect(ready("b")?.message).toMatch(next);
    const [, step = ""] = /(exhausted\. )(.*)/.exec(`${ready("b")?.message}`)?.slice(1) ?? [];
    const available = conditionOf(asBag(sim.object("NodeIPPool", "q")?.status)?.conditions, "Available");
    expect(available?.message).toContain(step);
  });

  it("on a full pool is served as soon as an address is free", async () => {
    const { sim, ready, addresses, remove } = begin(1);
    sim.create(claim("a") as never);
    await sim.pass(1000);
    sim.create(claim("b") as never);
    await sim.pass(2000);
    expect([ready("b")?.reason, addresses()]).toEqual(["PoolExhausted", ["a 10.0.0.1"]]);
    remove("a");
    await sim.pass(40_000);
    expect([ready("b")?.status, addresses(), sim.object("IPAddressClaim", "a")]).toEqual([
      "True",
      ["b 10.0.0.1"],
      undefined,
    ]);
  });

  it("that is deleted gives its address back, and its finalizers end", async () => {
    const { sim, remove } = begin();
    sim.create(claim("a") as never);
    await sim.pass(2000);
    remove("a");
    await sim.pass(2000);
    expect([sim.all("IPAddress"), sim.all("IPAddressClaim"), sim.lines()]).toEqual([
      [],
      [],
      ["10.0.0.1 IPAddressClaim/metal3:a/address releasing"],
    ]);
    await sim.pass(40_000);
    expect(sim.lines()).toEqual([]);
  });

  const finalizersOf = (one: Bag, finalizers: readonly string[]) => ({
    ...one,
    metadata: { ...asBag(one.metadata), finalizers },
  });
  const ofMachine = "machine.example.org/ip-claim-protection";

  it("that is deleted keeps its address until no finalizer of another controller is left", async () => {
    const { sim, ready, addresses, remove } = begin(1);
    sim.create(claim("a", {}, { finalizers: [ofMachine] }) as never);
    await sim.pass(2000);
    sim.create(claim("b") as never);
    remove("a");
    await sim.pass(60_000);
    expect([addresses(), sim.lines()]).toEqual([["a 10.0.0.1"], ["10.0.0.1 IPAddressClaim/metal3:a/address"]]);
    expect(ready("b")?.reason).toBe("PoolExhausted");
    sim.change("IPAddressClaim", "a", (one) => finalizersOf(one, ["nmstate.io/release-address"]), "metal3");
    await sim.pass(60_000);
    expect([addresses(), sim.lines()]).toEqual([["b 10.0.0.1"], ["10.0.0.1 IPAddressClaim/metal3:b/address"]]);
  });

  it("that is deleted stays for as long as its IPAddress does", async () => {
    const { sim, remove } = begin();
    sim.create(claim("a") as never);
    await sim.pass(2000);
    const protectedBy = (...others: string[]) =>
      sim.change("IPAddress", "a", (one) => finalizersOf(one, others), "metal3");
    protectedBy(ofMachine);
    remove("a");
    await sim.pass(60_000);
    expect(sim.all("IPAddressClaim")).toHaveLength(1);
    protectedBy();
    await sim.pass(2000);
    expect(sim.all("IPAddressClaim")).toEqual([]);
  });

  it.each(["foregroundDeletion", "orphan"])(
    "waits for no %s of the garbage collector, which waits for it",
    async (of) => {
      const { sim, addresses, remove } = begin(1);
      sim.create(claim("a", {}, { finalizers: [of] }) as never);
      await sim.pass(2000);
      remove("a");
      await sim.pass(2000);
      expect([addresses(), sim.object("IPAddressClaim", "a")?.metadata]).toMatchObject([[], { finalizers: [of] }]);
    },
  );

  it("that was deleted before it had an address ends at once, whoever else has a finalizer on it", async () => {
    const { sim, remove } = begin(1);
    sim.create(claim("a") as never);
    await sim.pass(2000);
    sim.create(claim("b", {}, { finalizers: [ofMachine] }) as never);
    await sim.pass(2000);
    remove("b");
    await sim.pass(2000);
    expect(asBag(sim.object("IPAddressClaim", "b")?.metadata)?.finalizers).toEqual([ofMachine]);
  });

  it("gets the address of another one no earlier than its pool wants it; who comes back gets it at once", async () => {
    const { sim, remove } = begin(1);
    const spec = { ...pool(1).spec, addressReuseGracePeriodSeconds: 600 };
    sim.change("NodeIPPool", "p", (one) => ({ ...one, spec }));
    sim.create(claim("a") as never);
    await sim.pass(2000);
    remove("a");
    sim.create(claim("b") as never);
    await sim.pass(300_000);
    sim.create(claim("a") as never);
    await sim.pass(5000);
    expect(sim.lines()).toEqual(["10.0.0.1 IPAddressClaim/metal3:a/address"]);
    remove("a");
    await sim.pass(590_000);
    expect(sim.lines()).toEqual(["10.0.0.1 IPAddressClaim/metal3:a/address releasing"]);
    await sim.pass(30_000);
    expect(sim.lines()).toEqual(["10.0.0.1 IPAddressClaim/metal3:b/address"]);
  });

  it("that is made and deleted at once leaves nothing behind", async () => {
    const { sim, remove } = begin();
    sim.create(claim("a") as never);
    await sim.pass(100);
    remove("a");
    await sim.pass(60_000);
    expect([sim.lines(), sim.all("IPAddress"), sim.all("IPAddressClaim")]).toEqual([[], [], []]);
  });

  it("that comes back under its name gets the same address", async () => {
    const { sim, addresses, remove } = begin();
    for (const name of ["a", "b"]) sim.create(claim(name) as never);
    await sim.pass(2000);
    remove("a");
    await sim.pass(2000);
    for (const name of ["0", "a"]) sim.create(claim(name) as never);
    await sim.pass(5000);
    expect(addresses()).toEqual(["0 10.0.0.3", "a 10.0.0.1", "b 10.0.0.2"]);
  });

  it("that is made again under its name on another pool gets an address there, and the one of the first pool is free", async () => {
    const { sim, addresses, ready, remove } = begin(1);
    const range = { cidr: "10.0.1.0/24", start: "10.0.1.1", end: "10.0.1.9" };
    sim.create({ ...pool(9), metadata: { name: "q" }, spec: { range } } as never);
    sim.create(claim("a") as never);
    await sim.pass(3000);
    remove("a");
    await sim.pass(3000);
    sim.create(claim("a", { poolRef: { apiGroup: "nmstate.io", kind: "NodeIPPool", name: "q" } }) as never);
    sim.create(claim("b") as never);
    await sim.pass(3000);
    expect(sim.lines()).toEqual([
      "10.0.1.1 IPAddressClaim/metal3:a/address",
      "10.0.0.1 IPAddressClaim/metal3:a/address releasing",
    ]);
    await sim.pass(60_000);
    expect(addresses()).toEqual(["a 10.0.1.1", "b 10.0.0.1"]);
    expect(ready("b")?.status).toBe("True");
  });

  it("whose IPAddress is left keeps its address in a reset, and the Event says what has it", async () => {
    const { sim, remove } = begin();
    sim.create(claim("a") as never);
    await sim.pass(3000);
    sim.change(
      "IPAddress",
      "a",
      (one) => ({ ...one, metadata: { ...asBag(one.metadata), finalizers: ["example.org/x"] } }),
      "metal3",
    );
    remove("a");
    await sim.pass(60_000);
    const annotations = { "nmstate.io/reset-ippool": "" };
    sim.change("NodeIPPool", "p", (one) => ({ ...one, metadata: { ...asBag(one.metadata), annotations } }));
    await sim.pass(60_000);
    expect(sim.lines()).toEqual(["10.0.0.1 IPAddressClaim/metal3:a/address releasing"]);
    expect(sim.said.filter((one) => one.includes("ResetKept"))).toEqual([
      expect.stringMatching(
        /free once no IPAddress has it \(kubectl get ipaddresses\.ipam\.cluster\.x-k8s\.io -A\)\.$/,
      ),
    ]);
  });

  it("has its IPAddress made anew with what its pool says now", async () => {
    const { sim, addresses } = begin();
    sim.create(claim("a") as never);
    await sim.pass(2000);
    const gateway = "10.0.0.253";
    sim.change("NodeIPPool", "p", (one) => ({ ...one, spec: { ...asBag(one.spec), gateway } }));
    await sim.pass(5000);
    expect([asBag(sim.object("IPAddress", "a")?.spec)?.gateway, addresses()]).toEqual([gateway, ["a 10.0.0.1"]]);
  });

  it("that got nothing and is deleted while its cluster is paused ends once that goes on", async () => {
    const { sim, remove } = begin(1);
    sim.create(cluster(false) as never);
    for (const name of ["a", "b"]) sim.create(claim(name, { clusterName: "c" }) as never);
    await sim.pass(2000);
    sim.change("Cluster", "c", (one) => ({ ...one, spec: { paused: true } }), "metal3");
    await sim.pass(1000);
    remove("b");
    await sim.pass(5000);
    expect(sim.all("IPAddressClaim")).toHaveLength(2);
    sim.change("Cluster", "c", (one) => ({ ...one, spec: { paused: false } }), "metal3");
    await sim.pass(5000);
    expect(sim.all("IPAddressClaim").map(({ metadata }) => metadata.name)).toEqual(["a"]);
  });

  it("whose IPAddress somebody deletes has it again", async () => {
    const { sim, addresses } = begin();
    sim.create(claim("a") as never);
    await sim.pass(2000);
    sim.change("IPAddress", "a", (one) => ({ ...one, metadata: { ...asBag(one.metadata), finalizers: [] } }), "metal3");
    sim.remove("IPAddress", "a", "metal3");
    await sim.pass(10_000);
    expect(addresses()).toEqual(["a 10.0.0.1"]);
  });

  it("that moves to this cluster with its IPAddress, which we made in another one, keeps it", async () => {
    const { sim } = begin();
    const { spec, ...moved } = claim(
      "b",
      { claimRef: { name: "b" }, address: "10.0.0.1", prefix: 24 },
      { labels: managedBy },
    );
    sim.create({ ...moved, kind: "IPAddress", spec } as never);
    for (const name of ["a", "b"]) sim.create(claim(name) as never);
    await sim.pass(5000);
    expect(sim.lines()).toEqual([
      "10.0.0.1 IPAddressClaim/metal3:b/address",
      "10.0.0.2 IPAddressClaim/metal3:a/address",
    ]);
  });

  const moved = (name: string, address: string) => {
    const { spec, ...rest } = claim(name, { claimRef: { name }, address, prefix: 24 }, { labels: managedBy });
    return { ...rest, kind: "IPAddress", spec } as never;
  };

  it.each([
    ["another claim has on record", "10.0.0.1"],
    ["is not in the range of the pool", "10.0.7.1"],
  ])(
    "that waits for a full pool keeps an IPAddress of ours, with an address that %s, until it is deleted",
    async (_, address) => {
      const { sim, addresses, ready, remove } = begin(1);
      sim.create(claim("b") as never);
      await sim.pass(2000);
      sim.create(moved("a", address));
      sim.create(claim("a") as never);
      await sim.pass(40_000);
      expect(addresses()).toEqual([`a ${address}`, "b 10.0.0.1"]);
      expect(ready("a")).toMatchObject({ status: "False", reason: "PoolExhausted" });
      expect(ready("a")?.message).toContain(`IPAddress a has ${address}`);
      remove("a");
      await sim.pass(5000);
      expect([addresses(), sim.object("IPAddressClaim", "a")]).toEqual([["b 10.0.0.1"], undefined]);
    },
  );

  it("that waits for a full pool loses an IPAddress of ours that a person deletes", async () => {
    const { sim, addresses } = begin(1);
    sim.create(claim("b") as never);
    await sim.pass(2000);
    sim.create(moved("a", "10.0.0.1"));
    sim.create(claim("a") as never);
    await sim.pass(5000);
    sim.remove("IPAddress", "a", "metal3");
    await sim.pass(5000);
    expect(addresses()).toEqual(["b 10.0.0.1"]);
  });

  it("that moves to this cluster with its IPAddress keeps it, and nobody else gets it", async () => {
    const { sim, addresses } = begin();
    const moved = claim("b");
    const { spec } = moved;
    sim.create({
      ...moved,
      kind: "IPAddress",
      spec: { ...spec, claimRef: { name: "b" }, address: "10.0.0.1", prefix: 24 },
    } as never);
    for (const name of ["a", "b"]) sim.create(claim(name) as never);
    await sim.pass(5000);
    expect(sim.lines()).toEqual([
      "10.0.0.1 IPAddressClaim/metal3:b/address",
      "10.0.0.2 IPAddressClaim/metal3:a/address",
    ]);
    expect(addresses()).toEqual(["a 10.0.0.2", "b 10.0.0.1"]);
  });

  it.each([
    ["two networks have the same addresses", "red"],
    ["its pool has shrunk since", "p"],
  ])("has its address again when the record is lost, where %s", async (_, of) => {
    const { sim, addresses } = begin();
    const { spec } = pool(9, { network: "red" });
    sim.create({ ...pool(9), metadata: { name: "red" }, spec } as never);
    const poolRef = { apiGroup: "nmstate.io", kind: "NodeIPPool", name: of };
    sim.create(claim("a") as never);
    sim.create(claim("b", { poolRef }) as never);
    await sim.pass(5000);
    const shown = addresses();
    if (of === "p") sim.change("NodeIPPool", "p", (one) => ({ ...one, spec: pool(1).spec }));
    sim.record = emptySnapshot;
    sim.engine.resync();
    await sim.pass(20_000);
    expect(shown).toEqual(of === "p" ? ["a 10.0.0.1", "b 10.0.0.2"] : ["a 10.0.0.1", "b 10.0.0.1"]);
    expect(addresses()).toEqual(shown);
    expect(sim.lines()).toHaveLength(2);
  });

  it("of a paused cluster gets nothing and loses nothing until it goes on", async () => {
    const { sim, addresses, remove } = begin();
    sim.create(cluster(false) as never);
    sim.create(claim("a", { clusterName: "c" }) as never);
    await sim.pass(2000);
    sim.change("Cluster", "c", (one) => ({ ...one, spec: { paused: true } }), "metal3");
    sim.create(claim("b", { clusterName: "c" }) as never);
    remove("a");
    await sim.pass(60_000);
    expect([addresses(), sim.lines()]).toEqual([["a 10.0.0.1"], ["10.0.0.1 IPAddressClaim/metal3:a/address"]]);
    sim.change("Cluster", "c", (one) => ({ ...one, spec: { paused: false } }), "metal3");
    await sim.pass(60_000);
    expect([addresses(), sim.lines()]).toEqual([["b 10.0.0.2"], ["10.0.0.2 IPAddressClaim/metal3:b/address"]]);
  });
});

/** As a backup, another program or a person makes it. */
const strange = (name: string, spec: Bag = {}, metadata: Bag = {}) => {
  const { poolRef } = claim(name).spec;
  return {
    ...claim(name, {}, metadata),
    kind: "IPAddress",
    spec: { claimRef: { name }, poolRef, address: "10.0.0.5", prefix: 24, gateway: "10.0.0.254", ...spec },
  } as never;
};

describe("an IPAddress that another program made for a claim", () => {
  it("is adopted: owned by claim and pool, protected, and deleted with its claim", async () => {
    const { sim, ready, addresses, remove } = begin();
    const other = { apiVersion: "v1", kind: "Other", name: "o", uid: "o" };
    sim.create(strange("a", {}, { finalizers: ["example.org/theirs"], ownerReferences: [other] }));
    sim.create(claim("a") as never);
    await sim.pass(5000);
    const { finalizers, ownerReferences, labels } = asBag(sim.object("IPAddress", "a")?.metadata) ?? {};
    expect(finalizers).toEqual(["example.org/theirs", "nmstate.io/protect-address"]);
    expect((ownerReferences as Bag[]).map(({ kind, controller }) => [kind, controller])).toEqual([
      ["IPAddressClaim", true],
      ["NodeIPPool", false],
      ["Other", undefined],
    ]);
    expect([labels, ready("a")?.status]).toEqual([managedBy, "True"]);
    sim.change(
      "IPAddress",
      "a",
      (one) => ({ ...one, metadata: { ...asBag(one.metadata), finalizers: ["nmstate.io/protect-address"] } }),
      "metal3",
    );
    remove("a");
    await sim.pass(40_000);
    expect([addresses(), sim.all("IPAddressClaim"), sim.lines()]).toEqual([[], [], []]);
  });

  it.each<[string, Bag, string, readonly string[]]>([
    ["for another claim", { claimRef: { name: "b" } }, "is for IPAddressClaim b", ["a 10.0.0.5"]],
    ["of another pool", { poolRef: { apiGroup: "nmstate.io", kind: "NodeIPPool", name: "q" } }, "of NodeIPPool q", []],
    ["of another provider", { poolRef: { apiGroup: "x.org", kind: "Pool", name: "q" } }, "of Pool q", ["a 10.0.0.5"]],
  ])("is left alone where it is %s: the claim says so, until it is deleted", async (_, spec, why, left) => {
    const { sim, ready, addresses, remove } = begin();
    sim.create(strange("a", spec));
    sim.create(claim("a") as never);
    await sim.pass(5000);
    expect(ready("a")).toMatchObject({ status: "False", reason: "AllocationFailed" });
    expect(ready("a")?.message).toContain(why);
    expect(sim.said.join()).toContain(why);
    expect(sim.object("IPAddress", "a")?.metadata).not.toHaveProperty("labels");
    remove("a");
    await sim.pass(2000);
    expect([addresses(), sim.object("IPAddressClaim", "a")]).toEqual([left, undefined]);
  });

  it("with another address in the place of ours is left as it is: a machine may run with it", async () => {
    const { sim, ready, addresses } = begin();
    sim.create(claim("a") as never);
    await sim.pass(2000);
    sim.change("IPAddress", "a", (one) => ({ ...one, metadata: { ...asBag(one.metadata), finalizers: [] } }), "metal3");
    sim.remove("IPAddress", "a", "metal3");
    sim.create(strange("a", { address: "10.0.0.7" }, { labels: managedBy }));
    await sim.pass(40_000);
    expect([ready("a")?.status, addresses()]).toEqual(["False", ["a 10.0.0.7"]]);
    expect(ready("a")?.message).toContain("has 10.0.0.7, but 10.0.0.1 is recorded for the claim");
  });

  it("is asked for again once it is gone", async () => {
    const { sim, ready, addresses } = begin();
    sim.create(strange("a", { claimRef: { name: "b" } }));
    sim.create(claim("a") as never);
    await sim.pass(5000);
    sim.remove("IPAddress", "a", "metal3");
    await sim.pass(5000);
    expect([ready("a")?.status, addresses()]).toEqual(["True", ["a 10.0.0.1"]]);
  });

  it("with another address than the claim has on record is left alone, and goes with the claim", async () => {
    const { sim, ready, addresses, remove } = begin();
    sim.create(cluster(true) as never);
    sim.create(claim("a", { clusterName: "c" }) as never);
    sim.create(claim("b") as never);
    await sim.pass(5000);
    // What b has cannot become a's.
    sim.create(strange("a", { address: "10.0.0.1" }));
    sim.change("Cluster", "c", (one) => ({ ...one, spec: { paused: false } }), "metal3");
    await sim.pass(5000);
    expect([ready("a")?.status, addresses()]).toEqual(["False", ["a 10.0.0.1", "b 10.0.0.1"]]);
    remove("a");
    await sim.pass(40_000);
    expect([addresses(), sim.all("IPAddressClaim").length]).toEqual([["b 10.0.0.1"], 1]);
  });
});

describe("a pool", () => {
  const paused = { "cluster.x-k8s.io/paused": "" };
  const annotate = (sim: SimController, annotations: Bag) =>
    sim.change("NodeIPPool", "p", (one) => ({ ...one, metadata: { ...asBag(one.metadata), annotations } }));

  it("that is paused gives nothing and takes nothing back until it goes on", async () => {
    const { sim, addresses, remove } = begin();
    sim.create(claim("a") as never);
    await sim.pass(2000);
    annotate(sim, paused);
    await sim.pass(1000);
    sim.create(claim("b") as never);
    remove("a");
    await sim.pass(60_000);
    expect([addresses(), sim.lines()]).toEqual([["a 10.0.0.1"], ["10.0.0.1 IPAddressClaim/metal3:a/address"]]);
    annotate(sim, {});
    await sim.pass(60_000);
    expect([addresses(), sim.lines()]).toEqual([["b 10.0.0.2"], ["10.0.0.2 IPAddressClaim/metal3:b/address"]]);
  });

  it("that is deleted with its claims is gone as soon as their IPAddresses are; its addresses wait as usual", async () => {
    const { sim, remove } = begin(1);
    for (const name of ["a", "b"]) sim.create(claim(name) as never);
    await sim.pass(2000);
    sim.remove("NodeIPPool", "p");
    await sim.pass(2000);
    expect(sim.all("NodeIPPool")).toHaveLength(1);
    for (const name of ["a", "b"]) remove(name);
    await sim.pass(4000);
    expect(sim.all("NodeIPPool")).toEqual([]);
    expect(sim.lines()).toEqual(["10.0.0.1 IPAddressClaim/metal3:a/address releasing"]);
    sim.create(pool(1) as never);
    sim.create(claim("c") as never);
    await sim.pass(10_000);
    expect(sim.all("IPAddress")).toEqual([]);
    await sim.pass(30_000);
    expect(sim.lines()).toEqual(["10.0.0.1 IPAddressClaim/metal3:c/address"]);
  });
});
