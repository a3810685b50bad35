import { Construct } from "constructs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AddressPlan, NodeIPPool } from "../../../constructs/index.ts";
import { integrations } from "../../../pipeline/integrations.ts";
import { appOf, type Build, recordAfter, refusal, synthesised } from "../../support/cli/constructs-app.ts";
import { cli, folderOf } from "../../support/schema/cli.ts";
import { inScratchFolder } from "../../support/state/folder.ts";
import { toy, toyObjects } from "../../support/toy-integration.ts";

inScratchFolder();

// A new system is one file, and one line in the list: every surface knows it then.
beforeAll(() => integrations.push(toy));
afterAll(() => integrations.splice(integrations.indexOf(toy), 1));

const json = (...items: object[]) => JSON.stringify({ apiVersion: "v1", kind: "List", items });

describe("an integration of one's own, in a folder", () => {
  const { pool, printer, scanner } = toyObjects;
  const inFolder = (files: Record<string, string>) => {
    const folder = folderOf(files);
    return (...args: string[]) => cli(args, folder);
  };

  it("is planned, recorded and rendered", async () => {
    const run = inFolder({ "m/a.json": json(pool, printer("lobby"), printer("attic")) });
    expect((await run("plan", "m")).stdout).toContain("+ 10.0.0.1  Printer/attic  lan");
    expect(await run("allocate", "m")).toMatchObject({ status: 0 });
    const { stdout } = await run("render", "m");
    expect(stdout).toContain("name: printer-attic\ndata:\n  address: 10.0.0.1");
    expect(stdout).not.toContain("kind: Printer");
    expect((await run("plan", "m")).stdout).toContain("Nothing to record.");
  });

  it("is audited, in a document that has nothing else in it", async () => {
    const run = inFolder({ "m/a.json": json(pool, printer("lobby")), "b.json": JSON.stringify(scanner("10.0.0.1")) });
    await run("allocate", "m");
    const audited = await run("audit", "b.json", "--pools", "m");
    expect(audited.status).toBe(5);
    expect(audited.stdout).toContain("Scanner/s");
  });

  it("is not audited where it cannot be read, or is in the middle of a merge", async () => {
    const broken = "apiVersion: toys.example.org/v1\nkind: Scanner\nspec: {ip: 10.0.0.1\n";
    const sides = "<<<<<<< a\nkind: Scanner\n=======\nkind: Scanner\n>>>>>>> b\n";
    const run = inFolder({ "m/a.json": json(pool), "b.yaml": broken, "c.yaml": sides });
    await run("allocate", "m");
    for (const [file, why] of [
      ["b.yaml", /b\.yaml:\d+:\d+: /],
      ["c.yaml", /c\.yaml:1:1: .*merge conflict/],
    ] as const)
      expect(await run("audit", file, "--pools", "m")).toMatchObject({ status: 2, stderr: expect.stringMatching(why) });
  });

  it("may have one name in two namespaces and in another group, but not twice", async () => {
    const other = { ...printer("lobby"), apiVersion: "example.net/v1" };
    const run = inFolder({ "m/a.json": json(pool, printer("lobby", "hq"), printer("lobby", "branch"), other) });
    expect(await run("allocate", "m")).toMatchObject({ status: 0 });
    const { stdout } = await run("render", "m");
    expect(stdout.match(/name: printer-lobby/g)).toHaveLength(2);
    expect(stdout.match(/kind"?: "?Printer/g)).toHaveLength(1);
    for (const [first, second] of [
      [printer("lobby", "hq"), printer("lobby", "hq")],
      [printer("lobby"), printer("lobby", "default")],
    ] as const)
      expect(await inFolder({ "m/a.json": json(pool, first, second) })("plan", "m")).toMatchObject({
        status: 2,
        stderr: expect.stringMatching(/Printer \S*lobby is defined twice/),
      });
  });

  it("says where something is wrong with it", async () => {
    const run = inFolder({
      "m/a.yaml": "apiVersion: toys.example.org/v1\nkind: Printer\nmetadata: {name: x}\nspec: {}\n",
    });
    expect(await run("plan", "m")).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("a.yaml:4:7: a printer"),
    });
  });

  it("has the addresses that it uses held against the record", async () => {
    const run = inFolder({ "m/a.json": json(pool, printer("lobby"), scanner("10.0.0.1")) });
    expect(await run("allocate", "m")).toMatchObject({
      status: 3,
      stderr: expect.stringContaining("10.0.0.1 is used by Scanner/s, but recorded for Printer/lobby/lan"),
    });
  });
});

describe("an integration of one's own, in cdk8s", () => {
  class Printer extends Construct {
    readonly object: ReturnType<typeof toyObjects.printer>;

    constructor(scope: Construct, id: string) {
      super(scope, id);
      this.object = toyObjects.printer(id);
      AddressPlan.of(this).addObject(this);
    }
  }
  const build: Build = (chart) => {
    new NodeIPPool(chart, "office", { range: { cidr: "10.0.0.0/29" } });
    new Printer(chart, "lobby");
  };

  it("is planned, recorded and synthesised", async () => {
    expect(refusal(() => synthesised(appOf(build)))).toContain("+ 10.0.0.1  Printer/lobby  lan");
    const objects = synthesised(appOf(build, { record: await recordAfter(build) }));
    expect(objects.find(({ kind }) => kind === "ConfigMap")).toMatchObject({
      metadata: { name: "printer-lobby" },
      data: { address: "10.0.0.1" },
    });
  });
});
