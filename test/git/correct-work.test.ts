import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { root } from "../support/console.ts";
import { shell } from "../support/git/repository.ts";
import { scratchFolder } from "../support/state/folder.ts";

// Releases and renames that git shows only in part, as one commit: they block nobody, and are never taken back from a live owner.
const folders: string[] = [];
afterAll(() => {
  for (const one of folders) rmSync(one, { recursive: true, force: true });
});

const words = `set -e
  worker() { echo "$1 kubernetes.io/hostname=$1,node-role.kubernetes.io/worker=" >> nodes.txt; }
  gone() { sed -i "/^$1 /d" nodes.txt; }
  idle() { sed -i "/^$1 /s/,node-role.*//" nodes.txt; }
  busy() { gone $1; worker $1; }
  record() { nodeippool allocate "$@" > /dev/null; nodeippool render --out rendered > /dev/null; }
  commit() { git add -A; git commit -qm "$1"; }
  squashed() { git checkout -q main; git merge -q --squash pull; commit squashed; worker node04; }
  renamed() { nodeippool mv $1 $2 > /dev/null; sed -i "s/$1/$2/g" nodes.txt; record; commit "$1 is $2"; }`;

/** A repository as examples/first-day begins one, after these commands. */
const after = (script: string) => {
  const folder = scratchFolder();
  folders.push(folder);
  cpSync(join(root, "examples/first-day"), folder, { recursive: true });
  const begin = "git init -q -b main .; worker node09; record; commit one; git checkout -qb pull";
  const { status, stdout, stderr } = shell(`${words}\n${begin}\n${script}`, folder);
  if (status !== 0) throw new Error(stdout + stderr);
  return folder;
};
const outcomeOf = (folder: string, line: string) => {
  const { status, stdout, stderr } = shell(`nodeippool ${line}`, folder);
  return { status, printed: stdout + stderr };
};

const leftAndBack = `gone node01; record; commit left; nodeippool release node01 --confirm; commit released
  worker node03; record; commit node03; worker node01; record; commit back; nodeippool audit rendered; squashed`;
const movedAway = `sed -i 's/^  gateway/  exclude: [172.20.0.21]\\n&/; s/172.20.0.200 *$/&/' manifests/network.yaml
  sed -i 's/^  exclude.*//; s/^    end: .*/&\\n    exclude: [172.20.0.21]/' manifests/network.yaml
  record --allow-move; commit moved; nodeippool release 172.20.0.21 --confirm; sed -i '/exclude/d' manifests/network.yaml
  worker node03; record; commit node03; nodeippool audit rendered; squashed`;
const exchanged = `renamed node01 node08; renamed node09 node01; renamed node08 node09; nodeippool audit rendered; squashed`;

it("an owner that was released while its policy was for other nodes is back: it gets a new address", () => {
  const folder = after(
    `idle node01; record; nodeippool release 172.20.0.21 --confirm; worker node03; record; commit one; busy node01`,
  );
  expect(outcomeOf(folder, "plan")).toMatchObject({
    status: 0,
    printed: expect.stringMatching(/\+ 172.20.0.23 +node01/),
  });
  expect(outcomeOf(folder, "allocate").status).toBe(0);
  expect(outcomeOf(folder, "render --out rendered").status).toBe(0);
  expect(outcomeOf(folder, "audit rendered")).toMatchObject({ status: 0, printed: /3/ });
});

it.each([
  ["a node that left, and is back", leftAndBack, ["node01=172.20.0.21"]],
  ["a node that was moved", movedAway, ["node01=172.20.0.21"]],
  ["two nodes whose names were exchanged", exchanged, ["node01=172.20.0.21", "node09=172.20.0.22"]],
])("a squash of %s: plan and allocate go on with a note, audit asks once", (_, script, released) => {
  const folder = after(script);
  const note = /^Note: 172\.20\.0\.21 was allocated to node01 .*; commit \w+ gave it to node0[39], and 172/m;
  expect(outcomeOf(folder, "plan")).toMatchObject({ status: 0, printed: expect.stringMatching(note) });
  expect(outcomeOf(folder, "allocate").status).toBe(0);
  expect(outcomeOf(folder, "render --out rendered").status).toBe(0);
  const red = outcomeOf(folder, "audit rendered");
  expect(red).toMatchObject({ status: 5, printed: expect.stringMatching(/given-away: 172\.20\.0\.21 was/) });
  expect(outcomeOf(folder, `audit rendered --released ${released.join(",")}`)).toMatchObject({ status: 0 });
  shell(`echo 'released: ${released.join(" ")}' >> nodeippool.yaml`, folder);
  expect(outcomeOf(folder, "audit rendered").status).toBe(0);
  const { status, printed } = outcomeOf(folder, "plan");
  expect([status, printed]).toEqual([0, expect.not.stringContaining("Note:")]);
});

it("--allow-move moves nobody whose line was removed; --released does, one owner", () => {
  const folder = after("worker node00; sed -i '/node09/d; /node01/d' nodeippool.lock");
  for (const verb of ["plan", "plan --allow-move", "allocate --allow-move", "plan --released node01=172.20.0.21"])
    expect([verb, outcomeOf(folder, verb).status]).toEqual([verb, 5]);
  const { printed } = outcomeOf(folder, "plan");
  const [, released = ""] = /(--released \S+), /.exec(printed) ?? [];
  expect(released).toBe("--released node01=172.20.0.21,node09=172.20.0.22");
  expect(outcomeOf(folder, `allocate ${released}`).status).toBe(0);
});

it("a line that a commit removed is not to be put in place of that of a live owner", () => {
  const folder = after("sed -i 's/node09/node03/' nodeippool.lock; worker node03; commit edited");
  const { status, printed } = outcomeOf(folder, "plan");
  expect(printed).not.toContain("in place of");
  expect([status, printed]).toEqual([
    5,
    expect.stringMatching(/node03 has 172\.20\.0\.22 now: node09 may have released it/),
  ]);
});
