import { describe, expect, it } from "vitest";
import { capi } from "../../../integrations/capi/in-cluster.ts";
import type { ClusterIntegration } from "../../../integrations/contract/cluster-integration.ts";
import { nmstateInCluster } from "../../../integrations/nmstate/in-cluster.ts";
import { slicesInCluster } from "../../../integrations/whereabouts/in-cluster.ts";
import { asBag, asList, type Bag, conditionOf } from "../../../schema/objects.ts";
import { policy, pool } from "../../support/objects/controller-objects.ts";
import { attachment } from "../../support/objects/whereabouts-objects.ts";
import type { SimController } from "../../support/sim/controller.ts";
import { simWithMaps } from "../../support/sim/maps.ts";

interface System {
  readonly name: string;
  readonly integration: ClusterIntegration;
  /** What asks for all owners. */
  readonly objects: readonly Bag[];
  add(sim: SimController, owner: string): Promise<void>;
  remove(sim: SimController, owner: string): void;
  /** The address that objects give an owner. */
  has(sim: SimController, owner: string): unknown;
  readonly line: (owner: string) => string;
  /** What owners get, in order. */
  readonly given: readonly [string, string, string];
}

const addresses = ["10.0.1.1", "10.0.1.2", "10.0.1.3"] as const;

const ofClaims: System = {
  name: "an IPAddressClaim",
  integration: capi("v1beta2"),
  objects: [pool("p", 1, 9)],
  add: async (sim, name) => {
    const poolRef = { apiGroup: "nmstate.io", kind: "NodeIPPool", name: "p" };
    const metadata = { name, namespace: "m" };
    sim.create({
      apiVersion: "ipam.cluster.x-k8s.io/v1beta2",
      kind: "IPAddressClaim",
      metadata,
      spec: { poolRef },
    } as never);
    await sim.pass(3000);
  },
  remove: (sim, name) => sim.remove("IPAddressClaim", name, "m"),
  has: (sim, name) => asBag(sim.all("IPAddress").find(({ metadata }) => metadata.name === name)?.spec)?.address,
  line: (name) => `IPAddressClaim/m:${name}/`,
  given: addresses,
};

function addressIn(child: unknown): string | undefined {
  const [nic] = asList(asBag(asBag(asBag(child)?.spec)?.desiredState)?.interfaces);
  const [address] = asList(asBag(asBag(nic)?.ipv4)?.address);
  return asBag(address)?.ip as string | undefined;
}

const reports = (name: string) =>
  [
    ["NodeNetworkState", name],
    ["NodeNetworkConfigurationEnactment", `${name}.a--${name}`],
  ] as const;

/** The handler of a node applies what its policy says, and reports that. */
async function handle(sim: SimController, name: string): Promise<void> {
  for (const [kind, report] of reports(name)) if (sim.object(kind, report) !== undefined) sim.remove(kind, report);
  const child = sim.object("NodeNetworkConfigurationPolicy", `a--${name}`);
  if (child !== undefined) sim.enact(`a--${name}`, name, "Available");
  sim.shows(name, addressIn(child));
  await sim.pass(3000);
}

const ofNodes: System = {
  name: "a node",
  integration: nmstateInCluster,
  objects: [pool("p", 1, 9), policy("a", "p", "eth1", { maxUnavailable: "100%" })],
  add: async (sim, name) => {
    sim.node(name);
    await sim.pass(3000);
    await handle(sim, name);
  },
  remove: (sim, name) => {
    sim.remove("Node", name);
    for (const [kind, report] of reports(name)) sim.remove(kind, report);
  },
  has: (sim, name) => addressIn(sim.object("NodeNetworkConfigurationPolicy", `a--${name}`)),
  line: (name) => `Node/${name}/`,
  given: addresses,
};

/** A pod of each node has an address of its slice. */
const ofSlices: System = {
  name: "a slice of a node",
  integration: slicesInCluster("kube-system"),
  objects: [attachment("net", { range: "10.0.1.0/24", node_slice_size: "/28" })],
  add: async (sim, name) => {
    sim.node(name);
    await sim.pass(3000);
  },
  remove: (sim, name) => sim.remove("Node", name),
  has: (sim, name) => {
    const listed = asList(asBag(sim.object("NodeSlicePool", "net")?.status)?.allocations);
    return listed.map(asBag).find((one) => one?.nodeName === name)?.sliceRange;
  },
  line: (name) => `Node/${name}/`,
  given: ["10.0.1.0/28", "10.0.1.16/28", "10.0.1.32/28"],
};

/** Owners come and go; the record is what it was when `backUp` was called from `restore` on, which starts another controller. */
async function begin(system: System) {
  const { sim, edit, cluster, beside } = simWithMaps([system.integration]);
  for (const object of system.objects) sim.create(object as never);
  // One subnet is all there is.
  const part = () => `${[...cluster.maps.keys()].find((name) => name !== "ippool.index")}`;
  const backUp = () => `${cluster.maps.get(part())?.data?.record}`;
  const leave = async (owner: string) => {
    system.remove(sim, owner);
    await sim.pass(60_000);
  };
  const restore = (backup: string) => {
    edit(part(), () => backup);
    return beside();
  };
  return { sim, backUp, leave, restore, add: (owner: string) => system.add(sim, owner) };
}

const pendingOf = (sim: SimController) =>
  sim.engine.allocator.pending.list(() => true).map(({ message }) => `${message}`);

describe.each([ofClaims, ofNodes, ofSlices])("after an older backup of the record is restored, $name", (system) => {
  const [first, second, third] = system.given;
  const lineOf = (sim: SimController, owner: string) =>
    sim.lines().filter((line) => line.includes(system.line(owner)) && !line.includes("releasing"));

  it("keeps an address that was another owner's then, and is told why it waits", async () => {
    const { sim, backUp, leave, restore, add } = await begin(system);
    await add("old");
    const backup = backUp();
    await leave("old");
    await add("new");
    expect(system.has(sim, "new")).toBe(first);
    const next = restore(backup);
    await next.pass(5000);
    expect(system.has(next, "new")).toBe(first);
    expect(lineOf(next, "new")).toEqual([]);
    expect(pendingOf(next).join()).toMatch(/new has \S+ already, which is on record for .*old: wait until it is free/);
    await next.pass(60_000);
    expect(lineOf(next, "new").join()).toContain(first);
    expect(system.has(next, "new")).toBe(first);
    expect(pendingOf(next)).toEqual([]);
  });

  it("keeps it also where that other owner comes back, which gets another address", async () => {
    const { backUp, leave, restore, add } = await begin(system);
    await add("old");
    const backup = backUp();
    await leave("old");
    await add("new");
    const next = restore(backup);
    await next.pass(5000);
    await system.add(next, "old");
    await next.pass(5000);
    expect(lineOf(next, "old")).toEqual([]);
    expect(system.has(next, "old")).not.toBe(first);
    for (let i = 0; i < 4; i++) {
      if (system === ofNodes) await handle(next, "old");
      await next.pass(30_000);
    }
    expect(lineOf(next, "old").join()).toContain(second);
    expect(lineOf(next, "new").join()).toContain(first);
    expect(system.has(next, "new")).toBe(first);
  });

  it("keeps it although an earlier address of its own is releasing in the backup, which another owner has now", async () => {
    const { sim, backUp, restore, add } = await begin(system);
    await add("new");
    system.remove(sim, "new");
    await sim.pass(1000);
    const backup = backUp();
    expect(backup).toContain("releasing");
    await sim.pass(60_000);
    await add("third");
    expect(system.has(sim, "third")).toBe(first);
    await add("new");
    expect(system.has(sim, "new")).toBe(second);
    const next = restore(backup);
    await next.pass(120_000);
    expect([system.has(next, "third"), system.has(next, "new")]).toEqual([first, second]);
    expect(lineOf(next, "new").join()).toContain(second);
    expect(next.lines().join()).not.toContain(third);
  });
});

it("a node keeps an address that the backup retains for a node that is gone", async () => {
  const system = ofNodes;
  const { sim, backUp, leave, restore, add } = await begin(system);
  const retain = (reclaimPolicy: string) =>
    sim.change("NodeIPPool", "p", (one) => ({ ...one, spec: { ...asBag(one.spec), reclaimPolicy } }));
  retain("Retain");
  await add("old");
  await leave("old");
  const backup = backUp();
  expect(backup).toContain(system.line("old"));
  retain("Delete");
  await sim.pass(60_000);
  retain("Retain");
  await add("new");
  expect(system.has(sim, "new")).toBe("10.0.1.1");
  const next = restore(backup);
  for (let i = 0; i < 3; i++) {
    await next.pass(30_000);
    expect(system.has(next, "new")).toBe("10.0.1.1");
  }
  expect(next.lines()).toEqual([expect.stringContaining(`10.0.1.1 ${system.line("new")}`)]);
});

it("an IPAddressClaim that waits says which claim had its address", async () => {
  const { backUp, leave, restore, add } = await begin(ofClaims);
  await add("old");
  const backup = backUp();
  await leave("old");
  await add("new");
  const next = restore(backup);
  await next.pass(5000);
  const claim = next.all("IPAddressClaim").find(({ metadata }) => metadata.name === "new");
  expect(conditionOf(asBag(claim?.status)?.conditions, "Ready")).toMatchObject({
    status: "False",
    message:
      "IPAddressClaim/m:new has 10.0.1.1 already, which is on record for IPAddressClaim/m:old: wait until it is free, then it is adopted",
  });
});

describe("without a restore", () => {
  it("a machine that joins again under another name keeps its address", async () => {
    const { sim, add } = await begin(ofNodes);
    await add("old");
    ofNodes.remove(sim, "old");
    sim.node("new");
    sim.shows("new", "10.0.1.1");
    await sim.pass(60_000);
    expect(sim.lines()).toEqual(["10.0.1.1 Node/new/a/address"]);
  });

  it("a node that still reports the address of a node which is there gets one of its own", async () => {
    const { sim, add } = await begin(ofNodes);
    await add("old");
    sim.shows("new", "10.0.1.1");
    sim.node("new");
    await sim.pass(5000);
    expect(sim.lines()).toEqual(["10.0.1.1 Node/old/a/address", "10.0.1.2 Node/new/a/address"]);
    expect(sim.said.join()).toContain("IPCollision");
  });

  it.each([true, false])("a node that is made anew has its address again, and reports it: %s", async (isReported) => {
    const { sim, add } = await begin(ofNodes);
    await add("old");
    await add("other");
    ofNodes.remove(sim, "old");
    // A leftover on a node that has an address of its own.
    for (const [kind, name] of reports("other").slice(0, 1)) sim.remove(kind, name);
    sim.shows("other", "10.0.1.1");
    await sim.pass(1000);
    sim.node("old");
    if (isReported) sim.shows("old", "10.0.1.1");
    await sim.pass(5000);
    expect(sim.lines()).toEqual(["10.0.1.1 Node/old/a/address", "10.0.1.2 Node/other/a/address"]);
  });
});
