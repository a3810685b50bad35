import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { checkout, npm } from "../support/cli/npm.ts";
import { root } from "../support/console.ts";
import { tries } from "../support/long.ts";
import { orSkip } from "../support/tools/tools.ts";

/** What `npm ci` puts there; the Dockerfile's steps, which are tested too, run that, and so do long runs here. */
const link = (clone: string) => symlinkSync(join(root, "node_modules"), join(clone, "node_modules"));
const install = tries(link, (clone: string) => npm(clone, "ci"));

test("in a fresh clone, with the machine's own Node, `npm ci && npm start` does what README says", async (context) => {
  const clone = mkdtempSync(join(tmpdir(), "nodeippool-clone-"));
  onTestFinished(() => rmSync(clone, { recursive: true, force: true }));
  checkout(clone);
  await orSkip(context, Promise.resolve(install(clone)));

  expect(await npm(clone, "start")).toMatch(
    /^Plan: 6 to allocate, 0 kept, 0 to release\.\nRecorded in out\/.*\.lock\.$/m,
  );
  const result = (name: string) => readFileSync(join(clone, "out", name), "utf8");
  const example = (name: string) => readFileSync(join(root, "examples/static-ip", name), "utf8");
  const manifests = ["pools.yaml", "static-ip.yaml"];
  expect(readdirSync(join(clone, "out/rendered")).filter((name) => !name.startsWith("."))).toEqual(manifests);
  for (const name of ["nodeippool.lock", ...manifests.map((name) => `rendered/${name}`)])
    expect(result(name), name).toBe(example(name));

  const again = await npm(clone, "start");
  expect(again).toMatch(/^Nothing to record\.$/m);
  expect(again).toMatch(/: 0 written, 2 unchanged, 0 removed\.$/m);
});
