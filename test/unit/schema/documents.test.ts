import { describe, expect, it } from "vitest";
import { splitDocuments } from "../../../schema/yaml.ts";
import { objectsIn } from "../../support/schema/render.ts";
import { documentsOf, issuesOf, nicPolicyText, poolText, read } from "../../support/schema/text.ts";

describe("splitDocuments", () => {
  const rows: [text: string, ...chunks: [line: number, text: string][]][] = [
    [""],
    ["\n\n"],
    ["# only a comment\n"],
    ["---\n---\n...\n---\n"],
    ["a: 1", [1, "a: 1"]],
    ["a: 1\n---\nb: 2", [1, "a: 1\n"], [3, "b: 2"]],
    ["---\na: 1\n", [2, "a: 1\n"]],
    ["# head\n---\n# c\na: 1\n", [3, "# c\na: 1\n"]],
    ["--- # comment\na: 1\n", [2, "a: 1\n"]],
    ["---   \na: 1\n", [2, "a: 1\n"]],
    ["a: 1\n...\nb: 2\n", [1, "a: 1\n"], [3, "b: 2\n"]],
    ["a: 1\n... # end\n---\nb: 2\n", [1, "a: 1\n"], [4, "b: 2\n"]],
    ["--- {a: 1}\n--- [b]\n", [1, " {a: 1}\n"], [2, " [b]\n"]],
    ["--- |\n text\n", [1, " |\n text\n"]],
    ["a: 1\n---x: 2\n----\n", [1, "a: 1\n---x: 2\n----\n"]],
    ["a: |\n  ---\n  b\n ---\n", [1, "a: |\n  ---\n  b\n ---\n"]],
    ["\n\na: 1\n\n---\n\nb: 2\n", [1, "\n\na: 1\n\n"], [6, "\nb: 2\n"]],
    ["a: 1\r\n", [1, "a: 1\r\n"]],
    ["%YAML 1.2\n---\na: 1\n", [1, "%YAML 1.2\n---\na: 1\n"]],
    [
      "a: 1\n...\n%YAML 1.2\n# c\n---\nb: 2\n---\nc: 3\n",
      [1, "a: 1\n"],
      [3, "%YAML 1.2\n# c\n---\nb: 2\n"],
      [8, "c: 3\n"],
    ],
    ["%x\na: 1\n---\nb: 2\n", [1, "%x\na: 1\n"], [4, "b: 2\n"]],
    // YAML 1.2 breaks lines at LF, CR LF and CR alone; U+2028 is a letter like others
    ["a: b\u2028--- c\n", [1, "a: b\u2028--- c\n"]],
  ];
  it.each(rows)("%j", (text, ...chunks) => {
    const found = splitDocuments({ path: "f", text }).map((chunk) => [chunk.line, chunk.text]);
    expect(found).toEqual(chunks);
  });

  it("CR LF after a marker belongs to the marker", () => {
    const text = "---\r\na: 1\r\n---\r\nb: 2\r\n";
    const found = splitDocuments({ path: "f", text }).map((chunk) => [chunk.line, chunk.text]);
    expect(found).toEqual([
      [2, "a: 1\r\n"],
      [4, "b: 2\r\n"],
    ]);
  });
});

describe("readManifests finds our kinds", () => {
  const kinds = (text: string) => read(text).documents.map(({ kind }) => kind);
  const item = (text: string) => `- ${text.trimEnd().replaceAll("\n", "\n  ")}\n`;
  const list = (kind: string, ...items: string[]) =>
    `apiVersion: v1\nkind: ${kind}\nitems:\n${items.map(item).join("")}`;
  /** As the API server gives it: its items do not repeat version and kind. */
  const bare = (kind: string, ...items: string[]) =>
    list(kind, ...items.map((text) => text.replace(/^(?:apiVersion|kind): .*\n/gm, ""))).replace(
      "apiVersion: v1\n",
      `apiVersion: ${kind === "NodeList" ? "v1" : "nmstate.io/v1"}\n`,
    );
  const rows: [text: string, ...kinds: string[]][] = [
    [poolText(), "pool"],
    [`---\n${poolText()}...\n`, "pool"],
    [`\ufeff${poolText()}`.slice(1), "pool"],
    [documentsOf(poolText(), nicPolicyText("a"), "kind: ConfigMap\n"), "pool", "owned", "foreign"],
    ["kind: Node\napiVersion: v1\nmetadata: {name: node01, labels: {a: b}}\n", "node"],
    [list("List", poolText(), nicPolicyText("a")), "pool", "owned"],
    [list("NodeIPPoolList", poolText(), poolText("  range: {cidr: 10.0.1.0/24}", "q")), "pool", "pool"],
    [list("NodeList", "apiVersion: v1\nkind: Node\nmetadata: {name: node01}"), "node"],
    [bare("NodeIPPoolList", poolText()), "pool"],
    [
      documentsOf(poolText(), bare("NodeNetworkConfigurationPolicyList", nicPolicyText("a"), "metadata: {name: own}")),
      "pool",
      "owned",
      "foreign",
    ],
    [bare("NodeNetworkConfigurationPolicyList", "metadata: {name: own}"), "foreign"],
    [list("List", bare("NodeList", "metadata: {name: n1}"), poolText()), "node", "pool"],
    [list("List", "kind: ConfigMap\ndata: {a: b}", poolText()), "foreign", "pool"],
    [list("List", "kind: ConfigMap\n# a Node\ndata: {a: b}"), "foreign"],
    [list("List", list("List", poolText())), "pool"],
    [
      "apiVersion: nmstate.io/v1\nkind: NodeNetworkConfigurationPolicy\nmetadata: {name: literal}\nspec: {}\n",
      "foreign",
    ],
    ["apiVersion: nmstate.io/v1beta1\nkind: NodeNetworkState\nmetadata: {name: node01}\n", "foreign"],
    ["# mentions a NodeIPPool\nkind: ConfigMap\n", "foreign"],
    ["kind: ConfigMap\ndata:\n  pool.yaml: |\n    kind: NodeIPPool\n", "foreign"],
  ];
  it.each(rows)("%j", (text, ...expected) => {
    expect(kinds(text)).toEqual(expected);
  });

  it("JSON, on one line or on many", () => {
    const text = JSON.stringify(objectsIn({ f: poolText() })[0]);
    expect(kinds(text)).toEqual(["pool"]);
    expect(kinds(JSON.stringify(JSON.parse(text), null, 2))).toEqual(["pool"]);
    expect(kinds(`${text}\n---\n${text.replace('"p"', '"q"')}`)).toEqual(["pool", "pool"]);
  });

  it("with CR LF, in the same places", () => {
    const text = documentsOf(poolText("  range: {cidr: 10.0.0.0/24, strat: x}"), poolText("  range: {cidr: x}", "q"));
    expect(issuesOf(text.replaceAll("\n", "\r\n"))).toEqual(issuesOf(text));
  });

  it("behind a %YAML directive, in the right place", () => {
    expect(issuesOf(`%YAML 1.2\n---\n${poolText("  range: {cidr: x/8}")}`)).toEqual(['7:17 "x" is not an IP address']);
  });

  it("behind --- on the same line, in the right place", () => {
    const text = "--- {apiVersion: nmstate.io/v1, kind: NodeIPPool, metadata: {name: p}, spec: {range: {cidr: x}}}\n";
    const place = text.indexOf("x}") + 1;
    expect(issuesOf(text)).toEqual([`1:${place} "x" has no prefix length; write for example 10.0.0.0/24`]);
  });

  it.each(["NodeList", "NodeIPPoolList", "List"])("but no part of a %s", (kind) => {
    const item = kind === "NodeList" ? "metadata: {name: n1}" : poolText();
    expect(issuesOf(`${list(kind, item)}metadata: {continue: abc}\n`)).toEqual([
      expect.stringMatching(/^\d+:22 this list is cut off/),
    ]);
    expect(issuesOf(`${list(kind, item)}metadata: {continue: ""}\n`)).toEqual([]);
  });

  it("and a part of a list of anything else is text", () => {
    expect(kinds(`${list("ConfigMapList", "kind: ConfigMap")}metadata: {continue: abc}\n# a Node\n`)).toEqual([
      "foreign",
    ]);
  });

  it("in a list, in the right place", () => {
    expect(issuesOf(list("List", poolText(), poolText("  range: {cidr: 10.0.1.0/24, strat: x}", "q")))).toEqual([
      "13:32 unknown field strat; did you mean start?",
    ]);
    expect(issuesOf(bare("NodeIPPoolList", poolText("  range: {cidr: x}")))).toEqual([
      '6:19 "x" has no prefix length; write for example 10.0.0.0/24',
    ]);
  });
});

describe("readManifests never takes a broken document with our kinds for somebody else's", () => {
  const broken: [what: string, text: string][] = [
    ["a key twice", `${poolText()}kind: NodeIPPool\n`],
    [
      "JSON",
      `{"apiVersion": "nmstate.io/v1", "kind": "NodeIPPool", "metadata": {"name": "p"}, "kind": "NodeIPPool"}\n`,
    ],
    ["a key twice in a list", `kind: List\nitems:\n- kind: NodeIPPool\n  metadata: {name: p}\n  kind: NodeIPPool\n`],
    ["an alias in a list", `kind: List\nitems:\n- kind: ConfigMap\n  a: &a b\n  c: *a\n- kind: NodeIPPool\n`],
    ["0644 in a list", `kind: List\nitems:\n- kind: ConfigMap\n  mode: 0644\n- kind: NodeIPPool\n`],
    ["an anchor on the kind", `kind: &k NodeIPPool\nother: *k\n`],
    ["a label that is no text", "apiVersion: v1\nkind: Node\nmetadata: {name: node01, labels: {worker: yes}}\n"],
    ["blanks before", `  kind: NodeIPPool\n  kind: NodeIPPool\n`],
  ];
  it.each(broken)("%s", (_, text) => {
    expect(issuesOf(text)).not.toEqual([]);
  });
});
