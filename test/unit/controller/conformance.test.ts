import { describe, expect, it } from "vitest";
import { emptySnapshot, ownerOfKey } from "../../../core/index.ts";
import { capi } from "../../../integrations/capi/in-cluster.ts";
import type { ClusterIntegration } from "../../../integrations/contract/cluster-integration.ts";
import { ipamClaimsInCluster } from "../../../integrations/ipamclaim/in-cluster.ts";
import { nmstateInCluster } from "../../../integrations/nmstate/in-cluster.ts";
import { asBag, type Bag } from "../../../schema/objects.ts";
import { addressesIn } from "../../support/core/addresses-in.ts";
import { policy } from "../../support/objects/controller-objects.ts";
import { claim } from "../../support/objects/ipam-claims.ts";
import { macvlanNetwork } from "../../support/objects/vm-objects.ts";
import { SimController } from "../../support/sim/controller.ts";
import { toySystem } from "../../support/toy-in-cluster.ts";

/**
 * What holds for each system whose owners are objects: how its owners are made, and where an owner shows its address. A new system is
 * one entry. All of them ask pool `p`, which has two addresses.
 */
interface Subject {
  readonly integration: ClusterIntegration;
  readonly kind: string;
  readonly namespace?: string;
  /** The objects that there are besides. */
  readonly around?: readonly Bag[];
  owner(name: string): Bag;
  /** The object that shows the address of an owner. */
  shownIn(name: string): readonly [kind: string, name: string];
}

const ipam = "ipam.cluster.x-k8s.io/v1beta2";
const subjects: Readonly<Record<string, Subject>> = {
  toy: {
    integration: toySystem.inCluster?.({}).integration as ClusterIntegration,
    ...{ kind: "Printer", namespace: "default" },
    owner: (name) => ({
      apiVersion: "toys.example.org/v1",
      metadata: { name, namespace: "default" },
      spec: { pool: "p" },
    }),
    shownIn: (name) => ["Printer", name],
  },
  capi: {
    integration: capi("v1beta2"),
    ...{ kind: "IPAddressClaim", namespace: "default" },
    owner: (name) => ({
      ...{ apiVersion: ipam, metadata: { name, namespace: "default" } },
      spec: { poolRef: { apiGroup: "nmstate.io", kind: "NodeIPPool", name: "p" } },
    }),
    shownIn: (name) => ["IPAddress", name],
  },
  ipamclaim: {
    integration: ipamClaimsInCluster,
    ...{ kind: "IPAMClaim", namespace: "default" },
    around: [macvlanNetwork("red", "p")],
    owner: (name) => claim(name),
    shownIn: (name) => ["IPAMClaim", name],
  },
  nmstate: {
    integration: nmstateInCluster,
    kind: "Node",
    around: [policy("a", "p", "eth1", { maxUnavailable: "100%" })],
    owner: (name) => ({
      ...{ apiVersion: "v1", metadata: { name, labels: { "kubernetes.io/hostname": name, role: "worker" } } },
      status: { conditions: [{ type: "Ready", status: "True" }] },
    }),
    shownIn: (name) => ["NodeNetworkConfigurationPolicy", `a--${name}`],
  },
};

function begin({ integration, kind, namespace, around = [], owner, shownIn }: Subject) {
  const sim = new SimController(undefined, undefined, undefined, [integration]);
  sim.pool("p", "10.0.0.0/24", "10.0.0.2");
  for (const one of around) sim.create(one as never);
  const make = (name: string, metadata: Bag = {}) => {
    const made = owner(name);
    sim.create({ ...made, kind, metadata: { ...asBag(made.metadata), ...metadata } });
  };
  const shown = (name: string) => {
    const object = sim.object(...shownIn(name));
    if (object === undefined) return "";
    const own = object.kind === "Printer" ? [`${asBag(object.status)?.address ?? ""}`] : [];
    return [...own, ...addressesIn(object).map(({ address }) => address)].join().replace(/\/.*/, "");
  };
  const recorded = () => sim.record.allocations.map(({ address, claim: of }) => `${Number(address & 0xffn)} ${of}`);
  return { sim, make, shown, recorded, remove: (name: string) => sim.remove(kind, name, namespace) };
}

describe.each(Object.entries(subjects))("a system in a cluster: %s", (_, subject) => {
  it("gives each owner an address of its own, and then asks the server nothing more", async () => {
    const { sim, make, shown } = begin(subject);
    for (const name of ["n1", "n2"]) make(name);
    await sim.pass(30_000);
    expect([shown("n1"), shown("n2")].sort()).toEqual(["10.0.0.1", "10.0.0.2"]);
    const before = sim.requests.length;
    await sim.pass(60_000);
    expect(sim.requests.slice(before)).toEqual([]);
  });

  it("gives an address to another owner once its own is gone", async () => {
    const { sim, make, shown, remove } = begin(subject);
    for (const name of ["n1", "n2"]) make(name);
    await sim.pass(30_000);
    const had = shown("n1");
    make("n3");
    await sim.pass(5_000);
    expect(shown("n3")).toBe("");
    remove("n1");
    await sim.pass(120_000);
    expect([shown("n1"), shown("n3")]).toEqual(["", had]);
  });

  it("leaves each owner what it shows when the record is lost, whoever is looked at first", async () => {
    const { sim, make, shown, recorded } = begin(subject);
    for (const name of ["n1", "n2"]) make(name);
    await sim.pass(30_000);
    const before = [shown("n1"), shown("n2")];
    const lines = recorded();
    sim.record = emptySnapshot;
    make("a0");
    sim.engine.resync();
    await sim.pass(60_000);
    expect([shown("n1"), shown("n2"), shown("a0")]).toEqual([...before, ""]);
    expect(recorded()).toEqual(lines);
  });

  it("leaves an owner its address while another program's finalizer keeps it", async () => {
    const { sim, make, shown, remove } = begin(subject);
    make("n1", { finalizers: ["example.org/in-use"] });
    make("n2");
    await sim.pass(30_000);
    const had = shown("n1");
    remove("n1");
    make("n3");
    await sim.pass(120_000);
    expect([shown("n1"), shown("n3")]).toEqual([had, ""]);
    const { allocations, releasing } = sim.record;
    const ownersOf = (lines: typeof allocations) => lines.map((line) => /[^/:]*$/.exec(ownerOfKey(line.claim))?.[0]);
    expect([ownersOf(allocations).includes("n3"), ownersOf([...allocations, ...releasing])]).toEqual([
      false,
      expect.arrayContaining(["n1", "n2"]),
    ]);
  });
});
