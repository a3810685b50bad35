import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { quoteInfra } from "../../../integrations/metal3/quote-infra.ts";
import { exampleText } from "../../support/cli/metal3-infra.ts";
import { cli, folderOf } from "../../support/schema/cli.ts";

const seed = quoteInfra(exampleText("seed.yaml"));
const pool = "apiVersion: nmstate.io/v1\nkind: NodeIPPool\nmetadata: {name: p}\nspec: {range: {cidr: 10.0.0.0/24}}\n";
const rendered = "rendered/infra.yaml";

/** infra.yaml in a working folder that has other things, too, allocated and rendered. */
async function working(): Promise<string> {
  const folder = folderOf({ "infra.yaml": seed, "package.json": "{}" });
  expect(await cli(["allocate", "infra.yaml"], folder)).toMatchObject({ stderr: "", status: 0 });
  expect(await cli(["render", "infra.yaml", "--out", "rendered"], folder)).toMatchObject({ stderr: "", status: 0 });
  return folder;
}

it("infra.yaml in the working folder is what verbs read, and rendered/ where they write", async () => {
  const folder = await working();
  expect((await cli(["plan"], folder)).stdout).toContain("Plan: 0 to allocate, 4 kept, 0 to release.");
  writeFileSync(join(folder, "infra.yaml"), seed.replace("/controller:", "/other:"));
  const { stdout, status } = await cli(["render"], folder);
  expect([stdout, status]).toEqual(["Rendered 1 file to rendered: 1 written, 0 unchanged, 0 removed.\n", 0]);
  expect(readFileSync(join(folder, rendered), "utf8")).toContain("/other:");
  expect(existsSync(join(folder, "rendered/package.json"))).toBe(false);
  expect(await cli(["audit", "rendered"], folder)).toMatchObject({
    stdout: "4 addresses checked, 0 findings\n",
    status: 0,
  });
});

it.each([["rendered"], ["rendered --set default"]])(
  "audit %s knows the networks, and finds what was changed",
  async (args) => {
    const folder = await working();
    const text = readFileSync(join(folder, rendered), "utf8");
    writeFileSync(join(folder, rendered), text.replace("ip_address: 192.168.0.10", "ip_address: 192.168.0.77"));
    const { stdout, status } = await cli(["audit", ...args.split(" ")], folder);
    expect(stdout).toMatch(/^rendered\/infra.yaml:\d+:9: stranger: 192.168.0.77 of pool net0/m);
    expect(status).toBe(5);
  },
);

it("audit knows the networks beside the pools that are rendered", async () => {
  const folder = folderOf({ "manifests/infra.yaml": seed, "manifests/pool.yaml": pool });
  await cli(["allocate"], folder);
  await cli(["render", "--out", "rendered"], folder);
  const text = readFileSync(join(folder, rendered), "utf8");
  writeFileSync(join(folder, rendered), text.replace("ip_address: 192.168.0.10", "ip_address: 192.168.0.77"));
  expect((await cli(["audit", "rendered"], folder)).stdout).toContain("stranger: 192.168.0.77 of pool net0");
});

it("what is rendered of a file of another name is not passed over, but refused with the next step", async () => {
  const folder = folderOf({ "rack.yaml": seed });
  await cli(["allocate", "rack.yaml"], folder);
  const out = ["--out", "rendered"];
  expect(await cli(["render", "rack.yaml", ...out], folder)).toMatchObject({ status: 0 });
  for (const args of [["render"], ["render", ...out]])
    expect(await cli(args, folder)).toMatchObject({
      stderr: `invalid: --out rendered lies in the manifests (.)
  Put the manifests in manifests/, or name their file: nodeippool render FILE --out FOLDER.
`,
      status: 2,
    });
  expect(await cli(["audit", "rendered"], folder)).toMatchObject({ stdout: "4 addresses checked, 0 findings\n" });
  rmSync(join(folder, "rack.yaml"));
  expect((await cli(["audit", "rendered"], folder)).stderr).toContain("Say where the pools are defined: --pools");
});
