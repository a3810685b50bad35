import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { root } from "../support/console.ts";
import { PulumiProject, setText, short } from "../support/pulumi/engine.ts";
import { BUILD_TIMEOUT } from "../support/tools/tools.ts";

describe("the package is upgraded between two updates", () => {
  let project: PulumiProject;
  beforeAll(async () => {
    project = await PulumiProject.create(setText(["a", "b"]));
  }, BUILD_TIMEOUT);
  afterAll(() => project?.remove());

  /** Installs a copy of the package whose provider has another text. */
  function install(version: string): void {
    const target = join(project.folder, "node_modules/nodeippool");
    rmSync(target, { recursive: true });
    mkdirSync(target);
    for (const name of ["dist", "package.json"]) cpSync(join(root, name), join(target, name), { recursive: true });
    symlinkSync(join(root, "node_modules"), join(target, "node_modules"));
    const dispatcher = join(target, "dist/provider/dispatcher.js");
    const text = readFileSync(dispatcher, "utf8").replace("(...a) =>", `(...a /* ${version} */) =>`);
    writeFileSync(dispatcher, text);
  }

  const text = (of: "inputs" | "outputs") =>
    project.resources().find(({ urn }) => urn.endsWith("::ips"))?.[of].__provider as string;

  it("shows no difference, and changes none", async () => {
    install("1");
    await project.up();
    expect(text("outputs")).toContain("/* 1 */");
    install("2");
    const shown = await project.preview("--expect-no-changes");
    expect(shown).not.toContain("__provider");
    expect(await project.up()).toContain("2 unchanged");
    expect([text("inputs").includes("/* 2 */"), text("outputs").includes("/* 1 */")]).toEqual([true, true]);
  });

  it("changes none either of a state that does not say what is releasing, where nothing is", async () => {
    await project.ok("stack", "export", "--file", "state.json");
    const before = project.read("state.json");
    const without = before.replaceAll(/,?\s*"releasing": \{\}/g, "");
    expect(without).not.toBe(before);
    project.write("state.json", without);
    await project.ok("stack", "import", "--file", "state.json");
    project.program(`${setText(["a", "b"])}\nexport const { releasing } = ips;`);
    await project.preview("--expect-no-changes");
    expect(await project.up()).toContain("2 unchanged");
    expect(await project.ok("stack", "output", "releasing")).toBe("{}\n");
  });

  it("goes on from there, and what the old one left can be refreshed and destroyed", async () => {
    expect(await project.ok("refresh", "--yes", "--expect-no-changes")).toContain("unchanged");
    install("3");
    await project.ok("destroy", "--yes", "--skip-preview");
    expect(project.resources()).toEqual([]);
    project.program(setText(["a", "b"]));
    await project.up();
    expect(short(project.sets().ips?.addresses)).toBe("a=1 b=2");
  });
});
