import { describe, expect, it } from "vitest";
import { podInterfaceOf } from "../../../integrations/ipamclaim/claim-name.ts";
import { asBag, asList, type Bag } from "../../../schema/objects.ts";
import { claim } from "../../support/objects/ipam-claims.ts";
import { ovnNetwork } from "../../support/objects/vm-objects.ts";
import { VmRoles } from "../../support/objects/vm-roles.ts";
import { reportOfMultus, rewrittenBy, statusOf } from "../../support/real/virt-controller.ts";

const networksKey = "k8s.v1.cni.cncf.io/networks";
const allocatedKey = "nodeippool.nmstate.io/allocated";

/** VM `vm-a` runs on these networks. */
async function begin(networks: Readonly<Record<string, string>> = { red: "red" }): Promise<VmRoles> {
  const all = new VmRoles();
  all.engine.create(ovnNetwork("ovn", {}));
  all.vm("vm-a", networks);
  all.start("vm-a");
  await all.pass(2000);
  all.runs("vm-a");
  return all;
}

const annotation = (all: VmRoles, key: string): Bag[] => {
  const { annotations } = all.reconciler.object("Pod", "virt-launcher-vm-a-x")?.metadata ?? {};
  return JSON.parse(annotations?.[key] ?? "null");
};
const patches = (all: VmRoles) => all.reconciler.requests.filter((one) => one === "patch pods").length;
const instance = (all: VmRoles) => all.reconciler.object("VirtualMachineInstance", "vm-a") as Bag;

describe("a pod of a VM that runs", () => {
  it.each<[string, Readonly<Record<string, string>>, Bag]>([
    ["addresses", { red: "red" }, { ips: ["10.0.0.1/24"] }],
    ["claim", { blue: "blue-netconfig" }, { "ipam-claim-reference": "vm-a.blue" }],
  ])(
    "is told its %s again after virt-controller has written its networks anew, in one write",
    async (_, networks, told) => {
      const all = await begin(networks);
      const before = patches(all);
      await all.pass(5000);
      expect(annotation(all, networksKey)[0]).toMatchObject(told);
      await all.pass(60_000);
      expect(patches(all) - before).toBe(1);
    },
  );

  it("is left alone for as long as virt-controller writes its networks anew, until it ends", async () => {
    const all = await begin();
    all.reconciler.change("VirtualMachineInstance", "vm-a", (one) => ({ ...one, status: { interfaces: [] } }));
    const before = patches(all);
    await all.pass(60_000);
    expect([patches(all) - before, annotation(all, allocatedKey)]).toEqual([0, [allocated("red")]]);
    all.reconciler.remove("VirtualMachineInstance", "vm-a");
    await all.pass(1000);
    expect(annotation(all, networksKey)[0]).toMatchObject({ ips: ["10.0.0.1/24"] });
  });

  it("is given addresses of a network that is plugged in, once, and keeps them after virt-controller undid that", async () => {
    const all = await begin();
    await all.pass(2000);
    for (const kind of ["VirtualMachine", "VirtualMachineInstance"])
      all.edit("vm-a", { red: "red", more: "green" }, kind);
    all.annotate("vm-a", "x", rewrittenBy(instance(all)));
    await all.pass(5000);
    const both = [{ ips: ["10.0.0.1/24"] }, { ips: ["10.0.2.1/24"] }];
    expect(annotation(all, networksKey)).toMatchObject(both);
    const attached = reportOfMultus(all.reconciler.object("Pod", "virt-launcher-vm-a-x") as Bag);
    all.annotate("vm-a", "x", rewrittenBy(instance(all)));
    const before = patches(all);
    await all.pass(60_000);
    expect(patches(all) - before).toBe(0);
    all.annotate("vm-a", "x", attached);
    all.reconciler.change("VirtualMachineInstance", "vm-a", (one) => ({ ...one, status: statusOf(one) }));
    await all.pass(5000);
    expect([annotation(all, networksKey), patches(all) - before]).toMatchObject([both, 1]);
  });

  it.each([
    ["virt-controller undid its addresses", true],
    ["nothing attaches interfaces to pods that run", false],
  ])("has an Event after a minute if an interface that is plugged in is not attached: %s", async (_, isUndone) => {
    const all = await begin();
    for (const kind of ["VirtualMachine", "VirtualMachineInstance"])
      all.edit("vm-a", { red: "red", more: "green" }, kind);
    all.annotate("vm-a", "x", rewrittenBy(instance(all)));
    await all.pass(5000);
    if (isUndone) all.annotate("vm-a", "x", rewrittenBy(instance(all)));
    await all.pass(50_000);
    expect(all.reconciler.said).toEqual([]);
    await all.pass(10_000);
    const nic = podInterfaceOf("more");
    expect([...new Set(all.reconciler.said)]).toEqual([
      `Pod/default:virt-launcher-vm-a-x Refused: Multus has not attached interface ${nic} with 10.0.2.1/24: migrate or restart the VM, and its next pod has it`,
    ]);
    all.annotate("vm-a", "x", reportOfMultus(all.reconciler.object("Pod", "virt-launcher-vm-a-x") as Bag));
    const before = all.reconciler.said.length;
    await all.pass(120_000);
    expect(all.reconciler.said.length).toBe(before);
  });

  it("has its annotation back where somebody took it out, by what Multus reports and the claim says", async () => {
    const all = await begin();
    await all.pass(2000);
    all.annotate("vm-a", "x", { [allocatedKey]: "[]" });
    await all.pass(2000);
    expect(annotation(all, allocatedKey)).toEqual([allocated("red")]);
  });

  const allocated = (network: string) => ({
    ...{ interface: podInterfaceOf(network), ips: ["10.0.0.1/24"], claim: `vm-a.${network}` },
  });
});

describe("claims that ipam-extensions makes", () => {
  const finalizers = ["kubevirt.io/persistent-ipam"];
  const owner = (all: VmRoles, kind: string) => {
    const { uid } = asBag(all.reconciler.object(kind, "vm-a")?.metadata) ?? {};
    return [{ apiVersion: "kubevirt.io/v1", kind, name: "vm-a", uid, controller: true }];
  };
  const make = (all: VmRoles, name: string, metadata: Bag) =>
    all.engine.create(claim(name, { finalizers, ...metadata }, "red"));
  const onlyAddresses = () => new VmRoles({ claims: false, addresses: true });

  it.each([
    ["net_1", "vm-a.net.1"],
    ["Blue", "vm-a.blue"],
  ])("of a network that a VM calls %s are used, also where the controller makes claims", async (network, name) => {
    for (const all of [onlyAddresses(), new VmRoles()]) {
      all.vm("vm-a", { [network]: "red" });
      make(all, name, { ownerReferences: owner(all, "VirtualMachine") });
      all.start("vm-a");
      await all.pass(5000);
      expect([all.isGated("vm-a"), all.claims()]).toEqual([false, [`${name} 10.0.0.1/24`]]);
    }
  });

  it("and that the instance of a VM owns are used after the VM was stopped and started", async () => {
    const all = onlyAddresses();
    all.vm("vm-a");
    all.start("vm-a", "first");
    make(all, "vm-a.red", { ownerReferences: owner(all, "VirtualMachineInstance") });
    await all.pass(5000);
    all.stop("vm-a");
    // The garbage collector deletes it.
    all.reconciler.remove("IPAMClaim", "vm-a.red");
    all.start("vm-a", "again");
    await all.pass(5000);
    expect([all.ips("vm-a", "again"), all.claims()]).toEqual([["10.0.0.1/24"], ["vm-a.red 10.0.0.1/24 ending"]]);
  });

  it.each<[string, Bag | undefined, string]>([
    ["is not there", undefined, "there is no IPAMClaim vm-a.red: let the controller make the claims of VMs"],
    ["is of another VM of its name, and being deleted", { uid: "other" }, "takes them off"],
  ])("an Event on the pod says after a minute that its claim %s", async (_, of, message) => {
    const all = onlyAddresses();
    all.vm("vm-a");
    if (of !== undefined) {
      const [one] = owner(all, "VirtualMachine");
      make(all, "vm-a.red", { ownerReferences: [{ ...one, ...of }] });
      await all.pass(2000);
      all.reconciler.remove("IPAMClaim", "vm-a.red");
    }
    all.start("vm-a");
    await all.pass(50_000);
    expect(all.reconciler.said.join()).not.toContain(message);
    await all.pass(20_000);
    expect(all.reconciler.said.filter((one) => one.startsWith("Pod/default:virt-launcher-vm-a-x")).join()).toContain(
      message,
    );
  });

  it("a pod of a VM that asks for addresses of an unknown network says so, as the VM does", async () => {
    const all = new VmRoles();
    all.vm("vm-a", { red: "red" }, { wanted: { wrong: ["10.0.0.5"] } });
    all.start("vm-a");
    await all.pass(70_000);
    const [why = ""] = all.reconciler.said.flatMap((one) => /^VirtualMachine\S* \w+: (.*wrong.*)/.exec(one)?.[1] ?? []);
    expect(why).not.toBe("");
    const told = all.reconciler.said.filter((one) => one.startsWith("Pod/default:virt-launcher-vm-a-x")).join();
    expect(told).toContain(`there is no IPAMClaim vm-a.red: ${why}`);
  });

  it("of two networks that share a name of theirs are used for neither", async () => {
    const all = onlyAddresses();
    all.vm("vm-a", { Blue: "red", BLUE: "red" });
    make(all, "vm-a.blue", { ownerReferences: owner(all, "VirtualMachine") });
    all.start("vm-a");
    await all.pass(70_000);
    expect(all.isGated("vm-a")).toBe(true);
    expect(all.reconciler.said.join()).toContain("there is no IPAMClaim vm-a.blue-");
  });
});

it("a pod waits for the end of one of an earlier VM of its name, and an Event says so", async () => {
  const all = await begin();
  // Somebody takes the finalizer off the instance, which goes before its pod.
  for (const kind of ["VirtualMachineInstance", "VirtualMachine"]) {
    all.reconciler.change(kind, "vm-a", ({ metadata, ...one }) => ({
      ...one,
      metadata: { ...asBag(metadata), finalizers: [] },
    }));
    all.reconciler.remove(kind, "vm-a");
  }
  all.reconciler.change("IPAMClaim", "vm-a.red", ({ metadata, ...one }) => ({
    ...one,
    metadata: { ...asBag(metadata), finalizers: [] },
  }));
  if (all.reconciler.object("IPAMClaim", "vm-a.red")) all.reconciler.remove("IPAMClaim", "vm-a.red");
  all.vm("vm-a");
  all.start("vm-a", "new");
  await all.pass(70_000);
  expect(all.isGated("vm-a", "new")).toBe(true);
  expect(all.reconciler.said.join()).toContain(
    "pod virt-launcher-vm-a-x of an earlier instance of this VM has not ended",
  );
  all.reconciler.remove("Pod", "virt-launcher-vm-a-x");
  await all.pass(60_000);
  expect(asList(all.ips("vm-a", "new"))).toHaveLength(1);
});
