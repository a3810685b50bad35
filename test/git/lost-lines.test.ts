import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { policy, pool } from "../support/git/manifests.ts";
import { shell } from "../support/git/repository.ts";
import { cli } from "../support/schema/cli.ts";
import { scratchFolder } from "../support/state/folder.ts";

// A lock that was taken from one side of a merge, or from elsewhere: plan and allocate refuse to move who has an address in git. nX has .X on main.
let folder: string;
const folders: string[] = [];
afterAll(() => {
  for (const one of folders) rmSync(one, { recursive: true, force: true });
});

const second = (name: string, node: string, nic = "eth2") =>
  policy
    .replace("name: pol}", `name: ${name}}`)
    .replace("spec:\n", `spec:\n  nodeSelector: {kubernetes.io/hostname: ${node}}\n`)
    .replace("eth1", nic);
const write = (path: string, text: string) => writeFileSync(join(folder, path), text);
const nodes = (...names: string[]) => write("nodes.txt", `${names.join("\n")}\n`);
const run = (verb: string, ...args: string[]) => cli([verb, "manifests", "--nodes", "nodes.txt", ...args], folder);
const allocate = async (...args: string[]) => {
  expect(await run("allocate", ...args)).toMatchObject({ status: 0 });
  git("git add -A; git commit -qm allocated");
};
/** `nodeippool VERB ...`, which succeeds. */
const nodeippool = async (line: string) => {
  expect(await cli(line.split(" "), folder)).toMatchObject({ status: 0 });
};
const git = (line: string) => {
  const { stderr, stdout, status } = shell(`set -e; ${line}`, folder);
  if (status !== 0) throw new Error(stderr);
  return stdout;
};
/** Branch f adds these nodes, and main those, which stays checked out; `onF` is what else f does. */
const fork = async (ofF: readonly string[], ofMain: readonly string[], onF: () => unknown = () => {}) => {
  git("git checkout -qb f");
  await onF();
  nodes("n1", "n2", "n3", "n4", ...ofF);
  await allocate();
  git("git checkout -q main");
  nodes("n1", "n2", "n3", "n4", ...ofMain);
  await allocate();
};
const lock = () => readFileSync(join(folder, "nodeippool.lock"), "utf8");
/** `5 k3` */
const holders = () =>
  [...lock().matchAll(/10\.0\.0\.(\d+)".*?"claim":"Node\/([^/]*).*?(,"releasing":true)?\}/g)].map(
    ([, address, node, releasing]) => `${address} ${node}${releasing ? " releasing" : ""}`,
  );

/** plan and allocate refuse that and record nothing; each is what is said of one node. */
const expectLost = async (...lost: string[]) => {
  const before = lock();
  for (const verb of ["plan", "allocate"]) {
    const { status, stderr } = await run(verb);
    expect([verb, status, [...stderr.matchAll(/^stale: (.*), and would get/gm)].map(([, one]) => one)]).toEqual([
      verb,
      5,
      lost,
    ]);
  }
  expect(lock()).toBe(before);
};

const mergeDriver =
  "git config merge.nodeippool.driver 'nodeippool merge %O %A %B'; echo 'nodeippool.lock merge=nodeippool' > .git/info/attributes";

beforeEach(async () => {
  folder = scratchFolder();
  folders.push(folder);
  mkdirSync(join(folder, "manifests"));
  write("manifests/pool.yaml", pool());
  write("manifests/policy.yaml", policy);
  nodes("n1", "n2", "n3", "n4");
  git("git init -q -b main .");
  await allocate();
});

describe("a node that was renamed on a branch", () => {
  beforeEach(() => {
    git("git checkout -qb f; nodeippool mv Node/n3 Node/k3");
    nodes("n1", "n2", "k3", "n4");
    git("git commit -qam rename; git checkout -q main");
  });

  it.each([
    ["git merge f", "main"],
    ["git checkout -q f; git merge main", "main"],
    ["git checkout -q f; git rebase main", "main"],
  ])("and got another address on main: %s; nobody is planned anew before mv had its say", async (command, landed) => {
    write("manifests/pool.yaml", pool(", exclude: [10.0.0.3]"));
    await allocate("--allow-move");
    git(`${command} || true; git checkout -q ${landed} -- manifests`);
    nodes("n1", "n2", "k3", "n4");
    const refused = await run("allocate", "--landed", landed);
    expect(refused.status).toBe(5);
    expect(refused.stderr).toMatch(
      /^Merged nodeippool\.lock\.\n.* 10\.0\.0\.3 {2}k3 {2}lost in the merge: .*\nstale: k3 has 10\.0\.0\.3 in \w+, and would get 10\.0\.0\.6: /,
    );
    git("git add nodeippool.lock; nodeippool mv Node/n3 Node/k3");
    expect((await run("allocate")).stdout).toMatch(/Nothing to record\.\n$/);
    expect(holders()).toEqual(["1 n1", "2 n2", "4 n4", "5 k3", "3 k3 releasing"]);
  });

  it("and otherwise on main, around a command too: it is refused until mv or --released says what is meant", async () => {
    await nodeippool("mv Node/n3 Node/j3");
    nodes("n1", "n2", "j3", "n4");
    await allocate();
    git("git merge f || true; git checkout -q --theirs nodes.txt");
    const settled = ["1 n1", "2 n2", "3 j3", "4 n4"];
    const around = "-- nodeippool render manifests --nodes nodes.txt --out out";
    for (const args of ["manifests --nodes nodes.txt --landed main", `--landed main ${around}`]) {
      expect(shell(`nodeippool allocate ${args}`, folder)).toMatchObject({
        status: 5,
        stderr: expect.stringContaining("k3 has 10.0.0.3 in MERGE_HEAD, and would get 10.0.0.5"),
      });
      expect(holders()).toEqual(settled);
      git("git checkout -q -m -- nodeippool.lock");
    }
    expect((await run("allocate", "--landed", "main")).status).toBe(5);
    git("git add nodeippool.lock");
    await expectLost("k3 has 10.0.0.3 in MERGE_HEAD");
    git(`cp nodeippool.lock settled.lock; nodeippool allocate --released k3=10.0.0.3 ${around}`);
    expect(holders()).toEqual(["1 n1", "2 n2", "4 n4", "5 k3", "3 j3 releasing"]);
    git("mv settled.lock nodeippool.lock; nodeippool mv Node/j3 Node/k3");
    expect((await run("allocate")).status).toBe(0);
    expect(holders()).toEqual(["1 n1", "2 n2", "3 k3", "4 n4"]);
  });
});

describe("a policy that was renamed on a branch", () => {
  const renamed = async () => {
    await nodeippool("mv pol neu");
    write("manifests/policy.yaml", policy.replace("{name: pol}", "{name: neu}"));
  };

  it("and a lock that is settled as one side had it: git add ends it", async () => {
    await fork(["n5"], ["n5"], renamed);
    git("git checkout -q f; git merge main || true");
    expect(await run("allocate", "--landed", "main")).toMatchObject({ status: 3, stderr: /nodeippool mv pol neu,/ });
    await nodeippool("mv pol neu");
    const { stderr, status } = await run("allocate");
    expect([status, stderr]).toEqual([
      4,
      expect.stringContaining(
        "Only if nothing uses the other side's new addresses, it may stay so: git add nodeippool.lock.\n",
      ),
    ]);
    git("git add nodeippool.lock");
    expect((await run("allocate")).stdout).toMatch(/Nothing to record\.\n$/);
  });

  it("and a node too, which main renamed otherwise: neither moves before anything is recorded", async () => {
    git("git checkout -qb f; nodeippool mv Node/n3 Node/k3");
    await renamed();
    nodes("n1", "n2", "k3", "n4");
    await allocate();
    git("git checkout -q main; nodeippool mv Node/n3 Node/j3");
    nodes("n1", "n2", "j3", "n4", "n9");
    await allocate();
    git("git checkout -q f; git merge main || true");
    nodes("n1", "n2", "k3", "n4", "n9");
    expect(await run("allocate", "--landed", "main")).toMatchObject({ status: 3, stderr: /nodeippool mv pol neu,/ });
    await nodeippool("mv pol neu");
    const before = lock();
    expect((await run("allocate")).status).toBe(5);
    expect(lock()).toBe(before);
    await nodeippool("mv Node/j3 Node/k3");
    expect((await run("allocate")).status).toBe(0);
    expect(holders()).toEqual(["1 n1", "2 n2", "3 k3", "4 n4", "5 n9"]);
  });
});

describe("a lock of one side alone, where both gave .5 away", () => {
  beforeEach(async () => {
    await fork(["a0"], ["z5"]);
  });
  it("of a merge: who has .5 in HEAD is not moved, though another one has it now", async () => {
    git("git merge f || true; git checkout -q --theirs nodeippool.lock; git add -A");
    nodes("a0", "n1", "n2", "n3", "n4", "z5");
    await expectLost("z5 has 10.0.0.5 in HEAD");
    expect((await run("allocate")).stderr).toContain(
      "z5 has 10.0.0.5 in HEAD, and would get 10.0.0.6: nodeippool.lock has lost its line\n  Bring both sides back, and settle them: git checkout -m -- nodeippool.lock && nodeippool allocate --landed REV. If that is meant: --released z5=10.0.0.5, or released in nodeippool.yaml.\n",
    );
    git("git checkout -q -m -- nodeippool.lock");
    expect((await run("allocate", "--landed", "main")).stdout).toContain(
      "! 10.0.0.5  a0  lost in the merge: z5 keeps it",
    );
  });

  it("of a merge: --released says that it is meant", async () => {
    git("git merge f || true; git checkout -q --theirs nodeippool.lock; git add -A");
    nodes("a0", "n1", "n2", "n3", "n4", "z5");
    expect((await run("plan", "--released", "z5=10.0.0.5")).status).toBe(0);
    expect((await run("allocate", "--released", "z5=10.0.0.5")).status).toBe(0);
    expect(holders().slice(4)).toEqual(["5 a0", "6 z5"]);
    expect((await run("allocate")).stdout).toMatch(/Nothing to record\.\n$/);
  });

  it("of a merge that goes by itself: who has .5 in HEAD is not moved, though another NIC of it gets .5", async () => {
    git("git checkout -q f; git reset -q --hard main~1");
    write("manifests/second.yaml", second("alpha", "z5"));
    git(
      "git add -A; git commit -qm alpha; git checkout -q main; git merge --no-commit f; git checkout -q f -- nodeippool.lock",
    );
    write("nodes.txt", "n1\nn2\nn3\nn4\nz5 kubernetes.io/hostname=z5\n");
    expect((await run("plan")).stdout).toContain("+ 10.0.0.5  z5  alpha/a");
    await expectLost("z5 has 10.0.0.5 in HEAD");
  });

  it.each([
    ["--theirs", "HEAD", "storage"],
    ["--ours", "MERGE_HEAD", "backup"],
    ["--theirs", "HEAD^1", "storage"],
    ["--ours", "HEAD^2", "backup"],
    ["--theirs, NICs by template", "HEAD", "storage"],
    ["--ours, NICs by template", "HEAD^2", "backup"],
  ])(
    "of a merge of two policies for one node, the lock %s: the node keeps what it has in %s",
    async (how, revision, lost) => {
      git("git reset -q --hard main~1; git branch -qf f");
      for (const [branch, name, eth] of [
        ["f", "backup", "eth2"],
        ["main", "storage", "eth3"],
      ] as const) {
        git(`git checkout -q ${branch}`);
        write("nodes.txt", "n1 kubernetes.io/hostname=n1\nn2\nn3\nn4\n");
        const text = second(name, "n1", eth);
        const byTemplate = text
          .replace("allocate}", `allocate, nic: interfaces.name == "${eth}"}`)
          .replace(`name: ${eth}`, 'name: "{{ capture.nic.interfaces.0.name }}"');
        write(`manifests/${name}.yaml`, how.includes("template") ? byTemplate : text);
        await allocate();
      }
      git(`git merge f || true; git checkout -q ${how.split(",")[0]} nodeippool.lock; git add -A`);
      if (revision.includes("^")) git("git commit -qm merged");
      expect((await run("plan")).stdout).toContain(`+ 10.0.0.6  n1  ${lost}/a`);
      await expectLost(`n1 has 10.0.0.5 in ${revision}`);
    },
  );

  it("of a commit: likewise; so is a rename since HEAD, where another node has the old name", async () => {
    git("git checkout -q f -- nodeippool.lock");
    nodes("a0", "n1", "n2", "n3", "n4", "z5");
    await expectLost("z5 has 10.0.0.5 in HEAD");
    git("git reset -q --hard; nodeippool mv Node/z5 Node/b0");
    nodes("b0", "n1", "n2", "n3", "n4", "z5");
    await expectLost("z5 has 10.0.0.5 in HEAD");
    nodes("b0", "n1", "n2", "n3", "n4");
    git("git commit -qam renamed");
    nodes("b0", "n1", "n2", "n3", "n4", "z5");
    expect((await run("allocate")).status).toBe(0);
  });
});

describe("a commit that is no merge, and drops the line of a node that stays", () => {
  const dropped = () => `in ${git("git rev-parse --short HEAD").trim()}^`;

  it.each([
    ["rebase -X theirs", "git checkout -q f; git rebase -q -X theirs main"],
    ["merge --squash -X theirs", "git merge -q --squash -X theirs f; git commit -qm squashed"],
    ["cherry-pick -X theirs", "git cherry-pick -X theirs f"],
    ["checkout --theirs", "git cherry-pick f || git checkout --theirs .; git add -A; git cherry-pick --continue"],
  ])("%s: z5 of main keeps .5, once its line is put back", async (_, command) => {
    await fork(["a0"], ["z5"]);
    git(command);
    nodes("a0", "n1", "n2", "n3", "n4", "z5");
    git("git commit -qa --amend --no-edit");
    await expectLost(`z5 has 10.0.0.5 ${dropped()}`);
    expect((await run("plan")).stderr).toMatch(
      /would get 10\.0\.0\.6: commit (\w+) removed its line from nodeippool\.lock\n {2}a0 has 10\.0\.0\.5 now: z5 may have released it\. If z5 still uses it, take it off a0 first\. Put the line back, and run nodeippool allocate: git show '?\1\^:\.\/nodeippool\.lock'?\. If that is meant: --released z5=10\.0\.0\.5, or released in nodeippool\.yaml\.\n$/,
    );
    write("uses.csv", "node,interface,address\nn1,eth1,10.0.0.1\n");
    expect(await cli(["audit", "uses.csv", "--pools", "manifests", "--nodes", "nodes.txt"], folder)).toMatchObject({
      status: 5,
      stdout: expect.stringMatching(
        /given-away: 10\.0\.0\.5 was allocated to z5 \(pol\/a\) in (\w+)\^; commit \1 gave it to a0\. If that is meant: --released z5=10\.0\.0\.5, or released in nodeippool\.yaml\.\n/,
      ),
    });
    git("git show HEAD^:./nodeippool.lock > nodeippool.lock");
    await allocate();
    expect(holders().slice(4)).toEqual(["5 z5", "6 a0"]);
    expect((await run("allocate")).stdout).toMatch(/Nothing to record\.\n$/);
  });

  it("also by hand, and some commits later; --released ends it, and a node may come back that was released", async () => {
    git("sed -i '/Node.n[23]/d' nodeippool.lock");
    nodes("n1", "n3", "n4");
    git("git commit -qam edited");
    const where = dropped();
    for (const name of ["k4", "n4", "k4", "n4"]) {
      git(`nodeippool mv Node/${name === "k4" ? "n4" : "k4"} Node/${name}`);
      nodes("n1", "n3", name);
      git("git commit -qam renamed");
    }
    await expectLost(`n3 has 10.0.0.3 ${where}`);
    await allocate("--released", "n3=10.0.0.3");
    expect(holders()).toEqual(["1 n1", "2 n3", "4 n4"]);
    nodes("n1", "n4");
    await allocate();
    git("nodeippool release n3 --confirm; git commit -qam released");
    nodes("n0", "n1", "n4");
    await allocate();
    nodes("n0", "n1", "n2", "n3", "n4");
    await allocate();
    expect(holders()).toEqual(["1 n1", "2 n0", "3 n2", "4 n4", "5 n3"]);
  });
});

describe("the lock of one side, where one branch renamed the policy, and both gave .5 away", () => {
  const rename = async (nic = "eth1") => {
    write("manifests/policy.yaml", policy.replace("name: pol}", "name: new}").replace("eth1", nic));
    await nodeippool("mv pol new");
  };
  const secondCapture = () => {
    const text = readFileSync(join(folder, "manifests/policy.yaml"), "utf8")
      .replace("{a: ippool.p.allocate}", "{a: ippool.p.allocate, b: ippool.p.allocate}")
      .replace(/address: \[(.*)\]/, (_, one) => `address: [${one}, ${one.replaceAll("capture.a", "capture.b")}]`);
    write("manifests/policy.yaml", text);
  };
  it.each([
    ["--theirs", "z5 has 10.0.0.5 in HEAD"],
    ["--theirs, committed", "z5 has 10.0.0.5 in HEAD^1"],
  ])("%s: who had .5 by the old name is not moved", async (how, who) => {
    await fork(["a0"], ["z5"], () => rename());
    git("git merge f || true; git checkout -q --theirs nodeippool.lock; git add -A");
    if (how.includes("committed")) git("git commit -qm merged");
    nodes("a0", "n1", "n2", "n3", "n4", "z5");
    await expectLost(who);
  });

  it.each([
    ["merge", ""],
    ["merge --squash", ""],
    ["merge", ", of a branch that a0 has left"],
  ])(
    "%s%s: who had .5 by the new name is not moved, once the other side's lines are called that, too",
    async (merge, left) => {
      git("git checkout -qb f");
      nodes("a0", "n1", "n2", "n3", "n4");
      await allocate();
      if (left) {
        nodes("n1", "n2", "n3", "n4");
        await allocate();
      }
      git("git checkout -q main");
      await rename();
      nodes("n1", "n2", "n3", "n4", "z5");
      await allocate();
      git(`git ${merge} f || true; git checkout -q --theirs nodeippool.lock; git add -A`);
      nodes(...(left ? [] : ["a0"]), "n1", "n2", "n3", "n4", "z5");
      expect((await run("allocate")).stderr).toContain("nodeippool mv pol/a new/a");
      await nodeippool("mv pol new");
      await expectLost("z5 has 10.0.0.5 in HEAD");
    },
  );

  it("nothing is refused to who lost .5 in a merge that was settled, where that NIC gets a second address", async () => {
    await fork(["a0"], ["z5"]);
    git("git merge f || true");
    nodes("a0", "n1", "n2", "n3", "n4", "z5");
    await allocate("--landed", "main");
    secondCapture();
    expect(await run("plan")).toMatchObject({
      status: 0,
      stdout: expect.stringContaining("Plan: 6 to allocate, 6 kept"),
    });
  });

  it.each([
    ["since HEAD", "eth1", ":"],
    ["before a merge", "eth1", "git commit -qam renamed; git merge -q --no-commit --no-ff f"],
    [
      "before a merge",
      "eth2",
      "nodeippool allocate manifests --nodes nodes.txt --confirm; git commit -qam renamed; git merge -q --no-commit --no-ff f",
    ],
  ])("nothing is refused after a rename %s, on %s, where the NIC gets a second address", async (_, nic, then) => {
    git("git checkout -qb f; touch f; git add -A; git commit -qm f; git checkout -q main");
    await rename(nic);
    git(then);
    secondCapture();
    expect(await run("plan")).toMatchObject({
      status: 0,
      stdout: expect.stringContaining("Plan: 4 to allocate, 4 kept"),
    });
  });
});

describe("a merge that goes by itself, where main took .5 of n4's second policy back, and gave it to z5", () => {
  beforeEach(async () => {
    write("nodes.txt", "n1\nn2\nn3\nn4 kubernetes.io/hostname=n4\n");
    write("manifests/second.yaml", second("second", "n4"));
    await allocate();
    git("git checkout -qb f; touch f");
  });
  const mergeMain = async () => {
    git("git add -A; git commit -qm f; git checkout -q main");
    git("mv manifests/second.yaml second.yaml");
    await allocate();
    git("nodeippool release 10.0.0.5 --confirm; git commit -qam released");
    write("nodes.txt", "n1\nn2\nn3\nn4 kubernetes.io/hostname=n4\nz5\n");
    await allocate();
    git("git checkout -q f; git merge --no-commit main");
  };

  it("nothing is refused where n4 gets an address for a policy of the branch", async () => {
    write("manifests/third.yaml", second("third", "n4", "eth3"));
    await mergeMain();
    expect(await run("plan")).toMatchObject({ status: 0, stdout: expect.stringContaining("+ 10.0.0.6  n4  third/a") });
  });

  it("nor where the commit that took it back is picked alone, after the one that gave it", async () => {
    git(`git branch -qf main HEAD~1; ${mergeDriver}; mv manifests/second.yaml second.yaml`);
    await allocate();
    write("manifests/third.yaml", second("third", "n4", "eth3"));
    write("nodes.txt", "n1\nn2\nn3\nn4 kubernetes.io/hostname=n4\nf6\n");
    git("nodeippool release 10.0.0.5 --confirm; git add -A; git commit -qm released --amend");
    git("git checkout -q main; git commit -q --allow-empty -m other; git cherry-pick f~1");
    write("nodes.txt", "n1\nn2\nn3\nn4 kubernetes.io/hostname=n4\nz5\n");
    await allocate();
    git("git cherry-pick f || true");
    expect(git("git diff --name-only --diff-filter=U")).toBe("nodes.txt\n");
    write("nodes.txt", "n1\nn2\nn3\nn4 kubernetes.io/hostname=n4\nf6\nz5\n");
    expect(await run("plan")).toMatchObject({ status: 0, stdout: expect.stringContaining("n4  third/a") });
  });

  it("nor in a squash that was settled, where the branch took it back", async () => {
    git("mv manifests/second.yaml second.yaml");
    await allocate();
    await nodeippool("release 10.0.0.5 --confirm");
    write("nodes.txt", "n1\nn2\nn3\nn4 kubernetes.io/hostname=n4\nz5\n");
    await allocate();
    write("manifests/third.yaml", second("third", "n4", "eth3"));
    await allocate();
    git("git checkout -q main");
    write("nodes.txt", "m6\nn1\nn2\nn3\nn4 kubernetes.io/hostname=n4\n");
    await allocate();
    git("git merge --squash f || true");
    write("nodes.txt", "m6\nn1\nn2\nn3\nn4 kubernetes.io/hostname=n4\nz5\n");
    const { stdout, status } = await run("allocate", "--landed", "main");
    expect(status).toBe(0);
    expect(stdout).toMatch(/! 10\.0\.0\.6 .* lost in the merge: m6 keeps it/);
    expect(stdout).toMatch(/\+ .* n4 +third\/a/);
  });

  it("where n4 gets another one for that very policy, that is refused", async () => {
    await mergeMain();
    git("mv second.yaml manifests");
    expect((await run("plan")).stdout).toContain("+ 10.0.0.6  n4  second/a");
    await expectLost("n4 has 10.0.0.5 in HEAD");
  });
});

it("a merge that goes by itself, where main gave .3 up, and renamed the policy: n3, which the branch has, is not moved", async () => {
  git("git checkout -qb f");
  write("nodes.txt", "n1\nn2\nn3 kubernetes.io/hostname=n3\nn4\n");
  git("git commit -qam label; git checkout -q main");
  nodes("n1", "n2", "n4");
  await allocate();
  await nodeippool("release n3 --confirm");
  nodes("n1", "n2", "n4", "z3");
  write("manifests/policy.yaml", policy.replace("name: pol}", "name: new}"));
  await nodeippool("mv pol new");
  await allocate();
  git("git merge f || true");
  nodes("n1", "n2", "n3", "n4", "z3");
  await expectLost("n3 has 10.0.0.3 in MERGE_HEAD");
});

it("a lock from an older commit, of which another folder gives an address away: who has that in HEAD is not moved", async () => {
  git("mkdir second; cp manifests/pool.yaml second");
  write("second/policy.yaml", second("second", "n4"));
  write("nodes.txt", "n1\nn2\nn3\nn4 kubernetes.io/hostname=n4\n");
  const inSecond = async () =>
    (await cli(["allocate", "second", "--nodes", "nodes.txt", "--set", "second"], folder)).stderr;
  await inSecond();
  git("git add -A; git commit -qm second; git checkout -q HEAD~1 -- nodeippool.lock");
  write("nodes.txt", "n1\nn2\nn3\nn4 kubernetes.io/hostname=n4\nn5\n");
  expect((await run("allocate")).stdout).toContain("+ 10.0.0.5  n5");
  expect(await inSecond()).toContain("stale: n4 has 10.0.0.5 in HEAD, and would get 10.0.0.6");
});

describe("a merge that was committed with the lock of one side", () => {
  it.each([
    ["--ours", "f5 has 10.0.0.5 in HEAD^2"],
    ["--theirs", "m5 has 10.0.0.5 in HEAD^1"],
  ])("%s: who has .5 on the other side is not moved", async (side, who) => {
    await fork(["f5"], ["m5"]);
    git(`git merge f || true; git checkout -q ${side} nodeippool.lock; git add -A; git commit -qm merged`);
    nodes("n1", "n2", "n3", "n4", "f5", "m5");
    await expectLost(who);
    expect((await run("plan")).stderr).toContain(
      "  Make that merge again, and settle the lock in it: nodeippool allocate --landed REV. If that is meant: --released ",
    );
    const [winner = "", loser = ""] = side === "--ours" ? ["m5", "f5"] : ["f5", "m5"];
    git(`nodeippool mv Node/${winner} Node/k5`);
    nodes("n1", "n2", "n3", "n4", "k5", loser);
    await expectLost(who);
  });

  it.each([
    ["git merge -q -X theirs f", "", 1],
    ["git merge -q -X ours f", "", 2],
    ["git merge -q -X theirs f", ", and another merge", 1],
  ])("before the last commit, by %s%s: likewise", async (merge, another, parent) => {
    await fork(["f5"], ["m5"]);
    git(`git checkout f -- nodes.txt; git commit -qm same; ${merge}`);
    const commit = git("git rev-parse --short HEAD").trim();
    if (another) {
      git("git checkout -qb g");
      nodes("n1", "n2", "n3", "n4", "f5", "g6");
      await allocate("--released", "m5=10.0.0.5");
      git("git checkout -q main; git merge -q --no-ff -m another g");
    }
    nodes("n1", "n2", "n3", "n4", "f5", "m5", ...(another ? ["g6"] : []));
    git("git commit -qam everybody");
    await expectLost(`${parent === 1 ? "m5" : "f5"} has 10.0.0.5 in ${commit}^${parent}`);
    expect((await run("plan")).stderr).toContain(`: git show '${commit}^${parent}:./nodeippool.lock'. If that`);
    expect((await run("allocate", "--released", `${parent === 1 ? "m5" : "f5"}=10.0.0.5`)).status).toBe(0);
  });

  it("a node that was renamed on a branch, and whose name another one has now, looks like one that lost its address", async () => {
    git("git checkout -qb f; nodeippool mv Node/n4 Node/k4; git commit -qam renamed; git checkout -q main");
    git("touch other; git add -A; git commit -qm other; git merge -q f");
    nodes("n1", "n2", "n3", "n4", "k4");
    await expectLost("n4 has 10.0.0.4 in HEAD^1");
    expect((await run("allocate", "--released", "n4=10.0.0.4")).status).toBe(0);
    expect(holders()).toEqual(["1 n1", "2 n2", "3 n3", "4 k4", "5 n4"]);
  });
});

it.each([
  ["by allocate, is merged: it gets another one", ":", 0],
  ["by the driver, is not moved before that is said", mergeDriver, 5],
])("who gave an address up on one side of a merge without a collision, %s", async (_, before, status) => {
  git(before);
  nodes("n1", "n2", "n3", "n4", "z5");
  await allocate();
  await fork(["z5", "z6"], []);
  await nodeippool("release z5 --confirm");
  nodes("a5", "n1", "n2", "n3", "n4");
  await allocate();
  git("git merge f || true");
  nodes("a5", "n1", "n2", "n3", "n4", "z5", "z6");
  if (status === 0)
    for (const side of ["--ours", "--theirs"]) {
      git(`git checkout -q ${side} nodeippool.lock`);
      expect((await run("plan")).status).toBe(4);
    }
  const { stderr, ...ran } = await run("allocate");
  expect(ran.status).toBe(status);
  if (status !== 0) expect(stderr).toContain("z5 has 10.0.0.5 in MERGE_HEAD, and would get 10.0.0.7");
  expect((await run("allocate", "--released", "z5=10.0.0.5")).status).toBe(0);
  expect(holders().slice(4)).toEqual(["5 a5", "6 z6", "7 z5"]);
});

describe("a merge of several branches, of which the first and the last one gave .5 away", () => {
  beforeEach(async () => {
    for (const branch of ["a", "b", "c"]) {
      git(`git checkout -qb ${branch} main; touch ${branch}; git add -A; git commit -qm ${branch}`);
      if (branch === "b") continue;
      nodes("n1", "n2", "n3", "n4", `${branch}5`);
      await allocate();
    }
    git("git checkout -q main; git merge a b c || true");
    nodes("n1", "n2", "n3", "n4", "a5", "c5");
  });

  it("nobody of any branch is moved", async () => {
    git("git checkout -q --ours nodeippool.lock; git add -A");
    const last = git("git rev-parse c").slice(0, 16);
    await expectLost(`c5 has 10.0.0.5 in ${last}`);
  });

  it.each([
    ["a~1", "! 10.0.0.5  c5  lost in the merge: a5 keeps it"],
    ["c~1", "! 10.0.0.5  a5  lost in the merge: c5 keeps it"],
  ])("the side that %s is part of wins", async (landed, lost) => {
    expect((await run("allocate", "--landed", landed)).stdout).toContain(lost);
  });
});

describe("what --landed may name", () => {
  beforeEach(async () => {
    await fork(["f5", "f6"], ["m5", "m6"]);
  });
  const everybody = ["n1", "n2", "n3", "n4", "f5", "f6", "m5", "m6"];

  it("a revision whose lock is broken itself is told from the lock here, and so is a side of a merge", async () => {
    git("git merge f || true; sed -i '/^[<=>]\\{7\\}/d' nodeippool.lock");
    nodes(...everybody);
    git("git add -A; git commit -qm broken");
    for (const revision of ["main", "HEAD"])
      expect(await run("allocate", "--landed", revision)).toMatchObject({
        status: 5,
        stderr: expect.stringMatching(
          new RegExp(`^corrupt: ${revision}:nodeippool.lock.*\n.*\n.*from before the merge .*, ${revision}~1 for`),
        ),
      });
    git("git checkout -qb g main~1");
    nodes("n1", "n2", "n3", "n4", "m5", "m6", "g7");
    await allocate();
    git("git merge main || true; git checkout -q --theirs nodes.txt");
    for (const revision of ["main", "HEAD"])
      expect((await run("allocate", "--landed", revision)).stderr).toMatch(
        /\(git stage 3\):\d+:1: .*\n.*\n {2}This side was broken before: abort the merge or rebase, mend/,
      );
    git("git merge --abort; git checkout -q main");
    expect((await run("allocate", "--landed", "main~1")).status).toBe(0);
    expect(holders().slice(4)).toEqual(["5 m5", "6 m6", "7 f5", "8 f6"]);
  });

  it.each([
    ["main", "5 m5"],
    ["HEAD", "5 f5"],
  ])("a side of the merge that has the lock in another folder: %s", async (revision, first) => {
    git("git checkout -q f; mkdir net; git mv nodeippool.lock manifests nodes.txt net; git commit -qm moved");
    git("git merge main || true");
    folder = join(folder, "net");
    nodes(...everybody);
    expect(await run("allocate", "--landed", revision)).toMatchObject({ status: 0, stderr: "" });
    expect(holders()[4]).toBe(first);
  });

  it("nothing in a lock that is merged already, by the driver in a step of a rebase: plan on it as it is", async () => {
    git(`git checkout -q --detach main~1; ${mergeDriver}`);
    nodes("n1", "n2", "n3");
    await allocate();
    git("git rebase main || true");
    nodes("n1", "n2", "n3", "m5", "m6");
    const nothing = "invalid: nodeippool.lock has nothing to merge that main could decide\n  ";
    const refused = async () => (await run("allocate", "--landed", "main")).stderr;
    expect(await refused()).toContain(`${nothing}Git, or its merge driver, has merged it without a collision`);
    git("git rebase --abort");
    expect(await refused()).toContain(`${nothing}No merge is in progress here`);
  });

  it("a side alone: what both branches began with has neither of two that were given one address", async () => {
    git("git merge f || true");
    nodes(...everybody);
    expect(await run("allocate", "--landed", "main~1")).toMatchObject({
      status: 4,
      stderr: expect.stringMatching(
        /has neither\. Say one that has: origin\/main, where main is behind it: nodeippool allocate /,
      ),
    });
  });

  it("nothing for the second of two folders that share the lock: the first one has settled it", async () => {
    git("git merge f || true");
    nodes(...everybody);
    expect((await run("allocate", "--landed", "main")).status).toBe(0);
    expect((await run("allocate", "--landed", "main", "--set", "other")).stderr).toMatch(
      /has nothing to merge .*\n {2}If it was settled just now, as for another folder that shares it, plan on it as it is, without a revision\. /,
    );
  });

  it("a side, around a command", () => {
    git("git merge f || true");
    nodes(...everybody);
    const around = "-- nodeippool render manifests --nodes nodes.txt --out 'my out'";
    expect(shell(`nodeippool allocate ${around}`, folder)).toMatchObject({
      status: 4,
      stderr: expect.stringContaining(": nodeippool allocate --landed REV\n"),
    });
    expect(shell(`nodeippool allocate --landed main ${around}`, folder).status).toBe(0);
  });
});

describe("a merge that has ended", () => {
  beforeEach(async () => {
    await fork(["f5"], ["m5"]);
    git("git checkout -q f; git merge main || true");
    nodes("n1", "n2", "n3", "n4", "m5", "f5");
    await allocate("--landed", "main");
  });

  it("refuses nothing to a node that replaces one of it later", async () => {
    nodes("n1", "n2", "n3", "n4", "m5", "d9");
    for (const verb of ["plan", "allocate"]) expect((await run(verb)).status).toBe(0);
  });

  it("nor to a node that lost its address in it, has left since, and is back", async () => {
    nodes("n1", "n2", "n3", "n4", "m5");
    await allocate();
    await nodeippool("release f5 --confirm");
    nodes("n1", "n2", "n3", "n4", "m5", "d9");
    await allocate();
    nodes("n1", "n2", "n3", "n4", "m5", "d9", "f5");
    for (const verb of ["plan", "allocate"]) expect((await run(verb)).status).toBe(0);
    expect(holders().slice(4)).toEqual(["5 m5", "6 d9", "7 f5"]);
  });

  it("nor is it in the way of a lock that was taken from an older commit", async () => {
    nodes("n1", "n2", "n3", "n4", "m5", "f5", "c7");
    await allocate();
    git("git checkout -q HEAD~1 -- nodeippool.lock");
    nodes("n1", "n2", "n3", "n4", "m5", "f5", "b6", "c7");
    await expectLost("c7 has 10.0.0.7 in HEAD");
  });
});

it("a node that is back, after git merged by itself what gave it up, is not moved before that is said", async () => {
  git("git checkout -qb f");
  nodes("n1", "n3", "n4");
  await allocate();
  await nodeippool("release n2 --confirm");
  nodes("n1", "n3", "n4", "n9");
  await allocate();
  git("git checkout -q main; echo x > other; git add other; git commit -qm other; git merge -q --no-edit f");
  nodes("n1", "n2", "n3", "n4", "n9");
  await expectLost("n2 has 10.0.0.2 in HEAD^1");
  // What a side gave up is not what the merge lost: that is said of the merge itself, not for ever.
  git("git commit -qam back");
  expect((await run("plan")).status).toBe(0);
  expect((await run("allocate", "--released", "n2=10.0.0.2")).status).toBe(0);
  expect(holders()).toContain("2 n9");
});

it("a node that leaves, is released and replaced before a commit is not in the way of others", async () => {
  nodes("n1", "n2", "n3");
  expect((await run("allocate")).status).toBe(0);
  await nodeippool("release n4 --confirm");
  nodes("n1", "n2", "n3", "n5");
  for (const verb of ["plan", "allocate"]) expect((await run(verb)).status).toBe(0);
  expect(holders()).toEqual(["1 n1", "2 n2", "3 n3", "4 n5"]);
});

it("two lines that are exchanged by hand are refused; by mv they are taken if each mv is committed", async () => {
  for (const names of ["n1 n0", "n2 n1", "n0 n2"])
    git(`nodeippool mv ${names.replace(/n/g, "Node/n")}; git commit -qam mv`);
  expect((await run("plan")).stdout).toMatch(/Nothing to record\.\n$/);
  const exchanged = lock();
  git("git checkout -q -b by-hand HEAD~3");
  git(
    "git checkout -q nodeippool.lock; sed -i 's#Node/n1/#Node/n0/#; s#Node/n2/#Node/n1/#; s#Node/n0/#Node/n2/#' nodeippool.lock",
  );
  expect(lock()).toBe(exchanged);
  for (const verb of ["plan", "allocate"])
    expect(await run(verb)).toMatchObject({
      status: 5,
      stderr:
        "stale: 10.0.0.1 was allocated to n1 (pol/a) in HEAD; nodeippool.lock gave it to n2, and 10.0.0.2 to n1\n" +
        "stale: 10.0.0.2 was allocated to n2 (pol/a) in HEAD; nodeippool.lock gave it to n1, and 10.0.0.1 to n2\n" +
        "  Take the lock of HEAD back: git checkout HEAD -- nodeippool.lock. If the names were exchanged with nodeippool mv, commit after each mv. If that is meant: --released n1=10.0.0.1,n2=10.0.0.2, or released in nodeippool.yaml.\n",
    });
  expect((await run("plan", "--released", "n1=10.0.0.1,n2=10.0.0.2")).stdout).toMatch(/Nothing to record\.\n$/);
  expect(await cli(["diff", "HEAD"], folder)).toMatchObject({ status: 0 });
  const { stdout, status } = await cli(["diff", "HEAD", "--exit-code"], folder);
  expect(status).toBe(5);
  expect(stdout).toMatch(/ 10\.0\.0\.1 [\s\S]* 10\.0\.0\.2 [\s\S]*\n2 lines changed since HEAD/);
  git("git checkout -q HEAD -- nodeippool.lock");
  expect(await cli(["diff", "HEAD", "--exit-code"], folder)).toMatchObject({ status: 0 });
});

it("a lock that was taken from another branch moves nobody", async () => {
  await fork(["f5"], ["m5"]);
  git("git checkout -q f; git checkout -q main -- nodeippool.lock");
  nodes("n1", "n2", "n3", "n4", "m5", "f5");
  await expectLost("f5 has 10.0.0.5 in HEAD");
});

describe("a collision, beside which nodes go and come", () => {
  beforeEach(async () => {
    git("git checkout -qb f");
    nodes("n1", "n2", "n3", "n4", "f5");
    await allocate();
    git("git checkout -q main");
  });

  it("a node has its new name on main, and its old one in the list: it is not moved", async () => {
    await nodeippool("mv Node/n4 Node/x4");
    nodes("n1", "n2", "n3", "x4", "m5");
    await allocate();
    git("git checkout -q f; git merge main || true");
    nodes("n1", "n2", "n3", "n4", "f5", "m5");
    expect(await run("allocate", "--landed", "main")).toMatchObject({
      status: 5,
      stderr: expect.stringContaining("n4 has 10.0.0.4 in "),
    });
  });

  it("a node that was taken away is not renamed to one that lived beside it", async () => {
    nodes("n1", "n2", "n3", "n4", "m5");
    await allocate();
    git("git checkout -q f; git merge main || true");
    nodes("n1", "n2", "n3", "m5", "f5");
    expect(await run("allocate", "--landed", "main")).toMatchObject({ status: 0, stderr: "" });
    expect(holders()).toEqual(["1 n1", "2 n2", "3 n3", "5 m5", "6 f5", "4 n4 releasing"]);
  });
});
