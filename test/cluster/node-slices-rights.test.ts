import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, describe, expect, it } from "vitest";
import { findAccess, type KubeObject, type Objects, objectsOf, type Resource } from "../../kube/index.ts";
import { resetAnnotation } from "../../schema/node-ip-pool.ts";
import { asBag, asList, type Bag } from "../../schema/objects.ts";
import { installWhereabouts } from "../support/cluster/kinds.ts";
import { clusterOfFile } from "../support/cluster/of-file.ts";
import { accessWithout, prepareController, rightsIn, withRefusals } from "../support/controller/rights.ts";
import { attachment } from "../support/objects/whereabouts-objects.ts";

type Any = KubeObject & Bag;

const nodes: Resource = { apiVersion: "v1", plural: "nodes" };
const definitions: Resource = { apiVersion: "k8s.cni.cncf.io/v1", plural: "network-attachment-definitions" };
const pools: Resource = { apiVersion: "whereabouts.cni.cncf.io/v1alpha1", plural: "nodeslicepools" };
const namespace = "kube-system";

describe("node slices need each of the rights of deploy/node-slices", () => {
  // A streamed list asks for the right to watch alone; servers up to 1.31, and 1.33, have none.
  const cluster = clusterOfFile(
    async (started) => {
      await prepareController(started, [installWhereabouts], "node-slices");
    },
    { flags: ["--feature-gates=WatchList=false"] },
  );
  let kube: Objects;
  beforeAll(() => {
    kube = objectsOf(findAccess({ kubeconfig: cluster().kubeconfig }));
    return () => kube.close();
  });

  async function joins(name: string): Promise<void> {
    await kube.create(nodes, { apiVersion: "v1", kind: "Node", metadata: { name } });
    const status = { conditions: [{ type: "Ready", status: "True", reason: "Test", message: "" }] };
    await kube.patch(nodes, name, undefined, { status }, { type: "merge", subresource: "status" });
  }

  const listed = async () => {
    const pool = await kube.get<Any>(pools, "net", namespace);
    return pool && asList(asBag(pool.status)?.allocations).map((one) => asBag(one)?.nodeName);
  };

  it.each(rightsIn("node-slices"))("%s", async (right) => {
    const reached = async (refused: ReadonlySet<string>, nodesListed: readonly string[] | undefined) => {
      const isReached = async () => JSON.stringify(await listed()) === JSON.stringify(nodesListed);
      for (let i = 0; i < 300 && !refused.has(right) && !(await isReached()); i++) await sleep(100);
    };
    const work = async (refused: ReadonlySet<string>) => {
      await joins("n1");
      await kube.create(definitions, attachment("net", { range: "10.1.0.0/22", node_slice_size: "/24" }) as Any);
      await reached(refused, ["n1"]);
      await joins("n2");
      await reached(refused, ["n1", "n2"]);
      await cluster().kubectl(["annotate", "network-attachment-definition", "net", `${resetAnnotation}=`]);
      await cluster().kubectl(["delete", "node", "n1"]);
      await reached(refused, ["n2"]);
      await cluster().kubectl(["delete", "network-attachment-definition", "net"]);
      await reached(refused, undefined);
      expect([...refused]).toContain(right);
    };
    try {
      await withRefusals(await accessWithout(right, "node-slices", cluster()), work, { nodeSlices: namespace });
    } finally {
      for (const kind of ["nodes", "network-attachment-definitions"])
        await cluster().kubectl(["delete", kind, "--all", "--ignore-not-found"]);
      await cluster().kubectl(["delete", "nodeslicepools", "--all", "-n", namespace]);
      await cluster().kubectl(["delete", "configmaps", "--all", "-n", "nodeippool"]);
    }
  });
});
