import { describe, expect, it } from "vitest";
import { timing } from "../../../controller/timing.ts";
import { emptySnapshot, formatBlock } from "../../../core/index.ts";
import { nmstateInCluster } from "../../../integrations/nmstate/in-cluster.ts";
import { slicesInCluster } from "../../../integrations/whereabouts/in-cluster.ts";
import { asBag, asList, type Bag } from "../../../schema/objects.ts";
import { selecting } from "../../support/objects/whereabouts-objects.ts";
import { SimController } from "../../support/sim/controller.ts";

const namespace = "kube-system";
const slices = slicesInCluster(namespace);

function begin() {
  const sim = new SimController(undefined, undefined, undefined, [nmstateInCluster, slices]);
  const listed = (network = "net") => {
    const pool = sim.object("NodeSlicePool", network);
    if (pool === undefined) return undefined;
    const allocations = asList(asBag(pool.status)?.allocations).map((one) => asBag(one) ?? {});
    return allocations.map(({ nodeName, sliceRange }) => `${nodeName} ${sliceRange}`);
  };
  return { sim, listed };
}

function definition(name: string, ipam: Bag = {}, at = "default", network = "net") {
  const config = {
    cniVersion: "1.0.0",
    name: network,
    type: "macvlan",
    ipam: { type: "whereabouts", range: "10.5.0.0/22", node_slice_size: "/24", ...ipam },
  };
  return {
    apiVersion: "k8s.cni.cncf.io/v1",
    kind: "NetworkAttachmentDefinition",
    metadata: { name, namespace: at },
    spec: { config: JSON.stringify(config) },
  };
}

function ipPool(name: string, range: string, allocations: Bag) {
  return {
    apiVersion: "whereabouts.cni.cncf.io/v1alpha1",
    kind: "IPPool",
    metadata: { name, namespace },
    spec: { range, allocations },
  };
}

/** As the controller of whereabouts makes it: with the slices that nobody has. */
function stockPool(nodes: Readonly<Record<string, string>>, name = "net") {
  const allocations = Object.entries(nodes).map(([sliceRange, nodeName]) => ({ nodeName, sliceRange }));
  return {
    apiVersion: "whereabouts.cni.cncf.io/v1alpha1",
    kind: "NodeSlicePool",
    metadata: { name, namespace },
    spec: { range: "10.5.0.0/22", sliceSize: "/24" },
    status: { allocations },
  };
}

const unready = (one: Bag): Bag => ({ ...one, status: { conditions: [{ type: "Ready", status: "False" }] } });
const unreadable = '{ "node_slice_size": ';
const pod = { 1: { id: "c", podref: "default/a" } };

describe("the slices of a network", () => {
  it("go to every node that is Ready, and are listed for whereabouts", async () => {
    const { sim, listed } = begin();
    for (const name of ["n1", "n2", "n3"]) sim.node(name);
    sim.change("Node", "n3", unready);
    sim.create(definition("a"));
    await sim.pass(2000);
    expect(sim.lines()).toEqual(["10.5.0.0/24 Node/n1/net", "10.5.1.0/24 Node/n2/net"]);
    expect(listed()).toEqual(["n1 10.5.0.0/24", "n2 10.5.1.0/24"]);
    const pool: Bag = sim.object("NodeSlicePool", "net") ?? {};
    expect(pool.metadata).toMatchObject({ namespace });
    expect(asList(asBag(pool.metadata)?.ownerReferences)).toEqual([]);
    expect(pool.spec).toEqual({ range: "10.5.0.0/22", sliceSize: "/24" });
  });

  it("stay where they are when a node joins, or is Ready no more", async () => {
    const { sim, listed } = begin();
    sim.node("n2");
    sim.create(definition("a"));
    await sim.pass(2000);
    sim.node("n1");
    sim.change("Node", "n2", unready);
    await sim.pass(2000);
    expect(listed()).toEqual(["n2 10.5.0.0/24", "n1 10.5.1.0/24"]);
  });

  it("are nobody's where a definition asks for none", async () => {
    const { sim } = begin();
    sim.node("n1");
    sim.create(definition("a", { node_slice_size: undefined }));
    await sim.pass(2000);
    expect([sim.lines(), sim.all("NodeSlicePool")]).toEqual([[], []]);
  });

  it("are one list for all definitions of the network", async () => {
    const { sim, listed } = begin();
    sim.node("n1");
    sim.create(definition("a"));
    sim.create(definition("b", {}, "other"));
    await sim.pass(2000);
    expect(listed()).toEqual(["n1 10.5.0.0/24"]);
    sim.remove("NetworkAttachmentDefinition", "a", "default");
    sim.node("n2");
    await sim.pass(2 * timing.hold);
    expect(listed()).toEqual(["n1 10.5.0.0/24", "n2 10.5.1.0/24"]);
    expect(sim.lines()).toHaveLength(2);
  });

  it("A2.12: have no address that one of its definitions excludes", async () => {
    const { sim, listed } = begin();
    sim.node("n1");
    sim.create(definition("a", { exclude: ["10.5.0.9/32"] }));
    sim.create(definition("b", { gateway: "10.5.1.1" }, "other"));
    await sim.pass(2000);
    expect([listed(), sim.said]).toEqual([["n1 10.5.2.0/24"], []]);
    sim.remove("NetworkAttachmentDefinition", "a", "default");
    sim.node("n2");
    await sim.pass(2000);
    expect(listed()).toEqual(["n2 10.5.0.0/24", "n1 10.5.2.0/24"]);
  });

  it("are as they were while definitions of the network say different things, and both are told", async () => {
    const { sim, listed } = begin();
    sim.node("n1");
    sim.create(definition("a"));
    await sim.pass(2000);
    sim.create(definition("b", { node_slice_size: "/25" }, "other"));
    sim.node("n2");
    await sim.pass(2 * timing.hold);
    expect([listed(), sim.lines()]).toEqual([["n1 10.5.0.0/24"], ["10.5.0.0/24 Node/n1/net"]]);
    const about = "NetworkAttachmentDefinition.k8s.cni.cncf.io";
    const why = "default/a and other/b share network net, and differ in node_slice_size: /24 and /25";
    for (const which of ["default:a", "other:b"]) {
      const told = sim.said.filter((text) => text.startsWith(`${about}/${which} `));
      expect(new Set(told)).toEqual(new Set([expect.stringMatching(new RegExp(`InvalidSpec: .*${why}`))]));
    }
    sim.remove("NetworkAttachmentDefinition", "b", "other");
    await sim.pass(2000);
    expect(listed()).toEqual(["n1 10.5.0.0/24", "n2 10.5.1.0/24"]);
  });

  it("are as they were while their definition cannot be read", async () => {
    const { sim, listed } = begin();
    sim.node("n1");
    sim.create(definition("a"));
    sim.create(definition("b", { network_name: "red", range: "10.6.0.0/22" }));
    await sim.pass(2000);
    const given = sim.lines();
    expect(given).toHaveLength(2);
    const broken = { config: '{ "node_slice_size": ' };
    sim.change("NetworkAttachmentDefinition", "a", (one) => ({ ...one, spec: broken }), "default");
    sim.node("n2");
    await sim.pass(5 * timing.hold);
    expect(sim.lines()).toEqual(expect.arrayContaining([...given, "10.6.1.0/24 Node/n2/red"]));
    expect([listed(), listed("red")]).toEqual([["n1 10.5.0.0/24"], ["n1 10.6.0.0/24", "n2 10.6.1.0/24"]]);
    expect(sim.said.join("\n")).toMatch(/default:a InvalidSpec: .*config is no JSON/);
  });

  it("A2.11: are as they were while their network has another range, and that is told", async () => {
    const { sim, listed } = begin();
    sim.node("n1");
    sim.create(definition("a"));
    await sim.pass(2000);
    const { spec } = definition("a", { range: "10.9.0.0/22" });
    sim.change("NetworkAttachmentDefinition", "a", (one) => ({ ...one, spec }), "default");
    await sim.pass(5 * timing.hold);
    expect([sim.lines(), listed()]).toEqual([["10.5.0.0/24 Node/n1/net"], ["n1 10.5.0.0/24"]]);
    expect(sim.said.join("\n")).toMatch("default:a InvalidSpec: net: ");
  });

  it("are of another range once nobody has one of the old range", async () => {
    const { sim, listed } = begin();
    sim.node("n1");
    sim.create(definition("a"));
    await sim.pass(2000);
    sim.create(ipPool("n1-10.5.0.0-24", "10.5.0.0/24", pod));
    sim.remove("NetworkAttachmentDefinition", "a", "default");
    await sim.pass(2000);
    sim.create(definition("a", { range: "10.9.0.0/22" }));
    await sim.pass(3 * timing.hold);
    expect(listed()).toEqual(["n1 10.5.0.0/24"]);
    sim.remove("IPPool", "n1-10.5.0.0-24", namespace);
    await sim.pass(3 * timing.hold);
    expect(listed()).toEqual(["n1 10.9.0.0/24"]);
  });

  it("stay of their size when others are smaller from now on", async () => {
    const { sim, listed } = begin();
    sim.node("n1");
    sim.create(definition("a"));
    await sim.pass(2000);
    const { spec } = definition("a", { node_slice_size: "/26" });
    sim.change("NetworkAttachmentDefinition", "a", (one) => ({ ...one, spec }), "default");
    sim.node("n2");
    await sim.pass(2000);
    expect(listed()).toEqual(["n1 10.5.0.0/24", "n2 10.5.1.0/26"]);
  });

  it("of networks with names may be of equal ranges", async () => {
    const { sim, listed } = begin();
    sim.node("n1");
    sim.create(definition("a", { network_name: "red" }));
    sim.create(definition("b", { network_name: "blue" }));
    await sim.pass(2000);
    expect([listed("red"), listed("blue")]).toEqual([["n1 10.5.0.0/24"], ["n1 10.5.0.0/24"]]);
  });

  it("are listed for a thousand nodes", async () => {
    const { sim, listed } = begin();
    for (let i = 0; i < 1001; i++) sim.node(`n${i}`);
    sim.create(definition("a", { range: "10.0.0.0/8" }));
    await sim.pass(5000);
    expect(listed()).toHaveLength(1001);
  });
});

describe("the slice of a node that leaves", () => {
  it.each([
    ["one without a network_name", {}, "n1-10.5.0.0-24", "net"],
    ["one with a network_name", { network_name: "red" }, "red-n1-10.5.0.0-24", "red"],
    ["IPv6", { range: "fd00:5::/46", node_slice_size: "/48" }, "n1-fd00-5---48", "net"],
  ])("is nobody's until no pod has an address of it: %s", async (_, ipam, name, network) => {
    const { sim, listed } = begin();
    sim.node("n1");
    sim.create(definition("a", ipam));
    await sim.pass(2000);
    const [slice] = sim.record.allocations;
    if (slice === undefined) throw new Error("nothing was given");
    sim.create(ipPool(name, formatBlock(slice), pod));
    await sim.pass(2000);
    sim.remove("Node", "n1");
    await sim.pass(5 * timing.hold);
    expect(sim.lines()).toEqual([`${formatBlock(slice)} Node/n1/${network} releasing`]);
    expect(listed(network)).toEqual([`n1 ${formatBlock(slice)}`]);
    sim.change("IPPool", name, (one) => ({ ...one, spec: { ...asBag(one.spec), allocations: {} } }), namespace);
    await sim.pass(3 * timing.hold);
    expect([sim.lines(), listed(network)]).toEqual([[], []]);
  });

  it("is not free by an IPPool that the watch does not show yet", async () => {
    const { sim } = begin();
    sim.node("n1");
    sim.create(definition("a"));
    await sim.pass(2000);
    sim.remove("Node", "n1");
    await sim.pass(2000);
    sim.isFrozen = true;
    sim.create(ipPool("n1-10.5.0.0-24", "10.5.0.0/24", pod));
    await sim.pass(3 * timing.hold);
    expect(sim.lines()).toEqual(["10.5.0.0/24 Node/n1/net releasing"]);
  });

  it("is not free by a definition that the watch does not show yet", async () => {
    const { sim } = begin();
    sim.node("n1");
    sim.create(definition("a"));
    await sim.pass(2000);
    sim.remove("NetworkAttachmentDefinition", "a", "default");
    await sim.pass(2000);
    expect(sim.lines()).toEqual(["10.5.0.0/24 Node/n1/net releasing"]);
    sim.isFrozen = true;
    sim.create(definition("a"));
    await sim.pass(3 * timing.hold);
    expect(sim.lines()).toEqual(["10.5.0.0/24 Node/n1/net"]);
  });

  it("is not free where a definition that the watch does not show yet contradicts another one", async () => {
    const { sim, listed } = begin();
    sim.node("n1");
    sim.create(definition("a"));
    await sim.pass(2000);
    sim.remove("Node", "n1");
    await sim.pass(2000);
    sim.isFrozen = true;
    sim.create(definition("b", { node_slice_size: "/25" }, "other"));
    await sim.pass(3 * timing.hold);
    expect([sim.lines(), listed()]).toEqual([["10.5.0.0/24 Node/n1/net releasing"], ["n1 10.5.0.0/24"]]);
  });

  it("is its own again when its network is back, whether it is Ready or not, and whatever is excluded by then", async () => {
    const { sim, listed } = begin();
    for (const name of ["n1", "n2"]) sim.node(name);
    sim.create(definition("a"));
    await sim.pass(2000);
    sim.remove("NetworkAttachmentDefinition", "a", "default");
    await sim.pass(2000);
    expect(sim.lines()).toEqual(["10.5.0.0/24 Node/n1/net releasing", "10.5.1.0/24 Node/n2/net releasing"]);
    sim.change("Node", "n1", unready);
    sim.create(definition("a", { exclude: ["10.5.0.1/32", "10.5.1.1/32"] }));
    await sim.pass(3 * timing.hold);
    expect(sim.lines()).toEqual(["10.5.0.0/24 Node/n1/net", "10.5.1.0/24 Node/n2/net"]);
    expect(listed()).toEqual(["n1 10.5.0.0/24", "n2 10.5.1.0/24"]);
  });

  it.each<[string, (sim: SimController) => void]>([
    ["contradict each other", (sim) => sim.create(definition("b", { node_slice_size: "/25" }, "other"))],
    [
      "cannot be read",
      (sim) =>
        sim.change("NetworkAttachmentDefinition", "a", (one) => ({ ...one, spec: { config: unreadable } }), "default"),
    ],
  ])(
    "is not free while the definitions of its network %s: its list stays, and the node may come back",
    async (_, spoil) => {
      const { sim, listed } = begin();
      sim.node("n1");
      sim.create(definition("a"));
      await sim.pass(2000);
      spoil(sim);
      sim.remove("Node", "n1");
      await sim.pass(3 * timing.hold);
      expect(listed()).toEqual(["n1 10.5.0.0/24"]);
      sim.node("n1");
      sim.create(ipPool("n1-10.5.0.0-24", "10.5.0.0/24", pod));
      await sim.pass(3 * timing.hold);
      sim.remove("Node", "n1");
      sim.remove("NetworkAttachmentDefinition", "a", "default");
      sim.remove("NetworkAttachmentDefinition", "b", "other");
      sim.create(definition("c", { node_slice_size: "/25" }));
      sim.node("n2");
      await sim.pass(3 * timing.hold);
      expect(sim.lines().toSorted()).toEqual(["10.5.0.0/24 Node/n1/net releasing", "10.5.1.0/25 Node/n2/net"]);
      sim.remove("IPPool", "n1-10.5.0.0-24", namespace);
      await sim.pass(3 * timing.hold);
      expect([sim.lines(), listed()]).toEqual([["10.5.1.0/25 Node/n2/net"], ["n2 10.5.1.0/25"]]);
    },
  );

  it("is its own again when it is back", async () => {
    const { sim } = begin();
    sim.node("n1");
    sim.create(definition("a"));
    await sim.pass(2000);
    sim.create(ipPool("n1-10.5.0.0-24", "10.5.0.0/24", pod));
    sim.remove("Node", "n1");
    await sim.pass(2000);
    sim.node("n0");
    sim.node("n1");
    await sim.pass(2000);
    expect(sim.lines()).toEqual(["10.5.0.0/24 Node/n1/net", "10.5.1.0/24 Node/n0/net"]);
  });
});

describe("a node that a network does not select", () => {
  const workers = (name: string, at?: string) => selecting("!infra", definition(name, {}, at));
  const label = (labels: Readonly<Record<string, string>>) => (one: Bag) => ({
    ...one,
    metadata: { ...asBag(one.metadata), labels },
  });

  it("gets no slice, until it is selected", async () => {
    const { sim, listed } = begin();
    sim.node("n1");
    sim.node("n2", { infra: "" });
    sim.create(workers("a"));
    await sim.pass(3 * timing.hold);
    expect([listed(), sim.said]).toEqual([["n1 10.5.0.0/24"], []]);
    sim.change("Node", "n2", label({}));
    await sim.pass(2000);
    expect(listed()).toEqual(["n1 10.5.0.0/24", "n2 10.5.1.0/24"]);
  });

  it("loses a slice of which no pod has an address, and is listed no more before it is free", async () => {
    const { sim, listed } = begin();
    for (const name of ["n1", "n2"]) sim.node(name);
    sim.create(workers("a"));
    await sim.pass(2000);
    sim.change("Node", "n1", label({ infra: "" }));
    await sim.pass(timing.hold / 2);
    expect(sim.lines()).toEqual(["10.5.1.0/24 Node/n2/net", "10.5.0.0/24 Node/n1/net releasing"]);
    expect(listed()).toEqual(["n2 10.5.1.0/24"]);
    sim.node("n3");
    await sim.pass(3 * timing.hold);
    expect(listed()).toEqual(["n2 10.5.1.0/24", "n3 10.5.2.0/24"]);
    sim.node("n4");
    await sim.pass(2000);
    expect(listed()).toContain("n4 10.5.0.0/24");
  });

  const empty = (one: Bag) => ({ ...one, spec: { ...asBag(one.spec), allocations: {} } });
  it.each<[string, (sim: SimController, name: string) => void]>([
    ["emptied", (sim, name) => sim.change("IPPool", name, empty, namespace)],
    ["deleted", (sim, name) => sim.remove("IPPool", name, namespace)],
  ])("keeps its slice until the IPPool is %s, by a selector that came later", async (_, end) => {
    const { sim, listed } = begin();
    for (const name of ["n1", "n2"]) sim.node(name, { infra: "" });
    sim.create(definition("a"));
    await sim.pass(2000);
    sim.create(ipPool("n1-10.5.0.0-24", "10.5.0.0/24", pod));
    sim.change("NetworkAttachmentDefinition", "a", () => workers("a"), "default");
    await sim.pass(3 * timing.hold);
    expect([sim.lines(), listed()]).toEqual([["10.5.0.0/24 Node/n1/net"], ["n1 10.5.0.0/24"]]);
    end(sim, "n1-10.5.0.0-24");
    await sim.pass(2000);
    expect([sim.lines(), listed()]).toEqual([["10.5.0.0/24 Node/n1/net releasing"], []]);
    await sim.pass(2 * timing.hold);
    expect(sim.lines()).toEqual([]);
  });

  it("has its slice back, and is listed again, where a pod got an address at the last moment", async () => {
    const { sim, listed } = begin();
    sim.node("n1");
    sim.create(workers("a"));
    await sim.pass(2000);
    sim.change("Node", "n1", label({ infra: "" }));
    await sim.pass(2000);
    expect(listed()).toEqual([]);
    sim.create(ipPool("n1-10.5.0.0-24", "10.5.0.0/24", pod));
    await sim.pass(3 * timing.hold);
    expect([sim.lines(), listed()]).toEqual([["10.5.0.0/24 Node/n1/net"], ["n1 10.5.0.0/24"]]);
  });

  it("has a slice of an older size as long as pods have addresses of it", async () => {
    const { sim, listed } = begin();
    sim.node("n1", { infra: "" });
    sim.create(definition("a"));
    await sim.pass(2000);
    sim.create(ipPool("n1-10.5.0.0-24", "10.5.0.0/24", pod));
    const smaller = selecting("!infra", definition("a", { node_slice_size: "/26" }));
    sim.change("NetworkAttachmentDefinition", "a", () => smaller, "default");
    await sim.pass(3 * timing.hold);
    expect([sim.lines(), listed()]).toEqual([["10.5.0.0/24 Node/n1/net"], ["n1 10.5.0.0/24"]]);
  });

  it("is on record with what the list of whereabouts' controller gives it, until that is ours; then it loses it", async () => {
    const { sim, listed } = begin();
    sim.node("n1");
    for (const name of ["n2", "n3"]) sim.node(name, { infra: "" });
    sim.create(ipPool("n3-10.5.2.0-24", "10.5.2.0/24", pod));
    sim.create(stockPool({ "10.5.0.0/24": "n1", "10.5.1.0/24": "n2", "10.5.2.0/24": "n3", "10.5.3.0/24": "" }));
    sim.create(workers("a"));
    await sim.pass(3 * timing.hold);
    expect(sim.lines()).toEqual(["10.5.0.0/24 Node/n1/net", "10.5.2.0/24 Node/n3/net"]);
    expect(listed()).toEqual(["n1 10.5.0.0/24", "n3 10.5.2.0/24"]);
  });

  it("is told apart by one selector: definitions of a network that differ in it are told, and nothing changes", async () => {
    const { sim, listed } = begin();
    sim.node("n1", { infra: "" });
    sim.create(definition("a"));
    await sim.pass(2000);
    sim.create(workers("b", "other"));
    await sim.pass(3 * timing.hold);
    expect(listed()).toEqual(["n1 10.5.0.0/24"]);
    const why =
      "NetworkAttachmentDefinitions default/a and other/b share network net, and differ in nodeippool.nmstate.io/node-selector: none and !infra";
    for (const which of ["default:a", "other:b"])
      expect(sim.said).toContain(`NetworkAttachmentDefinition.k8s.cni.cncf.io/${which} InvalidSpec: net: ${why}`);
  });

  it("keeps what it has while the selector cannot be read", async () => {
    const { sim, listed } = begin();
    sim.node("n1");
    sim.create(workers("a"));
    await sim.pass(2000);
    sim.change("NetworkAttachmentDefinition", "a", () => selecting("infra > 1", definition("a")), "default");
    await sim.pass(3 * timing.hold);
    expect(listed()).toEqual(["n1 10.5.0.0/24"]);
    expect(sim.said.join("\n")).toContain(
      'nodeippool.nmstate.io/node-selector: "infra > 1" does not begin with a condition',
    );
  });
});

describe("a network that is full", () => {
  it("A2.4, A2.5: says how many are needed, and serves who waits as soon as a slice is free", async () => {
    const { sim, listed } = begin();
    for (const name of ["n1", "n2", "n3", "n4", "n5", "n6"]) sim.node(name);
    sim.create(definition("a"));
    await sim.pass(2000);
    expect(listed()).toHaveLength(4);
    const full = sim.said.find((text) => text.includes("ExhaustedIPPool"));
    expect(full).toMatch(/^NetworkAttachmentDefinition.k8s.cni.cncf.io\/default:a /);
    expect(full).toMatch("2 more needed, for n5, n6");
    sim.remove("Node", "n2");
    await sim.pass(3 * timing.hold);
    expect(listed()).toEqual(["n1 10.5.0.0/24", "n5 10.5.1.0/24", "n3 10.5.2.0/24", "n4 10.5.3.0/24"]);
  });
});

describe("a network that is full, beside others", () => {
  it("keeps no node from its slices of those", async () => {
    const { sim, listed } = begin();
    sim.create(definition("a", { network_name: "red", range: "10.6.0.0/24" }));
    sim.create(definition("b", { network_name: "blue" }));
    for (const name of ["n1", "n2"]) sim.node(name);
    await sim.pass(2000);
    expect(listed("red")).toEqual(["n1 10.6.0.0/24"]);
    expect(listed("blue")).toEqual(["n1 10.5.0.0/24", "n2 10.5.1.0/24"]);
  });
});

describe("slices that nodes have already", () => {
  it("stay theirs, by the list of whereabouts' controller", async () => {
    const { sim, listed } = begin();
    for (const name of ["n1", "n2"]) sim.node(name);
    sim.change("Node", "n2", unready);
    sim.create(stockPool({ "10.5.0.0/24": "", "10.5.1.0/24": "n2", "10.5.2.0/24": "n1", "10.5.3.0/24": "" }));
    sim.create(definition("a"));
    await sim.pass(3000);
    expect(sim.lines()).toEqual(["10.5.1.0/24 Node/n2/net", "10.5.2.0/24 Node/n1/net"]);
    expect(listed()).toEqual(["n2 10.5.1.0/24", "n1 10.5.2.0/24"]);
  });

  it("stay theirs with the gateway in them", async () => {
    const { sim, listed } = begin();
    sim.node("n1");
    sim.create(stockPool({ "10.5.0.0/24": "n1" }));
    sim.create(definition("a", { gateway: "10.5.0.1" }));
    await sim.pass(3000);
    sim.node("n2");
    await sim.pass(3000);
    expect(sim.lines()).toEqual(["10.5.0.0/24 Node/n1/net", "10.5.1.0/24 Node/n2/net"]);
    expect(listed()).toEqual(["n1 10.5.0.0/24", "n2 10.5.1.0/24"]);
  });

  it("of a node that is gone are nobody's until no pod has an address of them", async () => {
    const { sim, listed } = begin();
    sim.node("n2");
    sim.create(ipPool("n1-10.5.0.0-24", "10.5.0.0/24", pod));
    sim.create(stockPool({ "10.5.0.0/24": "n1" }));
    sim.create(definition("a"));
    await sim.pass(3 * timing.hold);
    expect(sim.lines()).toEqual(["10.5.1.0/24 Node/n2/net", "10.5.0.0/24 Node/n1/net releasing"]);
    expect(listed()).toEqual(["n1 10.5.0.0/24", "n2 10.5.1.0/24"]);
    sim.remove("IPPool", "n1-10.5.0.0-24", namespace);
    await sim.pass(3 * timing.hold);
    expect(listed()).toEqual(["n2 10.5.1.0/24"]);
  });

  it("are the first of each node: whereabouts reads no other one", async () => {
    const { sim, listed } = begin();
    for (const name of ["n1", "n2"]) sim.node(name);
    sim.create(stockPool({ "10.5.1.0/24": "n1", "10.5.0.0/24": "n1" }));
    sim.create(definition("a"));
    await sim.pass(3000);
    expect(listed()).toEqual(["n2 10.5.0.0/24", "n1 10.5.1.0/24"]);
  });

  it("stay theirs once the list has them in the size of the network", async () => {
    const { sim, listed } = begin();
    sim.node("n1");
    sim.change("Node", "n1", unready);
    sim.create(stockPool({ "10.5.0.0/25": "n1" }));
    sim.create(definition("a"));
    await sim.pass(3000);
    const { status } = stockPool({ "10.5.0.0/24": "n1" });
    sim.change("NodeSlicePool", "net", (one) => ({ ...one, status }), namespace);
    await sim.pass(3000);
    expect(listed()).toEqual(["n1 10.5.0.0/24"]);
    expect(sim.record.allocations).toHaveLength(1);
  });

  it("stay with a node that is gone as long as somebody else's list has them", async () => {
    const { sim, listed } = begin();
    sim.node("n2");
    sim.create(stockPool({ "10.5.0.0/24": "n1", "10.5.2.0/23": "n2" }));
    sim.create(definition("a"));
    await sim.pass(5 * timing.hold);
    expect(listed()).toEqual(["n1 10.5.0.0/24", "n2 10.5.2.0/23"]);
    expect(sim.lines()).toContain("10.5.0.0/24 Node/n1/net releasing");
  });

  it("of another size are left as they are, and their nodes get no other ones, until the definition has that size", async () => {
    const { sim, listed } = begin();
    for (const name of ["n1", "n2"]) sim.node(name);
    sim.create(stockPool({ "10.5.0.0/23": "n1", "10.5.2.0/23": "" }));
    sim.create(definition("a"));
    await sim.pass(5000);
    expect([listed(), sim.lines()]).toEqual([["n1 10.5.0.0/23", " 10.5.2.0/23"], ["10.5.2.0/24 Node/n2/net"]]);
    expect(sim.said.join("\n")).toMatch(
      "Refused: NodeSlicePool kube-system/net gives n1 10.5.0.0/23, which the record does not, and stays as it is. " +
        "Let node_slice_size of the network be /23 until it is taken over. After that it may be another one.",
    );
    const size = (node_slice_size: string) => (one: Bag) => ({
      ...one,
      spec: definition("a", { node_slice_size }).spec,
    });
    sim.change("NetworkAttachmentDefinition", "a", size("/23"), "default");
    await sim.pass(5000);
    expect(listed()).toEqual(["n1 10.5.0.0/23", "n2 10.5.2.0/24"]);
    sim.change("NetworkAttachmentDefinition", "a", size("/24"), "default");
    sim.node("n3");
    await sim.pass(5000);
    expect(listed()).toEqual(["n1 10.5.0.0/23", "n2 10.5.2.0/24", "n3 10.5.3.0/24"]);
  });

  it("of another size are nobody's until they are listed no more", async () => {
    const { sim, listed } = begin();
    sim.node("n1");
    sim.create(stockPool({ "10.5.0.0/23": "n1" }));
    sim.create(definition("a"));
    await sim.pass(5000);
    sim.remove("NodeSlicePool", "net", namespace);
    await sim.pass(5000);
    expect(listed()).toEqual(["n1 10.5.0.0/24"]);
  });

  it("are refused without a word of deletion where the record has given one to another node", async () => {
    const { sim, listed } = begin();
    sim.node("n1");
    sim.create(definition("a"));
    await sim.pass(2000);
    // As whereabouts' controller leaves it, once the label is off: n1 is gone, and n2 has its slice.
    sim.create(ipPool("n1-10.5.0.0-24", "10.5.0.0/24", pod));
    sim.remove("Node", "n1");
    sim.node("n2");
    sim.remove("NodeSlicePool", "net", namespace);
    sim.create(stockPool({ "10.5.0.0/24": "n2" }));
    await sim.pass(5000);
    expect(listed()).toEqual(["n2 10.5.0.0/24"]);
    expect(sim.lines()).toContain("10.5.0.0/24 Node/n1/net releasing");
    expect(sim.said.join("\n")).toMatch(
      "Find out which addresses are in use (kubectl get ippools -n kube-system) before you delete anything.",
    );
  });

  it("A2.10: lose the owners by which a deleted definition would take them along", async () => {
    const { sim, listed } = begin();
    sim.node("n1");
    const stock = stockPool({ "10.5.0.0/24": "n1" });
    const ownerReferences = [
      { apiVersion: "k8s.cni.cncf.io/v1", kind: "NetworkAttachmentDefinition", name: "a", uid: "u" },
    ];
    sim.create({ ...stock, metadata: { ...stock.metadata, ownerReferences } as typeof stock.metadata });
    sim.create(definition("a"));
    await sim.pass(3000);
    expect(listed()).toEqual(["n1 10.5.0.0/24"]);
    const pool: Bag = sim.object("NodeSlicePool", "net") ?? {};
    expect(asList(asBag(pool.metadata)?.ownerReferences)).toEqual([]);
  });

  it.each([
    ["", false],
    [", one taken over after the other", true],
  ])("stay theirs in each of two networks that have the same addresses%s", async (_, isLater) => {
    const { sim, listed } = begin();
    for (const name of ["n1", "n2"]) sim.node(name);
    sim.create(stockPool({ "10.5.0.0/24": "n1", "10.5.1.0/24": "n2", "10.5.2.0/24": "" }, "red"));
    sim.create(definition("red", { network_name: "red" }));
    if (isLater) await sim.pass(3000);
    sim.create(stockPool({ "10.5.0.0/24": "n2", "10.5.1.0/24": "n1" }, "blue"));
    sim.create(definition("blue", { network_name: "blue" }));
    await sim.pass(3000);
    expect(sim.lines()).toHaveLength(4);
    expect(listed("red")).toEqual(["n1 10.5.0.0/24", "n2 10.5.1.0/24"]);
    expect(listed("blue")).toEqual(["n2 10.5.0.0/24", "n1 10.5.1.0/24"]);
  });

  it("are listed at every moment when the record of many nodes is lost", async () => {
    const { sim, listed } = begin();
    const names = Array.from({ length: 1001 }, (_, i) => `n${i}`);
    for (const name of names) sim.node(name);
    sim.create(definition("a", { range: "10.0.0.0/8" }));
    await sim.pass(5000);
    const after = begin();
    for (const name of names.toReversed()) after.sim.node(name);
    after.sim.create(sim.object("NodeSlicePool", "net") as Bag & { kind: string });
    after.sim.create(definition("a", { range: "10.0.0.0/8" }));
    await after.sim.pass(5000);
    expect(after.listed()).toEqual(listed());
    expect(after.sim.record.allocations).toHaveLength(1001);
    const counts = after.sim.statuses("NodeSlicePool", "net").map((status) => asList(status?.allocations).length);
    expect(new Set(counts)).toEqual(new Set([1001]));
  });

  it("stay theirs when the record is lost", async () => {
    const before = begin();
    for (const name of ["n3", "n2", "n1"]) before.sim.node(name);
    before.sim.create(definition("a"));
    await before.sim.pass(2000);
    before.sim.remove("Node", "n1");
    await before.sim.pass(3 * timing.hold);
    const listed = before.listed();
    expect(listed).toEqual(["n2 10.5.1.0/24", "n3 10.5.2.0/24"]);
    const after = begin();
    const pool = before.sim.object("NodeSlicePool", "net") as Bag & { kind: string };
    for (const name of ["n0", "n2", "n3"]) after.sim.node(name);
    after.sim.change("Node", "n3", unready);
    after.sim.create(pool);
    after.sim.create(definition("a"));
    after.sim.record = emptySnapshot;
    await after.sim.pass(3000);
    expect(after.listed()).toEqual(["n0 10.5.0.0/24", ...(listed ?? [])]);
  });
});

describe("the slice of a node that is gone, when the record is lost", () => {
  it.each([
    ["without a network_name", {}, "n1-10.5.0.0-24", "net"],
    ["with a network_name", { network_name: "red" }, "red-n1-10.5.0.0-24", "red"],
  ])("is nobody's until no pod has an address of it, in a network %s", async (_, ipam, name, network) => {
    const before = begin();
    for (const name of ["n1", "n2"]) before.sim.node(name);
    before.sim.create(definition("a", ipam));
    await before.sim.pass(2000);
    const { sim, listed } = begin();
    sim.create(before.sim.object("NodeSlicePool", network) as Bag & { kind: string });
    sim.create(ipPool(name, "10.5.0.0/24", pod));
    for (const name of ["n2", "n3"]) sim.node(name);
    sim.create(definition("a", ipam));
    await sim.pass(3 * timing.hold);
    expect(listed(network)).toEqual(["n1 10.5.0.0/24", "n2 10.5.1.0/24", "n3 10.5.2.0/24"]);
    expect(sim.lines()).toEqual([
      `10.5.1.0/24 Node/n2/${network}`,
      `10.5.2.0/24 Node/n3/${network}`,
      `10.5.0.0/24 Node/n1/${network} releasing`,
    ]);
    sim.remove("IPPool", name, namespace);
    await sim.pass(3 * timing.hold);
    expect(listed(network)).toEqual(["n2 10.5.1.0/24", "n3 10.5.2.0/24"]);
  });
});

describe("slices when the record is lost", () => {
  it("are those of nodes whose pods have addresses of them, whether any list is left or not", async () => {
    const { sim, listed } = begin();
    sim.create(definition("a"));
    sim.create(ipPool("n3-10.5.0.0-24", "10.5.0.0/24", pod));
    for (const name of ["n1", "n2", "n3"]) sim.node(name);
    await sim.pass(3000);
    expect(listed()).toEqual(["n3 10.5.0.0/24", "n1 10.5.1.0/24", "n2 10.5.2.0/24"]);
  });

  it("are read back beside the list of a network that nobody defines", async () => {
    const { sim, listed } = begin();
    for (const name of ["n1", "n2"]) sim.node(name);
    sim.create(stockPool({ "10.5.0.0/24": "n1", "10.5.1.0/24": "n2" }, "red"));
    sim.create(stockPool({ "10.5.0.0/24": "n2", "10.5.1.0/24": "n1" }));
    sim.create(definition("a"));
    await sim.pass(3000);
    expect(listed()).toEqual(["n2 10.5.0.0/24", "n1 10.5.1.0/24"]);
    expect(sim.record.allocations).toHaveLength(2);
  });

  it("stay listed while the definition of their network cannot be read", async () => {
    const before = begin();
    before.sim.node("n1");
    before.sim.create(definition("a"));
    await before.sim.pass(2000);
    const { sim, listed } = begin();
    sim.node("n0");
    sim.node("n1");
    const mended = definition("a");
    sim.create({ ...mended, spec: { config: '{ "node_slice_size": ' } });
    sim.create(before.sim.object("NodeSlicePool", "net") as Bag & { kind: string });
    await sim.pass(3 * timing.hold);
    expect(listed()).toEqual(["n1 10.5.0.0/24"]);
    sim.change("NetworkAttachmentDefinition", "a", (one) => ({ ...one, spec: mended.spec }), "default");
    await sim.pass(3000);
    expect(listed()).toEqual(["n1 10.5.0.0/24", "n0 10.5.1.0/24"]);
  });
});

/** What an IPPool says of pods is all that is left: no list has the slice, nor has the record. */
describe("a slice of which an IPPool has allocations goes to no other node", () => {
  const infra = { infra: "" };
  it.each<[string, string, (sim: SimController) => void, Bag, readonly string[]]>([
    [
      "where its node is gone",
      "10.5.0.0/24",
      () => {},
      {},
      ["10.5.1.0/24 Node/n2/net", "10.5.0.0/24 Node/n1/net releasing"],
    ],
    [
      "where its node is not Ready: that one keeps it",
      "10.5.0.0/24",
      (sim) => {
        sim.node("n1");
        sim.change("Node", "n1", unready);
      },
      {},
      ["10.5.0.0/24 Node/n1/net", "10.5.1.0/24 Node/n2/net"],
    ],
    ["where it is smaller than slices are now", "10.5.0.0/25", () => {}, {}, ["10.5.1.0/24 Node/n2/net"]],
    ["where it is larger", "10.5.0.0/24", () => {}, { node_slice_size: "/26" }, ["10.5.1.0/26 Node/n2/net"]],
    [
      "where it is smaller and its node is not selected: that one has the slice around it",
      "10.5.0.0/25",
      (sim) => sim.node("n1", infra),
      {},
      ["10.5.0.0/24 Node/n1/net", "10.5.1.0/24 Node/n2/net"],
    ],
  ])("%s", async (_, range, prepare, ipam, lines) => {
    const { sim } = begin();
    sim.create(ipPool(`n1-${range.replace("/", "-")}`, range, pod));
    prepare(sim);
    sim.create(selecting("!infra", definition("a", ipam)));
    await sim.pass(2000);
    sim.node("n2");
    await sim.pass(2 * timing.hold);
    expect(sim.lines()).toEqual(lines);
  });

  it("in a network that is served beside one that overlaps it, and is not", async () => {
    const { sim, listed } = begin();
    sim.create(definition("a"));
    sim.node("n1");
    await sim.pass(2000);
    sim.create(ipPool("n1-10.5.1.0-25", "10.5.1.0/25", pod));
    sim.create(
      definition("b", { network_name: undefined, range: "10.5.0.0/23", node_slice_size: "/25" }, "other", "b"),
    );
    sim.node("n2");
    await sim.pass(2000);
    expect([listed(), listed("b")]).toEqual([["n1 10.5.0.0/24", "n2 10.5.2.0/24"], undefined]);
  });

  it("until it is empty: whoever waits for a slice gets it then", async () => {
    const { sim, listed } = begin();
    sim.create(ipPool("n1-10.5.0.0-25", "10.5.0.0/25", pod));
    sim.create(definition("a"));
    for (const name of ["n2", "n3", "n4", "n5"]) sim.node(name);
    await sim.pass(2000);
    expect(listed()).toEqual(["n2 10.5.1.0/24", "n3 10.5.2.0/24", "n4 10.5.3.0/24"]);
    expect(sim.said.join()).toMatch(/1 more needed, for n5\. .*allocations in an IPPool of another node/);
    sim.remove("IPPool", "n1-10.5.0.0-25", namespace);
    await sim.pass(2000);
    expect(listed()).toContain("n5 10.5.0.0/24");
  });

  it("nor does its node get that slice in place of the one in the list", async () => {
    const { sim, listed } = begin();
    sim.node("n1");
    sim.create(ipPool("n1-10.5.0.0-24", "10.5.0.0/24", pod));
    sim.create(stockPool({ "10.5.2.0/24": "n1" }));
    sim.create(definition("a"));
    await sim.pass(2000);
    sim.node("n2");
    await sim.pass(2000);
    expect(listed()).toEqual(["n2 10.5.1.0/24", "n1 10.5.2.0/24"]);
  });

  it("of its own network alone, where another one has the same range or no slices", async () => {
    const { sim, listed } = begin();
    sim.create(ipPool("red-n1-10.5.0.0-24", "10.5.0.0/24", pod));
    // Of a network without slices.
    sim.create(ipPool("blue-10.5.0.0-22", "10.5.0.0/22", pod));
    sim.create(definition("a"));
    sim.create(definition("b", { network_name: "red" }));
    await sim.pass(2000);
    sim.node("n2");
    await sim.pass(2000);
    expect([listed("red"), listed()]).toEqual([["n1 10.5.0.0/24", "n2 10.5.1.0/24"], ["n2 10.5.0.0/24"]]);
  });
});

describe("a NodeSlicePool", () => {
  it("A2.8: goes after the last definition of its network, once no pod has an address of it", async () => {
    const { sim, listed } = begin();
    for (const name of ["n1", "n2"]) sim.node(name);
    sim.create(definition("a"));
    sim.create(definition("b", {}, "other"));
    await sim.pass(2000);
    sim.create(ipPool("n2-10.5.1.0-24", "10.5.1.0/24", pod));
    sim.remove("NetworkAttachmentDefinition", "a", "default");
    await sim.pass(3 * timing.hold);
    expect(sim.lines()).toHaveLength(2);
    sim.remove("NetworkAttachmentDefinition", "b", "other");
    await sim.pass(5 * timing.hold);
    expect(sim.lines()).toEqual(["10.5.1.0/24 Node/n2/net releasing"]);
    expect(listed()).toContain("n2 10.5.1.0/24");
    sim.remove("IPPool", "n2-10.5.1.0-24", namespace);
    await sim.pass(3 * timing.hold);
    expect([sim.lines(), listed()]).toEqual([[], undefined]);
  });

  it("goes with a network whose nodes and definitions went while no controller ran", async () => {
    const before = begin();
    for (const name of ["n1", "n2"]) before.sim.node(name);
    before.sim.create(definition("a"));
    await before.sim.pass(2000);
    const { sim, listed } = begin();
    sim.node("n2");
    sim.record = before.sim.record;
    sim.create(before.sim.object("NodeSlicePool", "net") as Bag & { kind: string });
    await sim.pass(5 * timing.hold);
    expect([sim.lines(), listed()]).toEqual([[], undefined]);
  });

  it("is mended when somebody changes it", async () => {
    const { sim, listed } = begin();
    sim.node("n1");
    sim.create(definition("a"));
    await sim.pass(2000);
    sim.change("NodeSlicePool", "net", (one) => ({ ...one, status: { allocations: [] } }), namespace);
    await sim.pass(5000);
    expect(listed()).toEqual(["n1 10.5.0.0/24"]);
  });
});
