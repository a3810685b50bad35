import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readersEnvironment } from "../../support/console.ts";
import { cli, filesOf, lockText, projectOf, run } from "../../support/schema/cli.ts";
import { documentsOf, nicPolicyText, poolText } from "../../support/schema/text.ts";

const pool = poolText("  range: {cidr: 10.0.0.0/29}");
const held = lockText("10.0.0.4 Node/n1/a/p", "10.0.0.5 Node/n2/a/p");
const lockIn = (folder: string) => readFileSync(join(folder, "nodeippool.lock"), "utf8");

it("lists what a name may mean, and takes one of those", async () => {
  const folder = projectOf({ "nodeippool.lock": lockText("10.0.0.4 Node/a/a/p", "10.0.0.5 Node/n2/a/p") });
  const { stderr, status } = await cli(["mv", "a", "b"], folder);
  expect([status, stderr]).toEqual([
    2,
    "invalid: a names more than one thing\n  Use one of these names: Node/a, a/p\n",
  ]);
  expect((await cli(["mv", "Node/a", "b"], folder)).stdout).toContain("  ~ 10.0.0.4  b  a/p  was Node/a/a/p\n");
});

it("shows what --dry-run would rename, and writes nothing", async () => {
  const folder = projectOf({ "nodeippool.lock": held });
  const { stdout, status } = await cli(["mv", "n1", "m1", "--dry-run"], folder);
  expect([status, stdout]).toEqual([0, "  ~ 10.0.0.4  m1  a/p  was Node/n1/a/p\nDry run: nothing was recorded.\n"]);
  expect(lockIn(folder)).toBe(held);
});

describe("nodeippool mv, then allocate: nothing changes but the names", () => {
  const rows: [what: string, from: string, to: string, manifests: string, nodes: string, after: string][] = [
    [
      "a policy",
      "a",
      "b",
      documentsOf(pool, nicPolicyText("b")),
      "n1\nn2\n",
      lockText("10.0.0.4 Node/n1/b/p", "10.0.0.5 Node/n2/b/p"),
    ],
    [
      "a capture",
      "a/p",
      "a/q",
      documentsOf(pool, nicPolicyText("a").replaceAll(/\bp(?=: ippool)|(?<=capture\.)p/g, "q")),
      "n1\nn2\n",
      lockText("10.0.0.4 Node/n1/a/q", "10.0.0.5 Node/n2/a/q"),
    ],
    [
      "a node",
      "Node/n1",
      "Node/m1",
      documentsOf(pool, nicPolicyText("a")),
      "m1\nn2\n",
      lockText("10.0.0.4 Node/m1/a/p", "10.0.0.5 Node/n2/a/p"),
    ],
    [
      "a node by its name alone",
      "n1",
      "m1",
      documentsOf(pool, nicPolicyText("a")),
      "m1\nn2\n",
      lockText("10.0.0.4 Node/m1/a/p", "10.0.0.5 Node/n2/a/p"),
    ],
    [
      "a whole claim",
      "Node/n1/a/p",
      "Node/m1/a/p",
      documentsOf(pool, nicPolicyText("a")),
      "m1\nn2\n",
      lockText("10.0.0.4 Node/m1/a/p", "10.0.0.5 Node/n2/a/p"),
    ],
  ];
  it.each(rows)("%s", async (_, from, to, manifests, nodes, after) => {
    const folder = projectOf({ "nodeippool.lock": held, "manifests/a.yaml": manifests, "nodes.txt": nodes });
    const undeclared = await run(folder, "plan");
    const moved = await cli(["mv", from, to], folder);
    expect(moved).toMatchObject({ status: 0, stderr: "" });
    expect(moved.stdout).toMatch(/Renamed \d claims? in nodeippool\.lock; no address moved\.\n$/);
    expect(lockIn(folder)).toBe(after);
    const { stdout, status } = await run(folder, "allocate");
    expect(status).toBe(0);
    expect(stdout).toContain("Plan: 0 to allocate, 2 kept, 0 to release.\nNothing to record.\n");
    // without it, the rename is refused, or the addresses would be given up
    expect(undeclared.stdout).not.toContain("Nothing to record.");
  });

  it("there and back again", async () => {
    const folder = projectOf({ "nodeippool.lock": held });
    await cli(["mv", "a", "b"], folder);
    await cli(["mv", "b", "a"], folder);
    expect(lockIn(folder)).toBe(held);
  });

  it("names that no policy has, where none has them before either; owners that are no node", async () => {
    const folder = projectOf({
      "nodeippool.lock": lockText("10.0.0.4 Node/n1/some/thing/else", "10.0.0.5 Vm/n_2/a/p"),
    });
    expect(await cli(["mv", "some/thing/else", "My_thing"], folder)).toMatchObject({ status: 0, stderr: "" });
    expect(await cli(["mv", "Vm/n_2", "Vm/N_2"], folder)).toMatchObject({ status: 0, stderr: "" });
    expect(lockIn(folder)).toBe(lockText("10.0.0.4 Node/n1/My_thing", "10.0.0.5 Vm/N_2/a/p"));
  });

  it.each([
    ["somebody live is renamed with it", "10.0.0.4 Node/n1/a/p", "10.0.0.5 Node/n1/b/p releasing"],
    ["another set has that name", "10.0.0.4 Node/n1/a/p releasing", "10.0.0.5 Node/n2/b/p set=other releasing"],
  ])("renames what is releasing to what is releasing, too, where %s", async (_, first, second) => {
    const lines = (mine: string) =>
      lockText(first.replace("/a/", `/${mine}/`), second, `10.0.0.6 Node/n2/${mine}/p releasing`);
    const folder = projectOf({ "nodeippool.lock": lines("a") });
    expect(await cli(["mv", "a", "b"], folder)).toMatchObject({ status: 0, stderr: "" });
    expect(lockIn(folder)).toBe(lines("b"));
  });

  it("renames the lines of its own set, those that are releasing too", async () => {
    const lines = (mine: string, theirs: string) =>
      lockText(
        `10.0.0.4 Node/n1/${mine}/p`,
        `10.0.0.5 Node/n2/${theirs}/p set=other`,
        `10.0.0.6 Node/n3/${mine}/p releasing`,
      );
    const folder = projectOf({ "nodeippool.lock": lines("a", "a") });
    await cli(["mv", "a", "b"], folder);
    expect(lockIn(folder)).toBe(lines("b", "a"));
    await cli(["mv", "a", "c", "--set", "other"], folder);
    expect(lockIn(folder)).toBe(lines("b", "c"));
  });
});

it.each([
  ["10.0.0.4 Node/new/a/p releasing", "has 10.0.0.2 releasing already", "free 10.0.0.2, 10.0.0.4 first"],
  ["10.0.0.4 Node/new/a/p", "Node/new/a/p already holds an address of pool p", "rename before you plan"],
])("mv of what is releasing, to who has another one releasing, and %s", async (line, what, hint) => {
  const held = lockText("10.0.0.2 Node/new/a/p releasing", "10.0.0.3 Node/old/a/p releasing", line);
  const folder = projectOf({ "nodeippool.lock": held });
  const { stderr, status } = await cli(["mv", "Node/old", "Node/new"], folder);
  expect([status, stderr]).toEqual([3, expect.stringContaining(what)]);
  expect(stderr).toContain(hint);
  expect(lockIn(folder)).toBe(held);
});

describe("nodeippool mv refuses, and leaves the lock as it was:", () => {
  const lock = lockText(
    "10.0.0.1 Node/n7/imported/10.0.0.1 set=imported",
    "10.0.0.4 Node/n1/a/p",
    "10.0.0.5 Node/n2/a/p",
    "10.0.0.6 Node/n1/b/p",
    "10.0.0.2 Node/gone/a/p releasing",
    "10.0.0.3 Node/old/a/p releasing",
  );
  const rows: [what: string, from: string, to: string, status: number, says: string][] = [
    [
      "a claim that would come back to one of two addresses",
      "Node/old",
      "Node/gone",
      3,
      "Node/gone/a/p has 10.0.0.2 releasing already\n  A claim comes back to one address: free 10.0.0.2 first, when off the node: nodeippool release\n",
    ],
    ["an unknown name", "nobody", "b", 2, "no allocation is named nobody\n  Names are as the record has them."],
    [
      "a name as it is, of no other set",
      "a",
      "--to-set=default",
      2,
      "a is called so already, and is of claim set default",
    ],
    ["an address", "10.0.0.4", "b", 2, "no allocation is named 10.0.0.4; did you mean Node/n1/a/p?"],
    ["another set, for what was imported", "Node/n7", "--to-set=imported", 2, "claim set imported belongs to import"],
    ["a name that is taken", "a", "b", 3, "Node/n1/b/p already holds an address of pool p"],
    ["an owner that has one already", "Node/n1", "Node/n2", 3, "Node/n2/a/p already holds an address of pool p"],
    [
      "an owner that was given another one instead",
      "Node/old",
      "Node/n2",
      3,
      "Node/n2/a/p already holds an address of pool p\n  If it got that one instead of the old one, take the record back as it was, and rename before you plan.",
    ],
    ["a name as it is", "a", "a", 2, "a is called so already, and is of claim set default"],
    ["a claim that is none", "Node/n1/a/p", "foo", 2, "Node/n1/a/p cannot be renamed"],
    ["an owner that is none", "Node/n1", "", 2, "Node/n1 cannot be renamed"],
    ["a name with a line break", "a", "b\nc", 2, "a cannot be renamed"],
    ["no name", "a/p", "", 2, "a/p cannot be renamed"],
    ["a name of 450 letters", "a", "b".repeat(450), 2, "a cannot be renamed"],
    ["a node of no such name", "Node/n1", "Node/N9", 2, 'the name of a node "N9" is no name: lower case letters'],
    ["its claim", "Node/n1/a/p", "Node/n_9/a/p", 2, 'the name of a node "n_9" is no name'],
    ["a policy of no such name", "a", "b c", 2, 'the name of a policy "b c" is no name'],
    ["a policy of too long a name", "a", "b".repeat(64), 2, "the name of a policy is longer than the 63 characters"],
    ["a capture of no such name", "a/p", "a/1", 2, 'expected POLICY/CAPTURE, got "a/1"'],
    ["a capture without a policy", "a/p", "q", 2, 'expected POLICY/CAPTURE, got "q"'],
    ["an owner with a path", "Node/n1", "Node/../n1", 2, "Node/n1 cannot be renamed"],
  ];
  it.each(rows)("%s: mv %j %j", async (_, from, to, status, says) => {
    const folder = projectOf({ "nodeippool.lock": lock });
    const before = filesOf(folder);
    const ran = await cli(["mv", from, to], folder);
    expect(ran.stderr).toContain(says);
    expect(ran).toMatchObject({ status, stdout: "" });
    expect(filesOf(folder)).toEqual(before);
  });

  it("an owner that is another one's name, live with other claims; one claim of it is renamed", async () => {
    const lock = lockText("10.0.0.4 Node/n1/a/p", "10.0.0.5 Node/n2/b/p");
    const folder = projectOf({ "nodeippool.lock": lock });
    const { stderr, status } = await cli(["mv", "Node/n1", "Node/n2"], folder);
    expect([status, stderr]).toEqual([
      3,
      "in-use: Node/n2 is there already, and has 10.0.0.5 (Node/n2/b/p)\n" +
        "  Two owners never become one. If a claim changed its owner, rename it by its full name: Node/n1/a/p to Node/n2/a/p.\n",
    ]);
    expect(lockIn(folder)).toBe(lock);
    expect(await cli(["mv", "Node/n1/a/p", "Node/n2/a/p"], folder)).toMatchObject({ status: 0, stderr: "" });
    expect(lockIn(folder)).toBe(lock.replace("n1", "n2"));
  });

  it("with no lock at all, and makes none", async () => {
    const folder = projectOf();
    const before = filesOf(folder);
    expect(await cli(["mv", "a", "b"], folder)).toMatchObject({ status: 2, stdout: "" });
    expect(filesOf(folder)).toEqual(before);
  });
});

it("nodeippool mv never writes a lock that it cannot read", async () => {
  for (const to of ["foo", "Node/n1", "a b", "/", "Node//x", "-"]) {
    const folder = projectOf({ "nodeippool.lock": held });
    await cli(["mv", "Node/n1/a/p", to], folder);
    writeFileSync(join(folder, "nodes.txt"), "n2\n");
    expect((await run(folder, "plan")).stderr, to).not.toContain("corrupt");
  }
});

it("nodeippool diff takes a renamed node for no loss", async () => {
  const folder = projectOf({ "nodeippool.lock": held });
  for (const args of [
    ["init", "-q"],
    ["add", "-A"],
    ["commit", "-qm", "held"],
  ])
    execFileSync("git", args, { cwd: folder, env: readersEnvironment() });
  await cli(["mv", "Node/n1", "Node/m1"], folder);
  expect((await cli(["diff"], folder)).stdout).toBe(
    "  ~ 10.0.0.4  m1  a/p  was Node/n1/a/p; renamed, or given away (was not releasing in HEAD)\n1 line changed since HEAD.\n",
  );
  await cli(["mv", "a", "b"], folder);
  expect((await cli(["diff"], folder)).stdout).toContain("  ~ 10.0.0.5  n2  b/p  was Node/n2/a/p\n");
});
