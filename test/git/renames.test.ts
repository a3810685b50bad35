import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeEach, expect, it } from "vitest";
import { root } from "../support/console.ts";
import { shell } from "../support/git/repository.ts";
import { cli } from "../support/schema/cli.ts";
import { scratchFolder } from "../support/state/folder.ts";

// main renames the policy; the other branch renames a node and drops another one. Three addresses of each of two pools.
let folder: string;
const folders: string[] = [];
afterAll(() => {
  for (const one of folders) rmSync(one, { recursive: true, force: true });
});

const text = (path: string) => readFileSync(join(folder, path), "utf8");
const allocate = (...args: string[]) => cli(["allocate", "--nodes", "nodes.txt", "manifests", ...args], folder);
const nodes = (...names: string[]) => writeFileSync(join(folder, "nodes.txt"), `${names.join("\n")}\n`);
const renamePolicy = async (from: string, to: string) => {
  const path = "manifests/static-ip.yaml";
  writeFileSync(join(folder, path), text(path).replace(`name: ${from}\n`, `name: ${to}\n`));
  expect((await cli(["mv", from, to], folder)).status).toBe(0);
};
const git = (line: string) => {
  const { stderr, status } = shell(`set -e; ${line}`, folder);
  if (status !== 0) throw new Error(stderr);
};
/** `3 node03/static-ip`, of the first pool. */
const holders = () =>
  [
    ...text("nodeippool.lock").matchAll(
      /10\.10\.10\.(\d+)".*?"claim":"Node\/([^/]*\/[^/]*).*?("releasing")?:?(true)?\}/g,
    ),
  ].map(([, address, claim, , releasing]) => `${address} ${claim}${releasing ? " releasing" : ""}`);

beforeEach(() => {
  folder = scratchFolder();
  folders.push(folder);
  cpSync(join(root, "examples/static-ip"), folder, { recursive: true });
  rmSync(join(folder, "rendered"), { recursive: true, force: true });
  git("git init -q -b main .; git add -A; git commit -qm base; git checkout -qb other");
});

const driver =
  "git config merge.nodeippool.driver 'nodeippool merge %O %A %B'; echo 'nodeippool.lock merge=nodeippool' > .gitattributes";

it.each([
  ["git merge", "git merge --no-edit other", ":"],
  ["git rebase", "git checkout -q other; git rebase main", ":"],
  ["git cherry-pick", "git cherry-pick other", ":"],
  ["the merge driver", "git merge --no-edit other", driver],
])(
  "%s: a node renamed here and its policy there is a conflict; as its hint says, nobody moves",
  async (_, command, before) => {
    expect((await cli(["mv", "Node/node02", "Node/worker02"], folder)).status).toBe(0);
    nodes("node01", "worker02");
    expect((await allocate()).status).toBe(0);
    git("git commit -qam node; git checkout -q main");
    await renamePolicy("static-ip", "lan");
    git("git commit -qam policy");
    git(`${before}; ${command} || true`);
    for (const args of [[], ["--landed", "main"], ["--landed", "other"]])
      expect(await allocate(...args)).toMatchObject({
        status: 4,
        stderr: expect.stringMatching(/ is changed on both sides: to Node.*\n {2}Take the lock of one side as it is, /),
      });
    git("git checkout --ours nodeippool.lock; git add nodeippool.lock");
    expect((await cli(["mv", "Node/node02", "Node/worker02"], folder)).status).toBe(0);
    expect(await allocate()).toMatchObject({ status: 0 });
    expect(holders()).toEqual(["1 node01/lan", "2 worker02/lan", "3 node03/lan releasing"]);
    // It comes back to what it had.
    nodes("node01", "worker02", "node03");
    expect((await allocate()).status).toBe(0);
    expect(holders()).toEqual(["1 node01/lan", "2 worker02/lan", "3 node03/lan"]);
  },
);

it("two new names of one policy are a conflict; the side that landed says which, and nobody moves", async () => {
  await renamePolicy("static-ip", "wan");
  nodes("node01", "node02");
  expect((await allocate()).status).toBe(0);
  git("git commit -qam wan; git checkout -q main");
  await renamePolicy("static-ip", "lan");
  git("git commit -qam lan; git merge other || true; git checkout --ours manifests");
  expect(await allocate()).toMatchObject({ status: 4, stderr: expect.stringContaining("node01/") });
  expect(await allocate("--landed", "main")).toMatchObject({ status: 0 });
  expect(holders()).toEqual(["1 node01/lan", "2 node02/lan", "3 node03/lan releasing"]);
});
