import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, expect, it } from "vitest";
import { findAccess, type KubeObject, type Objects, objectsOf } from "../../kube/index.ts";
import { asBag, type Bag } from "../../schema/objects.ts";
import { installNmstate } from "../support/cluster/kinds.ts";
import { addNodes } from "../support/cluster/nodes.ts";
import { clusterOfFile } from "../support/cluster/of-file.ts";
import { root } from "../support/console.ts";
import {
  accessWithout,
  ownAccess,
  prepareController,
  rightsIn,
  servedAs,
  withRefusals,
} from "../support/controller/rights.ts";
import { policy, pool } from "../support/objects/controller-objects.ts";

const nodes = { apiVersion: "v1", plural: "nodes" };
const gate = "gate.nodeippool.nmstate.io/a";

const cluster = clusterOfFile(
  async (started) => {
    await prepareController(started, [installNmstate], "fleet");
    await started.kubectl(["apply", "-f", join(root, "deploy/fleet/admission.yaml")]);
    await addNodes(started, "n1");
  },
  { flags: ["--feature-gates=WatchList=false", "--enable-admission-plugins=OwnerReferencesPermissionEnforcement"] },
);
let admin: Objects;
beforeAll(async () => {
  admin = objectsOf(findAccess({ kubeconfig: cluster().kubeconfig }));
  const objects = [pool("p", 1, 9), policy("a", "p", "eth1", { nodeSelector: {} })];
  for (const object of objects) await cluster().kubectl(["create", "-f", "-"], JSON.stringify(object));
  return () => admin.close();
});
const labels = async () => asBag((await admin.get<KubeObject & Bag>(nodes, "n1"))?.metadata)?.labels as Bag | undefined;

/** Everything that the controller made is gone, so that it makes it anew. */
async function clear(): Promise<void> {
  await cluster().kubectl(["delete", "nnce,nncp", "-l", "nodeippool.nmstate.io/policy=a", "--wait=true"]);
  await cluster().kubectl(["label", "node", "n1", `${gate}-`, "nodeippool.nmstate.io/retry-"]);
}

it("the controller gives a node its address and opens its gate with these rights", async () => {
  await servedAs(
    await ownAccess(cluster()),
    async () => {
      for (let i = 0; i < 200 && (await labels())?.[gate] === undefined; i++) await sleep(50);
      expect((await labels())?.[gate]).toBe("open");
    },
    { fleet: true },
  );
}, 60_000);

it.each(rightsIn("fleet"))("the fleet form needs: %s", async (right) => {
  await clear();
  const work = async (refused: ReadonlySet<string>) => {
    for (let i = 0; i < 400 && !refused.has(right) && (await labels())?.[gate] === undefined; i++) await sleep(50);
    expect([...refused].join(", ")).toContain(right);
  };
  await withRefusals(await accessWithout(right, "fleet", cluster()), work, { fleet: true });
});

const others: readonly (readonly [string, Bag])[] = [
  ["another label", { metadata: { labels: { "node-role.kubernetes.io/worker": "" } } }],
  ["a label of others with our prefix inside", { metadata: { labels: { "x.nodeippool.nmstate.io.evil/a": "b" } } }],
  ["the value of another label", { metadata: { labels: { "kubernetes.io/hostname": "n2" } } }],
  ["no label of others any more", { metadata: { labels: { "kubernetes.io/hostname": null } } }],
  ["an annotation", { metadata: { annotations: { a: "b" } } }],
  ["a finalizer", { metadata: { finalizers: ["example.org/a"] } }],
  ["a taint", { spec: { taints: [{ key: "a", effect: "NoSchedule" }] } }],
  ["unschedulable", { spec: { unschedulable: true } }],
];
it.each(others)("the controller's account cannot give a Node %s", async (_, patch) => {
  const own = objectsOf(await ownAccess(cluster()));
  await expect(own.patch(nodes, "n1", undefined, patch, { type: "merge" })).rejects.toThrow(/nodeippool changes no/);
  own.close();
});

it("its own labels it can change, and others can change all", async () => {
  const own = objectsOf(await ownAccess(cluster()));
  for (const value of ["open", null])
    await own.patch(nodes, "n1", undefined, { metadata: { labels: { [gate]: value } } }, { type: "merge" });
  own.close();
  for (const [, patch] of others.slice(4)) await admin.patch(nodes, "n1", undefined, patch, { type: "merge" });
});
