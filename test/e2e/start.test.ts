import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { root } from "../support/console.ts";
import { checkout, npm } from "../support/e2e-npm.ts";
import { orSkip } from "../support/tools.ts";

test("in a fresh clone, with the machine's own Node, `npm ci && npm start` does what README says", async (context) => {
  const clone = mkdtempSync(join(tmpdir(), "nodeippool-clone-"));
  onTestFinished(() => rmSync(clone, { recursive: true, force: true }));
  checkout(clone);
  await orSkip(context, npm(clone, "ci"));

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
