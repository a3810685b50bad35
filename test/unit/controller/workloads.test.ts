import { describe, expect, it } from "vitest";
import { asBag, type Bag } from "../../../schema/objects.ts";
import { pool } from "../../support/objects/ipam-claims.ts";
import { definition, macvlanNetwork } from "../../support/objects/vm-objects.ts";
import { defaultKey, gate, networksKey, workload } from "../../support/objects/workload-objects.ts";
import { beginWorkloads } from "../../support/sim/begin-workloads.ts";

const three = ["web-0 10.0.0.1/24", "web-1 10.0.0.2/24", "web-2 10.0.0.3/24"];

describe("a StatefulSet whose pods wait for the controller", () => {
  it("S3: each pod has an address of each family, by its index, and is scheduled with it", async () => {
    const { sim, apps, create, pass, told, isWaiting } = beginWorkloads({ pools: "lan, lan6" });
    create("StatefulSet", "web", { replicas: 2 });
    await pass();
    expect(told()).toEqual(["web-0 10.0.0.1/24 fd20::1/64", "web-1 10.0.0.2/24 fd20::2/64"]);
    expect(isWaiting("web-0")).toBe(false);
    const map = asBag(apps.find("ConfigMap", "nodeippool-web")?.metadata);
    expect(map?.ownerReferences).toMatchObject([{ kind: "StatefulSet", name: "web" }]);
    expect(sim.lines()).toContain("fd20::2 StatefulSet/default:web/1/net1");
    expect(sim.said).toEqual([]);
  });

  it("S10: keeps them, whoever comes and goes, and however it is scaled, rolled and restarted", async () => {
    const { apps, create, pass, told } = beginWorkloads();
    create("StatefulSet", "web", { replicas: 3 });
    await pass();
    for (const replicas of [5, 2, 4]) {
      apps.edit("StatefulSet", "web", { replicas });
      await pass(1000);
      create("StatefulSet", `other-${replicas}`, { replicas: 1 });
      await pass();
    }
    apps.roll("StatefulSet", "web");
    await pass(5000);
    apps.remove(apps.find("Pod", "web-1") ?? {});
    await pass(60_000);
    expect(told().filter((text) => text.startsWith("web"))).toEqual([...three, "web-3 10.0.0.4/24"]);
    expect(new Set(told().map((text) => text.split(" ")[1])).size).toBe(7);
  });

  it("an address that it has no more is free once no pod bears it that may run", async () => {
    const { sim, apps, create, pass, told } = beginWorkloads({ last: 3 });
    create("StatefulSet", "web", { replicas: 3 });
    await pass();
    apps.areNodesStuck = true;
    apps.edit("StatefulSet", "web", { replicas: 1 });
    create("StatefulSet", "app", { replicas: 1 });
    await pass(90_000);
    expect(told()).toEqual(["app-0", ...three]);
    expect(sim.lines().filter((line) => line.endsWith("releasing"))).toHaveLength(2);
    expect(sim.said).toContain(
      "StatefulSet.apps/default:app Refused: pool lan is exhausted. Let the pool grow: a later end, or additionalRanges",
    );
    apps.areNodesStuck = false;
    await pass(90_000);
    expect(told()).toEqual(["app-0 10.0.0.2/24", "web-0 10.0.0.1/24"]);
    expect(sim.lines()).toHaveLength(2);
  });

  it("an address is not free while a pod waits that somebody may be about to tell it", async () => {
    const { sim, apps, create, pass, told } = beginWorkloads();
    create("StatefulSet", "web", { replicas: 2 });
    for (const step of apps.steps()) step();
    await sim.pass(3000);
    expect(told()).toEqual(["web-0", "web-1"]);
    apps.edit("StatefulSet", "web", { replicas: 1 });
    await sim.pass(90_000);
    expect(sim.lines()).toHaveLength(2);
    await pass(90_000);
    expect([told(), sim.lines()]).toEqual([["web-0 10.0.0.1/24"], ["10.0.0.1 StatefulSet/default:web/0/net1"]]);
  });

  it("S11: deleted, its addresses are free once its pods are gone; made again before that, it has the same ones", async () => {
    const { sim, apps, create, pass, told } = beginWorkloads();
    create("StatefulSet", "web", { replicas: 3 });
    await pass();
    apps.remove(apps.find("StatefulSet", "web") ?? {});
    await pass(5000);
    expect(told()).toEqual([]);
    create("StatefulSet", "first", { replicas: 2 });
    await pass();
    create("StatefulSet", "web", { replicas: 3 });
    await pass();
    expect(told().slice(2)).toEqual(three);
    for (const set of apps.all("StatefulSet")) apps.remove(set);
    await pass(90_000);
    expect([sim.lines(), apps.all("ConfigMap")]).toEqual([[], []]);
  });

  it("what pods bear, and its ConfigMap says, is theirs when the record is lost", async () => {
    const { sim, apps, create, pass, told } = beginWorkloads();
    create("StatefulSet", "gone", { replicas: 1 });
    await pass();
    create("StatefulSet", "web", { replicas: 3 });
    await pass();
    apps.areNodesStuck = true;
    for (const set of apps.all("StatefulSet")) apps.edit("StatefulSet", set.metadata.name, { replicas: 2 });
    apps.remove(apps.find("StatefulSet", "gone") ?? {});
    await pass();
    const before = told();
    sim.record = { ...sim.record, allocations: [], releasing: [], pools: [], base: new Map() };
    sim.engine.resync();
    create("StatefulSet", "app", { replicas: 1 });
    await pass(90_000);
    expect(told()).toEqual(["app-0 10.0.0.5/24", ...before]);
    apps.areNodesStuck = false;
    await pass(10_000);
    expect(told()).toEqual(["app-0 10.0.0.5/24", "web-0 10.0.0.2/24", "web-1 10.0.0.3/24"]);
  });

  it("while its network or its pool is away, its addresses stay, and new pods wait", async () => {
    const { apps, create, pass, told } = beginWorkloads();
    create("StatefulSet", "web", { replicas: 3 });
    await pass();
    apps.remove(apps.find("NetworkAttachmentDefinition", "red") ?? {});
    await pass();
    apps.remove(apps.find("Pod", "web-1") ?? {});
    create("StatefulSet", "app", { replicas: 1 }, "blue");
    apps.create(macvlanNetwork("blue", "lan"));
    await pass(90_000);
    expect(told()).toEqual(["app-0 10.0.0.4/24", three[0], "web-1", three[2]]);
    apps.create(macvlanNetwork("red", "lan"));
    await pass();
    expect(told().slice(1)).toEqual(three);
  });

  it.each([
    ["ips in its template", '[{"name": "red", "ips": ["10.0.0.7/24"]}]', {}, "writes out ips"],
    ["no network of NodeIPPools", "other", {}, "no network of its pods is bound to NodeIPPools"],
    ["networks of both authorities", "red, blue", {}, "take addresses from NodeIPPool own, of plans, and lan, of the"],
    ["a network without its pool", "red, green", {}, "there is no NodeIPPool nowhere"],
    ["pools of a plan", "blue", {}, "a plan gives the addresses of its pods"],
  ])("with %s its pods wait, and an Event says why", async (_, networks, spec, message) => {
    const { sim, apps, create, pass, isWaiting } = beginWorkloads();
    apps.create(pool("own", "10.1.0.0/24", "10.1.0.9", { authority: "Plan" }));
    apps.create(macvlanNetwork("blue", "own"));
    apps.create(macvlanNetwork("green", "nowhere"));
    apps.create(definition("other", "default", { type: "macvlan", ipam: { type: "dhcp" } }));
    create("StatefulSet", "web", { replicas: 1, ...spec }, networks);
    create("StatefulSet", "app", { replicas: 1 });
    await pass(5000);
    expect(sim.said.join("\n")).toContain(`StatefulSet.apps/default:web Refused: `);
    expect(sim.said.join("\n")).toContain(message);
    expect([isWaiting("web-0"), isWaiting("app-0")]).toEqual([true, false]);
    expect(sim.lines()).toHaveLength(1);
  });

  it("whose pods do not wait is left alone", async () => {
    const { sim, create, pass, told } = beginWorkloads();
    create("StatefulSet", "web", { replicas: 1 }, "red", {});
    await pass();
    expect([told(), sim.lines()]).toEqual([["web-0"], []]);
  });
});

describe("eth0, where the template says its network", () => {
  const begin = (kind: string, networks = "") => {
    const run = beginWorkloads();
    run.apps.create(macvlanNetwork("eth", "lan", "kube-system"));
    run.apps.create(definition("flannel", "kube-system", { type: "flannel" }));
    run.create(kind, "web", { replicas: 2, strategy: { type: "Recreate" } }, networks, { [gate]: "gated" }, "eth");
    return run;
  };
  const said = ({ metadata }: Bag) => asBag(asBag(metadata)?.annotations) ?? {};

  it.each(["StatefulSet", "Deployment"])("a pod of a %s is told it beside its other networks", async (kind) => {
    const { apps, sim, pass } = begin(kind, "red");
    await pass();
    for (const [i, pod] of apps.all("Pod").entries()) {
      expect(JSON.parse(`${said(pod)[defaultKey]}`)).toEqual([
        { name: "eth", interface: "eth0", ips: [`10.0.0.${2 * i + 1}/24`] },
      ]);
      expect(JSON.parse(`${said(pod)[networksKey]}`)).toMatchObject([{ name: "red", interface: "net1" }]);
    }
    expect(sim.lines()).toContain(`10.0.0.3 ${kind}/default:web/1/eth0`);
    expect(sim.said).toEqual([]);
  });

  it("alone; it is free once the pod is gone, and not before", async () => {
    const { apps, sim, pass, told } = begin("StatefulSet");
    await pass();
    expect(told()).toEqual(three.slice(0, 2));
    expect(apps.all("Pod").map((pod) => said(pod)[networksKey])).toEqual([undefined, undefined]);
    apps.areNodesStuck = true;
    apps.remove(apps.find("StatefulSet", "web") ?? {});
    await pass(90_000);
    expect(sim.lines()).toEqual([1, 2].map((i) => `10.0.0.${i} StatefulSet/default:web/${i - 1}/eth0 releasing`));
    apps.areNodesStuck = false;
    await pass(90_000);
    expect(sim.lines()).toEqual([]);
  });

  it("one that is not bound stays as it is, also where an older ConfigMap has none", async () => {
    const { apps, create, pass, told } = begin("StatefulSet");
    await pass();
    create("StatefulSet", "old", { replicas: 1 }, "red", { [gate]: "gated" }, "flannel");
    const data = { "plan-0": '[{"name":"red","interface":"net1","ips":["10.0.0.9/24"]}]' };
    const labels = { "nodeippool.nmstate.io/statefulset": "plan", [gate]: "pods" };
    const metadata = { name: "nodeippool-plan", namespace: "default", labels };
    apps.create({ apiVersion: "v1", kind: "ConfigMap", metadata, data });
    const marks = { [gate]: "gated" };
    apps.create({ ...workload("StatefulSet", "plan", { replicas: 1 }, "red", marks, "flannel"), ...planned("plan") });
    await pass();
    expect(told().slice(0, 2)).toEqual(["old-0 10.0.0.3/24", "plan-0 10.0.0.9/24"]);
    apps.edit("StatefulSet", "plan", {
      replicas: 1,
      template: workload("StatefulSet", "plan", {}, "red", marks, "eth").spec.template,
    });
    apps.remove(apps.find("Pod", "plan-0") ?? {});
    await pass();
    expect(told()[1]).toEqual("plan-0");
  });
});

const planned = (name: string) => ({ metadata: { name, namespace: "default", labels: { [gate]: "planned" } } });

describe("a StatefulSet with several pools", () => {
  const begin = () => {
    const run = beginWorkloads({ last: 2, pools: "lan, more" });
    run.apps.create(pool("more", "10.1.0.0/24", "10.1.0.9"));
    return run;
  };
  const two = ["web-0 10.0.0.1/24", "web-1 10.0.0.2/24"];

  it("S34: has addresses of the next one where one has no room, and keeps them", async () => {
    const { apps, create, pass, told } = begin();
    create("StatefulSet", "web", { replicas: 3 });
    await pass();
    expect(told()).toEqual([...two, "web-2 10.1.0.1/24"]);
    apps.roll("StatefulSet", "web");
    await pass(5000);
    expect(told()).toEqual([...two, "web-2 10.1.0.1/24"]);
  });

  it("I13: keeps them when a pool gives nothing new, and when the record is lost besides", async () => {
    const { sim, apps, create, pass, told } = begin();
    create("StatefulSet", "web", { replicas: 3 });
    await pass();
    apps.edit("NodeIPPool", "lan", { disable: true });
    sim.record = { ...sim.record, allocations: [], releasing: [], pools: [], base: new Map() };
    sim.engine.resync();
    apps.edit("StatefulSet", "web", { replicas: 4 });
    await pass(60_000);
    apps.roll("StatefulSet", "web");
    await pass(60_000);
    expect(told()).toEqual([...two, "web-2 10.1.0.1/24", "web-3 10.1.0.2/24"]);
  });
});

it("S2, S20: a pod with an address of a pool for certain nodes runs on one of these", async () => {
  const { apps, create, pass, told } = beginWorkloads({ last: 1, pools: "lan, rack-b" });
  const rules = { nodeAffinity: { matchLabels: { rack: "b" } } };
  apps.create(pool("rack-b", "10.1.0.0/24", "10.1.0.9", rules));
  create("Deployment", "web", { replicas: 2, strategy: { type: "Recreate" } });
  await pass();
  expect(
    told()
      .map((text) => text.split(" ")[1])
      .sort(),
  ).toEqual(["10.1.0.1/24", "10.1.0.2/24"]);
  const required = { nodeSelectorTerms: [{ matchExpressions: [{ key: "rack", operator: "In", values: ["b"] }] }] };
  for (const pod of apps.all("Pod"))
    expect(asBag(pod.spec)?.affinity).toEqual({
      nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required },
    });
});
