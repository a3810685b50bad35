import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readFolder } from "../../../pipeline/folder.ts";
import { wrongKeys } from "../../../schema/own-keys.ts";
import { root } from "../../support/console.ts";

const own = (name: string) => `nodeippool.nmstate.io/${name}`;
const withKey = (place: "labels" | "annotations", name: string, value: string) => ({
  metadata: { name: "a", [place]: { [own(name)]: value, "example.net/poool": "x" } },
});
const label = (name: string, value: string) => withKey("labels", name, value);
const annotation = (name: string, value: string) => withKey("annotations", name, value);
const templated = (metadata: object) => ({ metadata: { name: "a" }, spec: { template: metadata } });
const network = "NetworkAttachmentDefinition";

describe("labels and annotations with our prefix", () => {
  it.each<[string, object, string]>([
    [network, annotation("poool", "a"), "unknown annotation poool; did you mean pool?"],
    [network, annotation("nodeselector", "a"), "unknown annotation nodeselector; did you mean node-selector?"],
    [network, label("pool", "a"), `label pool is not read on a ${network}, but as annotation of a Pod, a pod template`],
    [
      "StatefulSet",
      templated(label("addresses", "Gated")),
      'must be gated or planned, not "Gated"; did you mean gated?',
    ],
    ["Deployment", templated(annotation("Detect", "arp,")), "unknown annotation Detect; did you mean detect?"],
    ["Deployment", label("addresses", "gated"), 'not "gated", which is a label of a Pod, a pod template'],
    ["Job", templated(label("adresses", "gated")), "unknown label adresses; did you mean addresses?"],
    ["DaemonSet", templated(annotation("zones", "x")), "unknown annotation zones"],
    ["Pod", annotation("pol", "a"), "unknown annotation pol; did you mean pool?"],
    ["Node", annotation("pool", "a"), "annotation pool is not read on a Node, but as annotation of a Pod"],
    ["IPAMClaim", annotation("adresses", "a"), "unknown annotation adresses; did you mean addresses?"],
    ["VirtualMachine", annotation("addresses", "{}"), "annotation addresses is not read on a VirtualMachine"],
    ["BareMetalHost", annotation("MAC-nic1", "a"), "unknown annotation MAC-nic1"],
  ])("%s: what has no effect is reported: %j", (kind, object, message) => {
    const found = wrongKeys({ kind, ...object }).map((issue) => issue.message.replaceAll(own(""), ""));
    expect(found).toEqual([expect.stringContaining(message)]);
  });

  it.each<[string, object]>([
    [network, annotation("pool", "a")],
    ["StatefulSet", templated(label("addresses", "gated"))],
    ["StatefulSet", label("addresses", "planned")],
    ["Pod", annotation("detect", "none")],
    ["Pod", annotation("pod-index", "Deployment/web/2")],
    ["BareMetalHost", annotation("mac-nic1", "a")],
    ["ConfigMap", label("anything", "a")],
    ["VirtualMachine", templated(label("anything", "a"))],
  ])("%s: what is known, or not ours to judge, is not reported: %j", (kind, object) => {
    expect(wrongKeys({ kind, ...object })).toEqual([]);
  });

  it.each(["Pod", "Node", "IPAMClaim"])("%s: what a newer controller may have written is not reported", (kind) => {
    expect(wrongKeys({ kind, ...annotation("something-newer", "a") })).toEqual([]);
  });

  it("a typo in the template of a StatefulSet is reported there, not on its pods", () => {
    const { metadata } = label("addresses", "Gated");
    const of = (apiVersion: string) => ({ ...metadata, ownerReferences: [{ apiVersion, kind: "any", name: "a" }] });
    expect(wrongKeys({ kind: "Pod", metadata: of("apps/v1") })).toEqual([]);
    expect(wrongKeys({ kind: "Pod", metadata: of("batch/v1") })).toHaveLength(1);
  });

  it("in a folder it is an error with its place; a template of Helm passes", () => {
    const text = (key: string) =>
      `apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: a\nspec:\n  template:\n    metadata:\n      labels:\n        ${own(key)}: gated\n`;
    const { issues } = readFolder([{ path: "job.yaml", text: text("adresses") }]);
    expect(issues).toEqual([
      expect.objectContaining({
        message: expect.stringContaining("unknown label"),
        at: { file: "job.yaml", line: 9, column: 41 },
      }),
    ]);
    expect(readFolder([{ path: "job.yaml", text: text("addresses") }]).issues).toEqual([]);
    expect(readFolder([{ path: "job.yaml", text: text("{{ .Values.key }}") }]).issues).toEqual([]);
  });

  it("each key that the sources define is known, or is on objects that only the controller or a plan makes", () => {
    const sources = globSync("{schema,integrations,controller,state}/**/*.ts", { cwd: root });
    const texts = sources.map((path) => readFileSync(join(root, path), "utf8"));
    const keys = texts.flatMap((text) => [...text.matchAll(/`\$\{ownPrefix\}([a-z-]+)`/g)].map(([, key]) => `${key}`));
    const ofUsers = [...(texts[sources.indexOf("schema/own-keys.ts")] as string).matchAll(/"([a-z-]+)"/g)];
    const known = new Set(ofUsers.map(([, key]) => key));
    const unknown = new Set(keys.filter((key) => !known.has(key)));
    expect([...unknown].sort()).toEqual([
      "conflicts",
      "node",
      "nodes-per-sync-wave",
      "owner",
      "policy",
      "pools-of-pods",
      "slices",
    ]);
  });
});
