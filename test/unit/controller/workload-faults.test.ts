import { expect, it } from "vitest";
import { asBag, type Bag } from "../../../schema/objects.ts";
import { macvlanNetwork } from "../../support/objects/vm-objects.ts";
import { gate, networksKey } from "../../support/objects/workload-objects.ts";
import { beginWorkloads } from "../../support/sim/begin-workloads.ts";

const indexKey = "nodeippool.nmstate.io/pod-index";

function annotate(object: Bag, annotations: Bag): Bag {
  const metadata = asBag(object.metadata);
  return { ...object, metadata: { ...metadata, annotations: { ...asBag(metadata?.annotations), ...annotations } } };
}

it("two networks with one interface are refused, and others are served", async () => {
  const { sim, create, pass, told } = beginWorkloads();
  create("StatefulSet", "bad", { replicas: 1 }, "red, red@net1");
  create("StatefulSet", "web", { replicas: 1 });
  await pass();
  expect(told()).toEqual(["bad-0", "web-0 10.0.0.1/24"]);
  expect(sim.said.join()).toContain("two networks of a pod have interface net1: give one of them another name");
});

it("a pod that has lost its annotation with the index keeps its address", async () => {
  const { apps, create, pass, told, sim } = beginWorkloads();
  const strategy = { rollingUpdate: { maxSurge: 1 } };
  create("Deployment", "web", { replicas: 1, strategy });
  await pass();
  for (const pod of apps.all("Pod")) apps.change(pod, (one) => annotate(one, { [indexKey]: undefined }) as never);
  apps.edit("Deployment", "web", { replicas: 2, strategy });
  await pass();
  const ips = () =>
    told()
      .map((text) => text.replace(/.* /, ""))
      .sort();
  expect(ips()).toEqual(["10.0.0.1/24", "10.0.0.2/24"]);
  // Also where nobody asks for it any more.
  apps.remove(apps.find("Deployment", "web") ?? {});
  create("StatefulSet", "db", { replicas: 1 });
  await pass(1_000);
  expect(sim.lines().map((line) => line.replace(/ .*/, ""))).toContain("10.0.0.1");
});

it("the network names a pool that is not there: what pods have stays, also while one is restarted", async () => {
  const { apps, create, pass, told } = beginWorkloads();
  const name = (pools: string) =>
    apps.change(
      apps.find("NetworkAttachmentDefinition", "red") as never,
      (one: Bag) => annotate(one, { "nodeippool.nmstate.io/pool": pools }) as never,
    );
  create("StatefulSet", "web", { replicas: 2 });
  await pass();
  name("lann");
  await pass(1_000);
  apps.remove(apps.find("Pod", "web-1") ?? {});
  apps.create(macvlanNetwork("blue", "lan"));
  await pass(60_000);
  create("StatefulSet", "app", { replicas: 1 }, "blue");
  await pass();
  expect(told()).toEqual(["app-0 10.0.0.3/24", "web-0 10.0.0.1/24", "web-1"]);
  name("lan");
  await pass();
  expect(told()).toEqual(["app-0 10.0.0.3/24", "web-0 10.0.0.1/24", "web-1 10.0.0.2/24"]);
});

it("a workload that bears the label of its template is served", async () => {
  const { apps, create, pass, told } = beginWorkloads();
  create("StatefulSet", "web", { replicas: 1 });
  apps.change(
    apps.find("StatefulSet", "web") as never,
    ({ metadata, ...one }: Bag) => ({ ...one, metadata: { ...asBag(metadata), labels: { [gate]: "gated" } } }) as never,
  );
  await pass();
  expect(told()).toEqual(["web-0 10.0.0.1/24"]);
});

it("what else is in a ConfigMap is nobody's index", async () => {
  const { apps, sim, create, pass, told } = beginWorkloads({ last: 1 });
  create("Deployment", "web", { replicas: 1, strategy: { type: "Recreate" } });
  await pass();
  sim.isFrozen = true;
  const map = apps.find("ConfigMap", "nodeippool-deployment.web");
  apps.change(map as never, (one: Bag) => ({ ...one, data: { README: "[]", ...asBag(one.data) } }) as never);
  apps.edit("Deployment", "web", { replicas: 2 });
  await pass();
  expect(told().map((text) => text.split(" ")[1] ?? "none")).toEqual(expect.arrayContaining(["none", "10.0.0.1/24"]));
  const indexes = apps.all("Pod").map((pod) => asBag(asBag(pod.metadata)?.annotations)?.[indexKey] ?? "none");
  expect(indexes.sort()).toEqual(["Deployment/web/0", "none"]);
});

it("a pod of a Deployment that says its addresses no more keeps them, also where nobody asks for them", async () => {
  const { apps, create, pass, sim } = beginWorkloads({ last: 2 });
  create("Deployment", "web", { replicas: 1, strategy: { type: "Recreate" } });
  await pass();
  for (const pod of apps.all("Pod")) apps.change(pod, (one) => annotate(one, { [networksKey]: "red" }) as never);
  apps.areNodesStuck = true;
  apps.remove(apps.find("Deployment", "web") ?? {});
  await pass(90_000);
  expect(sim.lines()).toEqual(["10.0.0.1 Deployment/default:web/0/net1 releasing"]);
  apps.areNodesStuck = false;
  await pass(90_000);
  expect(sim.lines()).toEqual([]);
});

it("a pod that says an index of somebody else's is nobody else's", async () => {
  const { apps, create, pass, sim } = beginWorkloads();
  create("Deployment", "web", { replicas: 1, strategy: { type: "Recreate" } });
  await pass();
  for (const pod of apps.all("Pod"))
    apps.change(pod, (one) => annotate(one, { [indexKey]: "StatefulSet/db/0" }) as never);
  apps.areNodesStuck = true;
  apps.remove(apps.find("Deployment", "web") ?? {});
  create("StatefulSet", "db", { replicas: 1 });
  await pass(90_000);
  expect(sim.lines()).toEqual([
    "10.0.0.2 StatefulSet/default:db/0/net1",
    "10.0.0.1 Deployment/default:web/0/net1 releasing",
  ]);
});

it("a pod without a ConfigMap says so after a minute: its plan is not applied, say", async () => {
  const { apps, create, pass, reconciler } = beginWorkloads();
  create("Deployment", "web", { replicas: 1 });
  apps.change(
    apps.find("Deployment", "web") as never,
    ({ metadata, ...one }: Bag) =>
      ({ ...one, metadata: { ...asBag(metadata), labels: { [gate]: "planned" } } }) as never,
  );
  await pass(50_000);
  expect(reconciler.said).toEqual([]);
  await pass(20_000);
  expect(reconciler.said.join()).toContain("there is no ConfigMap nodeippool-deployment.web with its addresses");
});

it("a StatefulSet that is scaled up again keeps its addresses, also where its watch shows that late", async () => {
  const { apps, sim, create, pass, told } = beginWorkloads();
  create("StatefulSet", "web", { replicas: 2 });
  await pass();
  apps.areNodesStuck = true;
  apps.edit("StatefulSet", "web", { replicas: 1 });
  await pass();
  expect(sim.lines()).toContain("10.0.0.2 StatefulSet/default:web/1/net1 releasing");
  sim.late.add("StatefulSet");
  apps.edit("StatefulSet", "web", { replicas: 2 });
  apps.change(apps.find("Pod", "web-1") ?? {}, (one) => ({ ...one, status: { phase: "Failed" } }));
  await pass(90_000);
  create("Deployment", "app", { replicas: 1, strategy: { type: "Recreate" } });
  await pass();
  sim.late.clear();
  apps.areNodesStuck = false;
  await pass();
  expect(told()).toEqual([expect.stringMatching("app-.* 10.0.0.3/24"), "web-0 10.0.0.1/24", "web-1 10.0.0.2/24"]);
});
