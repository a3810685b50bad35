import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, describe, expect, it } from "vitest";
import type { LogEvent } from "../../controller/ground.ts";
import { formatBlock } from "../../core/index.ts";
import { type Access, findAccess, type KubeObject, type Objects, objectsOf, type Resource } from "../../kube/index.ts";
import { asBag, asList, type Bag } from "../../schema/objects.ts";
import { kubernetes } from "../../state/kubernetes/backend.ts";
import { installNodeIPPool, installWhereabouts } from "../support/cluster-kinds.ts";
import { clusterOfFile } from "../support/cluster-of-file.ts";
import { root } from "../support/console.ts";
import { withController } from "../support/controller-run.ts";
import { hurried } from "../support/controller-timing.ts";
import { WhereaboutsCni } from "../support/whereabouts-cni.ts";
import { attachment, slicePool } from "../support/whereabouts-objects.ts";

const nodes: Resource = { apiVersion: "v1", plural: "nodes" };
const definitions: Resource = { apiVersion: "k8s.cni.cncf.io/v1", plural: "network-attachment-definitions" };
const pools: Resource = { apiVersion: "whereabouts.cni.cncf.io/v1alpha1", plural: "nodeslicepools" };
const events: Resource = { apiVersion: "v1", plural: "events" };

type Any = KubeObject & Bag;

/** With the rights that deploy/ gives, and no others: whatever is refused fails the test. */
describe("the slices that the controller gives, on a real API server with the real whereabouts", () => {
  const cluster = clusterOfFile(async (started) => {
    await installNodeIPPool(started);
    await installWhereabouts(started);
    await started.kubectl(["create", "namespace", "nodeippool"]);
    for (const path of ["rbac.yaml", "node-slices/rbac.yaml"])
      await started.kubectl(["apply", "-f", join(root, "deploy", path)]);
  });
  let kube: Objects;
  let user: Access;
  let cni: WhereaboutsCni;
  beforeAll(async () => {
    const admin = findAccess({ kubeconfig: cluster().kubeconfig });
    kube = objectsOf(admin);
    const token = await cluster().kubectl(["create", "token", "nodeippool-controller", "-n", "nodeippool"]);
    user = { ...admin, user: { token: token.trim() } };
    cni = await WhereaboutsCni.on(cluster());
    return () => kube.close();
  });

  async function served(work: () => Promise<void>): Promise<void> {
    const refused: string[] = [];
    const log = ({ error }: LogEvent) => {
      if (/cannot \w+ resource/.test(`${error}`)) refused.push(`${error}`);
    };
    // The kinds of kubernetes-nmstate are not there: the watches of them wait.
    await withController(user, work, { log, timing: hurried, nodeSlices: "kube-system" });
    expect(refused).toEqual([]);
  }

  async function joins(name: string): Promise<void> {
    const node = await kube.create(nodes, { apiVersion: "v1", kind: "Node", metadata: { name } });
    const status = { conditions: [{ type: "Ready", status: "True", reason: "Test", message: "" }] };
    await kube.patch(nodes, node.metadata.name, undefined, { status }, { type: "merge", subresource: "status" });
  }
  const leave = (name: string) => cluster().kubectl(["delete", "node", name]);
  const listed = async (network: string) => {
    const pool = await kube.get<Any>(pools, network, "kube-system");
    if (pool === undefined) return undefined;
    const allocations = asList(asBag(pool.status)?.allocations).map((one) => asBag(one) ?? {});
    return allocations.map(({ nodeName, sliceRange }) => `${nodeName} ${sliceRange}`);
  };
  const releasing = async () => {
    const { releasing: lines } = await kubernetes(kube, "nodeippool").read();
    return lines.map((line) => `${formatBlock(line)} ${line.claim}`);
  };
  const saysOf = async (name: string, reason: string) => {
    const all = await kube.list<Any>(events, { namespace: "default" });
    return all.some((one) => asBag(one.involvedObject)?.name === name && one.reason === reason);
  };

  async function until(what: () => Promise<unknown>, expected: unknown): Promise<void> {
    const end = Date.now() + 25_000;
    let found = await what();
    while (JSON.stringify(found) !== JSON.stringify(expected) && Date.now() < end) {
      await sleep(100);
      found = await what();
    }
    expect(found).toEqual(expected);
  }

  it("pods get addresses of them; who waits gets that of a node whose pods are gone; the last one ends with its network", async () => {
    const net = attachment("net", { range: "10.1.0.0/23", node_slice_size: "/24" });
    const [a, b] = [
      { node: "n1", pod: "a" },
      { node: "n2", pod: "b" },
    ];
    await served(async () => {
      for (const name of ["n1", "n2"]) await joins(name);
      await kube.create(definitions, net as Any);
      await until(() => listed("net"), ["n1 10.1.0.0/24", "n2 10.1.1.0/24"]);
      expect(await cni.add(net, a)).toEqual({ address: "10.1.0.1/23" });
      expect(await cni.add(net, b)).toEqual({ address: "10.1.1.1/23" });
      await joins("n3");
      await until(() => saysOf("net", "ExhaustedIPPool"), true);
      await leave("n1");
      await until(releasing, ["10.1.0.0/24 Node/n1/net"]);
      // Longer than it takes where no pod has an address.
      await sleep(2 * hurried.hold);
      expect(await listed("net")).toEqual(["n1 10.1.0.0/24", "n2 10.1.1.0/24"]);
      expect(await cni.del(net, a)).toBe("");
      await until(() => listed("net"), ["n3 10.1.0.0/24", "n2 10.1.1.0/24"]);
      expect(await cni.add(net, { node: "n3", pod: "c" })).toEqual({ address: "10.1.0.1/23" });
      for (const pod of [b, { node: "n3", pod: "c" }]) expect(await cni.del(net, pod)).toBe("");
      await cluster().kubectl(["delete", "network-attachment-definition", "net"]);
      await until(() => listed("net"), undefined);
      for (const name of ["n2", "n3"]) await leave(name);
    });
  });

  it("that whereabouts' controller gave before stay where they are", async () => {
    const net = attachment("stock", { range: "10.2.0.0/22", node_slice_size: "/24" });
    const stock = slicePool("stock", "10.2.0.0/22", "/24", { n5: "10.2.2.0/24", n4: "10.2.1.0/24" }, ["10.2.0.0/24"]);
    await kube.create(pools, stock as Any);
    for (const name of ["n4", "n5", "n6"]) await joins(name);
    expect(await cni.add(net, { node: "n5", pod: "before" })).toEqual({ address: "10.2.2.1/22" });
    await kube.create(definitions, net as Any);
    await served(async () => {
      await until(() => listed("stock"), ["n6 10.2.0.0/24", "n4 10.2.1.0/24", "n5 10.2.2.0/24"]);
      expect(await cni.add(net, { node: "n5", pod: "after" })).toEqual({ address: "10.2.2.2/22" });
    });
  });
});
