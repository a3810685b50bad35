import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { Bag } from "../../schema/objects.ts";
import { installWhereabouts } from "../support/cluster/kinds.ts";
import { clusterOfFile } from "../support/cluster/of-file.ts";
import { root } from "../support/console.ts";
import { prepareController } from "../support/controller/rights.ts";
import { SlicesStage, until } from "../support/controller/slices-stage.ts";
import { hurried } from "../support/controller/timing.ts";
import { attachment, selecting } from "../support/objects/whereabouts-objects.ts";
import { WhereaboutsCni } from "../support/real/whereabouts-cni.ts";
import { WhereaboutsDaemon } from "../support/real/whereabouts-daemons.ts";
import { goModule } from "../support/tools/go-module.ts";
import { tool } from "../support/tools/tools.ts";

const page = readFileSync(join(root, "docs/node-slices-controller.md"), "utf8");
/** The commands of a section, in blocks. */
function blocksOf(section: string): string[] {
  const [, text = ""] = page.split(`## ${section}\n`);
  const [own = ""] = text.split(/^## /m);
  return [...own.matchAll(/```sh\n(.*?)```/gs)].map(([, block = ""]) => block);
}

const [there = "", back = ""] = blocksOf("From the controller of whereabouts, and back");
const [free = ""] = blocksOf("When a slice is not free");

describe("the slices that the controller gives, on a real API server with the real whereabouts", () => {
  const cluster = clusterOfFile((started) => prepareController(started, [installWhereabouts], "node-slices"));
  let stage: SlicesStage;
  let cni: WhereaboutsCni;
  beforeAll(async () => {
    stage = await SlicesStage.on(cluster());
    cni = await WhereaboutsCni.on(cluster());
    return () => stage.kube.close();
  });
  const kubectl = (args: string, input?: string) => cluster().kubectl(args.split(" "), input);

  /** Runs commands as a reader of the page does. */
  async function type(commands: string, cwd = root): Promise<void> {
    const path = [dirname(await tool("kubectl")), process.env.PATH].join(delimiter);
    const env = { ...process.env, PATH: path, KUBECONFIG: cluster().kubeconfig };
    await promisify(execFile)("bash", ["-euc", commands], { cwd, env, timeout: 120_000 });
  }

  it("A2.3, A2.4, A2.5: pods get addresses of them; who waits gets that of a node whose pods are gone; the last one ends with its network", async () => {
    const net = attachment("net", { range: "10.1.0.0/23", node_slice_size: "/24" });
    const [a, b] = [
      { node: "n1", pod: "a" },
      { node: "n2", pod: "b" },
    ];
    const listed = () => stage.listed("net");
    await stage.served(async () => {
      await stage.joins("n1", "n2");
      await stage.define(net);
      await until(listed, ["n1 10.1.0.0/24", "n2 10.1.1.0/24"]);
      expect(await cni.add(net, a)).toEqual({ address: "10.1.0.1/23" });
      expect(await cni.add(net, b)).toEqual({ address: "10.1.1.1/23" });
      await stage.joins("n3");
      await until(async () => (await stage.said("net", "ExhaustedIPPool")).length, 1);
      await stage.leaves("n1");
      await until(() => stage.releasing(), ["10.1.0.0/24 Node/n1/net"]);
      // Longer than it takes where no pod has an address.
      await sleep(2 * hurried.hold);
      expect(await listed()).toEqual(["n1 10.1.0.0/24", "n2 10.1.1.0/24"]);
      expect(await cni.del(net, a)).toBe("");
      await until(listed, ["n3 10.1.0.0/24", "n2 10.1.1.0/24"]);
      expect(await cni.add(net, { node: "n3", pod: "c" })).toEqual({ address: "10.1.0.1/23" });
      for (const pod of [b, { node: "n3", pod: "c" }]) expect(await cni.del(net, pod)).toBe("");
      await stage.undefine("net");
      await until(listed, undefined);
      for (const name of ["n2", "n3"]) await stage.leaves(name);
    });
  });

  it("W15, A2.15: go to the nodes that a network selects; a node that it selects no more loses its own after its last pod", async () => {
    const ipam = { range: "10.2.0.0/24", node_slice_size: "/26", enable_overlapping_ranges: false };
    const net = attachment("some", ipam);
    const plane = "node-role.kubernetes.io/control-plane";
    const [pod, late] = [
      { node: "cp", pod: "a" },
      { node: "cp", pod: "late" },
    ];
    const listed = () => stage.listed("some");
    onTestFinished(async () => {
      await stage.undefine("some");
      for (const name of ["cp", "w1", "w2"]) await stage.leaves(name);
    });
    await stage.served(async () => {
      await stage.joins("cp", "w1", "w2");
      await stage.label("cp", { [plane]: "" });
      await stage.label("w2", { [plane]: "" });
      await stage.define(net);
      await until(listed, ["cp 10.2.0.0/26", "w1 10.2.0.64/26", "w2 10.2.0.128/26"]);
      expect(await cni.add(net, pod)).toEqual({ address: "10.2.0.1/24" });
      await stage.change("some", selecting(`!${plane}`, net));
      // No pod has an address of this one.
      await until(listed, ["cp 10.2.0.0/26", "w1 10.2.0.64/26"]);
      await until(() => stage.releasing(), []);
      expect(await listed()).toEqual(["cp 10.2.0.0/26", "w1 10.2.0.64/26"]);
      expect((await cni.add(net, { node: "w2", pod: "b" })).error).toBe("ended with 2");
      expect(await cni.del(net, pod)).toBe("");
      await until(listed, ["w1 10.2.0.64/26"]);
      expect(await stage.releasing()).toEqual(["10.2.0.0/26 Node/cp/some"]);
      expect((await cni.add(net, late)).error).toBe("ended with 2");
      // So a pod that could not start cannot end, either.
      expect(await cni.del(net, late)).toMatch(/panic: .*nil pointer dereference/);
      await until(() => stage.releasing(), []);
      await stage.label("w2", { [plane]: null });
      await until(listed, ["w2 10.2.0.0/26", "w1 10.2.0.64/26"]);
      expect(await cni.add(net, { node: "w2", pod: "b" })).toEqual({ address: "10.2.0.1/24" });
      expect(await cni.del(net, { node: "w2", pod: "b" })).toBe("");
    });
  });

  it("forty pods of forty nodes at once; nodes are replaced, and what dead ones leave is freed by whereabouts' reconciler, or by hand", async () => {
    const ipam = { range: "10.40.0.0/16", range_end: "10.40.39.255", node_slice_size: "/24" };
    const net = attachment("forty", { ...ipam, enable_overlapping_ranges: true });
    onTestFinished(() => stage.undefine("forty"));
    const nodes = Array.from({ length: 40 }, (_, i) => `worker-${i}`);
    const given = new Map<string, string>();
    const add = async (node: string, pod = `pod-${node}`) => {
      const { address = "", error } = await cni.add(net, { node, pod });
      expect(error).toBeUndefined();
      // Never one that a pod has, be its node alive or dead.
      expect([...given.values()]).not.toContain(address);
      given.set(pod, address);
      return address;
    };
    await stage.served(async () => {
      await stage.joins(...nodes);
      await stage.define(net);
      await until(async () => Object.keys(await stage.slices("forty")).length, 40);
      const slices = await stage.slices("forty");
      await Promise.all(nodes.map((node) => add(node)));
      for (const node of nodes) expect(given.get(`pod-${node}`)).toBe(slices[node]?.replace("0/24", "1/16"));
      await kubectl(
        "create -f -",
        JSON.stringify({ apiVersion: "v1", kind: "List", items: nodes.map((node) => podOn(node, given)) }),
      );

      // A machine of the same name.
      await stage.leaves("worker-2");
      await stage.joins("worker-2");
      await until(async () => (await stage.slices("forty"))["worker-2"], slices["worker-2"]);
      expect(await add("worker-2", "next")).toBe(slices["worker-2"]?.replace("0/24", "2/16"));

      // Machines of other names: there is no slice for them.
      const [gone, dead] = ["worker-0", "worker-1"].map((node) => ({
        node,
        slice: `${slices[node]}`,
        ip: given.get(`pod-${node}`) ?? "",
      }));
      if (gone === undefined || dead === undefined) throw new Error("there are two");
      const nameOf = ({ node, slice }: typeof gone) => `${node}-${slice.replace("/", "-")}`;
      const heldOf = async (one: typeof gone) =>
        Object.keys(JSON.parse(await kubectl(`get ippool ${nameOf(one)} -n kube-system -o json`)).spec.allocations);
      const ownerOf = async ({ slice }: typeof gone) =>
        Object.entries(await stage.slices("forty")).find(([, other]) => other === slice)?.[0] ?? "";
      for (const { node } of [gone, dead]) await stage.leaves(node);
      await stage.joins("new-0", "new-1");
      await until(async () => (await stage.said("forty", "ExhaustedIPPool")).at(-1)?.includes("new-0, new-1"), true);
      const reconciler = await WhereaboutsDaemon.reconciler(cluster());
      await reconciler.logs(/run succeeded/);
      // The Pods are still there, as Kubernetes leaves them for a while.
      expect([await heldOf(gone), await heldOf(dead)]).toEqual([["1"], ["1"]]);
      expect([await ownerOf(gone), await ownerOf(dead)]).toEqual([gone.node, dead.node]);

      await kubectl(`delete pod pod-${gone.node} --force --grace-period=0`);
      const [bare = ""] = gone.ip.split("/");
      await reconciler.logs(new RegExp(`removed stale overlappingIP allocation \\[${bare}]`));
      await reconciler.stop();
      expect(await heldOf(gone)).toEqual([]);
      await until(async () => (await ownerOf(gone)).startsWith("new-"), true);
      given.delete(`pod-${gone.node}`);
      expect(await add(await ownerOf(gone))).toBe(gone.ip);

      // By hand, as the page says.
      expect(await ownerOf(dead)).toBe(dead.node);
      const [address = ""] = dead.ip.split("/");
      await type(free.replaceAll("worker-1-10.40.1.0-24", nameOf(dead)).replaceAll("10.40.1.1", address));
      await until(async () => (await ownerOf(dead)).startsWith("new-"), true);
      given.delete(`pod-${dead.node}`);
      expect(await add(await ownerOf(dead))).toBe(dead.ip);
      expect(new Set(given.values()).size).toBe(given.size);
    });
  });

  it("are taken over from whereabouts' controller by the commands of the page, and back: nobody moves", async () => {
    const net = attachment("storage", {
      range: "10.41.0.0/16",
      node_slice_size: "/24",
      enable_overlapping_ranges: false,
    });
    const folder = mkdtempSync(join(cluster().folder, "overlay-"));
    cpSync(join(root, "deploy"), join(folder, "deploy"), { recursive: true });
    const overlay = { resources: ["deploy"], components: ["deploy/node-slices"] };
    writeFileSync(join(folder, "kustomization.yaml"), JSON.stringify(overlay));
    const whereabouts = await goModule("github.com/k8snetworkplumbingwg/whereabouts");
    await kubectl(`apply -f ${join(whereabouts, "doc/crds/node-slice-controller.yaml")}`);
    /** Runs what the Deployments say is to run: one of both. */
    const asDeployed = async (which: "stock" | "own", work: () => Promise<void>) => {
      const replicas = (of: string) => kubectl(`get deployment ${of} -o jsonpath={.spec.replicas} --ignore-not-found`);
      const own = await kubectl(
        "get deployment nodeippool-controller -n nodeippool -o jsonpath={.spec.replicas}{.spec.template.spec.containers[0].args} --ignore-not-found",
      );
      const isStock = (await replicas("whereabouts-controller -n kube-system")) === "1";
      const isOwn = /^[1-9].*--node-slices=kube-system/.test(own);
      expect({ isStock, isOwn }).toEqual({ isStock: which === "stock", isOwn: which === "own" });
      if (isOwn) return stage.served(work);
      const daemon = await WhereaboutsDaemon.sliceController(cluster(), "kube-system");
      try {
        await daemon.logs(/Successfully synced.*storage/);
        await work();
      } finally {
        await daemon.stop();
      }
    };
    const pod = (node: string, name = `of-${node}`) => cni.add(net, { node, pod: name });
    const slices = () => stage.slices("storage");
    const entries = () => stage.listed("storage");
    await stage.joins("s1", "s2", "s3");
    await stage.define(net);
    let before: Record<string, string> = {};
    await asDeployed("stock", async () => {
      before = await slices();
      expect(await entries()).toHaveLength(256);
      for (const node of ["s1", "s2", "s3"])
        expect(await pod(node)).toEqual({ address: before[node]?.replace("0/24", "1/16") });
    });
    // One is gone that it has not noticed.
    await stage.leaves("s3");

    await type(there, folder);
    await asDeployed("own", async () => {
      await until(isOurs, true);
      expect(await slices()).toEqual(before);
      expect(await pod("s1", "again")).toEqual({ address: before.s1?.replace("0/24", "2/16") });
      await stage.joins("s4");
      await until(async () => "s4" in (await slices()), true);
      expect(Object.values(before)).not.toContain((await slices()).s4);
      await pod("s4");
      expect(await cni.del(net, { node: "s3", pod: "of-s3" })).toBe("");
      await until(async () => "s3" in (await slices()), false);
    });

    before = await slices();
    await type(back.replaceAll("10.40.9.0", "10.41.99.0"), folder);
    await asDeployed("stock", async () => {
      expect(await slices()).toEqual(before);
      await stage.joins("s5", "s6");
      // The one slice that is listed as free, and no other one.
      await until(async () => (await slices()).s5 ?? (await slices()).s6, "10.41.99.0/24");
      await sleep(500);
      const now = await slices();
      expect(Object.keys(now)).toHaveLength(Object.keys(before).length + 1);
      expect(now).toMatchObject(before);
      const [node = "", slice = ""] = Object.entries(now).find(([name]) => !(name in before)) ?? [];
      expect(await pod(node)).toEqual({ address: slice.replace("0/24", "1/16") });
      // What it does with a node that leaves: the next one has its slice, and its pod the address of a pod.
      await stage.leaves("s2");
      const next = async () => Object.entries(await slices()).find(([, one]) => one === before.s2)?.[0];
      // It looks at nodes that wait only when one joins.
      await until(async () => (await next()) === "s2", false);
      await stage.joins("s7");
      await until(async () => !["s2", undefined].includes(await next()), true);
      expect(await pod(`${await next()}`, "twin")).toEqual({ address: before.s2?.replace("0/24", "1/16") });
    });

    before = await slices();
    await type(there, folder);
    await asDeployed("own", async () => {
      await until(isOurs, true);
      await until(async () => Object.keys(await slices()).length > Object.keys(before).length, true);
      expect(await slices()).toMatchObject(before);
    });

    async function isOurs(): Promise<boolean> {
      const labels = (await stage.pool("storage"))?.metadata.labels;
      return labels?.["app.kubernetes.io/managed-by"] === "nodeippool-controller";
    }
  });
});

/** A Pod as it runs on a node, with what Multus writes of its network. */
function podOn(node: string, given: ReadonlyMap<string, string>): Bag {
  const [ip] = given.get(`pod-${node}`)?.split("/") ?? [];
  const status = JSON.stringify([{ name: "default/forty", interface: "net1", ips: [ip] }]);
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: `pod-${node}`,
      namespace: "default",
      annotations: { "k8s.v1.cni.cncf.io/network-status": status },
    },
    spec: { nodeName: node, containers: [{ name: "c", image: "registry.example.net/none" }] },
  };
}
