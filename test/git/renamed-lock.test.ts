import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeEach, expect, it } from "vitest";
import { root } from "../support/console.ts";
import { shell } from "../support/git-repository.ts";
import { cli } from "../support/schema-cli.ts";
import { rememberCompiledCode, scratchFolder } from "../support/state-folder.ts";

rememberCompiledCode();

// A lock that git knows under another name is not begun anew under the old one: everybody could move.
let folder: string;
const folders: string[] = [];
afterAll(() => {
  for (const one of folders) rmSync(one, { recursive: true, force: true });
});

const git = (line: string) => {
  const { stderr, status } = shell(`set -e; ${line}`, folder);
  if (status !== 0) throw new Error(stderr);
};
const run = (verb: string, ...args: string[]) => cli([verb, "manifests", "--nodes", "nodes.txt", ...args], folder);
const mv = "git mv nodeippool.lock ips.lock";

beforeEach(() => {
  folder = scratchFolder();
  folders.push(folder);
  cpSync(join(root, "examples/static-ip"), folder, { recursive: true });
  git("git init -q -b main .; git add -A; git commit -qm base");
});

it.each([
  ["in a commit", `${mv}; git commit -qm 1`, /since [0-9a-f]+, ips\.lock/],
  [
    "by people who like colours",
    `git config color.ui always; git config color.grep always; ${mv}; git commit -qm 1`,
    /, ips\.lock/,
  ],
  ["twice", `${mv}; git commit -qm 1; mkdir state; git mv ips.lock state/; git commit -qm 2`, /, state\/ips\.lock/],
  ["in the index alone", mv, /since HEAD, ips\.lock/],
  ["twice, the second time in the index alone", `${mv}; git commit -qm 1; git mv ips.lock b.lock`, /, b\.lock/],
  [
    "with every line rewritten: git sees no rename",
    `${mv}; nodeippool mv static-ip a-wholly-new-name-for-it-all --lock ips.lock
     sed -i 's/name: static-ip/name: a-wholly-new-name-for-it-all/' manifests/*.yaml; git add -A; git commit -qm 1`,
    /, ips\.lock/,
  ],
  [
    "by the merge itself",
    `git checkout -qb f; echo x > x; git add x; git commit -qm x; git checkout -q main; echo y > y; git add y
     git commit -qm y; git merge -q --no-commit f; ${mv}; git commit -qm merged`,
    /, ips\.lock/,
  ],
  [
    "on a branch that is merged into one that knows the old name",
    `git checkout -qb f; mkdir net; git mv nodeippool.lock net/cluster.lock; git commit -qm moved
     git checkout -q main; echo x > other; git add other; git commit -qm other; git merge -q --no-edit f`,
    /, net\/cluster\.lock/,
  ],
])("renamed %s", async (_, commands, says) => {
  git(commands);
  for (const verb of ["plan", "allocate", "render"])
    expect(await run(verb)).toMatchObject({ status: 5, stderr: expect.stringMatching(says) });
  const [, now] = /, (\S+)$/.exec(`${says}`.slice(1, -1).replaceAll("\\", "")) ?? [];
  expect(await run("plan", "--lock", `${now}`)).toMatchObject({ status: 0 });
  expect(await run("allocate", "--lock", "another.lock")).toMatchObject({ status: 0 });
});

it.each([
  [
    "although the lock of a cluster that is like this one came later",
    `git rm -q nodeippool.lock; git commit -qm gone
     nodeippool allocate manifests --nodes nodes.txt --lock b.lock; git add b.lock; git commit -qm b`,
  ],
  ["after git rm", "git rm -q nodeippool.lock; git commit -qm gone"],
  ["in the index alone", "git rm -q nodeippool.lock"],
  [
    "beside the lock of another cluster that is like this one",
    "cp nodeippool.lock b.lock; git add b.lock; git commit -qm b; git rm -q nodeippool.lock; git commit -qm gone",
  ],
])("a lock that was taken out begins anew: %s", async (_, commands) => {
  git(commands);
  for (const verb of ["plan", "allocate"]) expect(await run(verb)).toMatchObject({ status: 0 });
});

it("a clone without history begins no lock with the pools of another one", async () => {
  git(`${mv}; git commit -qm 1`);
  const whole = folder;
  folder = scratchFolder();
  folders.push(folder);
  git(`git clone -q --depth 1 ${pathToFileURL(whole)} .`);
  for (const verb of ["plan", "allocate"])
    expect(await run(verb)).toMatchObject({
      status: 5,
      stderr: expect.stringMatching(/ips\.lock has pool traffic-1 already\n.*Fetch all of it/),
    });
  expect(await run("plan", "--lock", "ips.lock")).toMatchObject({ status: 0 });
  git("git fetch -q --unshallow");
  expect(await run("plan")).toMatchObject({ status: 5, stderr: expect.stringContaining("another name since") });
});
