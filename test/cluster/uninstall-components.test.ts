import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, expect, it } from "vitest";
import { asBag } from "../../schema/objects.ts";
import {
  installClusterApi,
  installIpamClaims,
  installKubevirt,
  installNmstate,
  installWhereabouts,
} from "../support/cluster/kinds.ts";
import { clusterOfFile } from "../support/cluster/of-file.ts";
import { root } from "../support/console.ts";
import { ownAccess, servedAs } from "../support/controller/rights.ts";
import { lastCommandsOf, sectionOf, typeInto } from "../support/controller/uninstall.ts";
import { pool } from "../support/objects/ipam-claims.ts";
import { macvlanNetwork, vm } from "../support/objects/vm-objects.ts";
import { gate, singlePod } from "../support/objects/workload-objects.ts";
import { instanceOf, launcherOf } from "../support/real/virt-controller.ts";

const cluster = clusterOfFile(async (started) => {
  const kinds = [installNmstate, installClusterApi, installIpamClaims, installKubevirt, installWhereabouts];
  for (const install of kinds) await install(started);
  await started.startControllers("namespace-controller", "garbage-collector-controller");
  await started.kubectl(["create", "namespace", "metal3"]);
});

/** A reader's folder, with a kustomization that has every component. */
const folder = mkdtempSync(join(tmpdir(), "nodeippool-components-"));
cpSync(join(root, "deploy"), join(folder, "deploy"), { recursive: true });
const isComponent = (name: string) =>
  existsSync(join(root, "deploy", name, "kustomization.yaml")) && name !== "pod-addresses";
const components = readdirSync(join(root, "deploy")).filter(isComponent);
writeFileSync(
  join(folder, "kustomization.yaml"),
  `resources: [deploy, deploy/parking.yaml]\ncomponents: [${components.map((name) => `deploy/${name}`)}]\n`,
);
afterAll(() => rmSync(folder, { recursive: true }));

const kubectl = (args: string, input?: string) => cluster().kubectl(args.split(" "), input);
const create = (object: object) => kubectl("create -f -", JSON.stringify(object));
const type = (commands: string) => typeInto(cluster(), commands, folder);
const until = (what: () => Promise<unknown>, expected: unknown) =>
  expect.poll(what, { timeout: 30_000, interval: 200 }).toEqual(expected);

const { schedulingGates: _, ...ungated } = singlePod("any").spec;
const labelled = (name: string) => ({ ...singlePod(name), spec: ungated });
/** Without its owner, which is not there: the garbage collector would delete it. */
const launcher = (name: string) => {
  const { metadata, ...pod } = launcherOf(instanceOf(vm(name, { red: "red" })), "x");
  return { ...pod, metadata: { ...asBag(metadata), ownerReferences: [] } };
};
const policy = {
  apiVersion: "nmstate.io/v1",
  kind: "NodeNetworkConfigurationPolicy",
  metadata: { name: "static-ip" },
  spec: { capture: { a: "ippool.lan.allocate" }, desiredState: {} },
};

/** Returns what the API server would add to new objects: gates to two pods, and a node selector to a policy. */
async function held(): Promise<string[]> {
  const texts = [labelled("new"), launcher("new"), policy].map((object) =>
    kubectl("create --dry-run=server -o json -f -", JSON.stringify(object)),
  );
  const specs = (await Promise.all(texts)).map((text) => JSON.parse(text).spec);
  return specs.flatMap(({ schedulingGates = [], nodeSelector = {} }) => [
    ...schedulingGates.map(({ name }: { readonly name: string }) => name),
    ...Object.keys(nodeSelector),
  ]);
}

const finalizers = async () => {
  const kinds = "nodeippools,ipamclaims,ipaddressclaims.ipam.cluster.x-k8s.io,ipaddresses.ipam.cluster.x-k8s.io";
  const text = await kubectl(`get ${kinds} -A -o jsonpath={.items[*].metadata.finalizers[*]}`);
  return [...new Set(text.split(" ").filter((name) => name.startsWith("nmstate.io/")))].sort();
};

beforeEach(async () => {
  await type("kubectl apply -k .");
  await until(held, [gate, gate, "nmstate.io/ippool-template"]);
  await create(pool("lan", "10.0.0.0/24"));
  await create(macvlanNetwork("red", "lan"));
  await create(vm("vm-a", { red: "red" }));
  await create({
    apiVersion: "ipam.cluster.x-k8s.io/v1beta2",
    kind: "IPAddressClaim",
    metadata: { name: "machine-a", namespace: "default" },
    spec: { poolRef: { apiGroup: "nmstate.io", kind: "NodeIPPool", name: "lan" } },
  });
  const roles = { clusterApi: "v1beta2", ipamClaims: true, vmClaims: true, vmAddresses: true } as const;
  const all = { ...roles, workloadAddresses: true, metal3: "metal3", nodeSlices: "kube-system" };
  const names = ["nodeippool-in-use", "protect-address", "release-address", "release-addresses", "used-by-vm"];
  await servedAs(
    await ownAccess(cluster()),
    () =>
      until(
        finalizers,
        names.map((name) => `nmstate.io/${name}`),
      ),
    all,
  );
  for (const pod of [labelled("waiting"), launcher("waiting")]) await create(pod);
});

const part = (title: string) => sectionOf("uninstall", title);
/** The commands of the pages of the components, as the page lists them. */
const ofComponents = () => part("What the components leave").linked.map(lastCommandsOf);
const parking = "kubectl delete -f deploy/parking.yaml";

const orders: Readonly<Record<string, () => readonly string[]>> = {
  "as the page says": () => [part("First").commands, ...ofComponents(), part("The controller").commands, parking],
  "with the components forgotten at first": () => [
    'kubectl patch nodeippool lan --type=merge -p \'{"metadata":{"finalizers":null}}\'',
    "kubectl delete -k deploy/",
    ...ofComponents().toReversed(),
    part("The controller").commands.split("\n").slice(2).join("\n"),
    parking,
  ],
};

it.each(Object.keys(orders))("uninstalled %s, it leaves no object that waits, and no right", async (order) => {
  for (const commands of orders[order]?.() ?? []) {
    await type(commands);
    const role = "get clusterrole nodeippool-controller --ignore-not-found -o name";
    if ((await kubectl(role)) === "") await until(held, []);
  }
  await until(held, []);
  expect(await kubectl("get pods -A -o jsonpath={.items[*].spec.schedulingGates}")).toBe("");
  expect(await finalizers().catch(() => [])).toEqual([]);
  const kinds = ["clusterroles", "clusterrolebindings", "roles", "rolebindings", "namespaces", "crds"];
  const policies = ["mutatingadmissionpolicies", "validatingadmissionpolicies"];
  const bindings = ["mutatingadmissionpolicybindings", "validatingadmissionpolicybindings"];
  const all = [...kinds, ...policies, ...bindings].join();
  await until(() => kubectl(`get ${all} -A -o name -l app.kubernetes.io/name=nodeippool`), "");
  // Each can be deleted: nothing waits for a controller that is gone.
  const owned = "virtualmachines,ipamclaims,ipaddressclaims.ipam.cluster.x-k8s.io,ipaddresses.ipam.cluster.x-k8s.io";
  await kubectl(`delete ${owned},network-attachment-definitions,pods --all --timeout=20s --ignore-not-found`);
});
