import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { root } from "../../support/console.ts";

/** What the program says on a Node that says it is of this version. */
function onNode(version: string): { stderr: string; status: number | null } {
  const older = `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "${version}" } })`;
  const args = ["--import", `data:text/javascript,${encodeURIComponent(older)}`, join(root, "cli/bin.ts")];
  return spawnSync(process.execPath, [...args, "--version"], { encoding: "utf8", timeout: 60_000 });
}

it("says which Node it needs, and works on that", () => {
  const { node: needed } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")).engines;
  const [major, minor] = needed.replace(">=", "").split(".").map(Number);
  for (const old of ["20.19.4", `${major}.${minor - 1}.9`]) {
    const { stderr, status } = onNode(old);
    expect(stderr).toBe(
      `nodeippool needs Node ${major}.${minor} or newer; this is ${old}.\n  npm install --save-dev node@24 brings one for npx.\n`,
    );
    expect(status).toBe(2);
  }
  expect(onNode(`${major}.${minor}.0`)).toMatchObject({ stderr: "", status: 0 });
});

it("is said by what programs import, too, on a Node that lacks what it needs", () => {
  const entries = [
    "index",
    "schema/index",
    "state/index",
    "integrations/nmstate/index",
    "constructs/index",
    "provider/index",
    "provider/runtime",
  ];
  // One process for all: what threw once throws again wherever it is imported.
  const code = `delete Map.groupBy;
    for (const path of ${JSON.stringify(entries.map((name) => join(root, `${name}.ts`)))})
      console.log(await import(path).then(() => "imported", (error) => error.message.split("\\n")[0]));`;
  const { stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", code], { encoding: "utf8" });
  const says = stdout.trim().split("\n");
  expect(says).toEqual(entries.map(() => "nodeippool needs Node 22.21 or newer."));
});
