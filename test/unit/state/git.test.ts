import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { git } from "../../../state/git.ts";
import { scratchFolder } from "../../support/state-folder.ts";

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
