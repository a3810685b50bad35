import { describe, expect, it } from "vitest";
import { Nodes } from "../../../constructs/index.ts";
import { refusal } from "../../support/cli/constructs-app.ts";
import { folderOf } from "../../support/schema/cli.ts";

describe("Nodes", () => {
  it.each([
    ["names.txt", "node01\nnode02\n"],
    ["o-name.txt", "node/node01\nnode/node02\n"],
    ["list.yaml", "- node01\n- name: node02\n  labels: {a: b}\n"],
    [
      "dump.json",
      JSON.stringify({ items: ["node01", "node02"].map((name) => ({ kind: "Node", metadata: { name, labels: {} } })) }),
    ],
  ])("reads %s", (name, text) => {
    expect(Nodes.fromFile(`${folderOf({ [name]: text })}/${name}`).names).toEqual(["node01", "node02"]);
  });

  it("takes names, and names with labels", () => {
    expect(Nodes.named("node01", "node02").names).toEqual(["node01", "node02"]);
    expect(Nodes.of({ name: "node01", labels: { role: "worker" } }).names).toEqual(["node01"]);
  });

  it.each<[string, () => Nodes, RegExp]>([
    ["a file that is not there", () => Nodes.fromFile("/no/such/nodes.yaml"), /nodes cannot be read: ENOENT/],
    ["a file without nodes", () => Nodes.fromFile(`${folderOf({ "n.txt": "# none\n" })}/n.txt`), /lists no nodes/],
    ["no names", () => Nodes.named(...[]), /no nodes are given/],
    ["a name twice", () => Nodes.named("a", "b", "a"), /node a is listed twice/],
    ["a name that is none", () => Nodes.named("Node_1"), /a node's name/],
    ["labels that are none", () => Nodes.of({ name: "a", labels: { b: {} as string } }), /labels must be a mapping/],
  ])("refuses %s", (_, nodes, message) => {
    expect(refusal(nodes)).toMatch(message);
  });
});
