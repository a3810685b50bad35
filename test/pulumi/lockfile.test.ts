import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PulumiProject, setText, short } from "../support/pulumi/engine.ts";
import { BUILD_TIMEOUT } from "../support/tools/tools.ts";

const lock = 'state: { backend: "lockfile", path: "nodeippool.lock" }';
const allocate = ["allocate", "--", "pulumi", "preview", "--non-interactive"] as const;

describe("a set whose record is a lockfile", () => {
  let project: PulumiProject;
  beforeAll(async () => {
    project = await PulumiProject.create(setText(["a", "b"], { rest: lock }));
  }, BUILD_TIMEOUT);
  afterAll(() => project?.remove());

  const held = () => short(project.sets().ips?.addresses);

  it("refuses a program that is not recorded, and says how to record it", async () => {
    const { status, text } = await project.run("up", "--yes", "--skip-preview");
    expect(status).not.toBe(0);
    expect(text).toContain("stale: nodeippool.lock is not up to date with the program:");
    expect(text).toContain("+ 10.0.0.1  a  eth1");
    expect(text).toContain("nodeippool allocate -- pulumi preview");
    expect(project.sets()).toEqual({});
  });

  it("is recorded by nodeippool allocate around preview; up takes it from there", async () => {
    const { status, text } = await project.start("nodeippool", ...allocate).ended;
    expect(text).toContain("1 plan recorded in nodeippool.lock.");
    expect(status).toBe(0);
    await project.up();
    expect(held()).toBe("a=1 b=2");
    expect(await project.up()).toContain("2 unchanged");
  });

  it("records nothing where the preview fails", async () => {
    const before = project.read("nodeippool.lock");
    project.program(
      `${setText(["a", "b", "c"], { rest: lock })}\nips.id.apply(() => {});\nthrow new pulumi.RunError("no");`,
    );
    const { status, text } = await project.start("nodeippool", ...allocate).ended;
    expect(status).not.toBe(0);
    expect(text).toContain("nothing that it planned was recorded");
    expect(project.read("nodeippool.lock")).toBe(before);
  });

  it("gives up what is claimed no more, in the record; the state only follows", async () => {
    project.program(setText(["b", "c"], { rest: lock }));
    await project.start("nodeippool", ...allocate).ended;
    expect(project.read("nodeippool.lock")).toMatch(/releasing:\n- .*"10.0.0.1".*Node\/a\/eth1/);
    await project.up();
    expect(held()).toBe("b=2 c=3");
    expect(project.sets().ips?.releasing).toEqual({});
  });

  it("reports a record that somebody else changed: by refresh, and by up", async () => {
    const before = project.read("nodeippool.lock");
    const line = before.split("\n").find((text) => text.includes("Node/c/eth1")) as string;
    project.write("nodeippool.lock", before.replace(`${line}\n`, ""));
    const text = await project.ok("refresh", "--yes", "--diff");
    expect(text).toMatch(/- Node\/c\/eth1: "10.0.0.3"/);
    expect(text.slice(0, text.indexOf("--outputs:--"))).not.toContain("Node/b");
    expect(held()).toBe("b=2");
    expect((await project.run("up", "--yes", "--skip-preview")).text).toContain("+ 10.0.0.3  c  eth1");
    project.write("nodeippool.lock", before);
    expect(await project.up("--diff")).toMatch(/\+ Node\/c\/eth1: "10.0.0.3"/);
    expect(held()).toBe("b=2 c=3");
  });

  it("says in one line what is wrong with the file", async () => {
    const before = project.read("nodeippool.lock");
    appendFileSync(join(project.folder, "nodeippool.lock"), "more\n");
    const { status, text } = await project.run("refresh", "--yes");
    expect(status).not.toBe(0);
    expect(text).toContain("nodeippool.lock:");
    expect(text).not.toMatch(/^\s+at /m);
    project.write("nodeippool.lock", before);
  });

  it("refuses `release`, which is a verb of the command line here", async () => {
    project.program(setText(["b", "c"], { rest: `${lock}, release: ["Node/a"]` }));
    expect((await project.run("preview")).text).toContain(
      "invalid: release: a shared record is released by: nodeippool release",
    );
  });

  it("leaves the stack alone in an up that is to be recorded", async () => {
    const before = [project.read("nodeippool.lock"), project.checkpoint()];
    project.program(setText(["b", "c", "d"], { rest: lock }));
    const up = ["pulumi", "up", "--yes", "--skip-preview", "--non-interactive"];
    const { status, text } = await project.start("nodeippool", "allocate", "--", ...up).ended;
    expect(status).not.toBe(0);
    expect(text).toContain("error: nodeippool allocate has yet to write the lock: let it run `pulumi preview`");
    expect(held()).toBe("b=2 c=3");
    expect(project.read("nodeippool.lock")).toBe(before[0]);
  });

  it("goes to the stack, and to another lock, when nothing would be lost by that", async () => {
    const refused = async (nodes: string[], rest: string, first: string) => {
      project.program(setText(nodes, { rest }));
      const { status, text } = await project.run("preview");
      expect(status).not.toBe(0);
      expect(text).toContain(`has 1 address, as 10.0.0.${first}/eth1`);
    };
    await refused(["b", "c"], "", "1 of Node/a");
    await project.start("nodeippool", "release", "Node/a", "--confirm").ended;
    project.program(setText(["b", "c"]));
    await project.up();
    expect(held()).toBe("b=2 c=3");
    const other = lock.replace("nodeippool.lock", "other.lock");
    await refused(["c"], other, "2 of Node/b");
    project.program(setText(["b", "c"], { rest: other }));
    await project.start("nodeippool", "allocate", "--lock", "other.lock", ...allocate.slice(1)).ended;
    await project.up();
    expect(held()).toBe("b=2 c=3");
  });

  it("outlives the stack", async () => {
    const before = project.read("other.lock");
    await project.ok("destroy", "--yes", "--skip-preview");
    expect(project.resources()).toEqual([]);
    expect(project.read("other.lock")).toBe(before);
  });
});
