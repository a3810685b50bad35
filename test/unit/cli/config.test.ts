import { describe, expect, it } from "vitest";
import type { Config } from "../../../cli/config.ts";
import { parseConfig } from "../../../cli/parse-config.ts";
import { resolveSettings, type Settings, type UsualPlaces } from "../../../cli/settings.ts";
import { formatIssue } from "../../../core/index.ts";
import { cli, filesOf, folderOf, idlePolicy, manifests, projectOf } from "../../support/schema/cli.ts";

describe("nodeippool.yaml", () => {
  it.each([
    ["", {}],
    ["# nothing\n", {}],
    [
      "manifests: m\nnodes: n.yaml\nout: o\nlock: l\nset: s\n",
      { manifests: "m", nodes: "n.yaml", out: "o", lock: "l", set: "s" },
    ],
    ["state: {backend: kubernetes, context: prod}\n", { backend: "kubernetes", context: "prod" }],
    ["state: {}\n", {}],
  ])("%j", (text, expected) => {
    expect(parseConfig(text)).toEqual({ value: expected });
  });

  it.each([
    ["nodez: a\n", "1:1: unknown key nodez; did you mean nodes?"],
    ["nodes: a\nstate:\n  backend: kubernetes\n  contxt: b\n", "4:3: unknown key contxt; did you mean context?"],
    [
      "nodes: a\nnodes: b\n",
      "2:1: this key stands here a second time\n  Are these two documents? Put --- between them.",
    ],
    ["nodes: [a\n", /^2:1: /],
    ["nodes: 1\n", "1:8: nodes must be a non-empty string"],
    ["set:\n", "1:5: set must be a non-empty string"],
    ["lock: ''\n", "1:7: lock must be a non-empty string"],
    ["nodes: [a, b]\n", "1:8: nodes must be a non-empty string"],
    ["nodes: &a x\nout: *a\n", /^2:6: YAML aliases/],
    ["state: cluster\n", "1:8: expected backend, context, namespace"],
    ["state: {backend: kubernets}\n", "1:18: unknown backend kubernets; did you mean kubernetes?"],
    ["- nodes.txt\n", "1:1: expected manifests, nodes, out, lock, set, released, state"],
    ["nodes: a\n---\nnodes: b\n", "1:1: nodeippool.yaml must be one YAML document"],
    ["kind: NodeIPPool\n", "1:1: unknown key kind"],
  ])("%j: refused with its place", (text, says) => {
    const issues = (parseConfig(text).issues ?? []).map((issue) => formatIssue(issue).replace("nodeippool.yaml:", ""));
    expect(issues).toEqual([typeof says === "string" ? says : expect.stringMatching(says)]);
  });
});

describe("what a verb works with", () => {
  const usual: UsualPlaces = { manifests: "manifests", nodes: ["nodes.txt"], out: "rendered" };
  const nothing: UsualPlaces = { manifests: ".", nodes: [] };
  const cluster = { backend: "kubernetes", context: "prod", namespace: "network" } as const;

  it.each<[string, Config, Config, UsualPlaces, Partial<Settings>]>([
    [
      "an empty folder",
      {},
      {},
      nothing,
      { manifests: ".", nodesFound: false, lock: "nodeippool.lock", set: "default" },
    ],
    [
      "the usual places",
      {},
      {},
      usual,
      { manifests: "manifests", nodes: "nodes.txt", nodesFound: true, out: "rendered" },
    ],
    [
      "the configuration first",
      {},
      { manifests: "m", nodes: "n", out: "o", lock: "l", set: "s" },
      usual,
      { manifests: "m", nodes: "n", nodesFound: false, out: "o", lock: "l", set: "s" },
    ],
    [
      "what is typed before it",
      { manifests: "a", nodes: "b", out: "c", lock: "d", set: "e" },
      { manifests: "m", nodes: "n", out: "o", lock: "l", set: "s" },
      usual,
      { manifests: "a", nodes: "b", nodesFound: false, out: "c", lock: "d", set: "e" },
    ],
    [
      "out is of the manifests of the configuration",
      { manifests: "-" },
      { out: "o" },
      usual,
      { manifests: "-", out: undefined },
    ],
    ["- is standard output", { out: "-" }, { out: "o" }, usual, { manifests: "manifests", out: undefined }],
    ["a record in a cluster", {}, cluster, usual, cluster],
    ["another context", { context: "lab" }, cluster, usual, { ...cluster, context: "lab" }],
    ["the cluster, by flag and configuration", { backend: "kubernetes" }, cluster, usual, cluster],
    ["--lock means the lockfile", { lock: "l" }, cluster, usual, { lock: "l", backend: undefined, context: undefined }],
    [
      "--backend lockfile",
      { backend: "lockfile" },
      { ...cluster, lock: "l" },
      usual,
      { backend: "lockfile", lock: "l", namespace: undefined },
    ],
  ])("%s", (_, typed, config, places, expected) => {
    expect(resolveSettings(typed, config, places)).toMatchObject(expected);
  });
});

describe("a day", () => {
  it("is three words, in the usual places", async () => {
    const folder = projectOf();
    expect((await cli(["plan"], folder)).stdout).toContain(
      "Run nodeippool allocate to begin nodeippool.lock with it.\n",
    );
    expect((await cli(["allocate"], folder)).stdout).toContain("Recorded in nodeippool.lock.\n");
    expect((await cli(["render"], folder)).stdout).toMatch(/^apiVersion: /);
    await cli(["render", "--out", "rendered"], folder);
    expect((await cli(["render"], folder)).stdout).toBe(
      "Rendered 1 file to rendered: 0 written, 1 unchanged, 0 removed.\n",
    );
    expect((await cli(["render", "--out", "-"], folder)).stdout).toMatch(/^apiVersion: /);
    expect((await cli(["render", "manifests"], folder)).stdout).toMatch(/^apiVersion: /);
    expect(await cli(["audit", "rendered"], folder)).toMatchObject({
      stdout: "2 addresses checked, 0 findings\n",
      status: 0,
    });
    expect((await cli(["explain", "10.0.0.3"], folder)).stdout).toContain("free");
  });

  it("is three words with a configuration", async () => {
    const config = "manifests: network\nnodes: fleet\nout: deployed\nlock: ips.lock\nset: lan\n";
    const folder = folderOf({ "nodeippool.yaml": config, "network/a.yaml": manifests, fleet: "n1\n" });
    await cli(["allocate"], folder);
    expect((await cli(["render"], folder)).stdout).toBe(
      "Rendered 1 file to deployed: 1 written, 0 unchanged, 0 removed.\n",
    );
    expect(filesOf(folder)["ips.lock"]).toContain('"set":"lan"');
    expect((await cli(["plan"], folder)).stdout).toContain("= 1 kept");
    expect((await cli(["show"], folder)).stdout).toContain("10.0.0.1");
    expect((await cli(["diff", "nowhere"], folder)).stderr).toContain("nowhere");
    expect((await cli(["mv", "a", "b"], folder)).stdout).toContain("Renamed 1 claim in ips.lock");
  });

  it("reads its configuration as no manifest, wherever it is", async () => {
    const folder = folderOf({
      "nodeippool.yaml": "set: lan\n",
      "below/nodeippool.yaml": "set: wan\n",
      "a.yaml": manifests,
      "nodes.yaml": "- n1\n",
    });
    await cli(["allocate"], folder);
    const { stdout } = await cli(["render"], folder);
    expect(stdout).toContain("ip: 10.0.0.1");
    expect(stdout).not.toMatch(/set:|- n1/);
  });

  it("a manifest of that name in another folder stays one", async () => {
    const folder = folderOf({ "manifests/nodeippool.yaml": manifests, "nodes.txt": "n1\n" });
    expect((await cli(["plan"], folder)).stdout).toContain("+ 10.0.0.1  n1");
  });

  it.each<[string, Record<string, string>, string[], string]>([
    ["no nodes", { "manifests/a.yaml": manifests }, ["plan"], "there are no nodes to plan for\n  Add --nodes FILE"],
    [
      "two lists of nodes",
      { "manifests/a.yaml": manifests, "nodes.txt": "n1\n", "nodes.json": "{}" },
      ["plan"],
      "nodes.txt and nodes.json may each be the list of nodes\n  Name the one that is",
    ],
    [
      "nodes among the manifests, too",
      { "manifests/a.yaml": `${manifests}---\napiVersion: v1\nkind: Node\nmetadata: {name: x}\n`, "nodes.txt": "n1\n" },
      ["plan"],
      "nodes are defined in nodes.txt and among the manifests in manifests",
    ],
    [
      "a mistake in the configuration",
      { "manifests/a.yaml": manifests, "nodeippool.yaml": "nodez: x\n" },
      ["explain", "10.0.0.1"],
      "nodeippool.yaml:1:1: unknown key nodez; did you mean nodes?",
    ],
    [
      "a context without a cluster",
      { "manifests/a.yaml": manifests, "nodeippool.yaml": "state: {context: prod}\n" },
      ["plan"],
      "context is for the backend kubernetes",
    ],
    [
      "another name of it",
      { "manifests/a.yaml": manifests, "nodeippool.yml": "nodes: x\n" },
      ["plan"],
      "nodeippool.yml is not read",
    ],
  ])("%s: exit 2, and nothing is written", async (_, files, args, says) => {
    const folder = folderOf(files);
    const { stderr, status } = await cli(args, folder);
    expect([status, stderr]).toEqual([2, expect.stringContaining(says)]);
    expect(Object.keys(filesOf(folder)).sort()).toEqual(Object.keys(files).sort());
  });

  it("Node objects among the manifests are the nodes where no file is", async () => {
    const nodes = "apiVersion: v1\nkind: Node\nmetadata: {name: x, labels: {kubernetes.io/hostname: x}}\n";
    const folder = folderOf({ "manifests/a.yaml": manifests, "manifests/nodes.yaml": nodes });
    expect((await cli(["plan", "manifests"], folder)).stdout).toContain("+ 10.0.0.1  x  a/p\n");
  });

  it("is not that of the command after --, which reads its own configuration", async () => {
    const folder = projectOf({ "nodeippool.yaml": "set: lan\nnodes: nodes.txt\n", "manifests/b.yaml": idlePolicy });
    const { stderr, status } = await cli(["allocate", "--", "nodeippool", "render"], folder);
    expect([status, stderr]).toEqual([0, expect.stringContaining("1 plan recorded in nodeippool.lock.")]);
    expect(filesOf(folder)["nodeippool.lock"]).toContain('"set":"lan"');
  });
});
