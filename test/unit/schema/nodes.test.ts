import { describe, expect, it } from "vitest";
import type { ClusterNode } from "../../../schema/node.ts";
import { issuesIn, nodesOf, poolText, read } from "../../support/schema/text.ts";

/** `name`, `name ?` where nothing but the name is known, `name a=b,c=d` where the labels are. */
function shown({ name, labels, bare }: ClusterNode): string {
  const known = [...labels].map(([key, value]) => `${key}=${value}`).join(",");
  return bare ? `${name} ? ${known}` : `${name} ${known}`;
}

const names = (...list: string[]) => list.map((name) => `${name} ? kubernetes.io/hostname=${name}`);
const node = (name: string, labels: object) => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: { name, labels },
  status: {},
});
const dump = {
  apiVersion: "v1",
  kind: "List",
  items: [node("n1", { a: "b", "kubernetes.io/hostname": "h1" }), node("n2", {})],
};
const dumped = ["n1 a=b,kubernetes.io/hostname=h1", "n2 "];

const table = `NAME   STATUS                     ROLES           AGE   VERSION
n1     Ready                      control-plane   12d   v1.34.1
n2     Ready,SchedulingDisabled   <none>          12d   v1.34.1
`;

const asYaml = `apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Node
  metadata:
    name: n1
    labels:
      a: b
      kubernetes.io/hostname: h1
- apiVersion: v1
  kind: Node
  metadata:
    name: n2
    labels: {}
`;

describe("readNodes reads", () => {
  const rows: [what: string, text: string, nodes: string[]][] = [
    [
      "kubectl get --raw",
      JSON.stringify({ ...dump, kind: "NodeList", items: dump.items.map(({ metadata }) => ({ metadata })) }),
      dumped,
    ],
    ["lines", "n1\nn2\n", names("n1", "n2")],
    ["lines with comments and blank lines", "# all\nn1   # first\n\n  n2\n", names("n1", "n2")],
    ["lines without a last newline", "n1\nn2", names("n1", "n2")],
    [
      "kubectl get nodes --show-labels",
      `NAME   STATUS   ROLES    AGE   VERSION   LABELS
n1     Ready    <none>   12d   v1.34.1   a=b,kubernetes.io/hostname=h1,node-role.kubernetes.io/worker=
n2     Ready    <none>   12d   v1.34.1   kubernetes.io/hostname=n2
`,
      ["n1 a=b,kubernetes.io/hostname=h1,node-role.kubernetes.io/worker=", "n2 kubernetes.io/hostname=n2"],
    ],
    ["lines with CR LF", "n1\r\nn2\r\n", names("n1", "n2")],
    ["one line", "n1", names("n1")],
    ["names of dots and digits", "worker-1.example.net\n12345\n1e3\n", names("worker-1.example.net", "12345", "1e3")],
    ["lines with labels", "n1 a=b,c=d\nn2\n", ["n1 a=b,c=d", ...names("n2")]],
    ["labels without a value", "n1 a=,b=c\n", ["n1 a=,b=c"]],
    [
      "labels with dots and slashes",
      "n1 node-role.kubernetes.io/worker=,x.y/z=1\n",
      ["n1 node-role.kubernetes.io/worker=,x.y/z=1"],
    ],
    ["kubectl get nodes", table, names("n1", "n2")],
    ["kubectl get nodes -o name", "node/n1\nnode/n2\n", names("n1", "n2")],
    ["kubectl get nodes -o json", JSON.stringify(dump, null, 4), dumped],
    ["kubectl get nodes -o yaml", asYaml, dumped],
    [
      "kubectl get node n1 -o yaml",
      "apiVersion: v1\nkind: Node\nmetadata:\n  name: n1\n  labels: {a: b}\n",
      ["n1 a=b"],
    ],
    [
      "several objects",
      "kind: Node\nmetadata: {name: n1}\n---\n# second\nkind: Node\nmetadata: {name: n2}\n",
      ["n1 ", "n2 "],
    ],
    [
      "objects of other kinds left out",
      "kind: Pod\nmetadata: {name: x}\n---\nkind: Node\nmetadata: {name: n1}\n",
      ["n1 "],
    ],
    ["a YAML list", "- n1\n- node/n2\n", names("n1", "n2")],
    ["a YAML list on one line", "[n1, n2]\n", names("n1", "n2")],
    [
      "a YAML list with and without labels",
      "# all\n- n1\n- name: n2\n- name: n3\n  labels: {a: b, c: true}\n",
      [...names("n1", "n2"), "n3 a=b,c=true"],
    ],
    ["a JSON list", '["n1", {"name": "n2", "labels": {"a": "b"}}]', [...names("n1"), "n2 a=b"]],
    ["a document after ---", "---\n- n1\n", names("n1")],
    ["a whole list", JSON.stringify({ ...dump, metadata: { resourceVersion: "", continue: "" } }), dumped],
  ];
  it.each(rows)("%s", (_, text, nodes) => {
    expect(nodesOf(text).map(shown)).toEqual(nodes);
  });
});

describe("readNodes refuses", () => {
  const cut = "this list is cut off (metadata.continue is set): get it whole, as kubectl get -o json does";
  const rows: [text: string, ...issues: string[]][] = [
    ["", "nodes lists no nodes"],
    ["# none yet\n", "nodes lists no nodes"],
    ["[]", "nodes lists no nodes"],
    ["{}", "nodes lists no nodes"],
    ["kind: Pod\nmetadata: {name: x}\n", "nodes lists no nodes"],
    ["n1\n<<<<<<< HEAD\nn2\n=======\nn3\n>>>>>>> main\n", "2:1 nodes has merge conflict markers"],
    ["n1\r\n<<<<<<< HEAD\r\n=======\r\n>>>>>>> main\r\n", "2:1 nodes has merge conflict markers"],
    ["- n1\n<<<<<<< HEAD\n- n2\n=======\n- n3\n>>>>>>> main\n", "2:1 nodes has merge conflict markers"],
    ["n1\nn2\nn1\n", "3:1 node n1 is listed twice"],
    ...["b;c=d", "c=d", `${"x".repeat(64)}`, "-b"].map((value): [string, string] => [
      `n1 a=${value}\n`,
      `1:1 "${value}" is not a value of label a: letters, digits, -, _ and . only, at most 63`,
    ]),
    [
      "n1\n  N2 # x\n-n3\n",
      '2:3 a node\'s name "N2" is no name: lower case letters, digits, - and . only',
      '3:1 a node\'s name "-n3" is no name: lower case letters, digits, - and . only',
    ],
    ["n1,n2\n", '1:1 a node\'s name "n1,n2" is no name: lower case letters, digits, - and . only'],
    [
      "../../etc/passwd\n",
      '1:1 a node\'s name "../../etc/passwd" is no name: lower case letters, digits, - and . only',
    ],
    [`${"a".repeat(254)}\n`, "1:1 a node's name is longer than 253 characters"],
    [
      "n1.\nn1..b\nn1.-b\n",
      ...[1, 2, 3].map((line) => expect.stringMatching(new RegExp(`^${line}:1 a node's name .* is no name`))),
    ],
    ["- name: n1\n- name: n1\n", expect.stringContaining("node n1 is listed twice") as unknown as string],
    ["- name:\n", expect.stringContaining("a node's name") as unknown as string],
    ["- n1\n  n2: [\n", expect.any(String) as unknown as string],
    ['{"kind": "List", "items": [', expect.any(String) as unknown as string],
    [JSON.stringify({ ...dump, metadata: { continue: "x" } }), `1:1 ${cut}`],
    // as the API server gives it: its items do not repeat their kind
    [JSON.stringify({ kind: "NodeList", metadata: { continue: "x" }, items: [{ metadata: {} }] }), `1:1 ${cut}`],
    [`${asYaml}metadata:\n  resourceVersion: "1"\n  continue: x\n`, `18:13 ${cut}`],
    ["a: 1\na: 2\n- n1", expect.any(String) as unknown as string],
  ];
  it.each(rows)("%j", (text, ...issues) => {
    expect(issuesIn(() => nodesOf(text), "nodes")).toEqual(issues);
  });

  it.each([
    ["kubectl get nodes --no-headers", table.replace(/.*\n/, "")],
    ["a second field that is no label", "n1 worker\n"],
    ["a third field", "n1 a=b c=d\n"],
    ["a name that is a number in a YAML list", "- n1\n- 1234\n"],
    ["an item that is nothing", "- n1\n-\n"],
    ["an object of a list without a name", "- n1\n- labels: {a: b}\n"],
    ["a Node without a name", "kind: List\nitems:\n- kind: Node\n  metadata: {}\n"],
    ["a Node without metadata", "kind: List\nitems:\n- kind: Node\n"],
    ["an alias", "a: &a [n1]\nnodes: *a\n"],
    ["an alias of nothing", "nodes: *a\n"],
    ["a label that is no text", "- name: n1\n  labels: {a: {b: c}}\n"],
  ])("%s, rather than guess", (_, text) => {
    expect(issuesIn(() => nodesOf(text), "nodes")).not.toEqual([]);
  });

  it("names the place in YAML too", () => {
    expect(issuesIn(() => nodesOf("- n1\n- name: N2\n"), "nodes")).toEqual([
      expect.stringMatching(/^2:\d+ a node's name "N2"/),
    ]);
  });
});

describe("readManifests reads Node documents by the same rules", () => {
  const text = (name: string) => `apiVersion: v1\nkind: Node\nmetadata: {name: ${name}, labels: {a: b}}\n`;
  const issues = (...nodes: string[]) => issuesIn(() => read([poolText(), ...nodes].join("---\n")), "f.yaml");

  it("with their labels", () => {
    expect(read(`${text("n1")}---\n${text("n2")}`).nodes.map(shown)).toEqual(["n1 a=b", "n2 a=b"]);
  });

  it.each([
    ["no name", [text("n1").replace("name: n1, ", "")]],
    ["a name that is none", [text("N1")]],
    ["one name twice", [text("n1"), text("n1")]],
  ])("refuses %s", (_, nodes) => {
    expect(issues(...nodes)).not.toEqual([]);
  });
});
