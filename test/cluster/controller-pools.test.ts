import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { asBag, asList, type Bag, conditionOf } from "../../schema/objects.ts";
import { replay } from "../support/cluster/history.ts";
import { installAll } from "../support/cluster/kinds.ts";
import { nodeippool } from "../support/console.ts";
import { stageOfFile } from "../support/controller/stage-of-file.ts";
import { policy, pool } from "../support/objects/controller-objects.ts";

// What becomes of a pool: in use, deleted, made anew, reset.

const { cluster, stage } = stageOfFile(installAll);

describe("a NodeIPPool", () => {
  const both = ["n1/a 10.0.1.1", "n2/a 10.0.1.2"];
  beforeEach(async () => {
    stage().controller();
    await stage().join("n1", "n2");
    await stage().apply(pool("p", 1, 2), policy("a", "p"));
    await stage().settles(both);
  });

  /** How often the pool has become one that is being rebuilt. */
  async function resets(): Promise<number> {
    const reasons: unknown[] = [];
    await replay(cluster(), "nmstate.io/nodeippools", ({ object }) => {
      const { conditions } = ((object as Bag | undefined)?.status ?? {}) as Bag;
      reasons.push(conditionOf(conditions, "Available")?.reason);
    });
    return reasons.filter((reason, i) => reason === "ReconcilingPool" && reasons[i - 1] !== reason).length;
  }

  it("is not deleted while it is in use, and goes once nothing of it is on record", async () => {
    await stage().kubectl("delete nodeippool p --wait=false");
    await stage().until(() => stage().reason("p"), "Terminating");
    await stage().leave("n1");
    await stage().settles(["n2/a 10.0.1.2"]);
    expect(await stage().reason("p")).toBe("Terminating");
    await stage().kubectl("delete nncp a");
    await stage().until(() => stage().kubectl("get nodeippools -o name"), "");
    await stage().settles([]);
  });

  it("is full, and made anew with a larger range: all keep their addresses, and who waits is served", async () => {
    await stage().join("n3");
    await stage().until(() => stage().reason("p"), "ExhaustedIPPool");
    await stage().kubectl("delete nodeippool p --wait=false");
    await stage().kubectl('patch nodeippool p --type=merge -p {"metadata":{"finalizers":null}}');
    await stage().apply(pool("p", 1, 9));
    await stage().settles([...both, "n3/a 10.0.1.3"]);
  });

  it("is reset by its annotation, by a policy's, by an enactment's and by emptied offsets: nobody's address changes", async () => {
    const isAsked = async () => (await stage().kubectl("get nodeippool,nncp,nnce -o json")).includes("reset-ippool");
    const isDone = async () => [await isAsked(), await stage().reason("p")];
    const asks = ["nodeippool p nmstate.io/reset-ippool=", "nncp a nmstate.io/reset-ippool=p"];
    for (const one of [...asks, "nnce n1.a--n1 nmstate.io/reset-ippool=p"]) {
      await stage().kubectl(`annotate ${one}`);
      await stage().until(isDone, [false, "ReconciledPool"]);
    }
    await stage().kubectl(
      'patch nodeippool p --subresource=status --type=merge -p {"status":{"allocated-offsets":[]}}',
    );
    await stage().until(() => stage().says("nodeippool p", "{.status.allocated-offsets}"), "[0,1]");
    await stage().until(isDone, [false, "ReconciledPool"]);
    expect(await resets()).toBe(4);
    await stage().settles(both);
  });

  it("whose record is damaged says so, and goes on once it is put back", async () => {
    const about = `configmap -n ${stage().namespace}`;
    const all = (await stage().kubectl(`get ${about} -o name`)).split("\n");
    const name = all.find((one) => /ippool\.(?!index)/.test(one))?.replace("configmap/", "") ?? "";
    const { metadata, ...part } = JSON.parse(await stage().kubectl(`get ${about} ${name} -o json`)) as Bag;
    await stage().kubectl(`delete ${about} ${name}`);
    await stage().join("n3");
    await stage().until(() => stage().reason("p"), "UnsynchronizedIPPool");
    const { resourceVersion: _, uid: __, ...same } = asBag(metadata) ?? {};
    await stage().apply({ ...part, metadata: same });
    await stage().until(() => stage().reason("p"), "ExhaustedIPPool");
    await stage().settles(both);
  });

  it("whose name is mistyped in a reset is named to whoever asked", async () => {
    await stage().kubectl("annotate nncp a nmstate.io/reset-ippool=pp");
    const events = () => stage().kubectl("get events -n default -o jsonpath={..message}");
    const isSaid = async () => (await events()).includes("there is no NodeIPPool pp; did you mean p?");
    await stage().until(isSaid, true);
  });
});

describe("a NodeIPPool with authority Plan", () => {
  const folder = mkdtempSync(join(tmpdir(), "nodeippool-plan-"));
  afterAll(() => rmSync(folder, { recursive: true }));

  /** The pool as Git has it. */
  const planned = (more: object = {}) => {
    const { spec, ...rest } = pool("p", 1, 9);
    return { ...rest, spec: { ...asBag(spec), authority: "Plan", ...more } };
  };

  const about = ["manifests.json", "--nodes", "nodes.txt"];

  /** The manifests of a plan for these nodes. */
  function writePlan(spec: object, ...nodes: readonly string[]): void {
    const list = { apiVersion: "v1", kind: "List", items: [spec, policy("a", "p")] };
    writeFileSync(join(folder, "manifests.json"), JSON.stringify(list));
    const rows = nodes.map((name) => `${name} kubernetes.io/hostname=${name},role=worker\n`);
    writeFileSync(join(folder, "nodes.txt"), rows.join(""));
  }

  /** What a plan makes for these nodes is applied. */
  async function applyPlan(spec: object, ...nodes: readonly string[]): Promise<void> {
    writePlan(spec, ...nodes);
    expect(nodeippool(["allocate", ...about], folder).status).toBe(0);
    await stage().kubectl("apply -f -", nodeippool(["render", ...about], folder).stdout);
    await stage().apply(spec);
  }

  /** Who wrote what is there. */
  async function writers(object: string): Promise<string[]> {
    const found = JSON.parse(await stage().kubectl(`get ${object} -o json --show-managed-fields`)) as Bag;
    const all = asList(asBag(found.metadata)?.managedFields).map((one) => asBag(one) ?? {});
    return all.map(({ manager, subresource = "all" }) => `${manager} ${subresource}`).sort();
  }

  it("is counted and never written to, but for its status", async () => {
    stage().controller();
    await stage().join("n1", "n2");
    await applyPlan(planned(), "n1");
    await stage().until(() => stage().onMachines(), ["n1 10.0.1.1"]);
    await stage().until(() => stage().reason("p"), "ReconciledPool");
    await stage().stays([], 2_000);
    expect(await writers("nodeippool p")).toEqual(["kubectl-client-side-apply all", "nodeippool status"]);
    expect(await writers("nncp a--n1")).toEqual(["kubectl-client-side-apply all", "nodeippool status"]);
  });

  it("hands out its clusterRange to nodes for which there is no plan; those of the plan keep theirs", async () => {
    const range = planned({ clusterRange: { start: "10.0.1.5", end: "10.0.1.9" } });
    await stage().join("n1", "n2");
    await applyPlan(range, "n1");
    stage().controller();
    await stage().settles(["n2/a 10.0.1.5"], ["n1 10.0.1.1"]);
    await stage().join("n3");
    await stage().settles(["n2/a 10.0.1.5", "n3/a 10.0.1.6"], ["n1 10.0.1.1"]);
    await stage().until(() => stage().message("a"), "3/3 nodes successfully configured");
  });

  it("takes over what the controller allocated, step by step as docs/cluster-pools.md says, and no address moves", async () => {
    stage().controller();
    await stage().apply(pool("p", 1, 9), policy("a", "p"));
    // A plan that does not know this gives n1 the first address.
    const lines = ["n2/a 10.0.1.1", "n1/a 10.0.1.2"];
    await stage().join("n2");
    await stage().settles(lines.slice(0, 1));
    await stage().join("n1");
    await stage().settles(lines);
    writeFileSync(join(folder, "nns.json"), await stage().kubectl("get nns -o json"));
    await stage().apply(planned());
    await stage().until(() => stage().reason("p"), "UnsynchronizedIPPool");
    await stage().stays(lines, 2_000);
    rmSync(join(folder, "nodeippool.lock"), { force: true });
    writePlan(planned(), "n1", "n2");
    expect(nodeippool(["import", "nns.json", ...about], folder).status).toBe(0);
    expect(nodeippool(["allocate", ...about], folder).status).toBe(0);
    await stage().kubectl("delete nncp a");
    await stage().stays(lines, 1_000);
    const label = "app.kubernetes.io/managed-by=nodeippool-controller";
    await stage().kubectl(`delete nncp -l ${label},nodeippool.nmstate.io/policy=a`);
    await stage().kubectl("apply -f -", nodeippool(["render", ...about], folder).stdout);
    await stage().settles([], ["n2 10.0.1.1", "n1 10.0.1.2"]);
    await stage().until(() => stage().reason("p"), "ReconciledPool");
  });
});
