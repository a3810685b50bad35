import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { build, type Stage, stagesOf } from "../support/cli/dockerfile.ts";
import { checkout, say, shellEnvironment } from "../support/cli/npm.ts";
import { root } from "../support/console.ts";
import { orSkip } from "../support/tools/tools.ts";
import { debianPackages } from "../tools/pins.ts";

// Nothing here runs containers: the steps of the Dockerfile are run in folders, by the Node of the tests.

const stages = stagesOf(readFileSync(join(root, "Dockerfile"), "utf8"));
const folder = mkdtempSync(join(tmpdir(), "nodeippool-image-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const said = (stage: Stage | undefined, name: string) =>
  stage?.instructions.filter((one) => one.name === name).map(({ text }) => text) ?? [];
const last = (name: string) => said(stages.at(-1), name).at(-1) ?? "";
const env = {
  ...shellEnvironment(),
  npm_config_prefer_offline: "true",
  PATH: [dirname(process.execPath), shellEnvironment().PATH].join(delimiter),
};

test("every stage is of a Node as new as ours, by a tag that tells it", () => {
  const [major] = process.versions.node.split(".");
  for (const { image } of stages)
    expect(image).toMatch(new RegExp(`^(node:${major}-slim|.*/nodejs${major}-debian13:nonroot)$`));
});

test("the image runs as a user whose number the Deployment leaves open, without a shell", () => {
  const text = readFileSync(join(root, "deploy/controller.yaml"), "utf8");
  const deployment = parseAllDocuments(text)[0]?.toJS();
  expect(deployment.spec.template.spec.securityContext).toEqual({
    runAsNonRoot: true,
    seccompProfile: { type: "RuntimeDefault" },
  });
  expect(last("USER")).toMatch(/^[1-9]\d*:[1-9]\d*$/);
  expect(JSON.parse(last("ENTRYPOINT"))).toEqual(["/nodejs/bin/node", "/app/dist/cli/bin.js"]);
  expect(JSON.parse(last("CMD"))).toEqual(deployment.spec.template.spec.containers[0].args);
});

test("the image for pods has the same program, and the commands that it needs", () => {
  const detect = stages.find(({ name }) => name === "detect");
  expect(said(detect, "COPY")).toEqual(said(stages.at(-1), "COPY"));
  const [install = ""] = said(detect, "RUN");
  const packages = ["arping", "ip", "ndisc6"].map((name) => debianPackages.get(name));
  expect(install).toContain(` install --yes --no-install-recommends ${packages.join(" ")} `);
  const [, program] = JSON.parse(last("ENTRYPOINT"));
  expect(JSON.parse(said(detect, "ENTRYPOINT")[0] ?? "")).toEqual(["/usr/local/bin/node", program]);
  expect(JSON.parse(said(detect, "CMD")[0] ?? "")).toEqual(["detect"]);
});

test("its steps make a controller that starts where nothing can be written", async (context) => {
  const clone = join(folder, "clone");
  checkout(clone);
  const image = await orSkip(
    context,
    build(stages, clone, folder, (at, command) => say(at, "sh", ["-c", command], env)),
  );
  expect(readdirSync(join(image, "app")).sort()).toEqual(["LICENSE", "dist", "node_modules", "package.json"]);
  const packages = JSON.parse(readFileSync(join(root, "package.json"), "utf8")).dependencies;
  const installed = readdirSync(join(image, "app/node_modules"));
  for (const name of Object.keys(packages)) expect(installed).toContain(name.split("/")[0]);
  expect(installed.filter((name) => /pulumi|cdk8s|constructs|kubernetes|typescript|vitest/.test(name))).toEqual([]);
  const size = Number((await say(image, "du", ["-sk", "app"])).split("\t")[0]);
  process.stderr.write(`the image adds ${(size / 1024).toFixed(1)} MB to its base\n`);
  expect(size).toBeLessThan(20 * 1024);

  const [, program] = JSON.parse(last("ENTRYPOINT"));
  const readOnly = ["--permission", "--allow-fs-read=*"];
  const run = (...args: string[]) =>
    spawnSync(process.execPath, [...readOnly, join(image, program), ...args], {
      cwd: image,
      env: { HOME: "/nonexistent", NODE_OPTIONS: "--max-semi-space-size=2" },
      encoding: "utf8",
      timeout: 30_000,
    });
  expect(run("controller", "--help")).toMatchObject({
    status: 0,
    stderr: "",
    stdout: expect.stringContaining("--listen"),
  });
  expect(run("controller")).toMatchObject({ status: 2, stderr: expect.stringContaining("no Kubernetes context") });
});
