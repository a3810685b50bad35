import { afterAll, beforeAll, expect, it } from "vitest";
import { PulumiCloud } from "../support/pulumi/cloud.ts";
import { type Held, PulumiProject, setText, short } from "../support/pulumi/engine.ts";
import { BUILD_TIMEOUT } from "../support/tools/tools.ts";

let cloud: PulumiCloud;
let project: PulumiProject;
beforeAll(async () => {
  cloud = await PulumiCloud.start();
  project = await PulumiProject.create("", cloud.variables);
  await project.ok("stack", "init", "acme/test/prod");
}, BUILD_TIMEOUT);
afterAll(() => {
  project?.remove();
  cloud?.stop();
});

async function up(stack: string, nodes: readonly string[]): Promise<void> {
  project.program(setText(nodes));
  await project.up("--stack", stack);
}

function held(stack: string): string {
  const set = cloud.resources(stack).find(({ type }) => type.endsWith(":AllocationSet"));
  const { addresses, releasing } = (set?.outputs ?? {}) as Record<string, Held>;
  return `${short(addresses)} / ${short(releasing)}`;
}

it("goes on with the state of a stack of another organization than the user's default one", async () => {
  await up("acme/prod", ["a", "b", "c"]);
  await up("acme/test/prod", ["c", "b"]);
  expect(held("acme/test/prod")).toBe("b=2 c=3 / a=1");
  await project.ok("preview", "--stack", "acme/prod", "--expect-no-changes");
});

it("is not the stack of that name that the default organization has", async () => {
  await project.ok("stack", "init", "alice/test/prod");
  await up("prod", ["c"]);
  await up("acme/prod", ["b", "c", "d"]);
  expect([held("acme/test/prod"), held("alice/test/prod")]).toEqual(["b=2 c=3 d=4 / a=1", "c=1 / "]);
});
