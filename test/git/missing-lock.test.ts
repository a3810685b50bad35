import { cpSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { root } from "../support/console.ts";
import { shell } from "../support/git/repository.ts";
import { cli } from "../support/schema/cli.ts";
import { scratchFolder } from "../support/state/folder.ts";

// A lock that is not there, in a repository that has one, is not begun anew unseen: everybody could move.
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

beforeEach(() => {
  folder = scratchFolder();
  folders.push(folder);
  cpSync(join(root, "examples/static-ip"), folder, { recursive: true });
  git("git init -q -b main .; git add -A; git commit -qm base");
});

it.each([
  ["its name is mistyped", ":", "nodeipool.lock", "nodeippool.lock"],
  ["it was renamed", "git mv nodeippool.lock ips.lock; git commit -qm 1", "nodeippool.lock", "ips.lock"],
  ["it was renamed in the index alone", "git mv nodeippool.lock ips.lock", "nodeippool.lock", "ips.lock"],
  [
    "it was renamed, by people who like colours",
    "git config color.ui always; git config color.grep always; git mv nodeippool.lock ips.lock",
    "nodeippool.lock",
    "ips.lock",
  ],
  [
    "it was renamed on a branch that is merged into one that knows the old name",
    `git checkout -qb f; mkdir net; git mv nodeippool.lock net/cluster.lock; git commit -qm moved
     git checkout -q main; echo x > other; git add other; git commit -qm other; git merge -q --no-edit f`,
    "nodeippool.lock",
    "net/cluster.lock",
  ],
])("refused: %s", async (_, commands, lock, there) => {
  git(commands);
  for (const verb of ["plan", "allocate", "render"])
    expect(await run(verb, "--lock", lock)).toEqual({
      status: 5,
      stdout: "",
      stderr:
        `stale: ${lock} is not there, and this repository has ${there}\n` +
        "  If that is the record, name that one. To begin another record beside it: nodeippool allocate --init\n",
    });
  expect(await run("plan", "--lock", there)).toMatchObject({ status: 0 });
  expect(await run("plan", "--lock", lock, "--init")).toMatchObject({
    status: 0,
    stdout: expect.stringContaining("--init"),
  });
  expect(await run("allocate", "--lock", lock, "--init")).toMatchObject({ status: 0 });
  expect(await run("plan", "--lock", lock)).toMatchObject({ status: 0 });
});

it("refused: it is that of another folder, also where the clone has no history", async () => {
  const whole = folder;
  folder = scratchFolder();
  folders.push(folder);
  git(`git clone -q --depth 1 ${pathToFileURL(whole)} .`);
  mkdirSync(join(folder, "team"));
  const args = ["allocate", "../manifests", "--nodes", "../nodes.txt"];
  expect(await cli(args, join(folder, "team"))).toMatchObject({
    status: 5,
    stderr: expect.stringContaining("this repository has ../nodeippool.lock"),
  });
});

it.each([
  ["beside the folder of the other one", "b/nodeippool.lock", 0],
  ["below it", "a/c/nodeippool.lock", 5],
  ["above it", "nodeippool.lock", 5],
])("begun %s: a folder beside it is another project", async (_, lock, status) => {
  git("mkdir -p a/c b; git mv nodeippool.lock a/; git commit -qm moved");
  expect(await run("allocate", "--lock", lock)).toMatchObject({ status });
});

it("begun around a command, which reads it before it is there", async () => {
  const args = [
    "--lock",
    "b.lock",
    "--",
    "nodeippool",
    "plan",
    "manifests",
    "--nodes",
    "nodes.txt",
    "--lock",
    "b.lock",
  ];
  expect(await cli(["allocate", ...args], folder)).toMatchObject({ status: 5, stdout: "" });
  expect(await cli(["allocate", "--init", ...args], folder)).toMatchObject({ status: 0 });
});

describe("a lock that git ignores", () => {
  const pattern = ".gitignore:1:*.lock";
  beforeEach(() =>
    git("git rm -q --cached nodeippool.lock; echo '*.lock' > .gitignore; git add -A; git commit -qm ignored"),
  );

  it("is written with a warning that names the pattern, and how git keeps it", async () => {
    writeFileSync(join(folder, "nodes.txt"), "node01\nnode02\nnode03\nnode09\n");
    expect(await run("allocate")).toMatchObject({
      status: 0,
      stderr:
        `Warning: git ignores nodeippool.lock (${pattern}): clones and CI do not have it, and would give nodes other addresses. ` +
        "To commit it, add it: git add -f nodeippool.lock (or write !nodeippool.lock at the end of .gitignore)\n",
    });
    expect((await cli(["mv", "node09", "node10"], folder)).stderr).toContain("Warning: git ignores nodeippool.lock");
    git("git add -f nodeippool.lock");
    expect(await cli(["mv", "node10", "node11"], folder)).toMatchObject({ status: 0, stderr: "" });
  });

  it.each(["plan", "allocate", "render", "audit"])("is not begun anew where it is missing: %s", async (verb) => {
    rmSync(join(folder, "nodeippool.lock"));
    const refusal = {
      status: 5,
      stdout: "",
      stderr: expect.stringMatching(
        /^stale: nodeippool\.lock is not there, and git ignores it \(\.gitignore:1:\*\.lock\), so a clone never has it\n.* git add -f nodeippool\.lock .* To begin a new record: nodeippool allocate --init\n$/,
      ),
    };
    expect(await run(verb)).toMatchObject(refusal);
    if (verb !== "allocate") return;
    expect(await run(verb, "--init")).toMatchObject({ status: 0, stderr: "" });
    expect(await run(verb)).toMatchObject({ status: 0, stderr: "" });
  });

  it("is begun where the pattern spares it", async () => {
    git("echo '!nodeippool.lock' >> .gitignore; rm nodeippool.lock");
    expect(await run("allocate")).toMatchObject({ status: 0, stderr: "" });
  });
});

it.each([
  ["after git rm", "git rm -q nodeippool.lock; git commit -qm gone"],
  ["in the index alone", "git rm -q nodeippool.lock"],
  [
    "beside a page that shows one",
    "git rm -q nodeippool.lock; (echo; git show HEAD:nodeippool.lock) > page.md; git add page.md",
  ],
])("begun anew: %s", async (_, commands) => {
  git(commands);
  for (const verb of ["plan", "allocate"]) expect(await run(verb)).toMatchObject({ status: 0 });
});

it("refused, with git's own reason, where git does not open the repository, or is not installed", () => {
  rmSync(join(folder, "nodeippool.lock"));
  const plan = "nodeippool plan manifests --nodes nodes.txt";
  expect(shell(`GIT_TEST_ASSUME_DIFFERENT_OWNER=1 ${plan} --init`, folder)).toMatchObject({
    status: 6,
    stderr: expect.stringMatching(
      /^unavailable: nodeippool\.lock is not there, and git does not tell whether .* had one\n {2}fatal: detected dubious/,
    ),
  });
  mkdirSync(join(folder, "bin"));
  for (const [name, path] of [
    ["node", process.execPath],
    ["nodeippool", shell("command -v nodeippool", folder).stdout.trim()],
  ] as const)
    symlinkSync(path, join(folder, "bin", name));
  expect(shell(`PATH=$PWD/bin; ${plan}`, folder)).toMatchObject({
    status: 6,
    stderr: expect.stringContaining("git cannot be run"),
  });
});
