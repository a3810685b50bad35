import { describe, expect, it } from "vitest";
import { emptySnapshot } from "../../../core/index.ts";
import { virtualMachines } from "../../../integrations/ipamclaim/vm-in-cluster.ts";
import { asBag, asList, type Bag } from "../../../schema/objects.ts";
import { claim, pool } from "../../support/objects/ipam-claims.ts";
import { definition, macvlanNetwork, vm } from "../../support/objects/vm-objects.ts";
import { BlindReconciler, gate, VmRoles } from "../../support/objects/vm-roles.ts";
import { instanceOf, launcherOf, reportOfMultus, rewrittenBy } from "../../support/real/virt-controller.ts";
import { refused } from "../../support/sim/server.ts";

const withFinalizers =
  (...finalizers: readonly string[]) =>
  ({ metadata, ...rest }: Bag) => ({
    ...rest,
    metadata: { ...asBag(metadata), finalizers },
  });
const onlyClaims = virtualMachines({ claims: true, addresses: false });
const onlyAddresses = virtualMachines({ claims: false, addresses: true });

describe("the roles for VMs together", () => {
  it("a pod on an ordinary network that is there is scheduled", async () => {
    const all = new VmRoles();
    all.engine.create(definition("plain", "default", { name: "plain", type: "bridge", ipam: { type: "whereabouts" } }));
    all.vm("vm-a", { plain: "plain" });
    all.start("vm-a");
    await all.pass(2000);
    expect(all.isGated("vm-a")).toBe(false);
  });

  it("a pod whose network is not defined yet waits for that", async () => {
    const all = new VmRoles();
    all.vm("vm-a", { late: "late" });
    all.start("vm-a");
    await all.pass(1000);
    expect(all.isGated("vm-a")).toBe(true);
    all.engine.create(macvlanNetwork("late", "lan"));
    await all.pass(5000);
    expect(all.ips("vm-a")).toEqual(["10.0.0.1/24"]);
  });

  it("a VM whose network is changed has addresses of the one that it runs on, before and after it is restarted", async () => {
    const all = new VmRoles();
    all.vm("vm-a", { net: "red" });
    all.start("vm-a");
    await all.pass(2000);
    all.edit("vm-a", { net: "green" });
    all.pod("vm-a", "target");
    await all.pass(2000);
    expect(all.ips("vm-a", "target")).toEqual(["10.0.0.1/24"]);
    all.stop("vm-a");
    all.start("vm-a", "again");
    await all.pass(60_000);
    expect(all.ips("vm-a", "again")).toEqual(["10.0.2.1/24"]);
  });

  it("a VM whose network is changed leaves its address to who waits for it, once nothing runs with it", async () => {
    const all = new VmRoles();
    all.engine.create(pool("one", "10.80.0.0/24", "10.80.0.1"));
    all.engine.create(macvlanNetwork("leak", "one"));
    for (const name of ["vm-a", "vm-b"]) {
      all.vm(name, { lan: "leak" });
      all.start(name);
      await all.pass(2000);
    }
    all.edit("vm-a", { lan: "green" });
    await all.pass(60_000);
    expect([all.claims(), all.isGated("vm-b")]).toEqual([["vm-a.lan 10.80.0.1/24", "vm-b.lan"], true]);
    all.stop("vm-a");
    await all.pass(20_000);
    expect(all.claims()).toEqual(["vm-b.lan", "vm-a.lan 10.0.2.1/24"]);
    await all.pass(15_000);
    expect([all.claims(), all.ips("vm-b")]).toEqual([
      ["vm-b.lan 10.80.0.1/24", "vm-a.lan 10.0.2.1/24"],
      ["10.80.0.1/24"],
    ]);
  });

  it.each([false, true])(
    "a VM whose network names another pool starts with its address, which nobody else gets, also while its pool is being deleted: %j",
    async (isDeleted) => {
      const all = new VmRoles();
      all.engine.create(pool("one", "10.80.0.0/24", "10.80.0.1"));
      for (const network of ["sw", "other"]) all.engine.create(macvlanNetwork(network, "one"));
      all.vm("vm-a", { lan: "sw" });
      await all.pass(2000);
      if (isDeleted) all.engine.remove("NodeIPPool", "one");
      all.reconciler.change("NetworkAttachmentDefinition", "sw", (object) => ({
        ...object,
        metadata: { ...asBag(object.metadata), annotations: { "nodeippool.nmstate.io/pool": "lan" } },
      }));
      await all.pass(5000);
      for (const [name, network] of Object.entries({ "vm-b": "other", "vm-c": "sw" }))
        all.vm(name, { lan: network }, { wanted: { lan: ["10.80.0.1"] } });
      await all.pass(40_000);
      all.start("vm-a");
      await all.pass(40_000);
      expect([all.ips("vm-a"), all.claims()]).toEqual([
        ["10.80.0.1/24"],
        ["vm-a.lan 10.80.0.1/24", "vm-b.lan", "vm-c.lan"],
      ]);
      expect(all.engine.lines()).toEqual(["10.80.0.1 IPAMClaim/default:vm-a.lan/one"]);
    },
  );

  it("two VMs that change places in full networks have each other's address", async () => {
    const all = new VmRoles();
    const networks = { "vm-a": "one", "vm-b": "two" };
    for (const [i, name] of Object.values(networks).entries()) {
      all.engine.create(pool(name, `10.8${i}.0.0/24`, `10.8${i}.0.1`));
      all.engine.create(macvlanNetwork(name, name));
    }
    for (const [name, network] of Object.entries(networks)) all.vm(name, { lan: network });
    await all.pass(2000);
    expect(all.claims()).toEqual(["vm-a.lan 10.80.0.1/24", "vm-b.lan 10.81.0.1/24"]);
    all.edit("vm-a", { lan: "two" });
    all.edit("vm-b", { lan: "one" });
    await all.pass(60_000);
    expect(all.claims().sort()).toEqual(["vm-a.lan 10.81.0.1/24", "vm-b.lan 10.80.0.1/24"]);
  });

  it("a claim of another network is told to no pod", async () => {
    const all = new VmRoles();
    all.engine.create(claim("vm-a.net", {}, "green"));
    await all.pass(2000);
    all.vm("vm-a", { net: "red" });
    all.start("vm-a");
    await all.pass(5000);
    expect([all.isGated("vm-a"), all.ips("vm-a")]).toEqual([true, undefined]);
    expect(all.reconciler.said.join()).toContain("is of network green, and the VM's is red");
  });

  it("a network that is unplugged, and plugged in under its name as another one, gets nothing of the claim before", async () => {
    const all = new VmRoles();
    all.vm("vm-a");
    await all.pass(2000);
    all.start("vm-a");
    await all.pass(2000);
    all.runs("vm-a");
    await all.pass(2000);
    expect(all.ips("vm-a")).toEqual(["10.0.0.1/24"]);
    // Nobody sees it without the network.
    for (const one of [all.engine, all.reconciler]) one.isFrozen = true;
    for (const kind of ["VirtualMachine", "VirtualMachineInstance"]) all.edit("vm-a", { red: "green" }, kind);
    const instance = all.reconciler.object("VirtualMachineInstance", "vm-a") as Bag;
    all.annotate("vm-a", "x", { ...reportOfMultus({ metadata: {} }), ...rewrittenBy(instance) });
    for (const one of [all.engine, all.reconciler]) one.isFrozen = false;
    const told = new Set<string>();
    for (let i = 0; i < 600; i++) {
      await all.pass(100);
      told.add(`${all.ips("vm-a")}`);
    }
    expect([...told]).toEqual(["undefined", "10.0.2.1/24"]);
    expect(all.claims()).toEqual(["vm-a.red 10.0.2.1/24"]);
  });

  it("a claim of its name that is another VM's is told to no pod; Events on the VM and the pod name that VM until it is gone", async () => {
    const all = new VmRoles();
    const owner = { apiVersion: "kubevirt.io/v1", kind: "VirtualMachine", name: "vm-z", uid: "z", controller: true };
    all.engine.create(claim("vm-a.red", { ownerReferences: [owner] }));
    all.vm("vm-a");
    all.start("vm-a");
    await all.pass(70_000);
    const why = "IPAMClaim vm-a.red belongs to VM vm-z: delete the claim, or give the network another name";
    for (const about of ["VirtualMachine.kubevirt.io/default:vm-a", "Pod/default:virt-launcher-vm-a-x"])
      expect(all.reconciler.said).toContain(`${about} Refused: ${why}`);
    expect([all.ips("vm-a"), all.reconciler.logged]).toEqual([undefined, []]);
    all.engine.remove("IPAMClaim", "vm-a.red", "default");
    await all.pass(60_000);
    expect(asList(all.ips("vm-a"))).toHaveLength(1);
  });

  it("C16: a claim that somebody deletes stays for its VM, which starts and migrates with it", async () => {
    const all = new VmRoles();
    all.vm("vm-a");
    await all.pass(2000);
    all.reconciler.remove("IPAMClaim", "vm-a.red");
    await all.pass(60_000);
    all.start("vm-a");
    await all.pass(2000);
    all.pod("vm-a", "target");
    await all.pass(2000);
    expect([all.ips("vm-a"), all.ips("vm-a", "target")]).toEqual([["10.0.0.1/24"], ["10.0.0.1/24"]]);
    expect(all.claims()).toEqual(["vm-a.red 10.0.0.1/24 ending"]);
    all.reconciler.remove("VirtualMachine", "vm-a");
    all.stop("vm-a");
    await all.pass(60_000);
    expect(all.claims()).toEqual([]);
  });

  it("a claim that is deleted before it has an address is made anew", async () => {
    const all = new VmRoles();
    all.vm("vm-a");
    await all.reconciler.pass(500);
    all.reconciler.remove("IPAMClaim", "vm-a.red");
    await all.pass(10_000);
    expect(all.claims()).toEqual(["vm-a.red 10.0.0.1/24"]);
  });

  it("a claim that is deleted while there is no address for it, and a pod waits, is made anew", async () => {
    const all = new VmRoles();
    for (let i = 1; i < 10; i++) all.engine.create(claim(`other${i}`));
    await all.pass(2000);
    all.vm("vm-a");
    all.start("vm-a");
    await all.pass(2000);
    all.reconciler.remove("IPAMClaim", "vm-a.red");
    await all.pass(2000);
    all.engine.remove("IPAMClaim", "other5", "default");
    await all.pass(60_000);
    expect(all.ips("vm-a")).toEqual(["10.0.0.5/24"]);
  });

  it("an instance without a VM that is deleted in the foreground waits for nothing of ours", async () => {
    const all = new VmRoles();
    const { metadata, ...rest } = instanceOf(vm("vm-a", { red: "red" }));
    const { ownerReferences: _, ...own } = asBag(metadata) ?? {};
    all.reconciler.create({ ...rest, metadata: { ...own, finalizers: ["foregroundDeletion"] } } as never);
    all.pod("vm-a", "x");
    await all.pass(2000);
    all.reconciler.remove("VirtualMachineInstance", "vm-a");
    all.reconciler.remove("IPAMClaim", "vm-a.red");
    await all.pass(2000);
    expect(all.claims()).toEqual(["vm-a.red 10.0.0.1/24 ending"]);
    all.end("vm-a");
    await all.pass(60_000);
    expect(all.claims()).toEqual([]);
  });

  it("an address that a VM asks for on a network of OVN-Kubernetes is written into its claim", async () => {
    const all = new VmRoles();
    all.vm("vm-a", { blue: "blue-netconfig" }, { wanted: { blue: ["192.168.10.9"] } });
    all.start("vm-a");
    await all.pass(5000);
    expect([all.claims(), all.isGated("vm-a")]).toEqual([["vm-a.blue 192.168.10.9/24"], false]);
  });

  it("a claim that shows addresses of another one: Events on the VM and on its pod say so", async () => {
    const all = new VmRoles();
    all.vm("vm-b");
    await all.pass(2000);
    all.engine.create({ ...claim("vm-a.red"), status: { ips: ["10.0.0.1/24"] } });
    all.vm("vm-a");
    all.start("vm-a");
    await all.pass(5000);
    for (const about of ["VirtualMachine.kubevirt.io/default:vm-a", "Pod/default:virt-launcher-vm-a-x"])
      expect(all.reconciler.said.filter((one) => one.startsWith(about)).join()).toContain(
        "10.0.0.1 is held by IPAMClaim/default:vm-b.red/lan",
      );
  });

  describe("an address that a VM asks for", () => {
    const condition = (all: VmRoles, name: string) =>
      asBag(asList(asBag((all.reconciler.object("IPAMClaim", name) as Bag | undefined)?.status)?.conditions)[0]);
    const poolOf = (all: VmRoles) =>
      asList(asBag((all.reconciler.object("NodeIPPool", "lan") as Bag)?.status)?.conditions);
    const next = "Let its VM ask for another address, or for none";

    it.each([
      [
        "is not of its network",
        ["10.77.0.17"],
        "10.77.0.17 is not an address that pool lan may give to it",
        "InternalError",
      ],
      [
        "is of another family",
        ["fd00::17"],
        "fd00::17 is not an address that pool lan may give to it",
        "InternalError",
      ],
      ["is another one's", ["10.0.0.1"], "10.0.0.1 is held by IPAMClaim/default:vm-b.red/lan", "IPAddressConflict"],
    ])(
      "%s: the claim and the VM say so, and another one is given once the VM asks for it",
      async (_, red, why, reason) => {
        const all = new VmRoles();
        all.vm("vm-b");
        await all.pass(2000);
        all.vm("vm-a", { red: "red" }, { wanted: { red } });
        all.start("vm-a");
        await all.pass(3000);
        expect(condition(all, "vm-a.red")).toMatchObject({ status: "False", reason });
        expect(condition(all, "vm-a.red")?.message).toContain(`${why}. ${next}`);
        const said = all.reconciler.said.filter((text) => text.startsWith("VirtualMachine.kubevirt.io/default:vm-a"));
        expect(said.join()).toContain(`Refused: IPAMClaim vm-a.red: ${why}. ${next}`);
        expect(poolOf(all)[0]).toMatchObject({ type: "Available", status: "True" });
        const { spec } = vm("vm-a", { red: "red" }, { wanted: { red: ["10.0.0.5"] } });
        all.reconciler.change("VirtualMachine", "vm-a", (object) => ({ ...object, spec }));
        await all.pass(5000);
        expect([all.claims(), all.ips("vm-a")]).toEqual([
          ["vm-b.red 10.0.0.1/24", "vm-a.red 10.0.0.5/24"],
          ["10.0.0.5/24"],
        ]);
      },
    );

    it("is left to the pool once the VM asks for none", async () => {
      const all = new VmRoles();
      all.vm("vm-a", { red: "red" }, { wanted: { red: ["10.77.0.17"] } });
      await all.pass(3000);
      all.edit("vm-a", { red: "red" });
      await all.pass(5000);
      expect(all.claims()).toEqual(["vm-a.red 10.0.0.1/24"]);
    });

    it("stays with a claim that has it, whatever the VM asks for then; and what a plan says of a claim stays", async () => {
      const all = new VmRoles();
      all.vm("vm-a", { red: "red" }, { wanted: { red: ["10.0.0.5"] } });
      all.vm("vm-b", { red: "red" }, { wanted: { red: ["10.0.0.5"] } });
      await all.pass(3000);
      const labels = { "nodeippool.nmstate.io/planned": "true" };
      all.reconciler.change("IPAMClaim", "vm-b.red", ({ metadata, ...rest }) => ({
        ...rest,
        metadata: { ...asBag(metadata), labels, annotations: { ...asBag(asBag(metadata)?.annotations) } },
      }));
      for (const name of ["vm-a", "vm-b"]) {
        const { spec } = vm(name, { red: "red" }, { wanted: { red: ["10.0.0.6"] } });
        all.reconciler.change("VirtualMachine", name, (object) => ({ ...object, spec }));
      }
      await all.pass(5000);
      expect(all.claims()).toEqual(["vm-a.red 10.0.0.5/24", "vm-b.red"]);
    });

    it("is one of a family: a VM that asks for two gets no claim, or keeps asking for one, and is told", async () => {
      const all = new VmRoles();
      all.vm("vm-b", { red: "red" }, { wanted: { red: ["10.77.0.17"] } });
      await all.pass(3000);
      const { spec } = vm("vm-b", { red: "red" }, { wanted: { red: ["10.0.0.7", "10.0.0.8"] } });
      all.reconciler.change("VirtualMachine", "vm-b", (object) => ({ ...object, spec }));
      await all.pass(3000);
      expect(all.claims()).toEqual(["vm-b.red"]);
      expect(all.reconciler.said.join()).toContain("10.0.0.8 is one too many");
      all.reconciler.remove("VirtualMachine", "vm-b");
      await all.pass(3000);
      all.vm("vm-a", { red: "red" }, { wanted: { red: ["10.0.0.5", "10.0.0.6"] } });
      await all.pass(3000);
      expect(all.claims()).toEqual([]);
      expect(all.reconciler.said.join()).toContain(
        "10.0.0.6 is one too many: network red gives one address of each family",
      );
    });
  });

  it("C7: a pod of an instance that is gone is given nothing of the next one, whose pod waits for its end", async () => {
    const all = new VmRoles();
    all.vm("vm-a");
    all.start("vm-a", "old");
    all.reconciler.change("VirtualMachineInstance", "vm-a", withFinalizers());
    all.reconciler.remove("VirtualMachineInstance", "vm-a");
    all.reconciler.remove("VirtualMachine", "vm-a");
    all.vm("vm-a");
    all.start("vm-a", "new");
    await all.pass(5000);
    expect([all.isGated("vm-a", "old"), all.isGated("vm-a", "new")]).toEqual([true, true]);
    all.reconciler.remove("Pod", "virt-launcher-vm-a-old");
    await all.pass(5000);
    expect(all.isGated("vm-a", "new")).toBe(false);
  });

  it("a pod whose instance has a network that its template has lost is scheduled", async () => {
    const all = new VmRoles();
    all.vm("vm-a");
    all.start("vm-a");
    all.edit("vm-a", {});
    await all.pass(5000);
    expect(all.ips("vm-a")).toEqual(["10.0.0.1/24"]);
  });

  it("what cannot be made keeps no claim from its end, which may make room for it", async () => {
    const all = new VmRoles();
    const create = all.server.create.bind(all.server);
    all.server.create = (resource, object) => {
      const isFull = resource.plural === "ipamclaims" && all.claims().length > 0;
      if (isFull) throw refused(403, "Forbidden", "exceeded quota", "invalid");
      return create(resource, object);
    };
    all.vm("vm-a");
    await all.pass(2000);
    all.edit("vm-a", { green: "green" });
    await all.pass(120_000);
    expect(all.claims()).toEqual(["vm-a.green 10.0.2.1/24"]);
  });

  it("an annotation that names a network which the VM has lost keeps nothing that it has", async () => {
    const all = new VmRoles();
    all.vm("vm-a", { red: "red", green: "green" }, { wanted: { red: ["10.0.0.5"] } });
    await all.pass(2000);
    all.reconciler.change("VirtualMachine", "vm-a", (object) => {
      const { spec } = vm("vm-a", { green: "green" }, { wanted: { red: ["10.0.0.5"] } });
      return { ...object, spec };
    });
    await all.pass(60_000);
    expect(all.claims()).toEqual(["vm-a.green 10.0.2.1/24"]);
  });

  it.each([
    ["a claim that somebody made with an interface of its own", true],
    ["a pod whose interfaces have ordinal names", false],
  ])("B3: %s: it is held for as long as the pod has its addresses", async (_, isOfUser) => {
    const all = new VmRoles();
    if (isOfUser) all.engine.create(claim("vm-a.red"));
    all.vm("vm-a");
    all.reconciler.create(instanceOf(all.reconciler.object("VirtualMachine", "vm-a") as never));
    const text = JSON.stringify(
      launcherOf(all.reconciler.object("VirtualMachineInstance", "vm-a") as never, "x", [gate]),
    );
    const ordinal = text.replace(/(interface\\":\\")pod[0-9a-f]+/g, "$1net1");
    all.reconciler.create(JSON.parse(isOfUser ? text : ordinal));
    await all.pass(2000);
    expect(all.ips("vm-a")).toEqual(["10.0.0.1/24"]);
    for (const kind of ["VirtualMachine", "VirtualMachineInstance"]) all.edit("vm-a", {}, kind);
    if (isOfUser) all.reconciler.remove("IPAMClaim", "vm-a.red");
    await all.pass(60_000);
    all.vm("vm-b");
    all.start("vm-b");
    await all.pass(5000);
    expect(all.ips("vm-b")).toEqual(["10.0.0.2/24"]);
  });

  it("two networks of one definition, and a pod whose interfaces have ordinal names: each has its own address", async () => {
    const all = new VmRoles();
    all.vm("vm-a", { one: "red", two: "red" });
    all.reconciler.create(instanceOf(all.reconciler.object("VirtualMachine", "vm-a") as never));
    const text = JSON.stringify(
      launcherOf(all.reconciler.object("VirtualMachineInstance", "vm-a") as never, "x", [gate]),
    );
    let count = 0;
    all.reconciler.create(
      JSON.parse(text.replace(/(interface\\":\\")pod[0-9a-f]+/g, (_, key) => `${key}net${++count}`)),
    );
    await all.pass(5000);
    const { annotations } = all.reconciler.object("Pod", "virt-launcher-vm-a-x")?.metadata ?? {};
    const told = JSON.parse(`${annotations?.["k8s.v1.cni.cncf.io/networks"]}`);
    const ips = told.map((one: Bag) => `${one.interface} ${one.ips}`);
    expect(ips).toEqual(["net1 10.0.0.1/24", "net2 10.0.0.2/24"]);
  });

  it("a status that somebody wrote is told to no pod before it is known whose the addresses are", async () => {
    const all = new VmRoles();
    all.vm("vm-b");
    all.start("vm-b");
    await all.pass(2000);
    all.vm("vm-a");
    all.engine.isFrozen = true;
    await all.pass(200);
    all.reconciler.change("IPAMClaim", "vm-a.red", (one) => ({ ...one, status: { ips: ["10.0.0.1/24"] } }));
    all.start("vm-a");
    await all.pass(500);
    all.engine.isFrozen = false;
    await all.pass(5000);
    expect([all.ips("vm-b"), all.ips("vm-a"), all.isGated("vm-a")]).toEqual([["10.0.0.1/24"], undefined, true]);
  });
});

describe("what is seen of VMs is outdated", () => {
  it("no claim ends by how pods were seen before", async () => {
    const all = new VmRoles({ claims: false, addresses: true });
    const blind = new BlindReconciler(onlyClaims, all.server);
    all.vm("vm-a");
    await all.pass(200, blind);
    all.start("vm-a");
    blind.blindTo = ["Pod"];
    await all.pass(2000, blind);
    expect(all.ips("vm-a")).toEqual(["10.0.0.1/24"]);
    for (const kind of ["VirtualMachine", "VirtualMachineInstance"]) all.edit("vm-a", {}, kind);
    await all.pass(60_000, blind);
    expect(all.claims()).toEqual(["vm-a.red 10.0.0.1/24"]);
  });

  it("no pod is told addresses by how its claim was seen before", async () => {
    const all = new VmRoles({ claims: true, addresses: false });
    const blind = new BlindReconciler(onlyAddresses, all.server);
    all.vm("vm-a");
    await all.pass(2000, blind);
    blind.blindTo = ["IPAMClaim"];
    all.edit("vm-a", {});
    await all.pass(60_000, blind);
    all.vm("vm-b");
    await all.pass(2000, blind);
    all.edit("vm-a", { red: "red" });
    await all.pass(2000, blind);
    all.start("vm-a");
    await all.pass(5000, blind);
    blind.blindTo = [];
    all.start("vm-b");
    await all.pass(5000, blind);
    expect(all.ips("vm-b")).not.toEqual(all.ips("vm-a"));
  });

  it("no claim ends by how its network was seen before: two controllers", async () => {
    const all = new VmRoles({ claims: true, addresses: false });
    const blind = new BlindReconciler(onlyClaims, all.server);
    await all.pass(200, blind);
    blind.blindTo = ["NetworkAttachmentDefinition"];
    all.reconciler.change("NetworkAttachmentDefinition", "red", (object) => ({
      ...object,
      spec: { config: `${asBag(object.spec)?.config}`.replace('"name":"red"', '"name":"new"') },
    }));
    await all.pass(200, blind);
    all.vm("vm-a");
    await all.pass(60_000, blind);
    const requests = [...all.reconciler.requests, ...blind.requests];
    expect(requests.filter((one) => one.startsWith("delete")).length).toBeLessThan(2);
    expect(asList(all.claims())).toHaveLength(1);
  });
});

describe("what a pod runs with is its claim's", () => {
  /** VM `vm-b` runs with 10.0.0.2; 10.0.0.1 is free. */
  async function begin() {
    const all = new VmRoles();
    for (const name of ["vm-a", "vm-b"]) {
      all.vm(name);
      all.start(name);
      await all.pass(2000);
    }
    all.reconciler.remove("VirtualMachine", "vm-a");
    all.stop("vm-a");
    await all.pass(60_000);
    return all;
  }

  it("C11: also when the record is lost, and its claim shows nothing any more", async () => {
    const all = await begin();
    all.engine.isFrozen = true;
    all.reconciler.change("IPAMClaim", "vm-b.red", ({ status: _, ...rest }) => rest);
    all.vm("vm-c");
    await all.reconciler.pass(1000);
    all.engine.record = emptySnapshot;
    all.engine.engine.resync();
    all.engine.isFrozen = false;
    await all.pass(60_000);
    expect(all.claims()).toEqual(["vm-b.red 10.0.0.2/24", "vm-c.red 10.0.0.1/24"]);
  });

  it("also when somebody takes its finalizers off its claim, and deletes it", async () => {
    const all = await begin();
    const cut = withFinalizers();
    all.engine.isFrozen = true;
    all.reconciler.isFrozen = true;
    all.reconciler.change("VirtualMachine", "vm-b", (object) => ({ ...object, spec: vm("vm-b", {}).spec }));
    all.reconciler.change("VirtualMachineInstance", "vm-b", (one) => ({
      ...one,
      spec: instanceOf(vm("vm-b", {})).spec,
    }));
    all.reconciler.change("IPAMClaim", "vm-b.red", cut);
    all.reconciler.remove("IPAMClaim", "vm-b.red");
    all.engine.isFrozen = false;
    all.reconciler.isFrozen = false;
    await all.pass(120_000);
    for (const name of ["vm-c", "vm-d"]) all.vm(name);
    await all.pass(5000);
    expect(all.claims()).toEqual(["vm-c.red 10.0.0.1/24", "vm-d.red 10.0.0.3/24"]);
    all.end("vm-b");
    await all.pass(120_000);
    all.vm("vm-e");
    await all.pass(5000);
    expect(all.claims()).toContain("vm-e.red 10.0.0.2/24");
  });

  it("also when the VM asks for addresses of a network that it lost: its claim comes back after it was deleted by force", async () => {
    const all = await begin();
    const { spec } = vm("vm-b", { red: "red" }, { wanted: { green: ["10.0.2.5"] } });
    all.reconciler.change("VirtualMachine", "vm-b", (object) => ({ ...object, spec }));
    all.reconciler.change("IPAMClaim", "vm-b.red", withFinalizers());
    all.reconciler.remove("IPAMClaim", "vm-b.red");
    await all.pass(60_000);
    expect(all.claims()).toEqual(["vm-b.red 10.0.0.2/24"]);
  });

  it("also when its claim is deleted by force before the watch shows its pod: the API server is asked first", async () => {
    const all = new VmRoles();
    all.vm("vm-a");
    await all.pass(2000);
    all.engine.isFrozen = true;
    all.start("vm-a");
    await all.pass(2000);
    expect(all.ips("vm-a")).toEqual(["10.0.0.1/24"]);
    all.reconciler.isFrozen = true;
    all.reconciler.change("IPAMClaim", "vm-a.red", withFinalizers());
    all.reconciler.remove("IPAMClaim", "vm-a.red");
    all.engine.cache.delete(claimKey);
    await all.pass(60_000);
    expect(all.engine.lines()).toEqual(["10.0.0.1 IPAMClaim/default:vm-a.red/lan releasing"]);
  });
});

const claimKey = "IPAMClaim.k8s.cni.cncf.io/default:vm-a.red";
