import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { root } from "../support/console.ts";
import { policy, pool } from "../support/git/manifests.ts";
import { shell } from "../support/git/repository.ts";
import { scratchFolder } from "../support/state/folder.ts";

// README's CI lines, word for word but for npm: each mistake ends red, with a last line that says what to do.
const ci = (/```sh\n(set -e\nnpm ci\n[\s\S]*?)```/.exec(readFileSync(join(root, "README.md"), "utf8"))?.[1] ?? "")
  .replace("npm ci\n", "")
  .replaceAll("npx nodeippool", "nodeippool");

const start = scratchFolder();
const folder = scratchFolder();
afterAll(() => {
  for (const one of [start, folder]) rmSync(one, { recursive: true, force: true });
});

const sh = (line: string, where = folder) => {
  const ran = shell(`set -e; ${line}`, where);
  if (ran.status !== 0) throw new Error(`${line}\n${ran.stdout}${ran.stderr}`);
  return ran.stdout;
};
const nodes = (...names: string[]) => `printf '${names.map((name) => `${name}\\n`).join("")}' > nodes.txt`;
const record = "nodeippool allocate > /dev/null; nodeippool render --out rendered > /dev/null";
const commit = "git add -A; git commit -qm step";
const renderAgain = `nodeippool render > /dev/null; git add -A; git diff --cached --quiet || git commit -qm rendered`;

beforeAll(() => {
  mkdirSync(join(start, "manifests"));
  writeFileSync(join(start, "manifests/pool.yaml"), pool());
  writeFileSync(join(start, "manifests/policy.yaml"), policy);
  sh(
    `git init -q -b main .; ${nodes("n1", "n2", "n3", "n4")}; ${record}; ${commit}
     git checkout -qb f; ${nodes("n1", "n2", "n3", "n4", "n7")}; ${record}; ${commit}
     git checkout -q main; ${nodes("n1", "n2", "n3", "n4", "n6")}; ${record}; ${commit}`,
    start,
  );
});
beforeEach(() => {
  rmSync(folder, { recursive: true, force: true });
  cpSync(start, folder, { recursive: true });
});

/** The exit status of README's CI lines in a fresh clone of what is committed, and their last lines. */
const runCi = (...options: string[]) => {
  const clone = scratchFolder();
  try {
    sh(`git clone -q --bare "file://${folder}" origin; git -C origin symbolic-ref HEAD refs/heads/main`, clone);
    sh(
      `git clone -q ${options.join(" ")} -b $(git -C ${folder} branch --show-current) "file://${clone}/origin" checkout`,
      clone,
    );
    const { status, stdout, stderr } = shell(ci, `${clone}/checkout`);
    return { status, printed: stdout + stderr };
  } finally {
    rmSync(clone, { recursive: true, force: true });
  }
};

it("green: two branches that were settled, a rename, and a node that was released and replaced", () => {
  sh(`git checkout -q f; git merge -q main || true; ${nodes("n1", "n2", "n3", "n4", "n6", "n7")}
    nodeippool allocate --landed main > /dev/null; nodeippool render > /dev/null; ${commit}`);
  expect(runCi()).toMatchObject({ status: 0, printed: expect.stringContaining("6 addresses checked, 0 findings") });
  sh(`git checkout -q main; git merge -q --no-ff -m merged f; nodeippool mv Node/n6 Node/k6; ${nodes("n1", "n2", "n3", "k6", "n7")}
    ${record}; nodeippool release n4 --confirm > /dev/null; ${nodes("n1", "n2", "n3", "k6", "n7", "n8")}; ${record}; ${commit}`);
  expect(runCi()).toMatchObject({ status: 0, printed: expect.stringContaining("6 addresses checked, 0 findings") });
});

const takesSide = (how: string) => `${how}; ${renderAgain}`;
it.each([
  [
    "git merge -X theirs, which loses a node of main, in the node list too",
    takesSide("git merge -q -X theirs f"),
    /:10:1: given-away: 10\.0\.0\.5 was allocated to n6 \(pol\/a\) in (\w+)\^1; merge \1 gave it to n7\. If that is meant: --released n6=10\.0\.0\.5, or/m,
  ],
  [
    "git merge -X ours on a branch, which does the same",
    takesSide("git checkout -q f; git merge -q -X ours main"),
    /:10:1: given-away: 10\.0\.0\.5 was allocated to n6 \(pol\/a\) in (\w+)\^2; merge \1 gave it to n7\. If that is meant: --released n6=10\.0\.0\.5, or/m,
  ],
  [
    "git merge -X theirs, of which the node list has both nodes",
    `git merge -q -X theirs f; ${nodes("n1", "n2", "n3", "n4", "n6", "n7")}; ${commit}`,
    /^stale: .*\n {4}\+ 10\.0\.0\.6 {2}n6 /m,
  ],
  [
    "the attribute merge=union",
    "echo '* merge=union' > .git/info/attributes; git merge -q f",
    /^corrupt: nodeippool\.lock:11:1: this line gives 10\.0\.0\.5 away again/m,
  ],
  [
    "two lines of the lock that were exchanged by hand",
    `sed -i 's#Node/n1/#Node/n0/#; s#Node/n2/#Node/n1/#; s#Node/n0/#Node/n2/#' nodeippool.lock; ${renderAgain}`,
    /:6:1: given-away: 10\.0\.0\.1 was allocated to n1 \(pol\/a\) in \w+\^; commit \w+ gave it to n2, and 10\.0\.0\.2 to n1\. If that is meant: --released n1=10\.0\.0\.1, or/m,
  ],
  [
    "a lock that .gitignore has",
    `git rm -q --cached nodeippool.lock; echo '*.lock' > .gitignore; ${commit}`,
    /^stale: nodeippool\.lock is not there, and git ignores it \(\.gitignore:1:\*\.lock\)/m,
  ],
  [
    "a lock that is not committed",
    "git rm -q --cached nodeippool.lock; git commit -qm gone",
    /^stale: there is no node/m,
  ],
  ["a node without an address", `echo n8 >> nodes.txt; ${commit}`, /^stale: .*\n {4}\+ 10\.0\.0\.6 {2}n8 /m],
  ["rendered files that are stale", `echo n8 >> nodes.txt; nodeippool allocate; ${commit}`, /^\+ +- ip: 10\.0\.0\.6$/m],
  [
    "rendered files whose list is not committed",
    `echo n8 >> nodes.txt; nodeippool allocate; nodeippool render --out rendered; git add nodeippool.lock nodes.txt manifests
     git rm -q --cached rendered/.nodeippool-rendered; git commit -qm step`,
    /^invalid: rendered\/\S+\.yaml .*\n(?:.*\n)* {2}.*commit /m,
  ],
  [
    "a reservation for a misspelt node",
    `sed -i 's/^spec: {/&reservations: [{address: 10.0.0.50, owner: Node\\/nl}], /' manifests/pool.yaml; ${commit}`,
    /^invalid: manifests\/pool\.yaml:4:51: pool p reserves 10\.0\.0\.50 for Node\/nl, .* did you mean Node\/n1\?$/m,
  ],
  [
    "an address in use twice",
    `sed 's/{{ capture.a.ip }}/10.0.0.1/; s/{{ capture.a.prefix-length }}/24/; /capture:/d; s/{name: pol}/{name: mine}/' manifests/policy.yaml > manifests/mine.yaml
     sed -i 's/^spec:/&\\n  nodeSelector: {kubernetes.io\\/hostname: n2}/; s/eth1/eth2/' manifests/mine.yaml; ${commit}`,
    /^in-use: manifests\/mine\.yaml:.* 10\.0\.0\.1 /m,
  ],
])("red: %s", (_, mistake, line) => {
  sh(mistake);
  const { status, printed } = runCi();
  expect(printed).toMatch(line);
  expect(status).not.toBe(0);
});

it("red: a shallow clone, which cannot show what a merge gave away", () => {
  sh(takesSide("git merge -q -X theirs f"));
  expect(runCi("--depth", "1")).toEqual({
    status: 5,
    printed: expect.stringMatching(
      /^nodeippool\.lock:1:1: unseen-history: .*: this clone is shallow: fetch the whole history \(fetch-depth: 0 .* git fetch --unshallow\)$/m,
    ),
  });
});

it("a bare render refuses to print where rendered/ has files of the manifests, and git lacks their list", () => {
  sh("rm rendered/.nodeippool-rendered");
  const { status, stdout, stderr } = shell("nodeippool render", folder);
  expect([status, stdout]).toEqual([2, ""]);
  expect(stderr).toMatch(/rendered\/\S+\.yaml .*\n(?:.*\n)* {2}.*commit /m);
  expect(shell("nodeippool render --out -", folder).status).toBe(0);
});

it("a person's shallow clone plans and allocates, with a note", () => {
  const clone = scratchFolder();
  try {
    sh(`git clone -q --depth 1 "file://${folder}" checkout`, clone);
    for (const verb of ["plan", "allocate"])
      expect(shell(`nodeippool ${verb}`, `${clone}/checkout`)).toMatchObject({
        status: 0,
        stdout: expect.stringMatching(/^Note: .* may not be seen: this clone is shallow: fetch the whole history/m),
      });
  } finally {
    rmSync(clone, { recursive: true, force: true });
  }
});
