import { existsSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { offerVariable, recordOfLock, takeOffers } from "../../../state/offer.ts";
import { cli, filesOf, idlePolicy, lockText, projectOf, run } from "../../support/schema/cli.ts";
import { documentsOf, nicPolicyText, policyText, poolText } from "../../support/schema/text.ts";

const lockIn = (folder: string) => {
  const path = join(folder, "nodeippool.lock");
  return existsSync(path) ? readFileSync(path, "utf8") : undefined;
};
const both = lockText("10.0.0.1 Node/n1/a/p", "10.0.0.2 Node/n2/a/p");
const nodes = (folder: string, text: string) => writeFileSync(join(folder, "nodes.txt"), text);

describe("nodeippool allocate", () => {
  it("records what it shows, and a second time nothing", async () => {
    const folder = projectOf();
    const first = await run(folder, "allocate");
    expect(first).toMatchObject({ status: 0, stderr: "" });
    expect(first.stdout).toMatch(
      /\+ 10\.0\.0\.2 {2}n2 {2}a\/p\nPlan: 2 to allocate, 0 kept, 0 to release\.\nRecorded in nodeippool\.lock\.\n$/,
    );
    expect(lockIn(folder)).toBe(both);
    const second = await run(folder, "allocate");
    expect(second.stdout).toMatch(/Plan: 0 to allocate, 2 kept, 0 to release\.\nNothing to record\.\n$/);
    expect(lockIn(folder)).toBe(both);
  });

  it("writes no lock where there is nothing to write", async () => {
    const folder = projectOf({ "manifests/a.yaml": "kind: Other\n" });
    expect((await run(folder, "allocate")).status).toBe(0);
    expect(lockIn(folder)).toBeUndefined();
  });

  it("writes the lock it is told, and nothing else", async () => {
    const folder = projectOf({ "state/.keep": "" });
    const before = filesOf(folder);
    expect((await run(folder, "allocate", "--lock", "state/my.lock")).status).toBe(0);
    expect(filesOf(folder)).toEqual({ ...before, "state/my.lock": both });
  });

  it.each(["manifests/lock.yaml", "manifests/state/lock.json", "./manifests/../manifests/lock.yml"])(
    "refuses the lock %s: it would be applied with the manifests",
    async (lock) => {
      const folder = projectOf();
      const before = filesOf(folder);
      const { status, stderr } = await run(folder, "allocate", "--lock", lock);
      expect([status, stderr]).toEqual([
        2,
        `invalid: the lock ${lock} lies in the manifests (manifests), and its name is that of a manifest\n  Keep it beside them, or call it nodeippool.lock: nothing renders or applies that.\n`,
      ]);
      expect(filesOf(folder)).toEqual(before);
    },
  );

  it("prints JSON and nothing else with --json", async () => {
    const folder = projectOf();
    const { stdout, stderr } = await run(folder, "allocate", "--json");
    expect(JSON.parse(stdout).assign.map((line: { address: string }) => line.address)).toEqual([
      "10.0.0.1",
      "10.0.0.2",
    ]);
    expect(stderr).toBe("");
    expect(lockIn(folder)).toBe(both);
  });

  it("nobody moves when nodes come, whatever their names", async () => {
    const folder = projectOf();
    await run(folder, "allocate");
    nodes(folder, "a0\nn1\nn2\n");
    await run(folder, "allocate");
    expect(lockIn(folder)).toBe(lockText("10.0.0.1 Node/n1/a/p", "10.0.0.2 Node/n2/a/p", "10.0.0.3 Node/a0/a/p"));
  });

  it("a node that goes is releasing, its address nobody else's; when it returns it has it again", async () => {
    const folder = projectOf();
    await run(folder, "allocate");
    nodes(folder, "n2\nn3\n");
    const { stdout } = await run(folder, "allocate");
    expect(stdout).toContain("  - 10.0.0.1  n1  a/p  releasing\n");
    expect(lockIn(folder)).toBe(
      lockText("10.0.0.2 Node/n2/a/p", "10.0.0.3 Node/n3/a/p", "10.0.0.1 Node/n1/a/p releasing"),
    );
    nodes(folder, "n1\nn2\nn3\n");
    const back = await run(folder, "allocate");
    expect(back.stdout).toContain("  ~ 10.0.0.1  n1  a/p  no longer releasing\n");
    expect(lockIn(folder)).toBe(lockText("10.0.0.1 Node/n1/a/p", "10.0.0.2 Node/n2/a/p", "10.0.0.3 Node/n3/a/p"));
  });

  it("keeps sets apart: each plans its own lines and sees the others' as taken", async () => {
    const folder = projectOf({
      "other/b.yaml": documentsOf(poolText("  range: {cidr: 10.0.0.0/29}"), nicPolicyText("b", ["p"], "eth2")),
    });
    await run(folder, "allocate");
    await cli(["allocate", "other", "--nodes", "nodes.txt", "--set", "team-b"], folder);
    const whole = lockText(
      "10.0.0.1 Node/n1/a/p",
      "10.0.0.2 Node/n2/a/p",
      "10.0.0.3 Node/n1/b/p set=team-b if=eth2",
      "10.0.0.4 Node/n2/b/p set=team-b if=eth2",
    );
    expect(lockIn(folder)).toBe(whole);
    for (const [path, set] of [
      ["manifests", "default"],
      ["other", "team-b"],
    ] as const)
      expect((await cli(["render", path, "--nodes", "nodes.txt", "--set", set], folder)).status).toBe(0);
    const idle = documentsOf(poolText("  range: {cidr: 10.0.0.0/29}"), idlePolicy);
    writeFileSync(join(folder, "other/b.yaml"), idle);
    await cli(["allocate", "other", "--nodes", "nodes.txt", "--set", "team-b", "--confirm"], folder);
    expect(lockIn(folder)).toContain("10.0.0.1");
    expect(lockIn(folder)?.split("releasing:")[1]).toMatch(/10\.0\.0\.3.*\n.*10\.0\.0\.4/);
  });

  const pool = poolText("  range: {cidr: 10.0.0.0/29}");
  const literal = (name: string) => policyText("  desiredState: {}", name);
  const labels = "n1 kubernetes.io/hostname=n1,rack=a\nn2 rack=b\n";
  const unrenderable: [what: string, files: Record<string, string>, says: string | RegExp][] = [
    [
      "a gateway that the pool does not have",
      {
        "manifests/a.yaml": documentsOf(
          pool,
          policyText('  capture: {x: ippool.p.allocate}\n  desiredState:\n    a: "{{ capture.x.gateway }}"'),
        ),
      },
      /^invalid: manifests\/a\.yaml:13:8: policy a uses capture\.x\.gateway, but pool p has no gateway\n {2}Give the pool/,
    ],
    [
      "a node without its hostname label",
      { "nodes.txt": labels },
      "node n2 has no label kubernetes.io/hostname, so no policy can select it alone\n  Give all its labels: kubectl get nodes -o json, or n2 kubernetes.io/hostname=n2,label=value in the list.\n",
    ],
    [
      "nor one that is to give an address up",
      {
        "nodes.txt": labels,
        "manifests/a.yaml": documentsOf(pool, nicPolicyText("a", ["p"], "eth1", "  nodeSelector: {rack: a}\n")),
        "nodeippool.lock": both,
      },
      "node n2 has no label kubernetes.io/hostname",
    ],
    [
      "a name that a hand-written policy has",
      { "manifests/b.yaml": literal("a--n1") },
      "NodeNetworkConfigurationPolicy a--n1 is written by your own manifests and by NodeNetworkConfigurationPolicy a",
    ],
    [
      "a file of a name that render needs",
      {
        "manifests/a.yaml": pool,
        "manifests/nodeippool-releasing.yaml": "kind: Mine\n",
        "nodeippool.lock": lockText("10.0.0.1 Node/n1/a/p releasing"),
        "nodes.txt": "n1\n",
      },
      "render needs the name nodeippool-releasing.yaml for itself; rename that file",
    ],
  ];
  it.each(unrenderable)("records nothing that render would refuse: %s", async (_, files, says) => {
    const folder = projectOf(files);
    const before = filesOf(folder);
    for (const verb of ["plan", "allocate"]) {
      const { status, stdout, stderr } = await run(folder, verb);
      expect([status, stdout]).toEqual([2, ""]);
      expect(stderr).toEqual(typeof says === "string" ? expect.stringContaining(says) : expect.stringMatching(says));
    }
    expect(filesOf(folder)).toEqual(before);
  });

  it("never writes a lock that it cannot read", async () => {
    const long = "c".repeat(450);
    const folder = projectOf({
      "manifests/b.yaml": `apiVersion: nmstate.io/v1\nkind: NodeNetworkConfigurationPolicy\nmetadata: {name: b}\nspec: {capture: {${long}: ippool.p.allocate}}\n`,
    });
    await run(folder, "allocate");
    expect((await run(folder, "plan")).stderr).not.toContain("corrupt");
  });
});

describe("nodeippool allocate -- COMMAND", () => {
  const around = (folder: string, script: string, ...options: string[]) =>
    cli(["allocate", ...options, "--", "sh", "-c", `{ ${script}; } > out.txt 2> err.txt`], folder);
  const render = "nodeippool render manifests --nodes nodes.txt";
  /** What a command would do that runs these, each as `nodeippool` in a process of its own would offer its plan. */
  const offering = async (folder: string, ...commands: readonly string[]) => {
    const offers = mkdtempSync(join(tmpdir(), "nodeippool-offers-"));
    takeOffers(offers, recordOfLock(join(folder, "nodeippool.lock")));
    vi.stubEnv(offerVariable, offers);
    for (const command of commands) expect(await cli(command.split(" ").slice(1), folder)).toMatchObject({ status: 0 });
    vi.unstubAllEnvs();
    return `cp ${offers}/*.json "$${offerVariable}"`;
  };
  const other = {
    "other/b.yaml": documentsOf(poolText("  range: {cidr: 10.9.0.0/29}", "q"), nicPolicyText("b", ["q"], "eth2")),
  };

  it("records what the command planned, and leaves its output alone", async () => {
    const folder = projectOf();
    const ran = await around(folder, render);
    expect(readFileSync(join(folder, "err.txt"), "utf8")).toBe("");
    expect(readFileSync(join(folder, "out.txt"), "utf8")).toContain("            - ip: 10.0.0.2\n");
    expect(ran).toEqual({
      status: 0,
      stdout: "",
      stderr: "  + 10.0.0.1  n1  a/p\n  + 10.0.0.2  n2  a/p\n1 plan recorded in nodeippool.lock.\n",
    });
    expect(lockIn(folder)).toBe(both);
  });

  it("records what is planned on a change that the command made itself", async () => {
    const folder = projectOf({ "nodeippool.lock": both });
    writeFileSync(
      join(folder, "manifests/a.yaml"),
      documentsOf(poolText("  range: {cidr: 10.0.0.0/29}"), nicPolicyText("b")),
    );
    nodes(folder, "n1\nn2\nn3\n");
    const ran = await around(folder, `nodeippool mv a b; ${render}`);
    expect(ran).toMatchObject({
      status: 0,
      stderr: "  + 10.0.0.3  n3  b/p\n  = 2 kept\n1 plan recorded in nodeippool.lock.\n",
    });
  });

  it("records several plans at once, all of them or none", async () => {
    const folder = projectOf(other);
    const fails = await around(folder, `${await offering(folder, render)} && exit 7`);
    expect(fails.status).toBe(7);
    expect(lockIn(folder)).toBeUndefined();
    const works = await around(
      folder,
      await offering(folder, render, "nodeippool render other --nodes nodes.txt --set other"),
    );
    expect(works).toMatchObject({ status: 0, stderr: expect.stringContaining("2 plans recorded in nodeippool.lock.") });
    expect(lockIn(folder)?.match(/10\.\d\.0\.\d/g)).toEqual(
      expect.arrayContaining(["10.0.0.1", "10.0.0.2", "10.9.0.1", "10.9.0.2"]),
    );
  });

  describe("with several claim sets on one pool", () => {
    const [one, two] = [`${render} --set one`, "nodeippool render manifests --nodes more.txt --set two"];
    const project = () => projectOf({ "more.txt": "n3\n" });
    const recorded = lockText(
      "10.0.0.1 Node/n1/a/p set=one",
      "10.0.0.2 Node/n2/a/p set=one",
      "10.0.0.3 Node/n3/a/p set=two",
    );

    it("plans each on top of those before it, and takes a plan that is made again for the same", async () => {
      const folder = project();
      expect(await around(folder, await offering(folder, one, two, one))).toMatchObject({ status: 0 });
      expect(lockIn(folder)).toBe(recorded);
      expect(await around(folder, `${two} && ${one}`)).toMatchObject({ status: 0 });
      expect(readFileSync(join(folder, "out.txt"), "utf8")).toContain("            - ip: 10.0.0.3\n");
      expect(lockIn(folder)).toBe(recorded);
    });

    it("records nothing where two were made at the same time, and give one address away", async () => {
      const folder = project();
      const aside = (from: string, to: string) => `mv "$NODEIPPOOL_ALLOCATE"/${from} "$NODEIPPOOL_ALLOCATE"/${to}`;
      const ran = await around(
        folder,
        `${one} && ${aside("000000.json", "aside")} && ${two} && ${aside("aside", "000001.json")}`,
      );
      expect(ran.status).toBe(4);
      expect(ran.stderr).toMatch(/^conflict: pool p changed since this plan was made; nothing was written\n/);
      expect(lockIn(folder)).toBeUndefined();
    });
  });

  it.each([
    ["what the first gives", undefined],
    ["what the first keeps", lockText("10.0.0.1 Node/n1/a/p", "10.0.0.2 Node/n2/a/p")],
  ])("records nothing where two folders have one claim set: the second would release %s", async (_, lock) => {
    const folder = projectOf({ ...other, ...(lock === undefined ? {} : { "nodeippool.lock": lock }) });
    const ran = await around(folder, await offering(folder, render, "nodeippool render other --nodes nodes.txt"));
    expect(ran.status).toBe(4);
    expect(ran.stderr).toMatch(
      /^conflict: one plan of this run gives 10\.0\.0\.1 to Node\/n1\/a\/p, another one takes it/,
    );
    expect(lockIn(folder)).toBe(lock);
  });

  it.each([
    ["fails", "exit 7", 7, /^sh ended with exit status 7; nothing that it planned was recorded\.\n$/],
    ["is killed", "kill -9 $$", 137, /^sh ended with SIGKILL; nothing that it planned was recorded\.\n$/],
    [
      "is killed by what has no name",
      "kill -42 $$",
      128,
      /^sh ended with a signal; nothing that it planned was recorded\.\n$/,
    ],
  ])("records nothing where the command %s", async (_, script, status, says) => {
    const folder = projectOf({ "nodeippool.lock": both });
    const ran = await around(folder, script);
    expect(ran).toEqual({ status, stdout: "", stderr: expect.stringMatching(says) });
    expect(lockIn(folder)).toBe(both);
  });

  it("records a plan that releases much only with --confirm, as allocate by itself does", async () => {
    const four = lockText(...[1, 2, 3, 4].map((i) => `10.0.0.${i} Node/n${i}/a/p`)).replace(
      "10.0.0.0/29",
      "10.0.0.0/24",
    );
    const pool = documentsOf(poolText("  range: {cidr: 10.0.0.0/24}"), nicPolicyText("a"));
    const folder = projectOf({ "nodeippool.lock": four, "manifests/a.yaml": pool, "nodes.txt": "x1\n" });
    const refused =
      "in-use: this plan releases 4 of 4 addresses of set default: wrong node list, selector or folder?\n  If it is meant, confirm it: nodeippool allocate --confirm\n";
    const offered = await offering(folder, render);
    const ran = await around(folder, offered);
    expect(ran.status).toBe(3);
    expect(ran.stderr).toBe(refused);
    for (const verb of ["plan", "allocate"]) {
      const planned = await cli([verb, "manifests", "--nodes", "nodes.txt"], folder);
      expect(planned).toMatchObject({ status: 3, stderr: refused });
      expect(planned.stdout.includes("1 to allocate, 0 kept, 4 to release")).toBe(verb === "plan");
    }
    expect(lockIn(folder)).toBe(four);
    const confirmed = await around(folder, offered, "--confirm");
    expect(confirmed.status).toBe(0);
    expect(lockIn(folder)).toMatch(/10\.0\.0\.5.*Node\/x1/);
    writeFileSync(join(folder, "nodeippool.lock"), four);
    const alone = await cli(["allocate", "manifests", "--nodes", "nodes.txt", "--confirm"], folder);
    expect(alone).toMatchObject({ status: 0, stderr: "" });
  });

  it("refuses a plan that was made for another lock", async () => {
    const folder = projectOf({ "other.lock": both });
    const ran = await around(folder, `${render} --lock other.lock`);
    expect(ran).toMatchObject({ status: 2, stdout: "" });
    expect(readFileSync(join(folder, "err.txt"), "utf8")).toMatch(
      /^invalid: this plan is for other\.lock, but the run that it is part of records in \S+\/nodeippool\.lock\n/,
    );
    expect([lockIn(folder), readFileSync(join(folder, "other.lock"), "utf8")]).toEqual([undefined, both]);
    const elsewhere = await around(folder, "cd manifests && nodeippool render . --nodes ../nodes.txt");
    expect(elsewhere).toMatchObject({ status: 2, stdout: "" });
    expect(lockIn(folder)).toBeUndefined();
  });

  it("takes a plan for the same lock by another name", async () => {
    const folder = projectOf();
    symlinkSync(".", join(folder, "here"));
    const there = "nodeippool render ../manifests --nodes ../nodes.txt --lock ../here/nodeippool.lock";
    expect(await around(folder, `cd manifests && ${there}`)).toMatchObject({ status: 0 });
    expect(lockIn(folder)).toBe(both);
  });

  it.each([[["manifests", "--nodes", "nodes.txt", "--set", "a", "--json"], "manifests, --nodes, --set, --json"]])(
    "refuses %j before --, which would do nothing",
    async (words, named) => {
      const folder = projectOf();
      const ran = await cli(["allocate", ...words, "--", "touch", "ran"], folder);
      expect(ran.status).toBe(2);
      expect(ran.stderr).toContain(`invalid: ${named} cannot stand before --: COMMAND itself says what it plans\n`);
      expect(existsSync(join(folder, "ran"))).toBe(false);
    },
  );

  it.each([
    ["no-such-command", "no-such-command cannot be run"],
    ["", "the command after -- is empty"],
  ])("says so where there is no such command: %j", async (command, says) => {
    const ran = await cli(["allocate", "--", command], projectOf());
    expect(ran).toMatchObject({ status: 2, stderr: expect.stringContaining(says) });
  });

  it("a command that plans nothing writes no lock", async () => {
    const folder = projectOf();
    expect(await around(folder, "true")).toMatchObject({ status: 0, stderr: "0 plans recorded in nodeippool.lock.\n" });
    expect(lockIn(folder)).toBeUndefined();
  });

  it("leaves no folder behind", async () => {
    const folder = projectOf();
    const ran = await around(folder, 'printf "%s" "$NODEIPPOOL_ALLOCATE" > where.txt; test -d "$NODEIPPOOL_ALLOCATE"');
    expect(ran.status).toBe(0);
    expect(existsSync(readFileSync(join(folder, "where.txt"), "utf8"))).toBe(false);
  });
});

it("a lock in a folder that is not there is refused, and no folder is made", async () => {
  const folder = projectOf({ "nodeippool.lock": both });
  const before = filesOf(folder);
  const says =
    "invalid: lcok, the folder of the lock lcok/nodeippool.lock, does not exist\n  Look at the name; for a new record make the folder first: mkdir -p lcok\n";
  for (const verb of ["plan", "allocate", "render"])
    expect(await run(folder, verb, "--lock", "lcok/nodeippool.lock")).toEqual({ stdout: "", stderr: says, status: 2 });
  const drawn = await cli(["show", "--pools", "manifests", "--svg", "pics/p.svg"], folder);
  expect(drawn).toMatchObject({
    status: 6,
    stdout: "",
    stderr: expect.stringContaining("pics/p.svg cannot be written"),
  });
  expect(existsSync(join(folder, "lcok")) || existsSync(join(folder, "pics"))).toBe(false);
  expect(filesOf(folder)).toEqual(before);
});

it("--landed is refused where there is no lock", async () => {
  const folder = projectOf();
  for (const args of [
    ["manifests", "--nodes", "nodes.txt"],
    ["--", "true"],
  ])
    expect(await cli(["allocate", "--landed", "main", ...args], folder)).toMatchObject({
      status: 2,
      stdout: "",
      stderr: expect.stringContaining("invalid: there is no nodeippool.lock here that main could decide\n"),
    });
  expect(lockIn(folder)).toBeUndefined();
});

it("neither plans nor records in a cluster beside a lockfile that has a record too", async () => {
  const folder = projectOf({ "nodeippool.lock": both });
  for (const verb of ["allocate", "plan", "render"]) {
    const ran = await run(folder, verb, "--backend", "kubernetes");
    expect(ran).toMatchObject({ status: 2, stdout: "" });
    expect(ran.stderr).toContain(
      "invalid: nodeippool.lock has a record too: one address could be given by each of the two\n  If this lock is the record, leave out --backend;",
    );
  }
});
