import { describe, expect, it } from "vitest";
import { asBag, type Bag } from "../../../schema/objects.ts";
import { pool } from "../../support/objects/ipam-claims.ts";
import { macvlanNetwork } from "../../support/objects/vm-objects.ts";
import { gate, ipsOf, networksKey, singlePod } from "../../support/objects/workload-objects.ts";
import { isRunning } from "../../support/sim/apps.ts";
import { beginWorkloads } from "../../support/sim/begin-workloads.ts";

const job = { apiVersion: "batch/v1", kind: "Job", name: "copy" };
const orphan = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web" };

function begin(options: Parameters<typeof beginWorkloads>[0] = {}) {
  const all = beginWorkloads(options);
  // What has this uid is there.
  const uid = all.apps.find("NodeIPPool", "lan")?.metadata.uid;
  const make = (name: string, networks?: string, ...owners: readonly Bag[]) =>
    all.apps.create(
      singlePod(
        name,
        networks,
        owners.map((one) => ({ ...one, uid })),
      ),
    );
  return { ...all, make };
}

describe("a pod that no StatefulSet or Deployment has made", () => {
  it.each([
    ["bare", []],
    ["of a Job", [job]],
    ["of a ReplicaSet without a Deployment", [orphan]],
  ])("%s, has an address of its own for as long as it is there", async (_, owners) => {
    const { apps, sim, make, pass, told } = begin({ last: 2 });
    make("one", "red", ...owners);
    make("two", "red", ...owners);
    make("three", "red", ...owners);
    await pass(5000);
    expect(told()).toEqual(["one 10.0.0.1/24", "three 10.0.0.2/24", "two"]);
    expect(sim.lines()).toEqual(["10.0.0.1 Pod/default:one/0/net1", "10.0.0.2 Pod/default:three/0/net1"]);
    expect(apps.all("ConfigMap")).toEqual([]);
    expect(sim.said.join()).toContain("Pod/default:two Refused: pool lan is exhausted");
    await pass(90_000);
    apps.areNodesStuck = true;
    apps.remove(apps.find("Pod", "one") ?? {});
    await pass(90_000);
    expect(told()).toEqual(["one 10.0.0.1/24", "three 10.0.0.2/24", "two"]);
    apps.areNodesStuck = false;
    await pass(90_000);
    expect(told()).toEqual(["three 10.0.0.2/24", "two 10.0.0.1/24"]);
  });

  it("that has ended gives it back; one that is made again under its name is told anew", async () => {
    const { apps, sim, make, pass, told } = begin();
    make("one");
    await pass();
    apps.change(apps.find("Pod", "one") ?? {}, (pod) => ({ ...pod, status: { phase: "Succeeded" } }));
    await pass(90_000);
    expect(sim.lines()).toEqual([]);
    apps.remove(apps.find("Pod", "one") ?? {});
    await pass(1000);
    make("other");
    make("one");
    await pass();
    expect(told()).toEqual(["one 10.0.0.1/24", "other 10.0.0.2/24"]);
    apps.remove(apps.find("Pod", "one") ?? {});
    apps.remove(apps.find("Pod", "other") ?? {});
    await pass(90_000);
    expect([sim.lines(), apps.all("ConfigMap")]).toEqual([[], []]);
  });

  it("keeps it whatever becomes of its network and its pool, and nobody else gets it when the record is lost", async () => {
    const { apps, sim, create, make, pass, told } = begin();
    make("one");
    make("two");
    await pass();
    const before = told();
    apps.edit("NodeIPPool", "lan", { disable: true });
    apps.remove(apps.find("NetworkAttachmentDefinition", "red") ?? {});
    await pass(90_000);
    expect(sim.lines()).toHaveLength(2);
    apps.edit("NodeIPPool", "lan", { disable: false });
    apps.create(macvlanNetwork("red", "lan"));
    sim.record = { ...sim.record, allocations: [], releasing: [], pools: [], base: new Map() };
    sim.engine.resync();
    create("StatefulSet", "web", { replicas: 1 });
    await pass(90_000);
    expect(told()).toEqual([...before, "web-0 10.0.0.3/24"]);
    expect(apps.all("Pod").filter(isRunning).flatMap(ipsOf)).toHaveLength(3);
  });

  it.each([
    ["no network of NodeIPPools", "other", "no network of its pods is bound to NodeIPPools"],
    ["a pool of a plan", "blue", "no plan has a pod by itself"],
    ["a network that is not there", "nowhere", "there is no NetworkAttachmentDefinition default/nowhere"],
  ])("waits with %s, and an Event says why", async (_, networks, message) => {
    const { apps, sim, reconciler, make, pass, isWaiting } = begin();
    apps.create(pool("own", "10.1.0.0/24", "10.1.0.9", { authority: "Plan" }));
    apps.create(macvlanNetwork("blue", "own"));
    apps.create({
      ...macvlanNetwork("other", "lan"),
      metadata: { name: "other", namespace: "default" },
      spec: { config: "{}" },
    });
    make("one", networks);
    await pass(90_000);
    expect(isWaiting("one")).toBe(true);
    expect(sim.said.join()).toContain(`Pod/default:one Refused: `);
    expect(sim.said.join()).toContain(message);
    // An Event of the same reason would take its place.
    expect(reconciler.said).toEqual([]);
    expect(sim.lines()).toEqual([]);
  });

  it("that ends while it waits gives it back", async () => {
    const { apps, sim, make, pass } = begin();
    make("one");
    await sim.pass(3000);
    expect(sim.lines()).toEqual(["10.0.0.1 Pod/default:one/0/net1"]);
    apps.change(apps.find("Pod", "one") ?? {}, (pod) => ({ ...pod, status: { phase: "Failed" } }));
    await pass(90_000);
    expect(sim.lines()).toEqual([]);
  });

  it.each([
    ["without the label", {}],
    ["with the label of a plan", { [gate]: "planned" }],
  ])("%s is left alone, also where it waits for somebody else's gate of that name", async (_, labels) => {
    const { apps, sim, pass } = begin();
    const { metadata, ...rest } = singlePod("vm");
    apps.create({ ...rest, metadata: { ...metadata, labels } });
    await pass(5000);
    expect([sim.lines(), sim.said]).toEqual([[], []]);
    expect(asBag(apps.find("Pod", "vm")?.metadata)?.annotations).toEqual({ [networksKey]: "red" });
  });
});

it.each([
  ["the same networks", "red"],
  ["none", undefined],
  ["another interface", "red@net7"],
  ["another address", '[{"name": "red", "ips": ["10.0.0.9/24"]}]'],
])("a pod that is applied again with %s, and so says its addresses no more, keeps them", async (_, networks) => {
  const { apps, make, pass, told, sim } = begin({ last: 2 });
  make("one");
  make("two");
  await pass();
  const reapply = (name: string) =>
    apps.change(apps.find("Pod", name) ?? {}, ({ metadata, ...pod }) => {
      const { [networksKey]: _, ...others } = asBag(asBag(metadata)?.annotations) ?? {};
      const annotations = { ...others, ...(networks !== undefined && { [networksKey]: networks }) };
      return { ...pod, metadata: { ...asBag(metadata), annotations } } as never;
    });
  reapply("one");
  await pass(90_000);
  make("three");
  await pass(90_000);
  expect(told().slice(1)).toEqual(["three", "two 10.0.0.2/24"]);
  expect(sim.lines()).toEqual(["10.0.0.1 Pod/default:one/0/net1", "10.0.0.2 Pod/default:two/0/net1"]);
  apps.remove(apps.find("Pod", "one") ?? {});
  await pass(90_000);
  expect(told()).toEqual(["three 10.0.0.1/24", "two 10.0.0.2/24"]);
});

it("a pod with a nodeSelector has an address of a pool for its nodes", async () => {
  const { apps, pass, told } = begin();
  for (const rack of ["a", "b"])
    apps.create(
      pool(`rack-${rack}`, `10.1.${rack === "a" ? 0 : 1}.0/24`, undefined, { nodeAffinity: { matchLabels: { rack } } }),
    );
  apps.create(macvlanNetwork("racks", "rack-a, rack-b"));
  const pod = singlePod("one", "racks");
  apps.create({ ...pod, spec: { ...asBag(pod.spec), nodeSelector: { rack: "b" } } } as never);
  await pass();
  expect(told()).toEqual(["one 10.1.1.1/24"]);
});
