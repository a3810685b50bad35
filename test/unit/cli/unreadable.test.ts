import { symlinkSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { cli, projectOf } from "../../support/schema/cli.ts";
import { documentsOf, nicPolicyText, poolText } from "../../support/schema/text.ts";

// What kubectl reads and we cannot, or only in another way, may be a node, or a policy that has an address of a pool.
const byHand = (more = "") => `apiVersion: nmstate.io/v1
kind: NodeNetworkConfigurationPolicy
metadata: {name: by-hand${more}}
spec:
  nodeSelector: {kubernetes.io/hostname: gw1}
  desiredState:
    interfaces:
    - {name: eth9, ipv4: {enabled: true, address: [{ip: 10.0.0.1, prefix-length: 24}]}}
`;
const json = JSON.stringify(
  {
    apiVersion: "nmstate.io/v1",
    kind: "NodeNetworkConfigurationPolicy",
    metadata: { name: "by-hand" },
    spec: {
      nodeSelector: { "kubernetes.io/hostname": "gw1" },
      desiredState: { interfaces: [{ name: "eth9", ipv4: { enabled: true, address: [{ ip: "10.0.0.1" }] } }] },
    },
  },
  undefined,
  2,
);
const other = JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "x" } }, undefined, 2);
const large = JSON.stringify({
  apiVersion: "v1",
  kind: "List",
  items: [JSON.parse(json), { apiVersion: "v1", kind: "ConfigMap", data: { x: "x".repeat(1024 * 1024) } }],
});
const nodeText = (more = "") =>
  `apiVersion: v1\nkind: Node\nmetadata:\n  name: n2\n  labels:\n    kubernetes.io/hostname: n2\n${more}`;

const planned = (files: Record<string, string>, ...args: string[]) =>
  cli(
    ["plan", "manifests", ...args],
    projectOf({ "manifests/a.yaml": documentsOf(poolText(), nicPolicyText("a")), ...files }),
  );

describe("a policy by hand that has an address of the plan", () => {
  const theirs = "10.0.0.1 is used by Node/gw1 eth9, but recorded for Node/n1/a/p";
  it.each([
    ["in a stream of JSON documents", "manifests/z.json", `${other}\n${json}\n`, "manifests/z.json:8:1: "],
    [
      "in a stream on one line",
      "manifests/z.json",
      `${JSON.stringify(JSON.parse(other))} ${JSON.stringify(JSON.parse(json))}`,
      "manifests/z.json:1:1: ",
    ],
    ["in a document of more than 1 MiB", "manifests/z.json", large, theirs],
    ["with a key twice", "manifests/z.yaml", byHand(", name: by-hand"), "this key stands here a second time"],
    ["with CR line ends", "manifests/z.yaml", byHand().replaceAll("\n", "\r"), theirs],
    ["with CR line ends, after a comment", "manifests/z.yaml", `# x\n${byHand()}`.replaceAll("\n", "\r"), theirs],
  ])("%s is not passed over", async (_, path, text, message) => {
    const { status, stderr } = await planned({ [path]: text }, "--nodes", "nodes.txt");
    expect(stderr).toContain(message);
    expect(status).toBeGreaterThan(1);
  });

  it("is somebody else's where another tool makes YAML of it", async () => {
    const helm = byHand().replace("{name: by-hand}", "{name: by-hand, {{ .Values.more }} }");
    expect(await planned({ "manifests/z.yaml": helm }, "--nodes", "nodes.txt")).toMatchObject({ status: 0 });
  });
});

it("a large document of another kind is somebody else's, whatever texts are in it", async () => {
  const text = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata:\n  a: |\n    kind: Node\n    x: ${"x".repeat(1024 * 1024)}\n`;
  expect(await planned({ "manifests/z.yaml": text }, "--nodes", "nodes.txt")).toMatchObject({ status: 0 });
});

it("JSON of others may hold texts of megabytes", async () => {
  const map = (s: string) => JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", data: { s } });
  const text = `${map("x".repeat(20_000_000))}\n${map('}] [{ \\"')}\n`;
  expect(await planned({ "manifests/z.json": text }, "--nodes", "nodes.txt")).toMatchObject({ status: 0 });
});

describe("a node among the manifests that cannot be read", () => {
  const first = nodeText().replaceAll("n2", "n1");
  it.each([
    [
      "a label twice",
      nodeText("    kubernetes.io/hostname: n2\n"),
      "manifests/n2.yaml:7:5: this key stands here a second time",
    ],
    ["a tab", nodeText("\tx: y\n"), "manifests/n2.yaml:7:"],
    ["an open quote", nodeText('    x: "y\n'), "manifests/n2.yaml:"],
    ["more than 1 MiB", nodeText(`    x: ${"y".repeat(1024 * 1024)}\n`), "this document is larger than 1 MiB"],
  ])("is refused: %s", async (_, text, message) => {
    const { status, stderr } = await planned({ "manifests/n1.yaml": first, "manifests/n2.yaml": text });
    expect(stderr).toContain(message);
    expect(status).toBe(2);
  });
});

it("what is no file is not read as one", async () => {
  const folder = projectOf({ "manifests/a.yaml": poolText() });
  symlinkSync("/dev/zero", `${folder}/manifests/x.yaml`);
  const { status, stderr } = await cli(["plan", "manifests", "--nodes", "nodes.txt"], folder);
  expect([status, stderr]).toEqual([2, "invalid: manifests/x.yaml is no file\n"]);
});
