import { describe, expect, it } from "vitest";
import { objectsIn, rendered } from "../../support/schema/render.ts";
import { nicPolicyText, poolText } from "../../support/schema/text.ts";

const nodes = "node01";
const policy = nicPolicyText("a");

/** Documents that are none of ours, and must come out as they went in. */
const foreign: [what: string, text: string][] = [
  ["a ConfigMap", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {a: b}\n"],
  ["comments, odd blanks and quotes", "# head\nkind:   ConfigMap   # tail\n\n\ndata: { 'a' : \"b\"}   \n# foot\n"],
  ["a Helm template", '{{- if .Values.enabled }}\nkind: ConfigMap\nname: {{ include "x" . | quote }}\n{{- end }}\n'],
  [
    "a Helm template that mentions our kinds",
    "{{ if .a }}\n# NodeIPPool, Node, nmstate.io/v1\nkind: List\n{{ end }}\n",
  ],
  ["tags and anchors", "kind: X # Node\na: &a !custom {b: 1}\nc: *a\nd: !!binary aGk=\n<<: *a\n"],
  ["a key twice", "kind: List # NodeIPPool\nkind: List\n"],
  ["words of YAML 1.1", "kind: X # Node\non: yes\nmode: 0644\nmac: 11:22:33:44:55:10\n"],
  ["tabs", "kind: X # Node\na:\tb\n"],
  [
    "a block scalar with --- and our kinds in it",
    "kind: ConfigMap\ndata:\n  x: |\n    ---\n    kind: NodeIPPool\n    mode: 0644\n    ---\n",
  ],
  ["no YAML at all", "@ NodeIPPool % } ] `\n"],
  ["JSON", '{"kind": "ConfigMap", "data": {"a": "NodeIPPool"}}\n'],
  [
    "a hand-written policy",
    'apiVersion: nmstate.io/v1\nkind: NodeNetworkConfigurationPolicy\nmetadata:   {name: eth0}\nspec: {desiredState: {mtu: 0x1F}} # "on"\n',
  ],
  [
    "a hand-written policy with captures of its own",
    'kind: NodeNetworkConfigurationPolicy\nspec:\n  capture: {a: interfaces.name=="eth1"}\n  desiredState:\n    x: "{{ capture.a.interfaces.0.name }}"\n    z: {{ capture.a.b }}\n',
  ],
  [
    "a hand-written policy with a template in a note",
    "kind: NodeNetworkConfigurationPolicy\nmetadata:\n  name: b\n  annotations:\n    note: |\n      write ip:\n      ip: {{ capture.a.ip }}\n",
  ],
  ["U+2028 before ---", 'kind: X\na: "b\u2028--- c"\n'],
];

describe("render passes a file of foreign documents through byte for byte", () => {
  const files: [what: string, text: string][] = [
    ...foreign,
    ["nothing", ""],
    ["empty documents", "---\n---\n# x\n...\n---\n"],
    ["CR LF", "kind: X\r\n---\r\nkind: Y\r\n"],
    ["no newline at the end", "kind: X\n---\nkind: Y"],
    ["directives", "%YAML 1.1\n---\nkind: X\n...\n%TAG ! tag:x,2000:\n---\nkind: Y\n"],
  ];
  it.each(files)("%s", async (_, text) => {
    const made = await rendered({ manifests: { "other.yaml": text, "pool.yaml": poolText() }, nodes });
    expect(made["other.yaml"]).toBe(text);
  });
});

describe("render passes a foreign document between ours through byte for byte", () => {
  it.each(foreign)("%s", async (_, text) => {
    const made = await rendered({ manifests: `${poolText()}---\n${text}---\n${policy}`, nodes });
    const next = "apiVersion: nmstate.io/v1\nkind: NodeNetworkConfigurationPolicy\nmetadata:\n  name: a--node01\n";
    expect(made["f.yaml"]).toContain(`  authority: Plan\n---\n${text}---\n${next}`);
  });

  it("one without a newline at its end gets one", async () => {
    const made = await rendered({ manifests: `${poolText()}---\nkind: X\n---\nkind: Y`, nodes });
    expect(made["f.yaml"]?.endsWith("---\nkind: X\n---\nkind: Y\n")).toBe(true);
  });

  it("one with CR LF keeps it, and gets no blank line", async () => {
    const made = await rendered({ manifests: `${poolText()}---\nkind: X\na: b\n`.replaceAll("\n", "\r\n"), nodes });
    expect(made["f.yaml"]?.endsWith("---\nkind: X\r\na: b\r\n")).toBe(true);
  });

  it("one behind a directive is still YAML", async () => {
    const made = await rendered({ manifests: `${poolText()}...\n%YAML 1.2\n---\nkind: X\n`, nodes });
    expect(objectsIn(made)).toEqual([expect.objectContaining({ kind: "NodeIPPool" }), { kind: "X" }]);
  });
});

describe("render takes a List with one of ours apart", () => {
  const item = (text: string) => `- ${text.trimEnd().replaceAll("\n", "\n  ")}\n`;
  const list = (...items: string[]) => `apiVersion: v1\nkind: List\nitems:\n${items.map(item).join("")}`;

  it("foreign items become documents with the same data", async () => {
    const data = { kind: "ConfigMap", data: { mac: "11:22:33:44:55:10", word: "on", octal: "0o17", text: "a\nb\n" } };
    const text = list(JSON.stringify(data), poolText());
    const made = await rendered({ manifests: text, nodes });
    for (const version of ["1.1", "1.2"] as const) expect(objectsIn(made, version)[0]).toEqual(data);
    expect(objectsIn(made).map(({ kind }) => kind)).toEqual(["ConfigMap", "NodeIPPool"]);
  });

  it("items that leave their kind to a typed List get it", async () => {
    const items = [poolText(), "metadata: {name: q}\nspec: {range: {cidr: 10.9.0.0/24}}"];
    const made = await rendered({
      manifests: list(...items).replace("v1\nkind: List", "nmstate.io/v1\nkind: NodeIPPoolList"),
      nodes,
    });
    const [first, second] = objectsIn(made);
    expect(second).toMatchObject({ apiVersion: first?.apiVersion, kind: "NodeIPPool", metadata: { name: "q" } });
  });

  it("a List of foreign items stays a List, byte for byte", async () => {
    const text = list("kind: ConfigMap # no Node", "kind: Secret");
    expect((await rendered({ manifests: `${poolText()}---\n${text}`, nodes }))["f.yaml"]?.endsWith(text)).toBe(true);
  });
});

it("render leaves Node documents behind, and a file of nothing else", async () => {
  const node = "apiVersion: v1\nkind: Node\nmetadata: {name: node01}\n";
  const made = await rendered({
    manifests: { "a.yaml": node, "b.yaml": `${node.replace("01", "02")}---\n${poolText()}` },
    nodes,
  });
  expect(Object.keys(made)).toEqual(["b.yaml"]);
  expect(objectsIn(made).map(({ kind }) => kind)).toEqual(["NodeIPPool"]);
});
