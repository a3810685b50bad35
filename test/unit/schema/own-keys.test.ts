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
const policy = "NodeNetworkConfigurationPolicy";

describe("labels and annotations with our prefix", () => {
  it.each<[string, object, string]>([
    [network, annotation("poool", "a"), "unknown annotation poool; did you mean pool?"],
    [network, annotation("nodeselector", "a"), "unknown annotation nodeselector; did you mean node-selector?"],
    [network, label("pool", "a"), `label pool has no effect on a ${network}. Make it an annotation.`],
    [
      "StatefulSet",
      annotation("pool", "a"),
      "annotation pool has no effect on a StatefulSet. Set it on the pod template.",
    ],
    [
      "Deployment",
      label("detect", "arp"),
      "has no effect on a Deployment. Set it on the pod template, as an annotation.",
    ],
    [
      "NodeIPPool",
      annotation("reset-ippool", ""),
      "unknown annotation reset-ippool; did you mean nmstate.io/reset-ippool?",
    ],
    [
      "NodeIPPool",
      annotation("reset-ipool", ""),
      "unknown annotation reset-ipool; did you mean nmstate.io/reset-ippool?",
    ],
    [
      "NodeIPPool",
      { metadata: { annotations: { "nmstate.io/reset-ipool": "" } } },
      "unknown annotation nmstate.io/reset-ipool; did you mean nmstate.io/reset-ippool?. It has no effect",
    ],
    [
      policy,
      { metadata: { annotations: { "nmstate.io/ippool-reset": "", "nmstate.io/reset_ippool": "p" } } },
      "unknown annotation nmstate.io/reset_ippool; did you mean nmstate.io/reset-ippool?",
    ],
    [
      "NodeIPPool",
      { metadata: { labels: { "nmstate.io/reset-ippool": "" } } },
      "label nmstate.io/reset-ippool has no effect. Make it an annotation.",
    ],
    ["NodeIPPool", label("pool", "a"), "label pool has no effect on a NodeIPPool"],
    [policy, label("nodes-per-sync-wave", "2"), `has no effect on a ${policy}. Make it an annotation.`],
    [policy, label("polcy", "a"), "unknown label polcy; did you mean policy?"],
    [
      "StatefulSet",
      templated(label("addresses", "Gated")),
      'must be gated or planned, not "Gated"; did you mean gated?',
    ],
    ["Deployment", templated(annotation("Detect", "arp,")), "unknown annotation Detect; did you mean detect?"],
    ["Deployment", label("addresses", "gated"), 'not "gated", which is a label of a Pod or a pod template'],
    ["Job", templated(label("adresses", "gated")), "unknown label adresses; did you mean addresses?"],
    ["DaemonSet", templated(annotation("zones", "x")), "unknown annotation zones"],
    ["Pod", annotation("pol", "a"), "unknown annotation pol; did you mean pool?"],
    ["Node", annotation("pool", "a"), `has no effect on a Node. Set it on a Pod, a pod template or a ${network}.`],
    ["IPAMClaim", annotation("adresses", "a"), "unknown annotation adresses; did you mean addresses?"],
    ["VirtualMachine", annotation("addresses", "{}"), "annotation addresses has no effect on a VirtualMachine"],
    ["BareMetalHost", annotation("MAC-nic1", "a"), "unknown annotation MAC-nic1"],
  ])("%s: what has no effect is reported: %j", (kind, object, message) => {
    const found = wrongKeys({ kind, ...object }).map(({ message, hint }) =>
      `${message}. ${hint}`.replaceAll(own(""), ""),
    );
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
    ["NodeIPPool", annotation("conflicts", "10.0.0.3 unknown")],
    [policy, label("policy", "a")],
    // Its parser checks annotations, and the Deployment controller copies the labels of a Deployment's template.
    [policy, annotation("nodes-per-sync-wav", "2")],
    ["ReplicaSet", templated(label("adresses", "gated"))],
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
    const told = (key: string) => readFolder([{ path: "job.yaml", text: text(key) }]).unread;
    expect(told("adresses").flatMap(({ issues }) => issues)).toEqual([
      expect.objectContaining({
        message: expect.stringContaining("unknown label"),
        at: { file: "job.yaml", line: 9, column: 41 },
      }),
    ]);
    expect(told("addresses")).toEqual([]);
    expect(told("{{ .Values.key }}")).toEqual([]);
  });

  it("each key that the sources define is known, or is on objects that only the controller or a plan makes", () => {
    const sources = globSync("{schema,integrations,controller,state}/**/*.ts", { cwd: root });
    const texts = sources.map((path) => readFileSync(join(root, path), "utf8"));
    const keys = texts.flatMap((text) => [...text.matchAll(/`\$\{ownPrefix\}([a-z-]+)`/g)].map(([, key]) => `${key}`));
    const ofUsers = [...(texts[sources.indexOf("schema/own-keys.ts")] as string).matchAll(/"([a-z-]+)"/g)];
    const known = new Set(ofUsers.map(([, key]) => key));
    const unknown = new Set(keys.filter((key) => !known.has(key)));
    expect([...unknown].sort()).toEqual(["owner", "pools-of-pods", "retry", "slices"]);
  });
});
