import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PulumiProject, setText, short } from "../support/pulumi/engine.ts";
import { BUILD_TIMEOUT } from "../support/tools/tools.ts";

// One stack that holds its own record, through its life: each test goes on from where the one before it ended.
describe("a set whose record is in the stack", () => {
  let project: PulumiProject;
  beforeAll(async () => {
    project = await PulumiProject.create(`${setText(["a", "b", "c"])}
ips.address("Node/b/eth1").apply((address) => console.log("applied " + address));`);
  }, BUILD_TIMEOUT);
  afterAll(() => project?.remove());

  const held = (name = "ips") => short(project.sets()[name]?.addresses);
  const releasing = (name = "ips") => short(project.sets()[name]?.releasing);
  const changes = (text: string) => text.split("\n").filter((line) => /^ {4,}[+~-] /.test(line) && / "|\{$/.test(line));

  it("shows the addresses in preview, where apply runs, and commits none", async () => {
    const text = await project.preview();
    expect(text).toMatch(/addresses *: \{\s+lan: \{\s+Node\/a\/eth1: "10.0.0.1"\s+Node\/b\/eth1: "10.0.0.2"/);
    expect(text).toContain("applied 10.0.0.2");
    expect(text).not.toContain("previous");
    expect(project.sets()).toEqual({});
  });

  it("commits what preview showed", async () => {
    await project.up();
    expect(held()).toBe("a=1 b=2 c=3");
    expect(Object.keys(project.sets().ips ?? {}).sort()).toEqual([
      "__provider",
      "addresses",
      "pools",
      "releasing",
      "set",
      "state",
    ]);
  });

  it("changes nothing when nothing changed", async () => {
    const before = project.resources();
    expect(await project.up("--expect-no-changes")).toContain("2 unchanged");
    expect(project.resources().map(({ outputs }) => outputs)).toEqual(before.map(({ outputs }) => outputs));
  });

  it("shows one more claim as one line", async () => {
    project.program(setText(["0", "c", "b", "a"]));
    const text = await project.preview();
    const set = text.slice(0, text.indexOf("--outputs:--"));
    expect(changes(set).map((line) => line.trim())).toEqual([
      "~ addresses: {",
      "~ lan: {",
      '+ Node/0/eth1: "10.0.0.4"',
    ]);
    await project.up();
    expect(held()).toBe("0=4 a=1 b=2 c=3");
  });

  it("keeps the address of a claim that is gone from others, until it is released", async () => {
    project.program(setText(["b", "c", "0", "d"]));
    await project.up();
    expect([held(), releasing()]).toEqual(["0=4 b=2 c=3 d=5", "a=1"]);
    project.program(setText(["b", "c", "0", "d", "e"], { rest: 'release: ["Node/a"]' }));
    await project.up();
    expect([held(), releasing()]).toEqual(["0=4 b=2 c=3 d=5 e=6", ""]);
    project.program(setText(["b", "c", "0", "d", "e", "f"], { rest: 'release: ["Node/a"]' }));
    await project.up();
    expect([held(), releasing()]).toEqual(["0=4 b=2 c=3 d=5 e=6 f=1", ""]);
  });

  const kept = "0=4 b=2 c=3 d=5 e=6 f=1";
  const nodes = ["b", "c", "0", "d", "e", "f"];
  const urn = (name: string) =>
    project.resources().find((resource) => resource.urn.endsWith(`::${name}`))?.urn as string;

  it("moves nobody when the set is renamed, with an alias or without", async () => {
    project.program(setText(nodes, { name: "bare" }));
    await project.up();
    expect(Object.keys(project.sets())).toEqual(["bare"]);
    expect(held("bare")).toBe(kept);
    const { id } = project.resources().find((resource) => resource.urn === urn("bare")) ?? {};
    project.program(setText(nodes, { name: "ips", opts: '{ aliases: [{ name: "bare" }] }' }));
    expect(await project.up()).toContain("2 unchanged");
    expect([held(), project.resources().find((resource) => resource.urn === urn("ips"))?.id]).toEqual([kept, id]);
    project.program(setText(nodes.slice(1), { name: "bare" }).replaceAll("lan", "dmz"));
    const { status, text } = await project.run("up", "--yes", "--skip-preview");
    expect(status).not.toBe(0);
    expect(text).toContain("overlap: pools dmz and lan of network default share addresses: 10.0.0.");
    project.program(setText(nodes, { name: "ips" }));
    await project.up();
    expect(held()).toBe(kept);
  });

  it("moves nobody when the set is replaced or tainted", async () => {
    expect(await project.up("--replace", urn("ips"))).toContain("1 replaced");
    expect(held()).toBe(kept);
    await project.ok("state", "taint", "--yes", urn("ips"));
    expect(await project.up()).toContain("1 replaced");
    expect(held()).toBe(kept);
  });

  it("leaves a set alone that is no target", async () => {
    const other = `new AllocationSet("other", { pools: { wan: { range: { cidr: "10.1.0.0/24" } } },
      claims: [{ owner: { kind: "Node", name: "x" }, name: "eth2", pool: "wan" }] });`;
    project.program(`${setText([...nodes, "g"])}\n${other}`);
    await project.up("--target", urn("ips").replace("::ips", "::other"));
    expect([held(), short(project.sets().other?.addresses)]).toEqual([kept, "x=10.1.0.1"]);
  });

  it("keeps a pool in the set that has it, as long as it has addresses", async () => {
    const both = `confirmRelease: true, pools: { lan: { range: { cidr: "10.0.0.0/24" } }, wan: { range: { cidr: "10.1.0.0/24" } } },`;
    project.program(`${setText([...nodes, "g"], { name: "other", rest: both })}
      new AllocationSet("ips", { pools: {}, claims: [], confirmRelease: true });`);
    const { status, text } = await project.run("preview");
    expect(status).not.toBe(0);
    expect(text).toContain(
      "in-use: pools: another record or set of this stack has 6 addresses, as 10.0.0.1 of Node/f/eth1",
    );
    project.program(setText([...nodes, "g"]));
    await project.up();
    expect(held()).toBe(`${kept} g=7`);
  });

  it("finds nothing to refresh, and forgets nothing in a program that fails half-way", async () => {
    expect(await project.up("--refresh", "--expect-no-changes")).toContain("unchanged");
    project.program(`${setText([...nodes, "g", "h"])}
      ips.id.apply(() => { throw new pulumi.RunError("half-way"); });`);
    const { status, text } = await project.run("up", "--yes", "--skip-preview");
    expect(status).not.toBe(0);
    expect(text).toContain("half-way");
    project.program(setText([...nodes, "g", "h"]));
    await project.up();
    expect(held()).toBe(`${kept} g=7 h=8`);
  });

  it("has the same addresses in a stack of another name", async () => {
    await project.ok("stack", "rename", "prod");
    project.stack = "prod";
    expect(await project.ok("up", "--yes", "--skip-preview", "--expect-no-changes")).toContain("2 unchanged");
    expect(held()).toBe(`${kept} g=7 h=8`);
  });

  it("gives all up when it is destroyed", async () => {
    await project.ok("destroy", "--yes", "--skip-preview");
    expect(project.resources()).toEqual([]);
  });

  it("has a wider subnet once the record says so, too", async () => {
    const set = (cidr: string, ...names: string[]) =>
      project.program(`const wide = new AllocationSet("wide", { pools: { wide: { range: { cidr: "${cidr}", start: "10.6.0.9" } } },
        claims: ${JSON.stringify(names)}.map((name) => ({ owner: { kind: "Node", name }, name: "eth1", pool: "wide" })) });
        export const entry = wide.claim("a", "eth1");`);
    set("10.6.0.0/24", "a");
    await project.up();
    set("10.6.0.0/23", "a", "b");
    expect((await project.run("preview")).text).toContain("say so in the record as well: 10.6.0.0/23, not 10.6.0.0/24");
    // As docs/pulumi.md says.
    await project.ok("stack", "export", "--file", "stack.json");
    const file = join(project.folder, "stack.json");
    const stack = JSON.parse(readFileSync(file, "utf8"));
    for (const { urn, inputs, outputs } of stack.deployment.resources)
      if (urn.endsWith(":AllocationSet::wide"))
        for (const { pools } of [inputs, outputs]) pools.wide.range.cidr = "10.6.0.0/23";
    writeFileSync(file, JSON.stringify(stack));
    await project.ok("stack", "import", "--file", "stack.json");
    await project.up();
    expect(await project.ok("stack", "output", "entry")).toBe('{"ip":"10.6.0.9","prefix-length":23}\n');
    expect(short(project.sets().wide?.addresses)).toBe("a=10.6.0.9 b=10.6.0.10");
  });
});
