import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { git } from "../../../state/git.ts";
import { lacksChanges } from "../../../state/git-merge.ts";
import { shell } from "../../support/git/repository.ts";
import { scratchFolder } from "../../support/state/folder.ts";

describe("git is asked", () => {
  let folder: string;
  const asked = (path: string) => git(join(folder, path), "rev-parse", "--git-dir")?.trim();

  beforeEach(() => {
    folder = scratchFolder();
    execFileSync("git", ["init", "-q", join(folder, "work")]);
    execFileSync("git", ["init", "-q", "--bare", join(folder, "bare")]);
    mkdirSync(join(folder, "work/sub/sub"), { recursive: true });
    mkdirSync(join(folder, "plain"));
    symlinkSync(join(folder, "work/sub"), join(folder, "link"));
    mkdirSync(join(folder, "tree"));
    writeFileSync(join(folder, "tree/.git"), `gitdir: ${join(folder, "work/.git")}\n`);
  });
  afterEach(() => {
    delete process.env.GIT_DIR;
  });

  it.each(["work", "work/sub/sub", "work/.git", "link", "link/sub", "bare", "bare/refs", "tree"])("in %s", (path) => {
    expect(asked(path)).toBeDefined();
  });

  it("where its GIT_DIR says so", () => {
    process.env.GIT_DIR = join(folder, "work/.git");
    expect(asked("plain")).toBe(process.env.GIT_DIR);
  });

  it.each(["plain", ".", "nowhere"])("but has nothing to say in %s", (path) => {
    expect(asked(path)).toBeUndefined();
  });
});

describe("a shallow clone", () => {
  // From the newest commit: five others, then three merges with an edit of the lock on either side, the lock's first commit
  // and five commits without one.
  const history = `set -e; git init -q -b main .; git config core.fsync none
    edit() { sed -i "$1s/.*/$2/" lock; git commit -qam "$2"; }
    others() { for i in 1 2 3 4 5; do git commit -q --allow-empty -m other; done; }
    others; seq 40 > lock; git add lock; git commit -qm first
    for i in 1 2 3; do
      git checkout -qb f$i; edit 1 f$i; git checkout -q main; edit 40 m$i; git merge -q --no-edit f$i
    done
    others`;
  let folder: string;
  beforeAll(() => {
    folder = scratchFolder();
    mkdirSync(join(folder, "whole"));
    const { status, stderr } = shell(history, join(folder, "whole"));
    if (status !== 0) throw new Error(stderr);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each([
    [1, true, "the newest commit alone"],
    [6, true, "a merge without its sides"],
    [7, true, "a merge without its base"],
    [10, true, "a third merge without its sides"],
    [11, true, "a third merge without its base"],
    [12, false, "three merges with their bases"],
    [13, false, "the whole history of the lock"],
    [30, false, "everything"],
  ])("of %i commits lacks changes of the lock: %s, as it has %s", (depth, lacks) => {
    const clone = join(folder, `${depth}`);
    shell(`git clone -q --depth ${depth} "file://${folder}/whole" ${depth}`, folder);
    expect(lacksChanges(join(clone, "lock"))).toBe(lacks);
  });

  it("lacks none of a lock that is younger, and none of a file that git does not have", () => {
    shell(
      "cp -r whole young; cd young; git mv lock lock.old; git commit -qm moved; seq 3 > lock; git add lock; git commit -qm new",
      folder,
    );
    shell(
      `git clone -q --depth 2 "file://${folder}/young" two; git clone -q --depth 1 "file://${folder}/young" one`,
      folder,
    );
    expect(["two", "one"].map((clone) => lacksChanges(join(folder, clone, "lock")))).toEqual([false, true]);
    expect(lacksChanges(join(folder, "one", "other.lock"))).toBe(false);
  });
});
