import { describe, expect, it } from "vitest";
import { keep } from "../../../controller/cache/seen.ts";
import { virtualMachines } from "../../../integrations/ipamclaim/vm-in-cluster.ts";
import { asBag, asList, type Bag } from "../../../schema/objects.ts";
import { macvlanNetwork, ovnNetwork, vm } from "../../support/objects/vm-objects.ts";
import { instanceOf, launcherOf } from "../../support/real/virt-controller.ts";
import { SimReconciler } from "../../support/sim/reconciler.ts";
import { refused } from "../../support/sim/server.ts";

const hold = "nmstate.io/used-by-vm";

class Vms extends SimReconciler {
  constructor() {
    super(virtualMachines({ claims: true, addresses: false }));
    this.create(ovnNetwork("blue", { subnets: "192.168.10.0/24" }) as never);
    this.create(macvlanNetwork("red", "lan") as never);
  }

  vm(name: string, networks: Readonly<Record<string, string>> = { blue: "blue-netconfig", red: "red" }): Bag {
    return this.create(vm(name, networks) as never);
  }

  /** virt-controller starts it. */
  start(name: string, suffix = "x"): Bag {
    const instance = this.create(instanceOf(this.object("VirtualMachine", name) as never));
    this.create(launcherOf(instance, suffix));
    return instance;
  }

  /** virt-controller ends what runs: the pods, and then the instance. */
  stop(name: string): void {
    for (const pod of this.all("Pod"))
      if (pod.metadata.name.startsWith(`virt-launcher-${name}-`)) this.remove("Pod", pod.metadata.name);
    this.change("VirtualMachineInstance", name, withoutFinalizers);
    this.remove("VirtualMachineInstance", name);
  }

  claims(): string[] {
    return this.all("IPAMClaim").map(({ metadata }) => {
      const { deletionTimestamp } = metadata as Bag;
      return deletionTimestamp === undefined ? metadata.name : `${metadata.name} ending`;
    });
  }
}

const withoutFinalizers = ({ metadata, ...rest }: Bag) => ({
  ...rest,
  metadata: { ...asBag(metadata), finalizers: [] },
});
const metadataOf = (object: unknown) => asBag((object as Bag | undefined)?.metadata) ?? {};

describe("the claims of a VM", () => {
  it("C1, C2, C3, C4: one for each secondary network that keeps addresses, with owner, finalizer, network and interface", async () => {
    const sim = new Vms();
    sim.create(macvlanNetwork("plain", "lan") as never);
    sim.change("NetworkAttachmentDefinition", "plain", ({ metadata, ...rest }) => ({
      ...rest,
      metadata: { ...asBag(metadata), annotations: {} },
    }));
    const made = sim.vm("vm-a", { blue: "blue-netconfig", red: "default/red", plain: "plain" });
    await sim.pass();
    expect(sim.claims()).toEqual(["vm-a.blue", "vm-a.red"]);
    const claim = sim.object("IPAMClaim", "vm-a.blue");
    expect(claim?.spec).toEqual({ network: "blue", interface: "pod16477688c0e" });
    const { uid } = metadataOf(made);
    expect(claim?.metadata).toMatchObject({
      labels: { "kubevirt.io/vm": "vm-a" },
      finalizers: [hold],
      ownerReferences: [
        {
          ...{ apiVersion: "kubevirt.io/v1", kind: "VirtualMachine", name: "vm-a", uid },
          ...{ controller: true, blockOwnerDeletion: true },
        },
      ],
    });
    expect(sim.requests.filter((one) => one.startsWith("create"))).toHaveLength(2);
  });

  it("C7, C8: stay while it starts, migrates and stops; the same VM has the same claims", async () => {
    const sim = new Vms();
    sim.vm("vm-a");
    await sim.pass();
    const before = sim.all("IPAMClaim").map(({ metadata }) => metadata.uid);
    const instance = sim.start("vm-a");
    await sim.pass();
    sim.create(launcherOf(instance, "target"));
    await sim.pass();
    sim.stop("vm-a");
    await sim.pass();
    sim.start("vm-a", "again");
    await sim.pass();
    expect(sim.all("IPAMClaim").map(({ metadata }) => metadata.uid)).toEqual(before);
    expect(sim.requests.filter((one) => !one.startsWith("create"))).toEqual([]);
  });

  it("C9: deleted in the background, its claims stay until its instance is gone", async () => {
    const sim = new Vms();
    sim.vm("vm-a");
    await sim.pass();
    sim.start("vm-a");
    await sim.pass();
    sim.remove("VirtualMachine", "vm-a");
    sim.server.collect();
    await sim.pass();
    expect(sim.claims()).toEqual(["vm-a.blue ending", "vm-a.red ending"]);
    sim.stop("vm-a");
    await sim.pass();
    expect(sim.claims()).toEqual([]);
  });

  it("C9: deleted in the foreground, they are released only once VM and instance are done", async () => {
    const sim = new Vms();
    sim.vm("vm-a");
    await sim.pass();
    sim.start("vm-a");
    sim.change("VirtualMachine", "vm-a", ({ metadata, ...rest }) => ({
      ...rest,
      metadata: { ...asBag(metadata), finalizers: ["foregroundDeletion"] },
    }));
    sim.remove("VirtualMachine", "vm-a");
    for (const name of ["vm-a.blue", "vm-a.red"]) sim.remove("IPAMClaim", name);
    await sim.pass();
    expect(sim.claims()).toEqual(["vm-a.blue ending", "vm-a.red ending"]);
    sim.stop("vm-a");
    await sim.pass();
    expect(sim.claims()).toEqual([]);
  });

  it("C10: a network that is plugged in has a claim; one that is unplugged has none once the instance is rid of it", async () => {
    const sim = new Vms();
    sim.vm("vm-a", { red: "red" });
    await sim.pass();
    sim.start("vm-a");
    const networks = (names: readonly string[], absent: readonly string[] = []) => ({
      domain: {
        devices: { interfaces: names.map((name) => ({ name, ...(absent.includes(name) ? { state: "absent" } : {}) })) },
      },
      networks: names.map((name) => ({ name, multus: { networkName: name === "red" ? "red" : "blue-netconfig" } })),
    });
    const ofVm = (spec: Bag) => sim.change("VirtualMachine", "vm-a", (vm) => ({ ...vm, spec: { template: { spec } } }));
    const ofInstance = (spec: Bag) => sim.change("VirtualMachineInstance", "vm-a", (one) => ({ ...one, spec }));
    ofVm(networks(["red", "blue"]));
    await sim.pass();
    ofInstance(networks(["red", "blue"]));
    await sim.pass();
    expect(sim.claims()).toEqual(["vm-a.red", "vm-a.blue"]);
    ofVm(networks(["red", "blue"], ["red"]));
    ofInstance(networks(["red", "blue"], ["red"]));
    await sim.pass();
    expect(sim.claims()).toEqual(["vm-a.red", "vm-a.blue"]);
    // Its pod has the network still.
    ofInstance(networks(["blue"]));
    await sim.pass();
    expect(sim.claims()).toEqual(["vm-a.red", "vm-a.blue"]);
    sim.remove("Pod", "virt-launcher-vm-a-x");
    await sim.pass();
    expect(sim.claims()).toEqual(["vm-a.blue"]);
  });

  it("C7: a VM that is made anew under its name, whatever of the old one is left, ends with claims of its own", async () => {
    const sim = new Vms();
    sim.vm("vm-a");
    await sim.pass();
    for (let i = 0; i < 20; i++) {
      sim.start("vm-a");
      sim.remove("VirtualMachine", "vm-a");
      sim.server.collect();
      const next = sim.vm("vm-a");
      await sim.pass(500);
      // What runs is the old one's.
      expect(sim.claims().every((one) => one.endsWith(" ending"))).toBe(true);
      sim.stop("vm-a");
      await sim.pass(500);
      const owners = sim.all("IPAMClaim").map((one) => asBag(asList(metadataOf(one).ownerReferences)[0])?.uid);
      expect(owners).toEqual([metadataOf(next).uid, metadataOf(next).uid]);
      expect(sim.claims()).toEqual(["vm-a.blue", "vm-a.red"]);
    }
  });

  it("C7: what runs already with the claim of another VM keeps it", async () => {
    const sim = new Vms();
    sim.vm("vm-a");
    await sim.pass();
    sim.remove("VirtualMachine", "vm-a");
    sim.vm("vm-a");
    const instance = sim.start("vm-a");
    await sim.pass();
    expect(sim.claims()).toEqual(["vm-a.blue", "vm-a.red"]);
    sim.stop("vm-a");
    await sim.pass();
    const [claim] = sim.all("IPAMClaim");
    expect(asBag(asList(metadataOf(claim).ownerReferences)[0])?.uid).toBe(
      metadataOf(sim.object("VirtualMachine", "vm-a")).uid,
    );
    expect(instance).toBeDefined();
  });

  it("C16: one that somebody else has made is held for the VM, and let go with it", async () => {
    const sim = new Vms();
    const claim = {
      apiVersion: "k8s.cni.cncf.io/v1alpha1",
      kind: "IPAMClaim",
      metadata: { name: "vm-a.red", namespace: "default", finalizers: ["example.com/mine"] },
      spec: { network: "red", interface: "" },
    };
    sim.create(claim);
    sim.vm("vm-a", { red: "red" });
    await sim.pass();
    const finalizers = () => metadataOf(sim.object("IPAMClaim", "vm-a.red")).finalizers;
    expect(finalizers()).toEqual(["example.com/mine", hold]);
    sim.remove("VirtualMachine", "vm-a");
    await sim.pass();
    expect([finalizers(), sim.claims()]).toEqual([["example.com/mine"], ["vm-a.red"]]);
    sim.vm("vm-a", { red: "red" });
    await sim.pass();
    expect(finalizers()).toEqual(["example.com/mine", hold]);
  });

  it("one of another network stays as it is, and an Event says so", async () => {
    const sim = new Vms();
    sim.create({
      apiVersion: "k8s.cni.cncf.io/v1alpha1",
      kind: "IPAMClaim",
      metadata: { name: "vm-a.red", namespace: "default" },
      spec: { network: "green", interface: "" },
    });
    sim.vm("vm-a", { red: "red" });
    await sim.pass();
    expect(sim.said).toContain(
      "VirtualMachine.kubevirt.io/default:vm-a Refused: IPAMClaim vm-a.red is of network green, and the VM's is red. Delete the claim, or rename it.",
    );
    expect(metadataOf(sim.object("IPAMClaim", "vm-a.red")).finalizers).toBeUndefined();
  });

  it("B3: on a network of OVN-Kubernetes in another namespace it would not be found: an Event says so", async () => {
    const sim = new Vms();
    sim.create(ovnNetwork("green", { subnets: "192.168.11.0/24" }, "infra") as never);
    sim.vm("vm-a", { green: "infra/green-netconfig" });
    await sim.pass();
    expect(sim.claims()).toEqual([]);
    expect(sim.said.join()).toContain("OVN-Kubernetes looks for claim vm-a.green in namespace infra");
  });

  it("B2: names that are long, or alike, have claims of their own, and labels that Kubernetes takes", async () => {
    const sim = new Vms();
    const long = `v${"m".repeat(200)}`;
    for (const name of ["a.b", "a", long]) sim.vm(name, { "b.c": "red", c: "red" });
    await sim.pass();
    expect(new Set(sim.claims()).size).toBe(6);
    const labels = sim.all("IPAMClaim").map((one) => asBag(metadataOf(one).labels)?.["kubevirt.io/vm"]);
    expect(labels.map(String).sort()).toEqual(["a", "a", "a.b", "a.b", "undefined", "undefined"]);
    for (const name of ["a.b", "a", long]) sim.remove("VirtualMachine", name);
    await sim.pass();
    expect(sim.claims()).toEqual([]);
  });

  it("the addresses that a VM asks for stand on its claim", async () => {
    const sim = new Vms();
    sim.create(vm("vm-a", { red: "red" }, { wanted: { red: ["10.0.0.9"] } }) as never);
    sim.create(vm("vm-b", { red: "red" }, { wanted: { red: ["10.0.0.900"] } }) as never);
    await sim.pass();
    const asked = metadataOf(sim.object("IPAMClaim", "vm-a.red")).annotations;
    expect(asked).toMatchObject({ "nodeippool.nmstate.io/addresses": "10.0.0.9" });
    expect(sim.claims()).toEqual(["vm-a.red"]);
    expect(sim.said.join()).toContain("VirtualMachine.kubevirt.io/default:vm-b Refused: ");
    sim.create(vm("vm-c", { red: "red" }, { wanted: { red: ["10.0.0.8/24"] } }) as never);
    await sim.pass();
    const withLength = metadataOf(sim.object("IPAMClaim", "vm-c.red")).annotations;
    expect(withLength).toMatchObject({ "nodeippool.nmstate.io/addresses": "10.0.0.8" });
  });

  it("an instance without a VM has claims of its own", async () => {
    const sim = new Vms();
    const { metadata, ...rest } = instanceOf(vm("vm-a", { red: "red" }));
    const { ownerReferences: _, ...own } = asBag(metadata) ?? {};
    const instance = sim.create({ ...rest, metadata: own } as never);
    sim.create(launcherOf(instance, "x"));
    await sim.pass();
    expect(sim.claims()).toEqual(["vm-a.red"]);
    sim.stop("vm-a");
    await sim.pass();
    expect(sim.claims()).toEqual([]);
  });

  it("no claim ends by what was seen before: the server is asked how the VM is now", async () => {
    const sim = new Vms();
    sim.vm("vm-a");
    await sim.pass();
    const plugged = sim.object("VirtualMachine", "vm-a");
    sim.change("VirtualMachine", "vm-a", (vm) => ({ ...vm, spec: {} }));
    const unplugged = structuredClone(sim.object("VirtualMachine", "vm-a"));
    sim.change("VirtualMachine", "vm-a", (vm) => ({ ...vm, spec: plugged?.spec }));
    sim.isFrozen = true;
    const { cache } = sim;
    cache.set(keep(cache.kindFor(unplugged as never), unplugged as never));
    await sim.pass(5_000);
    expect(sim.requests.filter((one) => one.startsWith("delete"))).toEqual([]);
    expect(sim.claims()).toEqual(["vm-a.blue", "vm-a.red"]);
  });
});

it("a claim that the API server refuses to create: the VM says so, and what to do, until it is created", async () => {
  const sim = new Vms();
  sim.server.webhook = (object) => {
    if (object.kind === "IPAMClaim") throw refused(403, "Forbidden", "exceeded quota: claims", "invalid");
    return object;
  };
  sim.vm("vm-a", { red: "red" });
  await sim.pass(120_000);
  expect([...new Set(sim.said)]).toEqual([
    "VirtualMachine.kubevirt.io/default:vm-a Refused: the API server refuses to create ipamclaims vm-a.red: Forbidden: exceeded quota: claims. Next: raise the quota of the namespace, or delete what uses it up. The controller tries again.",
  ]);
  sim.server.webhook = (object) => object;
  await sim.pass(70_000);
  expect(sim.claims()).toEqual(["vm-a.red"]);
});
