import { describe, expect, it } from "vitest";
import { rendered } from "../../support/schema/render.ts";
import { documentsOf, nicPolicyText, poolText } from "../../support/schema/text.ts";

const pool = poolText();
const literal = (name: string) =>
  `apiVersion: nmstate.io/v1\nkind: NodeNetworkConfigurationPolicy\nmetadata: {name: ${name}}\nspec: {desiredState: {}}\n`;
const inList = (text: string) => `kind: List\nitems:\n- ${text.trimEnd().replaceAll("\n", "\n  ")}\n`;
const shared = poolText("  range: {cidr: 10.0.0.0/24}\n  clusterRange: {start: 10.0.0.1, end: 10.0.0.9}");

describe("render never makes a policy of a name that is taken", () => {
  const a = nicPolicyText("a");
  const rows: [what: string, manifests: Record<string, string>, record?: string[]][] = [
    ["by a hand-written policy", { "a.yaml": documentsOf(pool, a, literal("a--n1")) }],
    ["by one in another file", { "a.yaml": documentsOf(pool, a), "b.yaml": literal("a--n1") }],
    ["by one in a List", { "a.yaml": documentsOf(pool, a), "b.yaml": inList(literal("a--n1")) }],
    [
      "by one in a List with ours",
      { "a.yaml": inList(literal("a--n1")) + inList(pool).split("\n").slice(2).join("\n"), "b.yaml": a },
    ],
    [
      "by one that took the place of a policy that is gone",
      { "a.yaml": documentsOf(pool, literal("z--n1")) },
      ["10.0.0.7 Node/n1/z/p if=eth2 releasing"],
    ],
    ["by another policy of ours, parked", { "a.yaml": documentsOf(shared, a, nicPolicyText("a--n1", ["p"], "eth2")) }],
  ];
  it.each(rows)("%s", async (_, manifests, record = []) => {
    await expect(rendered({ manifests, nodes: "n1", record })).rejects.toMatchObject({
      code: "invalid",
      message: expect.stringMatching(/[az]--n1/),
    });
  });

  it("a hand-written policy of any other name is nobody's business", async () => {
    const manifests = documentsOf(pool, a, literal("a-n1"), literal("a--n2"), literal("a"));
    await expect(rendered({ manifests, nodes: "n1" })).resolves.toHaveProperty(["f.yaml"]);
  });
});

describe("two nodes with one hostname label", () => {
  it("are refused: each would get the addresses of both", async () => {
    const world = {
      manifests: documentsOf(pool, nicPolicyText("a")),
      nodes: "n1 kubernetes.io/hostname=h\nn2 kubernetes.io/hostname=h",
    };
    await expect(rendered(world)).rejects.toMatchObject({
      code: "invalid",
      message: expect.stringMatching(/n1.*n2|n2.*n1/),
    });
  });

  it("a bare name and a label that says the same are two nodes with one, too", async () => {
    const world = { manifests: documentsOf(pool, nicPolicyText("a")), nodes: "h\nn2 kubernetes.io/hostname=h" };
    await expect(rendered(world)).rejects.toMatchObject({ code: "invalid" });
  });
});

describe("a manifest of the name that clean-up policies are written to", () => {
  it("is not lost", async () => {
    const manifests = { "a.yaml": documentsOf(pool), "nodeippool-releasing.yaml": "kind: Mine\n" };
    const record = ["10.0.0.7 Node/n1/z/p if=eth2 releasing"];
    const said = await rendered({ manifests, nodes: "n1", record }).then(
      (made) => Object.values(made).join(""),
      (error: Error) => error.message,
    );
    expect(said).toMatch(/kind: Mine|nodeippool-releasing\.yaml/);
  });
});
