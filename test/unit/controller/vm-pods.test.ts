import { expect, it } from "vitest";
import { emptySnapshot } from "../../../core/index.ts";
import { asBag, type Bag } from "../../../schema/objects.ts";
import { pool } from "../../support/objects/ipam-claims.ts";
import { definition, macvlanNetwork, vm } from "../../support/objects/vm-objects.ts";
import { VmRoles } from "../../support/objects/vm-roles.ts";

/** VMs `vm-a` and `vm-b` run, each on a network of its own choice, which it calls `red`. */
async function begin(a = "red", b = a, networks: readonly (Bag & { readonly kind: string })[] = []) {
  const all = new VmRoles();
  for (const network of networks) all.engine.create(network);
  for (const [name, network] of Object.entries({ "vm-a": a, "vm-b": b })) {
    all.vm(name, { red: network });
    all.start(name);
    await all.pass(2000);
    all.runs(name);
  }
  await all.pass(2000);
  return all;
}

/** Somebody does this while no controller looks. */
async function meanwhile(all: VmRoles, work: () => void): Promise<void> {
  all.engine.isFrozen = true;
  all.reconciler.isFrozen = true;
  work();
  all.engine.isFrozen = false;
  all.reconciler.isFrozen = false;
  await all.pass(60_000);
}

function deleteByForce(all: VmRoles, name: string): void {
  all.reconciler.change("IPAMClaim", name, ({ metadata, ...rest }) => ({
    ...rest,
    metadata: { ...asBag(metadata), finalizers: [] },
  }));
  all.reconciler.remove("IPAMClaim", name);
}

function loseRecord(all: VmRoles, ...statuses: readonly string[]): void {
  for (const name of statuses) all.reconciler.change("IPAMClaim", name, ({ status: _, ...rest }) => rest);
  all.engine.record = emptySnapshot;
  all.engine.engine.resync();
}

const ovn = { name: "ovn", type: "ovn-k8s-cni-overlay", topology: "layer2", allowPersistentIPs: true };

it("on a network of OVN-Kubernetes, too, nobody else gets what a pod runs with whose claim was deleted by force", async () => {
  const bound = definition("ovn", "default", ovn, { "nodeippool.nmstate.io/pool": "lan" });
  const all = await begin("ovn", "ovn", [bound]);
  await meanwhile(all, () => {
    for (const kind of ["VirtualMachine", "VirtualMachineInstance"]) all.edit("vm-b", {}, kind);
    deleteByForce(all, "vm-b.red");
  });
  for (const name of ["vm-c", "vm-d"]) all.vm(name, { red: "ovn" });
  await all.pass(5000);
  expect(all.claims()).toEqual(["vm-a.red 10.0.0.1/24", "vm-c.red 10.0.0.3/24", "vm-d.red 10.0.0.4/24"]);
});

it("a VM that runs keeps its address where its claim is deleted by force, whatever it asks for since; one that does not run gets that", async () => {
  const all = await begin();
  const { spec } = vm("vm-b", { red: "red" }, { wanted: { red: ["10.0.0.7"] } });
  all.reconciler.change("VirtualMachine", "vm-b", (object) => ({ ...object, spec }));
  await all.pass(5000);
  await meanwhile(all, () => deleteByForce(all, "vm-b.red"));
  all.pod("vm-b", "target");
  await all.pass(5000);
  expect([all.ips("vm-b"), all.ips("vm-b", "target")]).toEqual([["10.0.0.2/24"], ["10.0.0.2/24"]]);
  all.stop("vm-b");
  await all.pass(5000);
  await meanwhile(all, () => deleteByForce(all, "vm-b.red"));
  expect(all.claims()).toContain("vm-b.red 10.0.0.7/24");
});

it("nor has a VM that runs two addresses where its network names another pool by then: it migrates after a restart", async () => {
  const all = await begin();
  all.reconciler.change("NetworkAttachmentDefinition", "red", ({ metadata, ...rest }) => ({
    ...rest,
    metadata: { ...asBag(metadata), annotations: { "nodeippool.nmstate.io/pool": "lan2" } },
  }));
  await all.pass(5000);
  await meanwhile(all, () => deleteByForce(all, "vm-b.red"));
  all.pod("vm-b", "target");
  await all.pass(5000);
  expect([all.claims(), all.isGated("vm-b", "target")]).toEqual([["vm-a.red 10.0.0.1/24", "vm-b.red"], true]);
  expect(all.reconciler.said.join()).toContain("10.0.0.2 is not an address that pool lan2 may give to it");
  all.stop("vm-b");
  await all.pass(1000);
  all.start("vm-b", "again");
  await all.pass(60_000);
  expect(all.ips("vm-b", "again")).toEqual(["10.0.2.1/24"]);
});

it.each([
  ["", []],
  [", and claims show nothing", ["vm-a.red", "vm-b.red"]],
])("two VMs have one address of two networks, also where the record is lost%s", async (_, statuses) => {
  const networks = ["one", "two"].flatMap((name) => [
    pool(name, "10.50.0.0/24", "10.50.0.9", { network: name }),
    macvlanNetwork(name, name),
  ]);
  const all = await begin("one", "two", networks);
  const lines = ["10.50.0.1 IPAMClaim/default:vm-a.red/one", "10.50.0.1 IPAMClaim/default:vm-b.red/two"];
  expect(all.engine.lines()).toEqual(lines);
  await meanwhile(all, () => loseRecord(all, ...statuses));
  expect([all.claims(), all.engine.lines()]).toEqual([["vm-a.red 10.50.0.1/24", "vm-b.red 10.50.0.1/24"], lines]);
});

it("what is unplugged of a pod that runs is free, and asked for no more", async () => {
  const all = await begin();
  for (const kind of ["VirtualMachine", "VirtualMachineInstance"]) all.edit("vm-b", {}, kind);
  await all.pass(5000);
  const given = all.claims();
  all.annotate("vm-b", "x", { "k8s.v1.cni.cncf.io/networks": "[]" });
  await all.pass(60_000);
  // It is attached for as long as Multus reports it.
  expect(all.claims()).toEqual(given);
  all.annotate("vm-b", "x", { "k8s.v1.cni.cncf.io/network-status": "[]" });
  await all.pass(60_000);
  expect([all.claims(), all.engine.lines()]).toEqual([
    ["vm-a.red 10.0.0.1/24"],
    ["10.0.0.1 IPAMClaim/default:vm-a.red/lan"],
  ]);
  const { spec } = vm("vm-b", { red: "red" }, { wanted: { red: ["10.0.0.7"] } });
  all.reconciler.change("VirtualMachine", "vm-b", (object) => ({ ...object, spec }));
  await all.pass(5000);
  expect(all.claims()).toContain("vm-b.red 10.0.0.7/24");
});

it("a VM that asks for an address which a plan is to give is told so", async () => {
  const all = new VmRoles();
  all.engine.create(pool("plan", "10.60.0.0/24", "10.60.0.9", { authority: "Plan" }));
  all.engine.create(macvlanNetwork("planned", "plan"));
  all.vm("vm-a", { red: "planned" }, { wanted: { red: ["10.60.0.4"] } });
  all.start("vm-a");
  await all.pass(5000);
  expect(all.isGated("vm-a")).toBe(true);
  expect(all.reconciler.said.join()).toContain("NodeIPPool plan has authority Plan, so a plan gives its addresses");
});
