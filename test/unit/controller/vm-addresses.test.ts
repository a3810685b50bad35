import { describe, expect, it } from "vitest";
import { podInterfaceOf } from "../../../integrations/ipamclaim/claim-name.ts";
import { virtualMachines } from "../../../integrations/ipamclaim/vm-in-cluster.ts";
import { asBag, asList, type Bag } from "../../../schema/objects.ts";
import { definition, macvlanNetwork, ovnNetwork, vm } from "../../support/objects/vm-objects.ts";
import { instanceOf, launcherOf } from "../../support/real/virt-controller.ts";
import { SimReconciler } from "../../support/sim/reconciler.ts";

const gate = "nodeippool.nmstate.io/addresses";

function begin(networks: Readonly<Record<string, string>> = { red: "red" }) {
  const sim = new SimReconciler(virtualMachines({ claims: false, addresses: true }));
  sim.create(macvlanNetwork("red", "lan") as never);
  sim.create(ovnNetwork("blue", { subnets: "192.168.10.0/24" }) as never);
  sim.create(vm("vm-a", networks) as never);
  const instance = sim.create(instanceOf(sim.object("VirtualMachine", "vm-a") as never));
  const start = (suffix: string) => sim.create(launcherOf(instance, suffix, ["example.com/other", gate]));
  const claim = (network: string, ips: readonly string[], metadata: Bag = {}, status: Bag = {}) =>
    sim.create({
      apiVersion: "k8s.cni.cncf.io/v1alpha1",
      kind: "IPAMClaim",
      metadata: { name: `vm-a.${network}`, namespace: "default", ...metadata },
      spec: { network, interface: podInterfaceOf(network) },
      status: { ips, ...(ips.length === 0 ? {} : given), ...status },
    } as never);
  const gates = (suffix: string) => {
    const spec = asBag(sim.object("Pod", `virt-launcher-vm-a-${suffix}`)?.spec);
    return asList(spec?.schedulingGates).map((one) => asBag(one)?.name);
  };
  const told = (suffix: string) => {
    const { annotations } = sim.object("Pod", `virt-launcher-vm-a-${suffix}`)?.metadata ?? {};
    return JSON.parse(annotations?.["k8s.v1.cni.cncf.io/networks"] ?? "[]");
  };
  return { sim, start, claim, gates, told };
}

const given = { conditions: [{ type: "IPsAllocated", status: "True", reason: "SuccessfulAllocation" }] };

describe("the pods of a VM", () => {
  it("C5: wait for the addresses of their claims, are told them, and are scheduled; other gates stay", async () => {
    const { sim, start, claim, gates, told } = begin();
    start("x");
    await sim.pass();
    expect(gates("x")).toEqual(["example.com/other", gate]);
    claim("red", []);
    await sim.pass();
    expect(gates("x")).toEqual(["example.com/other", gate]);
    sim.change("IPAMClaim", "vm-a.red", (one) => ({ ...one, status: { ips: ["10.0.0.7/24"], ...given } }));
    await sim.pass();
    expect(gates("x")).toEqual(["example.com/other"]);
    const element = { name: "red", namespace: "default", interface: podInterfaceOf("red") };
    expect(told("x")).toEqual([{ ...element, ips: ["10.0.0.7/24"] }]);
    expect(sim.requests.filter((one) => !one.startsWith("get "))).toEqual(["patch pods"]);
  });

  it.each<[string, Readonly<Record<string, string>>, (all: ReturnType<typeof begin>) => void, string]>([
    [
      "its network is not there",
      { red: "red", late: "late" },
      () => {},
      "there is no NetworkAttachmentDefinition default/late: define it, or let the VM name another one",
    ],
    [
      "a plan gives the addresses of its network",
      { red: "red" },
      ({ claim }) => claim("red", []),
      "IPAMClaim vm-a.red: NodeIPPool lan has authority Plan, so a plan gives its addresses: allocate and render the VM",
    ],
    [
      "its claim says why it has no address",
      { red: "red" },
      ({ claim }) => {
        const conditions = [{ type: "IPsAllocated", status: "False", message: "pool lan is exhausted" }];
        claim("red", [], {}, { conditions });
      },
      "IPAMClaim vm-a.red: pool lan is exhausted",
    ],
  ])("an Event says that %s", async (_, networks, prepare, message) => {
    const all = begin(networks);
    const { sim, start, gates } = all;
    const spec = { range: { cidr: "10.0.0.0/24" }, authority: "Plan" };
    sim.create({ apiVersion: "nmstate.io/v1", kind: "NodeIPPool", metadata: { name: "lan" }, spec } as never);
    prepare(all);
    start("x");
    await sim.pass();
    expect(gates("x")).toContain(gate);
    expect(sim.said.filter((text) => text.startsWith("Pod/default:virt-launcher-vm-a-x Refused: ")).join()).toContain(
      message,
    );
  });

  it("C15: two of them at once, while it migrates, have the same addresses", async () => {
    const { sim, start, claim, told } = begin();
    claim("red", ["10.0.0.7/24", "fd20::7/64"]);
    for (const suffix of ["source", "target"]) start(suffix);
    await sim.pass();
    expect(told("source")[0].ips).toEqual(["10.0.0.7/24", "fd20::7/64"]);
    expect(told("target")).toEqual(told("source"));
  });

  it("C5: on a network of OVN-Kubernetes they are told the claim, never addresses; it fills that in itself", async () => {
    const { sim, start, claim, gates, told } = begin({ red: "red", blue: "blue-netconfig" });
    claim("red", ["10.0.0.7/24"]);
    start("x");
    await sim.pass();
    expect(gates("x")).toContain(gate);
    claim("blue", []);
    await sim.pass();
    expect(gates("x")).not.toContain(gate);
    const [red, blue] = told("x");
    expect([red.ips, red["ipam-claim-reference"]]).toEqual([["10.0.0.7/24"], undefined]);
    expect([blue.ips, blue["ipam-claim-reference"]]).toEqual([undefined, "vm-a.blue"]);
  });

  it("B3: a claim of OVN-Kubernetes that was planned is filled in before its pod comes", async () => {
    const { sim, start, claim, gates } = begin({ blue: "blue-netconfig" });
    claim("blue", [], { annotations: { "nodeippool.nmstate.io/addresses": "192.168.10.9/24" } });
    start("x");
    await sim.pass();
    expect(gates("x")).toContain(gate);
    sim.change("IPAMClaim", "vm-a.blue", (one) => ({ ...one, status: { ips: ["192.168.10.9/24"] } }));
    await sim.pass();
    expect(gates("x")).not.toContain(gate);
  });

  it.each([
    ["that conflict", {}, { conditions: [{ type: "IPsAllocated", status: "False", reason: "IPAddressConflict" }] }],
    ["of another VM of its name", { annotations: { "nodeippool.nmstate.io/vm-uid": "other" } }, {}],
    ["of a claim that is being deleted", { deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: ["a/b"] }, {}],
  ])("are never told addresses %s", async (_, metadata, status) => {
    const { sim, start, claim, gates } = begin();
    claim("red", ["10.0.0.7/24"], metadata, status);
    start("x");
    await sim.pass();
    expect(gates("x")).toContain(gate);
  });

  it("on a network whose plugin takes no addresses they wait, and an Event says what is missing", async () => {
    const { sim, start, claim, gates } = begin();
    sim.change("NetworkAttachmentDefinition", "red", (one) => ({
      ...one,
      spec: { config: JSON.stringify({ name: "red", type: "macvlan", ipam: { type: "whereabouts" } }) },
    }));
    claim("red", ["10.0.0.7/24"]);
    start("x");
    await sim.pass();
    expect(gates("x")).toContain(gate);
    expect(sim.said).toContain(
      'Pod/default:virt-launcher-vm-a-x Refused: NetworkAttachmentDefinition default/red takes no addresses: give its plugin "capabilities": {"ips": true} and "ipam": {"type": "static"}',
    );
  });

  it("C1, C14: without a network that keeps addresses they are scheduled at once, as they are", async () => {
    const { sim, start, gates, told } = begin({ plain: "plain" });
    sim.create(definition("plain", "default", { name: "plain", type: "bridge", ipam: { type: "whereabouts" } }));
    start("x");
    const before = told("x");
    await sim.pass();
    expect([gates("x"), told("x")]).toEqual([["example.com/other"], before]);
  });

  it("without a gate are left as they are", async () => {
    const { sim, claim } = begin();
    claim("red", ["10.0.0.7/24"]);
    sim.create(launcherOf(sim.object("VirtualMachineInstance", "vm-a") as never, "x"));
    await sim.pass();
    expect(sim.requests).toEqual([]);
  });
});
