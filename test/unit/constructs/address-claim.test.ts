import { ApiObject } from "cdk8s";
import { describe, expect, it } from "vitest";
import { AddressPlan, NodeIPPool, NodeNetworkPolicy, Nodes } from "../../../constructs/index.ts";
import { memory } from "../../../state/index.ts";
import { appOf, type Build, drift, nic, objectsOf, recordAfter, refusal } from "../../support/cli/constructs-app.ts";
import { cli, folderOf, projectOf } from "../../support/schema/cli.ts";

/** What schema-cli's manifests say: pool p of six addresses, and policy `a` that gives eth1 one of them. */
const sameAsYaml: Build = (chart) => {
  const pool = new NodeIPPool(chart, "p", { range: { cidr: "10.0.0.0/29" } });
  new NodeNetworkPolicy(chart, "a", { nodes: Nodes.named("n1", "n2"), desiredState: nic("eth1", pool.claim("p")) });
};

describe("a claim has the key it has in YAML:", () => {
  it("what the command line recorded covers the app", async () => {
    const folder = projectOf();
    await cli(["allocate", "manifests", "--nodes", "nodes.txt"], folder);
    expect(drift(appOf(sameAsYaml, { lock: `${folder}/nodeippool.lock` }))).toBe("nothing");
  });

  it("what the app recorded covers the folder, and both lock the same bytes", async () => {
    const [byApp, byHand] = [projectOf(), projectOf()] as const;
    const { lockfile } = await import("../../../state/index.ts");
    const lock = `${byApp}/nodeippool.lock`;
    await lockfile(lock).commit(AddressPlan.of(appOf(sameAsYaml, { lock })).plan());
    const rendered = await cli(["render", "manifests", "--nodes", "nodes.txt", "--out", "out"], byApp);
    expect(rendered).toMatchObject({ status: 0 });
    await cli(["allocate", "manifests", "--nodes", "nodes.txt"], byHand);
    const { readFileSync } = await import("node:fs");
    expect(readFileSync(lock, "utf8")).toBe(readFileSync(`${byHand}/nodeippool.lock`, "utf8"));
  });

  it("and the policies are the same", async () => {
    const folder = projectOf();
    await cli(["allocate", "manifests", "--nodes", "nodes.txt"], folder);
    const { stdout } = await cli(["render", "manifests", "--nodes", "nodes.txt"], folder);
    const { parseAllDocuments } = await import("yaml");
    const byHand = parseAllDocuments(stdout).map((document) => document.toJS());
    expect(await objectsOf(sameAsYaml)).toEqual(byHand);
  });
});

describe("AddressClaim", () => {
  it.each(["eth1.100", "1st", "", "eth 1", "eth/1", "a}}"])("refuses the name %j", (name) => {
    const build: Build = (chart) => new NodeIPPool(chart, "p", { range: { cidr: "10.0.0.0/29" } }).claim(name);
    expect(refusal(() => appOf(build))).toMatch(/must be letters, digits and - and start with a letter/);
  });

  it("works for a pool with dots in its name", async () => {
    const record = await recordAfter((chart) => {
      const pool = new NodeIPPool(chart, "lan.example", { range: { cidr: "10.0.0.0/29" } });
      new NodeNetworkPolicy(chart, "a", { nodes: Nodes.named("n1"), desiredState: nic("eth1", pool.claim("x")) });
    });
    expect(record.allocations.map(({ pool, claim }) => `${pool} ${claim}`)).toEqual(["lan.example Node/n1/a/x"]);
  });

  it.each([
    ["a value", (ip: string) => ({ peer: `via ${ip}` })],
    ["a key", (ip: string) => ({ [ip]: "peer" })],
  ])("is nothing outside its policy: %s", (_, dataOf) => {
    const folder = folderOf({});
    const app = appOf(
      (chart) => {
        const claim = new NodeIPPool(chart, "p", { range: { cidr: "10.0.0.0/29" } }).claim("eth1");
        const data = dataOf(claim.ip);
        new ApiObject(chart, "c", { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c" }, ...{ data } });
      },
      { lock: `${folder}/nodeippool.lock` },
    );
    expect(refusal(() => app.synthYaml())).toMatch(/only inside its policy[\s\S]*pool\.addressOf\(node\)/);
  });

  it("keeps its address when the policy's other claims come and go", async () => {
    const build =
      (...names: string[]): Build =>
      (chart) => {
        const pool = new NodeIPPool(chart, "p", { range: { cidr: "10.0.0.0/29" } });
        const claims = names.map((name) => pool.claim(name));
        new NodeNetworkPolicy(chart, "a", { nodes: Nodes.named("n1"), desiredState: nic("eth1", ...claims) });
      };
    const before = await recordAfter(build("b", "c"));
    const { allocations } = await memory(await recordAfter(build("a", "b", "c"), { record: before })).read();
    expect(allocations.map(({ claim, address }) => `${claim} ${address & 255n}`)).toEqual([
      "Node/n1/a/b 1",
      "Node/n1/a/c 2",
      "Node/n1/a/a 3",
    ]);
  });
});
