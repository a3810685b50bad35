import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Mark, markedText } from "../../state/mark.ts";
import { root } from "../support/console.ts";
import { shell } from "../support/git/repository.ts";
import { cli } from "../support/schema/cli.ts";
import { scratchFolder } from "../support/state/folder.ts";

// The verbs on a broken or conflicting lock, as people meet them.
let folder: string;
const folders: string[] = [];
afterAll(() => {
  for (const one of folders) rmSync(one, { recursive: true, force: true });
});

const run = (verb: string, ...args: string[]) => cli([verb, "--nodes", "nodes.txt", "manifests", ...args], folder);
const nodes = (...names: string[]) => writeFileSync(join(folder, "nodes.txt"), `${names.join("\n")}\n`);
const lock = () => readFileSync(join(folder, "nodeippool.lock"), "utf8");
const holderOf = (address: string) => new RegExp(`"address":"${address}".*?"claim":"Node/(\\w+)/`).exec(lock())?.[1];
const text = (manifest: string) => readFileSync(join(folder, "manifests", manifest), "utf8");
/** Which node has which address. */
const addresses = () =>
  [...lock().matchAll(/"address":"([^"]*)".*?"claim":"Node\/(\w+)/g)].map(([, address, node]) => `${address} ${node}`);
const git = (...lines: string[]) => {
  const { stdout, stderr, status } = shell(`set -e; ${lines.join("; ")}`, folder);
  if (status !== 0) throw new Error(stderr);
  return stdout;
};

function start(): string {
  folder = scratchFolder();
  folders.push(folder);
  cpSync(join(root, "examples/static-ip"), folder, { recursive: true });
  return folder;
}
beforeEach(() => {
  start();
});

it("a line cut out of the lock shows as + in plan, is exit 5 in render, and allocate prints it when it writes it back", async () => {
  const whole = lock();
  writeFileSync(join(folder, "nodeippool.lock"), whole.replace(/^.*"10\.10\.10\.2".*\n/m, ""));
  const line = "+ 10.10.10.2  node02  static-ip/address-from-traffic-1";

  const plan = await run("plan");
  expect(plan).toMatchObject({ status: 0, stdout: expect.stringContaining(line) });
  const render = await run("render");
  expect(render).toMatchObject({ status: 5, stdout: "", stderr: expect.stringContaining(line) });
  expect(render.stderr).toMatch(/^stale: /);
  const allocate = await run("allocate");
  expect(allocate).toMatchObject({ status: 0, stdout: expect.stringContaining(line) });
  expect(lock()).toBe(whole);
});

it("a lock that cannot be read is exit 5 with file and line in every verb, and stays as it is", async () => {
  const broken = lock().replace("10.10.10.2", "10.10.10.1");
  writeFileSync(join(folder, "nodeippool.lock"), broken);
  for (const verb of ["plan", "allocate", "render"]) {
    const { status, stderr } = await run(verb);
    expect({ verb, status }).toEqual({ verb, status: 5 });
    expect(stderr).toMatch(/^corrupt: nodeippool\.lock:8:1: /);
  }
  expect(lock()).toBe(broken);
});

it("nobody gets another address than git has recorded, unless the lock knows of it", async () => {
  git("git init -q -b main .", "git add -A", "git commit -qm base");
  for (const more of [["node05"], ["node04", "node05"]]) {
    nodes("node01", "node02", "node03", ...more);
    expect(await run("allocate")).toMatchObject({ status: 0, stderr: "" });
    git(`git commit -qam ${more.length}`);
  }
  git("git checkout -q HEAD~2 -- nodeippool.lock");
  const lost = [
    "stale: node04 has 10.10.10.6 in HEAD, and would get 10.10.10.5: nodeippool.lock has lost its line",
    "stale: node05 has 10.10.10.5 in HEAD, and would get 10.10.10.6: nodeippool.lock has lost its line",
  ];
  for (const verb of ["plan", "allocate"]) {
    const { status, stderr } = await run(verb);
    expect([
      status,
      stderr
        .split("\n")
        .filter((line) => line.startsWith("stale") && line.includes("10.10.10"))
        .sort(),
    ]).toEqual([5, lost]);
    expect(stderr).toMatch(
      /\n {2}Take the lock of HEAD back: git checkout HEAD -- nodeippool.lock\. .*: --released node05=10.10.10.5,/,
    );
  }
  git("mv .git no-git");
  expect((await run("plan")).status).toBe(0);
});

describe("two branches that gave 10.10.10.5 to two nodes", () => {
  let repository: string;
  beforeAll(async () => {
    repository = start();
    git("git init -q -b main .", "git add -A", "git commit -qm base", "git checkout -qb feature");
    nodes("node01", "node02", "node03", "node04");
    expect((await run("allocate")).status).toBe(0);
    git("git commit -qam node04", "git checkout -q main");
    nodes("node01", "node02", "node03", "node05");
    expect((await run("allocate")).status).toBe(0);
    git("git commit -qam node05");
  });
  beforeEach(() => cpSync(repository, folder, { recursive: true, force: true }));

  // In a rebase `ours` is main and `theirs` the commit that is replayed; in a merge into the branch it is the other way round.
  it.each([
    { what: "git merge feature, on main", command: "git merge feature", landed: "HEAD" },
    { what: "git merge main, on the branch", command: "git checkout -q feature; git merge main", landed: "main" },
    { what: "git rebase main, on the branch", command: "git checkout -q feature; git rebase main", landed: "main" },
  ])("$what: node05 of main keeps its address, node04 gets another", async ({ command, landed }) => {
    git(`${command} || true`);
    nodes("node01", "node02", "node03", "node04", "node05");
    const conflicting = lock();
    const undecided = await run("allocate");
    expect(undecided).toMatchObject({
      status: 4,
      stderr: expect.stringMatching(/node04.* and .*node05.* 10\.10\.10\.5/),
    });
    expect(lock()).toBe(conflicting);
    for (const side of ["--ours", "--theirs"]) {
      git(`git checkout -q ${side} nodeippool.lock`);
      for (const verb of ["plan", "allocate"])
        expect(await run(verb)).toMatchObject({
          status: 4,
          stderr: expect.stringContaining("is one side of the merge as it was"),
        });
    }
    git("git checkout -q -m nodeippool.lock");

    const before = lock();
    const { lost } = JSON.parse((await run("allocate", "--landed", landed, "--json")).stdout);
    expect(lost).toMatchObject([
      { address: "10.10.10.5", winner: { address: "10.10.10.5" } },
      { address: "10.10.11.5", winner: { address: "10.10.11.5" } },
    ]);
    writeFileSync(join(folder, "nodeippool.lock"), before);
    const settled = await run("allocate", "--landed", landed);
    expect(settled).toMatchObject({
      status: 0,
      stdout: expect.stringContaining("! 10.10.10.5  node04  lost in the merge"),
    });
    expect([holderOf("10.10.10.5"), holderOf("10.10.10.6")]).toEqual(["node05", "node04"]);
  });

  it("is settled around a command, also where the outcome is neither side, and the command renames", async () => {
    git("git checkout -q feature");
    nodes("node01", "node02", "node03", "node04", "node06");
    expect((await run("allocate")).status).toBe(0);
    git("git commit -qam node06", "git merge main || true");
    nodes("node01", "node02", "node03", "node04", "node05", "node09");
    const render = "nodeippool render manifests --nodes nodes.txt --out rendered";
    const settled = shell(
      `nodeippool allocate --landed main -- sh -c 'nodeippool mv Node/node06 Node/node09 && ${render}'`,
      folder,
    );
    expect(settled).toMatchObject({
      status: 0,
      stderr: expect.stringContaining("1 plan recorded in nodeippool.lock."),
    });
    expect(["10.10.10.5", "10.10.10.6", "10.10.10.8"].map(holderOf)).toEqual(["node05", "node09", "node04"]);
  });

  it("a plan that is refused leaves the lock settled, so that the command that it names can run", async () => {
    git("git checkout -q feature");
    const mv = "nodeippool mv static-ip --to-set edge";
    expect(shell(mv, folder).status).toBe(0);
    git("git commit -qam edge", "git merge main || true");
    nodes("node01", "node02", "node03", "node04", "node05");
    const refused = await run("allocate", "--set", "edge", "--landed", "main");
    expect(refused).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/lost in the merge[\s\S]*static-ip --to-set edge\n$/),
    });
    expect(shell(mv, folder)).toMatchObject({ status: 0, stderr: "" });
    expect((await run("allocate", "--set", "edge")).status).toBe(0);
    expect([holderOf("10.10.10.5"), holderOf("10.10.10.6")]).toEqual(["node05", "node04"]);
  });

  it("a plan that is refused for what the manifests say leaves the merge open: the same command works when they are mended", async () => {
    git("git merge feature || true", "sed s/static-ip/twin/ manifests/static-ip.yaml > manifests/twin.yaml");
    nodes("node01", "node02", "node03", "node04", "node05");
    const open = lock();
    expect(await run("allocate", "--landed", "HEAD")).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("both set"),
    });
    expect(lock()).toBe(open);
    git("rm manifests/twin.yaml");
    expect((await run("allocate", "--landed", "HEAD")).status).toBe(0);
  });

  it("who loses an address to a lock of one side, without a merge of the two, is not moved; what is printed helps", async () => {
    git("git merge feature || true", "git checkout -q --ours nodeippool.lock", "git add -A");
    nodes("node01", "node02", "node03", "node04", "node05");
    const { status, stderr } = await run("allocate");
    expect([status, stderr]).toEqual([5, expect.stringContaining("stale: node04 has 10.10.10.5 in MERGE_HEAD, ")]);
    const help = /settle them: (.*) --landed REV/.exec(stderr)?.[1] as string;
    git(`${help} --landed feature`);
    expect([holderOf("10.10.10.5"), holderOf("10.10.10.6")]).toEqual(["node04", "node05"]);
  });

  it("allocate around a command settles the lock first, which the command could not read", () => {
    git("git merge feature || true");
    nodes("node01", "node02", "node03", "node04", "node05");
    const around = "-- nodeippool render manifests --nodes nodes.txt --out out";
    const conflicting = lock();
    expect(shell(`nodeippool allocate ${around}`, folder).status).toBe(4);
    expect(lock()).toBe(conflicting);
    const settled = shell(`nodeippool allocate --landed HEAD ${around}`, folder);
    expect(settled.stderr).toContain("! 10.10.10.5  node04  lost in the merge");
    expect(settled.status).toBe(0);
    expect([holderOf("10.10.10.5"), holderOf("10.10.10.6")]).toEqual(["node05", "node04"]);
  });

  it.each(["main", "HEAD"])(
    "a side that deleted the lock, or emptied it, does not give all addresses up (--landed %s)",
    async (landed) => {
      for (const end of ["git rm -q nodeippool.lock", ": > nodeippool.lock; git add -A"]) {
        git("git checkout -qf feature", end, "git commit -qm gone", "git merge -q main || true");
        nodes("node01", "node02", "node03", "node05");
        expect(await run("allocate", "--landed", landed)).toMatchObject({
          status: 4,
          stderr: expect.stringContaining("one side of the merge has lost the whole lock"),
        });
        git(
          "git checkout -q nodes.txt || true",
          "git merge --abort || git reset -q --hard",
          "git reset -q --hard HEAD~1",
        );
      }
      const emptied = shell(
        "cd $(mktemp -d) && cp $OLDPWD/nodeippool.lock base && cp base theirs && : > ours && nodeippool merge base ours theirs",
        folder,
      );
      expect(emptied).toMatchObject({ status: 4, stderr: expect.stringContaining("has lost the whole lock") });
    },
  );

  it("a lock that was cut short has what landed again, and text that git never wrote is refused", async () => {
    const whole = lock();
    const lines = whole.split("\n");
    writeFileSync(join(folder, "nodeippool.lock"), lines.slice(0, -6).join("\n"));
    expect((await run("allocate", "--landed", "main")).status).toBe(0);
    expect(lock()).toBe(whole);
    writeFileSync(join(folder, "nodeippool.lock"), `${whole}  - {"address":"10.10.10.9"}\n`);
    expect(await run("allocate", "--landed", "main")).toMatchObject({
      status: 5,
      stderr: expect.stringContaining("is neither a lock entry"),
    });
  });

  it("a main that is not up to date does not say which of two later lines is in force", async () => {
    git("git checkout -qb newer main");
    nodes("node01", "node02", "node03", "node05", "node06");
    expect((await run("allocate")).status).toBe(0);
    git("git commit -qam node06", "git checkout -qf feature", "git merge -q main || true");
    nodes("node01", "node02", "node03", "node04", "node05");
    expect((await run("allocate", "--landed", "main")).status).toBe(0);
    git("git add -A", "git commit -qm merged", "git merge -q newer || true");
    nodes("node01", "node02", "node03", "node04", "node05", "node06");
    const conflicting = lock();
    expect(await run("allocate", "--landed", "main")).toMatchObject({
      status: 4,
      stderr: expect.stringContaining("node06"),
    });
    expect(lock()).toBe(conflicting);
    expect((await run("allocate", "--landed", "newer")).status).toBe(0);
    expect([holderOf("10.10.10.6"), holderOf("10.10.10.5")]).toEqual(["node06", "node05"]);
  });

  it("the driver leaves git's conflict, and merges by itself what does not collide", async () => {
    git("git config merge.nodeippool.driver 'nodeippool merge %O %A %B'");
    git("echo 'nodeippool.lock merge=nodeippool' > .gitattributes", "git add -A", "git commit -qm attributes");
    git("git merge feature || true");
    expect(git("git status --short nodeippool.lock")).toBe("UU nodeippool.lock\n");
    expect(lock()).toContain("<<<<<<< ours\n");
    nodes("node01", "node02", "node03", "node04", "node05");
    expect((await run("allocate", "--landed", "HEAD")).status).toBe(0);
    git("git add -A", "git commit -qm merged", "git checkout -q feature");
    nodes("node03", "node04");
    expect((await run("allocate", "--confirm")).status).toBe(0);
    git("git commit -qam two-gone", "git checkout -q main");
    expect(git("git merge --no-edit -X ours feature")).not.toContain("CONFLICT");
    expect([holderOf("10.10.10.5"), holderOf("10.10.10.6")]).toEqual(["node05", "node04"]);
    expect(lock()).toMatch(/releasing:\n.*node01(.*\n)*.*node02/);
  });

  it("plan says what is the matter (exit 4); an unknown revision to --landed is exit 2, and nothing is written", async () => {
    git("git merge feature || true");
    nodes("node01", "node02", "node03", "node04", "node05");
    expect(await run("plan")).toMatchObject({
      status: 4,
      stderr: expect.stringMatching(/were given 10\.10\.10\.5\n[\s\S]* is in force/),
    });
    const conflicting = lock();
    expect(await run("allocate", "--landed", "nowhere")).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("nowhere"),
    });
    expect(lock()).toBe(conflicting);
  });
});

it("a rename on one branch and a new node on the other: allocate settles the merge, and mv does the rest", async () => {
  git("git init -q -b main .", "git add -A", "git commit -qm base", "git checkout -qb rename");
  const policy = readdirSync(join(folder, "manifests")).find((name) =>
    text(name).includes("name: static-ip"),
  ) as string;
  writeFileSync(join(folder, "manifests", policy), text(policy).replace("name: static-ip", "name: fixed"));
  expect((await cli(["mv", "static-ip", "fixed"], folder)).status).toBe(0);
  git("git commit -qam rename", "git checkout -q main");
  nodes("node01", "node02", "node03", "node04");
  expect((await run("allocate")).status).toBe(0);
  const held = addresses();
  git("git commit -qam node04", "git checkout -q rename");
  expect(shell("git merge main", folder).status).not.toBe(0);
  const refused = await run("allocate", "--landed", "main");
  expect(refused).toMatchObject({ status: 3, stdout: "" });
  expect(refused.stderr).toMatch(/^Merged nodeippool\.lock\.\nin-use: .* Node\/node04 would lose/);
  expect(await cli(["mv", "static-ip", "fixed"], folder)).toMatchObject({ status: 0, stderr: "" });
  expect(await run("allocate")).toMatchObject({ status: 0, stdout: expect.stringContaining("Nothing to record.") });
  expect(addresses()).toEqual(held);
});

it("diff tells what release freed since a revision from what was releasing in it", async () => {
  git("git init -qb main .", "git config user.email a@example.net", "git config user.name a");
  git("git add -A", "git commit -qm start");
  nodes("node01", "node02");
  await run("allocate");
  await cli(["release", "node03", "--confirm"], folder);
  const gone = "10.10.10.3  node03  static-ip/address-from-traffic-1";
  const diff = async (...args: string[]) => (await cli(["diff", ...args], folder)).stdout;
  expect(await diff("main")).toContain(`  - ${gone}  removed; was not releasing in main\n`);
  expect(await diff("main", "--markdown")).toContain("| removed; was not releasing in main |");
});

it("diff tells of a wider subnet, in which nobody has moved", async () => {
  git("git init -qb main .", "git add -A", "git commit -qm start");
  git("sed -i 's/10.10.10.0.24/10.10.10.0\\/23/' nodeippool.lock");
  const told = "pool traffic-1 is 10.10.10.0/23 of network default, was 10.10.10.0/24 of network default";
  expect((await cli(["diff"], folder)).stdout).toBe(`  ~ ${told}\n1 line changed since HEAD.\n`);
  expect((await cli(["diff", "--markdown"], folder)).stdout).toContain(`Another subnet: ${told}\n`);
});

it("a revision without a lock cannot be the one that landed", async () => {
  const whole = lock();
  rmSync(join(folder, "nodeippool.lock"));
  git("git init -qb main .", "git add -A", "git commit -qm start", "git tag start");
  const conflicting = whole.replace(
    /^(.*"10\.10\.10\.2".*)\n/m,
    (_, line) => `<<<<<<< ours\n${line}\n=======\n${line.replace("node02", "node09")}\n>>>>>>> theirs\n`,
  );
  writeFileSync(join(folder, "nodeippool.lock"), conflicting);
  git("git add -A", "git commit -qm conflicting");
  const says = { status: 2, stderr: expect.stringContaining("start has no nodeippool.lock") };
  expect(await run("allocate", "--landed", "start")).toMatchObject(says);
  expect(lock()).toBe(conflicting);
});

it("a lock that somebody deleted is not taken for an empty record; one that git was told to forget is", async () => {
  git("git init -q -b main .", "git add -A", "git commit -qm base");
  const whole = lock();
  rmSync(join(folder, "nodeippool.lock"));
  for (const verb of ["plan", "allocate", "render"]) {
    const { status, stdout, stderr } = await run(verb);
    expect({ verb, status, stdout }).toEqual({ verb, status: 5, stdout: "" });
    expect(stderr).toBe(
      "stale: nodeippool.lock is not there, but git has it: to plan without it could move everybody\n" +
        "  Bring it back: git restore nodeippool.lock. To begin a new record: git rm nodeippool.lock.\n",
    );
  }
  git("git restore nodeippool.lock");
  expect(await run("plan")).toMatchObject({ status: 0, stdout: expect.stringContaining("Nothing to record.") });
  rmSync(join(folder, "nodeippool.lock"));
  git("git rm -q nodeippool.lock");
  expect((await run("allocate")).status).toBe(0);
  expect(lock()).toBe(whole);
});

it("a lock that somebody deleted with its folder is not taken for one in a folder that is misspelt", async () => {
  mkdirSync(join(folder, "site"));
  git("mv nodeippool.lock site; git init -q -b main .; git add -A; git commit -qm base; rm -r site");
  expect(await run("plan", "--lock", "site/nodeippool.lock")).toMatchObject({
    status: 5,
    stderr: expect.stringContaining("Bring it back: git restore site/nodeippool.lock."),
  });
});

it("a GIT_DIR, as hooks have it, does not hide that a lock in a subfolder was deleted", () => {
  mkdirSync(join(folder, "site"));
  git("mv manifests nodes.txt nodeippool.lock site; git init -q -b main .; git add -A; git commit -qm base");
  const deleted = "cd site; rm -f nodeippool.lock; export GIT_DIR=";
  for (const value of [".git", "$PWD/../.git"])
    expect(shell(`${deleted}${value}; nodeippool plan manifests --nodes nodes.txt`, folder)).toMatchObject({
      status: 5,
      stderr: expect.stringContaining("git has it: to plan without it could move everybody"),
    });
});

it("a revision that a shallow clone lacks is said to be cut off, not unknown", () => {
  git("git init -q -b main .; git add -A; git commit -qm base; git commit -q --allow-empty -m next");
  const command = "cd shallow; nodeippool diff HEAD~1";
  const shallow = shell(`git clone -q --depth 1 "file://$PWD" shallow && ${command}`, folder);
  expect(shallow).toMatchObject({ status: 2, stderr: expect.stringContaining("fetch the whole history") });
  const whole = shell(`git clone -q . whole && ${command.replace("shallow", "whole").replace("~1", "~2")}`, folder);
  expect(whole).toMatchObject({ status: 2, stderr: expect.stringMatching(/is not a revision of (?!.*shallow)/s) });
});

it("a lock in a submodule that is not checked out is no new one", async () => {
  git(
    "mkdir ipam.git; cd ipam.git; git init -q; cp ../nodeippool.lock .; git add -A; git commit -qm lock; cd ..",
    "git init -q -b main .; git -c protocol.file.allow=always submodule --quiet add ./ipam.git ipam",
    "git add -A; git commit -qm base; git submodule --quiet deinit -f ipam; rm nodeippool.lock",
  );
  for (const verb of ["plan", "allocate", "render"])
    expect(await run(verb, "--lock", "ipam/nodeippool.lock")).toEqual({
      status: 5,
      stdout: "",
      stderr:
        "stale: ipam/nodeippool.lock is not there, and the submodule that it lies in is not checked out\n" +
        "  Check it out: git submodule init ipam && git submodule update ipam\n",
    });
  expect((await run("plan", "--lock", "ipam/prod/nodeippool.lock")).stderr).toContain("git submodule update ipam");
  git("git submodule init ipam && git -c protocol.file.allow=always submodule --quiet update ipam");
  expect(await run("plan", "--lock", "ipam/nodeippool.lock")).toMatchObject({ status: 0 });
});

it("a rebase that has ended refuses nothing, one in progress does", async () => {
  git("git init -q -b main .", "git config user.email a@example.net", "git config user.name a");
  git("git add -A", "git commit -qm base", "git rev-parse HEAD > .git/REBASE_HEAD");
  nodes("node01", "node02");
  await run("allocate");
  await cli(["release", "node03", "--confirm"], folder);
  nodes("node01", "node02", "node09");
  await run("allocate");
  git("git commit -qam next");
  nodes("node01", "node02", "node09", "node03");
  expect((await run("plan")).status).toBe(0);
  mkdirSync(join(folder, ".git/rebase-merge"));
  expect(await run("plan")).toMatchObject({
    status: 5,
    stderr: expect.stringContaining("node03 has 10.10.10.3 in REBASE_HEAD"),
  });
});

it("diff across a move of the record says where it is", async () => {
  git("git init -q -b main .", "git add -A", "git commit -qm base");
  const whole = lock();
  const [pool] = /^- \{"pool".*\n/m.exec(whole) ?? [];
  const empty = whole
    .replace(/^pools:\n(?:- .*\n)*/m, "pools: []\n")
    .replace(/^allocations:\n(?:- .*\n)*/m, "allocations: []\n");
  expect(pool).toBeDefined();
  const mark: Mark = { state: "left", id: "1", other: "kubernetes there", digest: "of another" };
  writeFileSync(join(folder, "nodeippool.lock"), markedText(mark, empty));
  for (const args of [[], ["--markdown"]])
    expect(await cli(["diff", "main", ...args], folder)).toMatchObject({
      status: 0,
      stdout: "The record has moved to kubernetes there: nodeippool plan and show tell how it is there.\n",
    });
  git("git commit -qam moved");
  writeFileSync(join(folder, "nodeippool.lock"), whole);
  expect(await cli(["diff"], folder)).toMatchObject({
    status: 0,
    stdout: expect.stringMatching(/ lines changed since HEAD/),
  });
});

it("without git, diff says what is missing; allocate does without", () => {
  const verb = (line: string) =>
    shell(`PATH=/none exec '${process.execPath}' '${join(root, "cli/main.ts")}' ${line}`, folder);
  expect(verb("diff HEAD")).toMatchObject({ status: 2, stderr: expect.stringContaining("git cannot be run") });
  expect(verb("allocate manifests --nodes nodes.txt")).toMatchObject({ status: 0 });
});

it("a rendered file that a merge leaves, though its policy is gone, is named, and removed as the message says", async () => {
  const rendered = () => run("render", "--out", "rendered");
  const record = async (message: string) => {
    expect((await run("allocate", "--confirm")).status).toBe(0);
    expect((await rendered()).status).toBe(0);
    git("git add -A", `git commit -qm '${message}'`);
  };
  const second = text("static-ip.yaml")
    .replace("name: static-ip", "name: second")
    .replaceAll(/eth([12])/g, "eth1$1");
  writeFileSync(join(folder, "manifests/second.yaml"), second);
  git("git init -q -b main .");
  await record("base");
  git("git checkout -qb feature", "echo node09 >> nodes.txt");
  await record("a node");
  git("git checkout -q main", "git rm -q manifests/second.yaml");
  await record("one policy");
  expect((await cli(["release", "--confirm", "node01", "node02", "node03"], folder)).status).toBe(0);
  await record("released");
  git("git checkout -q feature", "git merge main || true");
  expect((await run("allocate", "--landed", "main")).status).toBe(0);
  const { status, stderr } = await rendered();
  expect([status, stderr]).toEqual([
    2,
    expect.stringMatching(/^invalid: rendered\/second\.yaml has a policy, .*\n.*: rm .*\n$/),
  ]);
  git(/rm rendered.*/.exec(stderr)?.[0] ?? "false");
  expect((await rendered()).status).toBe(0);
  git("git add -A", "git commit -qm merged");
  expect(readdirSync(join(folder, "rendered"))).not.toContain("second.yaml");
});
