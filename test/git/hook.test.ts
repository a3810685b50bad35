import { chmodSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { root } from "../support/console.ts";
import { shell } from "../support/git/repository.ts";
import { scratchFolder } from "../support/state/folder.ts";

// The hook of docs/lockfile.md, as git runs it.
let folder: string;
afterEach(() => rmSync(folder, { recursive: true, force: true }));
beforeEach(() => {
  folder = scratchFolder();
  cpSync(join(root, "examples/static-ip"), folder, { recursive: true });
  const [, script = ""] = /```sh\n(#!.*?)```/s.exec(readFileSync(join(root, "docs/lockfile.md"), "utf8")) ?? [];
  mkdirSync(join(folder, ".githooks"));
  writeFileSync(
    join(folder, ".githooks/pre-commit"),
    script.replace(/^.*npm ci .*\n/m, "").replaceAll("npx nodeippool", "nodeippool"),
  );
  chmodSync(join(folder, ".githooks/pre-commit"), 0o755);
  ok("git init -q -b main .; git config core.hooksPath .githooks");
});

const ok = (...lines: string[]) => {
  const { stderr, status } = shell(`set -e; ${lines.join("\n")}`, folder);
  if (status !== 0) throw new Error(stderr);
};
const allocate = "nodeippool allocate manifests --nodes nodes.txt";
const render = "nodeippool render manifests --nodes nodes.txt --out rendered";
const commit = "git add -A; git commit -qm step";
const refused = (...lines: string[]) => {
  const { status, stdout, stderr } = shell(lines.join("\n"), folder);
  expect(status).not.toBe(0);
  return stdout + stderr;
};

it("lets everything pass that is as it should be", () => {
  ok(allocate, render, commit);
  ok("echo node09 >> nodes.txt", allocate, render, commit);
  ok("nodeippool mv Node/node09 Node/node10; sed -i s/node09/node10/ nodes.txt", allocate, render, commit);
  ok("sed -i /node10/d nodes.txt", allocate, render, commit);
  ok("nodeippool release --confirm node10", render, commit);
});

it("stops what was forgotten, half staged, or written by hand", () => {
  ok(allocate, render, commit);
  expect(refused("echo node09 >> nodes.txt", commit)).toMatch(/^stale: nodeippool\.lock is not up to date/m);
  ok(allocate);
  expect(refused("git add nodes.txt nodeippool.lock; git commit -qm step")).toMatch(/^\+ .*10\.10\.1/m);
  ok(commit);
  expect(refused("sed -i 's/: 10.10.10.1$/: 10.10.10.200/' rendered/*.yaml", commit)).toMatch(
    /^diff --git a\/rendered/m,
  );
});

it("stops what a merge has left of a folder that nobody renders any more", () => {
  ok("rm -r nodeippool.lock manifests rendered nodes.txt");
  cpSync(join(root, "examples/two-teams"), folder, { recursive: true });
  const hook = join(folder, ".githooks/pre-commit");
  const [all, first = ""] = /\n(nodeippool render .*)/.exec(readFileSync(hook, "utf8")) ?? [];
  const of = (line: string, team: string) =>
    `${line.replace("manifests", team).replace("out rendered", `out rendered/${team}`)} --set ${team}`;
  const teams = [of(first, "network"), `[ ! -d storage ] || ${of(first, "storage")}`];
  writeFileSync(
    hook,
    readFileSync(hook, "utf8")
      .replace(`${all}`, `\n${teams.join("\n")}`)
      .replace(" manifests ", " "),
  );
  const record = (team: string) => [of(allocate, team), of(render, team)];
  ok(...record("network"), ...record("storage"), commit);
  ok("git checkout -qb feature; echo node03 >> nodes.txt", ...record("network"), ...record("storage"), commit);
  ok(
    "git checkout -q main",
    "sed -i 's|^spec:|&\\n  nodeSelector: {kubernetes.io/hostname: none}|' storage/policy.yaml",
    `${of(allocate, "storage")} --confirm`,
    of(render, "storage"),
  );
  ok("nodeippool release --confirm node01 node02", "git rm -qrf storage rendered/storage", commit);
  ok("echo node04 >> nodes.txt", ...record("network"), commit);
  ok("git checkout -q feature; git merge -q main || true; sort -u nodes.txt | grep node > n; mv n nodes.txt");
  ok(`${of(allocate, "network")} --landed main`, of(render, "network"));
  expect(refused(commit)).toMatch(/^rendered\/storage\/policy\.yaml:.*duplicate: /m);
  ok("git rm -rqf rendered/storage", commit);
});
