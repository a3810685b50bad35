import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, expect, it, onTestFinished } from "vitest";
import { findAccess, type KubeObject, type Objects, objectsOf } from "../../kube/index.ts";
import { asBag, asList, type Bag } from "../../schema/objects.ts";
import {
  installClusterApi,
  installIpamClaims,
  installKubevirt,
  installNmstate,
  installNodeIPPool,
} from "../support/cluster/kinds.ts";
import { startFaultProxy } from "../support/cluster/proxy.ts";
import { type Mutate, startWebhook } from "../support/controller/hostile-webhook.ts";
import { stageOfFile } from "../support/controller/stage-of-file.ts";
import { typeInto } from "../support/controller/uninstall.ts";
import { policy, pool } from "../support/objects/controller-objects.ts";
import { claim as ipamClaim } from "../support/objects/ipam-claims.ts";
import { macvlanNetwork, vm } from "../support/objects/vm-objects.ts";
import { gate, networksKey, singlePod, workload } from "../support/objects/workload-objects.ts";
import { instanceOf, launcherOf } from "../support/real/virt-controller.ts";

// Programs that undo what the controller writes, each time.

const { cluster, stage } = stageOfFile(async (started) => {
  const kinds = [installNmstate, installNodeIPPool, installClusterApi, installIpamClaims, installKubevirt];
  for (const install of kinds) await install(started);
});
let kube: Objects;
beforeAll(() => {
  kube = objectsOf(findAccess({ kubeconfig: cluster().kubeconfig }));
  return () => kube.close();
});

const ipam = "ipam.cluster.x-k8s.io";
const rules = [
  { group: "nmstate.io", resources: ["nodenetworkconfigurationpolicies", "nodeippools", "nodeippools/status"] },
  { group: ipam, resources: ["ipaddresses", "ipaddressclaims", "ipaddressclaims/status"] },
  { group: "k8s.cni.cncf.io", resources: ["ipamclaims", "ipamclaims/status"] },
  { group: "", resources: ["pods", "configmaps"] },
];
let stamp = 0;

/** Changes metadata; each write of the controller is a change then, as with the webhook of kubernetes-nmstate. */
const marked =
  (change: Bag): Mutate =>
  (object) => {
    const { annotations, ...others } = asBag(object.metadata) ?? {};
    const { annotations: changed, ...rest } = change;
    const marks = { ...asBag(annotations), ...asBag(changed), stamp: `${++stamp}` };
    return { ...object, metadata: { ...others, ...rest, annotations: marks } };
  };
const specified =
  (spec: Bag): Mutate =>
  (object) =>
    marked({})({ ...object, spec: { ...asBag(object.spec), ...spec } });
const reported =
  (status: () => Bag): Mutate =>
  (object) =>
    object.status === undefined ? object : { ...object, status: { ...asBag(object.status), ...status() } };
const ofOthers = (type: string) => () => ({
  conditions: [
    { type, status: "False", reason: "Other", message: `${++stamp}`, lastTransitionTime: "2026-01-01T00:00:00Z" },
  ],
});
/** As virt-controller lists the networks of a pod: without addresses. */
const withoutIps: Mutate = (object) => {
  const elements: Bag[] = JSON.parse(`${asBag(asBag(object.metadata)?.annotations)?.[networksKey]}`);
  return marked({ annotations: { [networksKey]: JSON.stringify(elements.map(({ ips: _, ...one }) => one)) } })(object);
};

interface Hostile {
  readonly mutate: Mutate;
  /** The object that has the Event, and what that says. */
  readonly about: string;
  readonly says: RegExp;
}

/** By the object that is changed each time it is written. */
const hostile: Readonly<Record<string, Hostile>> = {
  "a--n1": {
    mutate: (object) => {
      const labels = { ...asBag(asBag(object.metadata)?.labels), "nodeippool.nmstate.io/node": "x" };
      return marked({ labels })(object);
    },
    about: "a",
    says: /webhook or policy changes metadata\.labels\[nodeippool\.nmstate\.io\/node\] of nodenetworkconfigurationpolicies a--n1/,
  },
  "b--n1": {
    mutate: specified({ nodeSelector: { "kubernetes.io/hostname": "x" } }),
    about: "b",
    says: /webhook or policy changes spec\.nodeSelector\[kubernetes\.io\/hostname\] of nodenetworkconfigurationpolicies b--n1/,
  },
  p: { mutate: marked({ finalizers: [] }), about: "p", says: /changes metadata\.finalizers of nodeippools p/ },
  q: {
    mutate: reported(ofOthers("Available")),
    about: "q",
    says: /changes status\.conditions of nodeippools q \(status\)/,
  },
  "IPAddress/unlabelled": {
    mutate: marked({ labels: {} }),
    about: "unlabelled",
    says: /changes metadata\.labels\[app\.kubernetes\.io\/managed-by\] of ipaddresses unlabelled/,
  },
  "IPAddress/unowned": {
    mutate: marked({ ownerReferences: [] }),
    about: "unowned",
    says: /changes metadata\.ownerReferences of ipaddresses unowned/,
  },
  "IPAddress/longer": {
    mutate: specified({ prefix: 25 }),
    about: "longer",
    says: /webhook or policy changes spec\.prefix of ipaddresses longer when the controller writes it/,
  },
  "IPAddress/other": {
    mutate: specified({ address: "10.0.5.99" }),
    about: "other",
    says: /webhook or policy changes spec\.address of ipaddresses other when the controller writes it/,
  },
  "IPAddressClaim/unready": {
    mutate: reported(ofOthers("Ready")),
    about: "unready",
    says: /changes status\.conditions of ipaddressclaims unready \(status\)/,
  },
  "IPAddressClaim/free": {
    mutate: marked({ finalizers: [] }),
    about: "free",
    says: /changes metadata\.finalizers of ipaddressclaims free/,
  },
  "IPAMClaim/c.red": {
    mutate: reported(() => ({ ips: [] })),
    about: "c.red",
    says: /changes status\.ips of ipamclaims c\.red \(status\)/,
  },
  "ConfigMap/nodeippool-web": {
    mutate: (object) => ({ ...object, data: { other: `${++stamp}` } }),
    about: "web",
    says: /changes data\.web-0 of configmaps nodeippool-web/,
  },
  "Pod/bare": {
    mutate: marked({ annotations: { [networksKey]: "red" } }),
    about: "bare",
    says: /changes metadata\.annotations\[k8s\.v1\.cni\.cncf\.io\/networks\] of pods bare/,
  },
  "Pod/gated": {
    mutate: specified({ schedulingGates: [{ name: gate }] }),
    about: "gated",
    says: /changes spec\.schedulingGates of pods gated/,
  },
  "Pod/virt-launcher-vm-1": {
    mutate: withoutIps,
    about: "virt-launcher-vm-1",
    says: /changes metadata\.annotations\[k8s\.v1\.cni\.cncf\.io\/networks\] of pods virt-launcher-vm-1/,
  },
};
const undo: Mutate = (object) => {
  const name = `${asBag(object.metadata)?.name}`;
  return (hostile[`${object.kind}/${name}`] ?? hostile[name])?.mutate(object) ?? object;
};

const addressClaim = (name: string) => ({
  apiVersion: `${ipam}/v1beta2`,
  kind: "IPAddressClaim",
  metadata: { name, namespace: "default" },
  spec: { poolRef: { apiGroup: "nmstate.io", kind: "NodeIPPool", name: "machines" } },
});

/** The claims on `machines`, by name; `free` never gets our finalizer, and so no address. */
const machines = ["good", "taken", "unlabelled", "unowned", "longer", "other", "unready"];

/** Owners of each kind, one for each of the hostile programs, and two that no program touches. */
async function ask(): Promise<void> {
  const pools = [pool("p", 1, 9), pool("q", 2, 9), pool("r", 3, 9), pool("s", 4, 9)];
  await stage().apply(...pools, pool("machines", 5, 90), pool("lan", 6, 90), macvlanNetwork("red", "lan"));
  await stage().apply(policy("a", "p"), policy("b", "q", "eth2"), policy("c", "r", "eth3"), policy("d", "s", "eth4"));
  const web = workload("StatefulSet", "web", { replicas: 1 });
  await stage().apply(...[...machines, "free"].map(addressClaim), ipamClaim("c.red"), vm("vm", { red: "red" }), web);
  for (const name of ["bare", "gated", "fine"]) await stage().kubectl("create -f -", JSON.stringify(singlePod(name)));
  const machine = await kube.get<KubeObject & Bag>(
    { apiVersion: "kubevirt.io/v1", plural: "virtualmachines" },
    "vm",
    "default",
  );
  const made = await stage().kubectl("create -o json -f -", JSON.stringify(instanceOf(machine ?? {})));
  await stage().kubectl("create -f -", JSON.stringify(launcherOf(JSON.parse(made), "1", [gate])));
}

/** Somebody takes an IPAddress of the controller into a set of their own, removes our label, and prunes it. */
async function prune(name: string): Promise<void> {
  const set = "KUBECTL_APPLYSET=true kubectl apply --prune --applyset=configmaps/theirs -n default -f -";
  const object = JSON.parse(await stage().kubectl(`get ipaddresses.${ipam} ${name} -o json`));
  const theirs = (labels: Bag) =>
    JSON.stringify({ ...object, metadata: { name, namespace: "default", labels }, status: undefined });
  const own = JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "own", namespace: "default" } });
  for (const text of [theirs(object.metadata.labels), theirs({}), own])
    await typeInto(cluster(), `${set} <<'E'\n${text}\nE`);
}

it("what other programs undo is written again with growing pauses, one Event says so, and all others are served", async () => {
  const stopWebhook = await startWebhook(cluster(), rules, undo);
  onTestFinished(stopWebhook);
  const proxy = await startFaultProxy(cluster());
  onTestFinished(() => proxy.close());
  const flags = { clusterApi: "v1beta2", ipamClaims: true, vmClaims: true, vmAddresses: true } as const;
  stage().controller({ kubeconfig: proxy.kubeconfig, flags: { ...flags, workloadAddresses: true } });
  await stage().join("n1", "n2");
  const ending = new AbortController();
  onTestFinished(() => ending.abort());
  let deletions = 0;
  const deleting = (async () => {
    while (!ending.signal.aborted) {
      deletions++;
      await cluster().kubectl(["delete", "nncp", "c--n1", "--ignore-not-found", "--wait=false"]);
      await sleep(500);
    }
  })();
  const [began, first] = [Date.now(), proxy.requests.length];
  await ask();
  const available = '{.status.conditions[?(@.type=="Available")].status}';
  const ready = '{.status.conditions[?(@.type=="Ready")].status}';
  for (const [what, path] of [
    ["nncp d", available],
    [`ipaddressclaims.${ipam} good`, ready],
    [`ipaddressclaims.${ipam} taken`, ready],
  ] as const)
    await stage().until(() => stage().says(what, path), "True");
  await prune("taken");
  const contested = ["c", ...Object.values(hostile).map(({ about }) => about)].sort();
  const query = `get events -n default --field-selector reason=ChangedBack -o jsonpath={.items[*].involvedObject.name}`;
  const toldAbout = async () => [...new Set((await stage().kubectl(query)).split(" "))].sort();
  await stage().until(toldAbout, contested, 60_000);
  await sleep(Math.max(0, 20_000 - (Date.now() - began)));
  ending.abort();
  await deleting;

  const isWrite = (one: string) => !/^(GET|WATCH) |\/events\b|\/namespaces\/stage-/.test(one);
  const writes = proxy.requests
    .slice(first)
    .filter(isWrite)
    .map((one) => one.replace(/\?.*/, ""));
  const often = Map.groupBy(writes, (one) => one);
  // The status of c follows its child, which goes and comes back: each is another decision.
  // Other statuses follow counts of lines and nodes, which change a few times, too.
  const most = (one: string) => {
    if (one.endsWith("/c/status")) return 2 * deletions;
    return (one.endsWith("/status") ? 15 : 10) * Math.ceil((Date.now() - began) / 60_000);
  };
  const many = [...often]
    .filter(([one, { length }]) => !one.startsWith("POST") && length > most(one))
    .map(([one]) => one);
  expect(many).toEqual([]);
  const events = JSON.parse(await stage().kubectl("get events -n default -o json")).items as Bag[];
  const said = Map.groupBy(
    events.filter(({ reason }) => reason === "ChangedBack"),
    ({ involvedObject }) => `${asBag(involvedObject)?.name}`,
  );
  const saysOf = (about: string) => asList(said.get(about)).map((one) => asBag(one)?.message);
  for (const { about, says } of Object.values(hostile))
    expect([about, saysOf(about)]).toEqual([about, [expect.stringMatching(says)]]);
  expect(saysOf("c")).toEqual([expect.stringMatching(/deletes nodenetworkconfigurationpolicies c--n1/)]);
  expect([...said.keys()].sort()).toEqual(contested);
  // None is deleted and made again because of a webhook.
  expect(often.get(`POST /apis/${ipam}/v1beta2/namespaces/default/ipaddresses`)).toHaveLength(machines.length);
  const pruned = `{.metadata.deletionTimestamp}{.metadata.labels.app\\.kubernetes\\.io/managed-by}{.spec.address}`;
  expect(await stage().says(`ipaddresses.${ipam} taken`, pruned)).toMatch(/^\S+Znodeippool-controller10\.0\.5\.\d+$/);
  const message = '{.status.conditions[?(@.type=="Ready")].message}';
  expect(await stage().says(`ipaddressclaims.${ipam} taken`, message)).toMatch(/is being deleted/);
  await stopWebhook();
}, 200_000);
