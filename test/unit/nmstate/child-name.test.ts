import { describe, expect, it } from "vitest";
import { childMetadata, childName, hostnameOf, labelValue } from "../../../integrations/nmstate/child.ts";
import { nodesOf } from "../../support/schema/text.ts";

const hash = "[0-9a-f]{12}";
const letters = (n: number) => "p".repeat(n);

describe("childName", () => {
  const rows: [policy: string, node: string, name: string | RegExp][] = [
    ["static-ip", "node01", "static-ip--node01"],
    ["static-ip", "node01.example.net", "static-ip--node01.example.net"],
    ["a", "b", "a--b"],
    ["a-b", "c", "a-b--c"],
    ["a", "b-c", "a--b-c"],
    [letters(50), "n".repeat(11), `${letters(50)}--${"n".repeat(11)}`],
    // the whole is longer than a label value may be
    [letters(50), "n".repeat(12), new RegExp(`^${letters(40)}.*-${hash}$`)],
    [letters(63), "n", new RegExp(`^${letters(40)}.*-${hash}$`)],
    ["a", `${"n".repeat(60)}.example.net`, new RegExp(`^a--${"n".repeat(40)}.*-${hash}$`)],
    // either part holds --
    ["a--b", "c", new RegExp(`^a--b--c--.*${hash}$`)],
    ["a", "b--c", new RegExp(`^a--b--c--.*${hash}$`)],
  ];
  it.each(rows)("%s for %s", (policy, node, name) => {
    const made = childName(policy, node);
    if (typeof name === "string") expect(made).toBe(name);
    else expect(made).toMatch(name);
    expect(made.length).toBeLessThanOrEqual(63);
    expect(made).toMatch(/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/);
  });

  it("two pairs with the same text have two names", () => {
    expect(childName("a--b", "c")).not.toBe(childName("a", "b--c"));
    expect(childName("a", "b--c")).not.toBe(childName("a", "b---c"));
  });

  it("long pairs that differ in one letter at either end have two names", () => {
    const end = "p".repeat(62);
    const names = [
      [`${end}a`, "n"],
      [`${end}b`, "n"],
      [`${end}a`, "m"],
      ["a", `${end}${end}a`],
      ["a", `${end}${end}b`],
      ["b", `${end}${end}b`],
    ].map(([policy = "", node = ""]) => childName(policy, node));
    expect(new Set(names).size).toBe(names.length);
  });

  it("no pair has the name of a long one: neither its hash as a node nor its head as a policy", () => {
    for (const policy of [letters(47), letters(48), letters(49), letters(63), `${letters(46)}-p`, "a--b"]) {
      const long = childName(policy, "n".repeat(63));
      for (const cut of [...long.matchAll(/-+/g)])
        expect(childName(long.slice(0, cut.index), long.slice(cut.index + cut[0].length))).not.toBe(long);
    }
  });

  it("never changes: it names objects that live in clusters", () => {
    expect(childName("static-ip", `${"n".repeat(60)}.example.net`)).toMatch(/^static-ip--n{30,}-+3053e1037e0f$/);
    expect(childName("a--b", "c")).toMatch(/^a--b--c-+b78899b86a55$/);
  });
});

describe("labelValue", () => {
  it.each([
    ["static-ip", "static-ip"],
    ["n".repeat(63), "n".repeat(63)],
  ])("%s as it is", (text, value) => {
    expect(labelValue(text)).toBe(value);
  });

  it("shortens what is longer, to different values", () => {
    const [a, b] = [labelValue(`${"n".repeat(62)}.a`), labelValue(`${"n".repeat(62)}.b`)];
    for (const value of [a, b]) expect(value).toMatch(/^n[n-]{40,}[0-9a-f]{12}$/);
    expect(a).not.toBe(b);
    expect(a.length).toBeLessThanOrEqual(63);
  });

  it("ends in a letter or digit, whatever is cut", () => {
    const text = `${"n".repeat(40)}${".-".repeat(20)}n`;
    expect(labelValue(text)).toMatch(/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/);
  });
});

describe("childMetadata", () => {
  it("says whose child it is", () => {
    expect(childMetadata("a", "n", {})).toEqual({
      name: "a--n",
      labels: { "nodeippool.nmstate.io/policy": "a", "nodeippool.nmstate.io/node": "n" },
    });
  });

  it("keeps the user's labels and annotations, but not our labels nor kubectl's copy of the policy", () => {
    const policy = {
      labels: { app: "x", "nodeippool.nmstate.io/node": "someone" },
      annotations: { note: "n", "kubectl.kubernetes.io/last-applied-configuration": "{}" },
    };
    expect(childMetadata("a", "n", policy)).toEqual({
      name: "a--n",
      labels: { app: "x", "nodeippool.nmstate.io/policy": "a", "nodeippool.nmstate.io/node": "n" },
      annotations: { note: "n" },
    });
  });

  it("has no annotations where kubectl's was the only one", () => {
    const annotations = { "kubectl.kubernetes.io/last-applied-configuration": "{}" };
    expect(childMetadata("a", "n", { annotations })).not.toHaveProperty("annotations");
  });
});

describe("hostnameOf", () => {
  it.each([
    ["n1", "n1"],
    ["n1.example.net kubernetes.io/hostname=n1", "n1"],
    ["n1 kubernetes.io/hostname=n1.example.net", "n1.example.net"],
  ])("%s: %s", (text, hostname) => {
    expect(nodesOf(text).map(hostnameOf)).toEqual([hostname]);
  });

  it("a node object without the label cannot be selected alone", () => {
    const [node] = nodesOf('{"kind": "Node", "metadata": {"name": "n1", "labels": {"a": "b"}}}');
    expect(() => hostnameOf(node as never)).toThrow("node n1 has no label kubernetes.io/hostname");
  });
});
