import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { isGated } from "../../integrations/networks/gated-pod.ts";
import { type Access, findAccess, type Objects, objectsOf } from "../../kube/index.ts";
import { asBag, asList, type Bag } from "../../schema/objects.ts";
import { kubernetes } from "../../state/kubernetes/backend.ts";
import { installIpamClaims } from "../support/cluster/kinds.ts";
import { clusterOfFile } from "../support/cluster/of-file.ts";
import { root } from "../support/console.ts";
import { ownAccess, prepareController, servedAs } from "../support/controller/rights.ts";
import { pool } from "../support/objects/ipam-claims.ts";
import { detecting } from "../support/objects/pod-detects.ts";
import { macvlanNetwork } from "../support/objects/vm-objects.ts";
import { gate, ipsOf, workload } from "../support/objects/workload-objects.ts";
import { createPodNetwork, giveAddresses, type PodNetwork } from "../support/real/pod-network.ts";
import { PodRunner } from "../support/real/pod-runner.ts";
import { BUILD_TIMEOUT } from "../support/tools/tools.ts";

const mac = "02:00:00:00:00:02";
const none = { rollingUpdate: { maxSurge: 0 } };

describe("pods look for conflicts before they start, and the cluster knows what they find", () => {
  const cluster = clusterOfFile(async (started) => {
    await prepareController(started, [installIpamClaims], "workload-addresses");
    for (const folder of ["workload-addresses", "detect"])
      await started.kubectl(["apply", "-f", join(root, "deploy", folder, "admission.yaml")]);
    const names = ["statefulset", "deployment", "replicaset", "job", "garbage-collector"];
    await started.startControllers(...names.map((name) => `${name}-controller`));
  });
  let kube: Objects;
  let user: Access;
  let network: PodNetwork;
  let runner: PodRunner;
  beforeAll(async () => {
    kube = objectsOf(findAccess({ kubeconfig: cluster().kubeconfig }));
    user = await ownAccess(cluster());
    network = await createPodNetwork();
    return async () => {
      kube.close();
      await network.close();
    };
  }, BUILD_TIMEOUT);
  beforeEach(async () => {
    await until(async () => asList((await dryRun()).initContainers).length, 1);
    await until(async () => isGated({ spec: await dryRun() }), true);
    runner = new PodRunner(kube);
    runner.init = detecting(network);
    await giveAddresses(network.other, []);
    await giveAddresses(network.gateway, ["10.0.0.9/24"]);
    await create(macvlanNetwork("red", "lan"));
  });
  afterEach(async () => {
    await served(async () => {
      await kubectl("delete statefulsets,deployments,jobs --all");
      await until(async () => (await runner.pods()).length, 0);
      await until(() => kubectl("get configmaps -l nodeippool.nmstate.io/addresses -o name"), "");
      // A pool goes before its addresses are free: the next test would get others.
      await until(lines, 0);
      await kubectl("delete network-attachment-definitions,nodeippools --all --timeout=60s");
    });
    await kubectl("delete events --all");
    await runner.stop();
    expect(runner.broken).toEqual([]);
  });

  const kubectl = (args: string, input?: string) => cluster().kubectl(args.split(" "), input);
  const create = (object: Bag) => kubectl("create -f -", JSON.stringify(object));
  const served = (work: () => Promise<void>) => servedAs(user, work, { workloadAddresses: true });
  const until = (what: () => Promise<unknown>, expected: unknown) =>
    expect.poll(what, { timeout: 60_000, interval: 200 }).toEqual(expected);
  const createPool = (spec: Bag = {}) =>
    create(pool("lan", "10.0.0.0/24", "10.0.0.5", { gateway: "10.0.0.9", ...spec }));
  /** The spec of a pod as the API server makes it. */
  const dryRun = async (annotations: Bag = {}, spec: Bag = {}): Promise<Bag> => {
    const ownerReferences = [{ apiVersion: "apps/v1", kind: "StatefulSet", name: "x", uid: "x" }];
    const metadata = { name: "stray", labels: { [gate]: "gated" }, annotations, ownerReferences };
    const object = {
      apiVersion: "v1",
      kind: "Pod",
      metadata,
      spec: { containers: [{ name: "main", image: "main" }], ...spec },
    };
    return JSON.parse(await kubectl("create --dry-run=server -o json -f -", JSON.stringify(object))).spec;
  };
  /** `10.0.0.1 Running`, each pod. */
  const running = async () =>
    (await runner.pods())
      .filter((pod) => asBag(pod.metadata)?.deletionTimestamp === undefined)
      .map((pod) => `${ipsOf(pod).join().replace("/24", "")} ${asBag(pod.status)?.phase}`)
      .sort();
  const lines = async () => {
    const { allocations, releasing } = await kubernetes(kube, "nodeippool").read();
    return allocations.length + releasing.length;
  };
  const conflicts = () =>
    kubectl("get nodeippool lan -o jsonpath={.metadata.annotations.nodeippool\\.nmstate\\.io/conflicts}");
  const reason = () => kubectl("get nodeippool lan -o jsonpath={.status.conditions[0].reason}");
  const events = (of: string) => kubectl(`get events --field-selector reason=${of} -o jsonpath={.items[*].message}`);

  it("the API server adds the container, first of all, unless the pod is to look for nothing", async () => {
    const own = { initContainers: [{ name: "own", image: "own" }] };
    const [first, second] = asList((await dryRun({}, own)).initContainers).map((one) => asBag(one) ?? {});
    expect(second?.name).toBe("own");
    expect(first).toMatchObject({
      name: "nodeippool-detect",
      image: "nodeippool-detect:0.1.0",
      args: ["detect", "--checks=$(CHECKS)", "--gateway=$(GATEWAYS)"],
      securityContext: { runAsUser: 0, capabilities: { drop: ["ALL"], add: ["NET_RAW"] } },
      resources: { requests: { cpu: "10m", memory: "64Mi" } },
    });
    for (const none of ["none", " None "])
      expect((await dryRun({ "nodeippool.nmstate.io/detect": none })).initContainers).toBeUndefined();
    const written = { initContainers: [{ name: "nodeippool-detect", image: "mine" }] };
    expect((await dryRun({}, written)).initContainers).toMatchObject([{ image: "mine" }]);
  });

  it("a Deployment gets another address, and the pool says that this one is not to be had", async () => {
    await createPool({ detect: ["Conflict", "Gateway"] });
    await giveAddresses(network.other, ["10.0.0.1/24"]);
    await served(async () => {
      await create(workload("Deployment", "web", { replicas: 2, strategy: none }));
      await until(running, ["10.0.0.2 Running", "10.0.0.3 Running"]);
      await until(conflicts, `10.0.0.1 ${mac}`);
      await until(reason, "IPCollision");
      const said = `another host, with MAC address ${mac}, answers for 10.0.0.1 on net1`;
      await until(async () => (await events("IPConflict")).includes(said), true);
      await kubectl("scale deployment web --replicas=0");
      await until(running, []);
      await kubectl("delete deployment web");
      await until(lines, 0);
    });
    await served(async () => {
      await create(workload("StatefulSet", "db", { replicas: 1 }));
      await until(running, ["10.0.0.2 Running"]);
      expect(await conflicts()).toBe(`10.0.0.1 ${mac}`);
    });
  });

  it("a pod of a StatefulSet waits, and starts once the other host is gone; then the pool says nothing of it", async () => {
    await createPool();
    await giveAddresses(network.other, ["10.0.0.2/24"]);
    const asking = workload("StatefulSet", "db", { replicas: 2 });
    const annotations = { ...asking.spec.template.metadata.annotations, "nodeippool.nmstate.io/detect": "conflict" };
    const template = { ...asking.spec.template, metadata: { ...asking.spec.template.metadata, annotations } };
    await served(async () => {
      await create({ ...asking, spec: { ...asking.spec, template } });
      await until(conflicts, `10.0.0.2 ${mac}`);
      await until(running, ["10.0.0.1 Running", "10.0.0.2 Pending"]);
      await giveAddresses(network.other, []);
      await until(running, ["10.0.0.1 Running", "10.0.0.2 Running"]);
      await until(conflicts, "");
      await until(reason, "ReconciledPool");
    });
  });

  it("a pod of a Job fails, which counts all the same, and the next one has another address", async () => {
    await createPool({ detect: ["Conflict"] });
    await giveAddresses(network.other, ["10.0.0.1/24"]);
    const { metadata, spec } = workload("Deployment", "copy", {});
    const { template } = spec;
    const job = { template: { ...template, spec: { ...template.spec, restartPolicy: "Never" } } };
    await served(async () => {
      await create({ apiVersion: "batch/v1", kind: "Job", metadata, spec: job });
      await until(running, ["10.0.0.1 Failed", "10.0.0.2 Running"]);
      expect([await conflicts(), await reason()]).toEqual([`10.0.0.1 ${mac}`, "IPCollision"]);
      expect(await events("IPConflict")).toContain("The pod has failed, and the next one gets another address");
    });
  });

  it("pods to which nobody says what to look for start", async () => {
    await createPool();
    await giveAddresses(network.other, ["10.0.0.1/24"]);
    await served(async () => {
      await create(workload("Deployment", "web", { replicas: 1, strategy: none }));
      await until(running, ["10.0.0.1 Running"]);
    });
  });

  it("where the gateway is silent, pods wait, and nothing else happens", async () => {
    await createPool({ detect: ["Gateway"] });
    await giveAddresses(network.gateway, []);
    await served(async () => {
      await create(workload("Deployment", "web", { replicas: 1, strategy: none }));
      await until(
        async () => (await events("GatewayUnreachable")).includes("gateway 10.0.0.9 does not answer on net1"),
        true,
      );
      const before = (await runner.pods()).map(({ metadata }) => metadata.uid);
      await giveAddresses(network.gateway, ["10.0.0.9/24"]);
      await until(running, ["10.0.0.1 Running"]);
      expect((await runner.pods()).map(({ metadata }) => metadata.uid)).toEqual(before);
      expect(await conflicts()).toBe("");
    });
  });
});
