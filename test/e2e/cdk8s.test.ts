import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { say } from "../support/cli/npm.ts";
import { root } from "../support/console.ts";

const folder = mkdtempSync(join(tmpdir(), "nodeippool-cdk8s-"));
afterAll(() => rmSync(folder, { recursive: true }));
mkdirSync(join(folder, "node_modules/@types"), { recursive: true });
for (const name of ["cdk8s", "constructs", "@types/node"])
  symlinkSync(join(root, "node_modules", name), join(folder, "node_modules", name));
symlinkSync(root, join(folder, "node_modules/nodeippool"));
const env = { ...process.env, CDK8S_CHECK_UPGRADE: "false" };

/** What the compiler says of these files. */
async function compiled(...files: string[]): Promise<string> {
  const options = ["--module", "nodenext", "--target", "es2022", "--types", "node", "--strict", "--skipLibCheck"];
  return say(folder, join(root, "node_modules/.bin/tsc"), ["--noEmit", ...options, ...files], env);
}

test("cdk8s imports the kind, and what it makes type-checks", async () => {
  const crd = join(root, "deploy/crd/nodeippools.nmstate.io.yaml");
  await say(folder, join(root, "node_modules/.bin/cdk8s"), ["import", crd, "--language", "typescript"], env);
  writeFileSync(
    join(folder, "imported.ts"),
    `import { Chart, Testing } from "cdk8s";
     import { NodeIpPool, NodeIpPoolSpecAuthority } from "./imports/nmstate.io.js";
     const range = { cidr: "10.0.0.0/24", start: "10.0.0.1", end: "10.0.0.10", exclude: ["10.0.0.4"] };
     new NodeIpPool(new Chart(Testing.app(), "a"), "p", { spec: { range, authority: NodeIpPoolSpecAuthority.PLAN } });`,
  );
  expect(await compiled("imported.ts")).toBe("");
  writeFileSync(
    join(folder, "wrong.ts"),
    `import { type NodeIpPoolProps } from "./imports/nmstate.io.js";
     export const props: NodeIpPoolProps = { spec: { range: {} } };`,
  );
  await expect(compiled("wrong.ts")).rejects.toThrow(/wrong\.ts\(2.*cidr/);
});

test("the TypeScript of the pages on cdk8s and README.md type-checks", async () => {
  const names = ["docs/cdk8s.md", "docs/cdk8s-more.md", "README.md"].flatMap((page, i) =>
    [...readFileSync(join(root, page), "utf8").matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, text = ""], n) => {
      writeFileSync(join(folder, `page-${i}-${n}.mts`), text);
      return `page-${i}-${n}.mts`;
    }),
  );
  expect(names.length).toBeGreaterThan(4);
  expect(await compiled(...names)).toBe("");
});
