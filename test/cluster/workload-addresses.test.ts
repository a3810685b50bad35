import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { formatAddress } from "../../core/index.ts";
import { isGated } from "../../integrations/networks/gated-pod.ts";
import { type Access, findAccess, type Objects, objectsOf } from "../../kube/index.ts";
import { asBag, type Bag } from "../../schema/objects.ts";
import { kubernetes } from "../../state/kubernetes/backend.ts";
import { installIpamClaims } from "../support/cluster/kinds.ts";
import { createNode, nodes } from "../support/cluster/nodes.ts";
import { clusterOfFile } from "../support/cluster/of-file.ts";
import { root } from "../support/console.ts";
import { ownAccess, prepareController, servedAs } from "../support/controller/rights.ts";
import { hurried } from "../support/controller/timing.ts";
import { typeInto, uninstallOf } from "../support/controller/uninstall.ts";
import { pool } from "../support/objects/ipam-claims.ts";
import { macvlanNetwork } from "../support/objects/vm-objects.ts";
import { gate, ipsOf, singlePod, workload } from "../support/objects/workload-objects.ts";
import { createLab } from "../support/real/lab.ts";
import { Multus } from "../support/real/multus.ts";
import { PodRunner } from "../support/real/pod-runner.ts";

const network = macvlanNetwork("red", "lan");

describe("pods of a cluster, served by the controller", () => {
  const cluster = clusterOfFile(async (started) => {
    await prepareController(started, [installIpamClaims], "workload-addresses");
    await started.kubectl(["apply", "-f", join(root, "deploy/workload-addresses/admission.yaml")]);
    const names = ["statefulset", "deployment", "replicaset", "daemonset", "job", "garbage-collector"];
    await started.startControllers(...names.map((name) => `${name}-controller`));
  });
  let kube: Objects;
  let user: Access;
  let runner: PodRunner;
  beforeAll(async () => {
    kube = objectsOf(findAccess({ kubeconfig: cluster().kubeconfig }));
    user = await ownAccess(cluster());
    return () => kube.close();
  });
  beforeEach(async () => {
    // The policy is in force a moment after it is there.
    await until(async () => isGated(JSON.parse(await kubectl("create --dry-run=server -o json -f -", stray))), true);
    runner = new PodRunner(kube);
    await create(pool("lan", "10.0.0.0/24", "10.0.0.9"));
    await create(network);
  });
  afterEach(async () => {
    await served(async () => {
      await kubectl("delete statefulsets,deployments --all");
      await until(async () => (await runner.pods()).length, 0);
      await until(lines, []);
      await until(() => kubectl("get configmaps -l nodeippool.nmstate.io/addresses -o name"), "");
      await kubectl("delete network-attachment-definitions,nodeippools --all --timeout=30s");
    });
    await runner.stop();
    expect(runner.broken).toEqual([]);
  });

  const stray = JSON.stringify({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "stray", labels: { [gate]: "gated" } },
    spec: { containers: [{ name: "main", image: "main" }] },
  });
  const kubectl = (args: string, input?: string) => cluster().kubectl(args.split(" "), input);
  const create = (object: Bag) => kubectl("create -f -", JSON.stringify(object));
  /** With the rights that deploy/ gives, and no others. */
  const served = (work: () => Promise<void>) => servedAs(user, work, { workloadAddresses: true });
  /** It is refused within a second of the last one. */
  const restart = (what: string) => sleep(1_000).then(() => kubectl(`rollout restart ${what}`));
  const until = (what: () => Promise<unknown>, expected: unknown) =>
    expect.poll(what, { timeout: 60_000, interval: 100 }).toEqual(expected);
  /** `web-0 10.0.0.1/24` of each pod; one that waits has none. */
  const told = async () => (await runner.pods()).map((pod) => [pod.metadata.name, ...ipsOf(pod)].join(" ")).sort();
  const lines = async () => {
    const { allocations, releasing } = await kubernetes(kube, "nodeippool").read();
    return [...allocations, ...releasing].map(({ address, claim }) => `${formatAddress(address)} ${claim}`).sort();
  };
  const web = (count: number) => Array.from({ length: count }, (_, i) => `web-${i} 10.0.0.${i + 1}/24`);
  const uids = async () => (await runner.pods()).map((pod) => pod.metadata.uid).sort();

  it("S10: each pod of a StatefulSet keeps its address: scaled, rolled, deleted, and with the controller started anew", async () => {
    await served(async () => {
      await create(workload("StatefulSet", "web", { replicas: 3 }));
      await until(told, web(3));
      for (const count of [5, 2, 4]) {
        await kubectl(`scale statefulset web --replicas=${count}`);
        await until(told, web(count));
      }
    });
    await served(async () => {
      const before = await uids();
      await restart("statefulset web");
      await kubectl("rollout status statefulset web --timeout=60s");
      await until(told, web(4));
      expect((await uids()).filter((uid) => before.includes(uid))).toEqual([]);
      await kubectl("delete pod web-1 --wait=false");
      await sleep(500);
      await until(told, web(4));
      await kubectl("scale statefulset web --replicas=2");
      await until(async () => (await lines()).length, 2);
    });
    expect([...runner.had].map(([name, ips]) => `${name} ${[...ips]}`).sort()).toEqual(web(5));
  });

  it("a pod has its addresses where it runs, that of eth0, too, by Multus and the plugins of CNI", async () => {
    const lab = await createLab(["n1"], ["eth1"]);
    onTestFinished(() => lab.close());
    const multus = await Multus.on(lab.nodes[0] as never, cluster());
    await create(macvlanNetwork("eth", "lan"));
    await served(async () => {
      await create(workload("Deployment", "web", { replicas: 1 }, "red", { [gate]: "gated" }, "default/eth"));
      await until(async () => (await told()).map((text) => text.replace(/^\S+ /, "")), ["10.0.0.1/24 10.0.0.2/24"]);
      const running = await multus.run((await runner.pods())[0] as Bag);
      expect(await running.addresses("eth0")).toEqual(["10.0.0.1/24"]);
      expect(await running.addresses("net1")).toEqual(["10.0.0.2/24"]);
      await running.end();
    });
  });

  it("S5: a Deployment is rolled and scaled with as many addresses as it may have pods, none in two of them", async () => {
    const strategy = { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } };
    await served(async () => {
      await create(workload("Deployment", "web", { replicas: 3, strategy }));
      for (let i = 0; i < 3; i++) {
        await kubectl("rollout status deployment web --timeout=60s");
        await restart("deployment web");
      }
      await kubectl("rollout status deployment web --timeout=60s");
      const indexes = (count: number) =>
        Array.from({ length: count }, (_, i) => `10.0.0.${i + 1} Deployment/default:web/${i}/net1`);
      expect(await lines()).toEqual(indexes(4));
      await kubectl("scale deployment web --replicas=6");
      await kubectl("rollout status deployment web --timeout=60s");
      expect(await lines()).toEqual(indexes(7));
      await kubectl("scale deployment web --replicas=1");
      await restart("deployment web");
      await kubectl("rollout status deployment web --timeout=60s");
      await until(lines, indexes(2));
    });
    expect(new Set([...runner.had.values()].flatMap((ips) => [...ips])).size).toBeLessThanOrEqual(7);
    for (const [name, ips] of runner.had) expect([name, ips.size]).toEqual([name, 1]);
  });

  it("S42, S43: what a pod has that never ends is the next one's where the controller is told so; its node is asked first, and an Event says it", async () => {
    const timing = { ...hurried, again: 500 };
    const after = { workloadAddresses: true, freeTerminatingAfter: 1000, timing };
    await create({ apiVersion: "v1", kind: "Node", metadata: { name: "n1" } });
    await served(async () => {
      await create(workload("Deployment", "web", { replicas: 1, strategy: { rollingUpdate: { maxSurge: 0 } } }));
      await kubectl("rollout status deployment web --timeout=60s");
    });
    const [old = ""] = (await told()).map((text) => text.replace(/ .*/, ""));
    const target = { apiVersion: "v1", kind: "Node", name: "n1" };
    const binding = { apiVersion: "v1", kind: "Binding", metadata: { name: old }, target };
    await kubectl(`create --raw /api/v1/namespaces/default/pods/${old}/binding -f -`, JSON.stringify(binding));
    runner.hanging.add(old);
    await kubectl(`delete pod ${old} --wait=false`);
    const had = async () => (await told()).map((text) => text.replace(/^\S+ ?/, "")).sort();
    await servedAs(user, () => sleep(4000), { ...after, freeTerminating: "ready-nodes" });
    expect(await had()).toEqual(["", "10.0.0.1/24"]);
    const freeing = async () => {
      await until(had, ["10.0.0.1/24", "10.0.0.1/24"]);
      const said = `get events --field-selector involvedObject.name=${old},reason=Freed -o jsonpath={.items[*].message}`;
      await until(
        async () => /^10.0.0.1 may be another pod's .* node n1 did not end it/.test(await kubectl(said)),
        true,
      );
    };
    await servedAs(user, freeing, { ...after, freeTerminating: "all-nodes" });
    await served(async () => {
      runner.hanging.clear();
      await until(had, ["10.0.0.1/24"]);
    });
    await kubectl("delete node n1");
  });

  it("S6: any other pod has an address of its own for as long as it is there: a bare one, those of a Job, a DaemonSet", async () => {
    const { metadata, spec } = workload("DaemonSet", "agent", {});
    const { template } = spec;
    const podSpec = { ...template.spec, restartPolicy: "Never" };
    const job = { parallelism: 2, completions: 2, template: { ...template, spec: podSpec } };
    await create({ apiVersion: "v1", kind: "Node", metadata: { name: "n1" } });
    await served(async () => {
      const { schedulingGates: _, ...bare } = singlePod("bare").spec;
      await create({ ...singlePod("bare"), spec: { ...bare, ...template.spec } });
      const agent = { ...template, spec: { ...template.spec, tolerations: [{ operator: "Exists" }] } };
      await create({ ...workload("DaemonSet", "agent", {}), spec: { ...spec, template: agent } });
      await create({ apiVersion: "batch/v1", kind: "Job", metadata: { ...metadata, name: "copy" }, spec: job });
      const ips = async () => (await runner.pods()).flatMap(ipsOf).sort();
      await until(
        ips,
        [1, 2, 3, 4].map((i) => `10.0.0.${i}/24`),
      );
      expect(
        (await lines())
          .map((line) => line.replace(/^\S+ (Pod\/default:(bare|agent|copy)).*(\/0\/net1)$/, "$1$3"))
          .sort(),
      ).toEqual(["agent", "bare", "copy", "copy"].map((name) => `Pod/default:${name}/0/net1`));
      await until(() => kubectl("get configmaps -l nodeippool.nmstate.io/addresses -o name"), "");
      const uid = (await runner.pods()).find((pod) => pod.metadata.name === "bare")?.metadata.uid;
      await kubectl("delete pod bare --wait=false");
      await until(async () => (await runner.pods()).some((pod) => pod.metadata.uid === uid), false);
      await create({ ...singlePod("bare"), spec: { ...bare, ...template.spec } });
      await until(async () => (await ips()).length, 4);
      await kubectl("delete daemonsets,jobs,pods --all --wait=false");
      await until(async () => (await runner.pods()).length, 0);
      await until(lines, []);
    });
    await kubectl("delete node n1");
  });

  it("S5: two controllers at once tell no two pods one index", async () => {
    await served(() =>
      served(async () => {
        await create(workload("Deployment", "web", { replicas: 6, strategy: { rollingUpdate: { maxSurge: 3 } } }));
        for (let i = 0; i < 3; i++) {
          await kubectl("rollout status deployment web --timeout=60s");
          await restart("deployment web");
        }
        await kubectl("rollout status deployment web --timeout=60s");
        expect(await lines()).toHaveLength(9);
      }),
    );
  });

  it("S11: made again under its name while its pods end, a StatefulSet has its addresses again; nobody else had them meanwhile", async () => {
    runner.ending = 2 * hurried.hold;
    await served(async () => {
      await create(workload("StatefulSet", "web", { replicas: 2 }));
      await until(told, web(2));
      await kubectl("delete statefulset web");
      await create(workload("StatefulSet", "app", { replicas: 2 }));
      await until(async () => (await told()).slice(0, 2), ["app-0 10.0.0.3/24", "app-1 10.0.0.4/24"]);
      runner.ending = 100;
      await create(workload("StatefulSet", "web", { replicas: 2 }));
      await until(async () => (await told()).slice(2), web(2));
    });
  });

  it("S20: where pools are for racks, the scheduler puts each pod on a node of the rack of its address", async () => {
    for (const rack of ["a", "b"]) {
      await createNode(kube, `node-${rack}`, { rack });
      const status = { allocatable: { pods: "9", cpu: "1", memory: "1Gi" } };
      await kube.patch(nodes, `node-${rack}`, undefined, { status }, { type: "merge", subresource: "status" });
      // A new node is not Ready; nobody here says when it is.
      await kube.patch(nodes, `node-${rack}`, undefined, { spec: { taints: null } }, { type: "merge" });
    }
    const ofRack = (rack: string) => ({ nodeAffinity: { matchLabels: { rack } } });
    await create(pool("lan-b", "10.0.1.0/24", "10.0.1.2", ofRack("b")));
    await create(pool("lan-a", "10.0.2.0/24", "10.0.2.2", ofRack("a")));
    await create(macvlanNetwork("racks", "lan-b, lan-a"));
    await cluster().startScheduler();
    onTestFinished(async () => void (await kubectl("delete nodes --all")));
    await served(async () => {
      await create(workload("StatefulSet", "web", { replicas: 4 }, "racks"));
      const placed = async () =>
        (await runner.pods()).map((pod) => `${ipsOf(pod)} ${asBag(pod.spec)?.nodeName}`).sort();
      const onRack = (net: number, rack: string) => [1, 2].map((i) => `10.0.${net}.${i}/24 node-${rack}`);
      await until(placed, [...onRack(1, "b"), ...onRack(2, "a")]);
    });
  });

  it("a key of ours with a typo is named by an Event where it was written, and the pods run", async () => {
    const own = (name: string) => `nodeippool.nmstate.io/${name}`;
    const web = workload("StatefulSet", "web", { replicas: 1 }, "red", { [own("adresses")]: "gated" });
    await create(web);
    await create({ ...network, metadata: { name: "blue", annotations: { [own("poool")]: "lan" } } });
    const pod = JSON.parse(stray);
    await create({ ...pod, metadata: { name: "stray", labels: { [gate]: "Gated" } } });
    const events = async () => {
      const columns = "custom-columns=:.involvedObject.kind,:.involvedObject.name,:.message";
      const text = await kubectl(`get events --field-selector reason=InvalidMetadata --no-headers -o ${columns}`);
      return text
        .split("\n")
        .filter(Boolean)
        .map((line) => line.replace(/ +/g, " ").replaceAll(own(""), ""))
        .sort();
    };
    const what = "It has no effect: correct it, or remove it.";
    await served(async () => {
      await until(events, [
        `NetworkAttachmentDefinition blue unknown annotation poool; did you mean pool? ${what}`,
        `Pod stray label addresses of a Pod must be gated or planned, not "Gated"; did you mean gated? ${what}`,
        `StatefulSet web unknown label adresses; did you mean addresses? ${what}`,
      ]);
      await until(told, ["stray", "web-0"]);
    });
    expect((await runner.pods()).filter(isGated)).toEqual([]);
    await kubectl("delete pod stray --now");
  });

  it("switched off by the commands of the page, pods start, and nothing is left", async () => {
    await served(async () => {
      await create(workload("StatefulSet", "web", { replicas: 1 }));
      await until(told, web(1));
    });
    await create(workload("StatefulSet", "app", { replicas: 1 }));
    await until(async () => (await runner.pods()).filter(isGated).length, 1);
    await typeInto(cluster(), uninstallOf("workloads"));
    await until(async () => (await runner.pods()).filter(isGated).length, 0);
    expect(await told()).toEqual(["app-0", ...web(1)]);
    expect(await kubectl("get configmaps -A -l nodeippool.nmstate.io/addresses -o name")).toBe("");
    await kubectl(`apply -f ${join(root, "deploy/workload-addresses/admission.yaml")}`);
  });

  it("without the controller pods wait; one without the label does not", async () => {
    await create(workload("StatefulSet", "web", { replicas: 1 }));
    await create(workload("StatefulSet", "plain", { replicas: 1 }, "red", {}));
    await until(told, ["plain-0", "web-0"]);
    const gated = async () => (await runner.pods()).filter(isGated).map((pod) => pod.metadata.name);
    expect(await gated()).toEqual(["web-0"]);
    await served(() => until(told, ["plain-0", "web-0 10.0.0.1/24"]));
    expect(asBag((await runner.pods())[0]?.metadata)?.annotations).toEqual({ "k8s.v1.cni.cncf.io/networks": "red" });
  });
});
