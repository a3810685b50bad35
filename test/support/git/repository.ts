import { spawnSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { encode } from "../../../state/codec.ts";
import { readersEnvironment } from "../console.ts";
import type { Branch, Fork } from "../state/branch.ts";
import { scratchFolder } from "../state/folder.ts";

/** A repository with the branches `ours-N` and `theirs-N` of each fork, commit by commit, and the lock in a folder of it. */
export class Repository {
  readonly folder = scratchFolder();
  readonly lock = join(this.folder, "site/nodeippool.lock");
  private readonly commits = new Map<string, Branch>();

  constructor(forks: readonly Fork[], { driver }: { readonly driver: boolean }) {
    this.run("git init --quiet --initial-branch=main && git config core.fsync none");
    if (driver) this.run(`git config merge.nodeippool.driver "nodeippool merge %O %A %B"`);
    const history = new History();
    for (const [i, { base, ours, theirs }] of forks.entries()) {
      const start = history.add(`base-${i}`, base);
      for (const [name, branch] of Object.entries({ ours, theirs })) {
        let tip = start;
        for (const commit of chain(base, branch)) tip = history.add(`${name}-${i}`, commit, tip);
      }
    }
    this.run("git fast-import --quiet --export-marks=.git/marks", history.stream);
    for (const line of readFileSync(join(this.folder, ".git/marks"), "utf8").trim().split("\n")) {
      const [mark = "", commit = ""] = line.split(" ");
      this.commits.set(commit, history.branches[Number(mark.slice(1)) - 1] as Branch);
    }
    this.run("git checkout --quiet --detach base-0");
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Runs a line of shell; did it succeed? */
  run(line: string, input = ""): boolean {
    return this.shell(line, input).status === 0;
  }

  /** The manifests and the lock that this commit was made with. */
  branchAt(revision: string): Branch {
    return this.commits.get(this.shell(`git rev-parse ${revision}`).stdout.trim()) as Branch;
  }

  get text(): string {
    return readFileSync(this.lock, "utf8");
  }

  private shell(line: string, input = "") {
    return shell(line, this.folder, input);
  }
}

/** Runs a line of shell, in which git asks nothing and reads no configuration of this machine. */
export function shell(line: string, folder: string, input = "") {
  const env = { ...readersEnvironment(), GIT_EDITOR: "true" };
  return spawnSync("sh", ["-c", line], { cwd: folder, env, input, encoding: "utf8" });
}

/** The commits after the base, oldest first. */
export function chain(base: Branch, branch: Branch): Branch[] {
  return branch === base || branch.parent === undefined ? [] : [...chain(base, branch.parent), branch];
}

/** A `git fast-import` stream. */
class History {
  stream = "";
  /** What each commit was made with; commit N has mark N + 1. */
  readonly branches: Branch[] = [];

  add(name: string, branch: Branch, parent?: number): number {
    const mark = this.branches.push(branch);
    const from = parent === undefined ? "" : `from :${parent}\n`;
    this.stream += `commit refs/heads/${name}\nmark :${mark}\ncommitter you <you@example.net> ${mark} +0000\n`;
    this.stream += `${data("step")}${from}M 100644 inline site/nodeippool.lock\n${data(encode(branch.record))}`;
    this.stream += `M 100644 inline .gitattributes\n${data("nodeippool.lock merge=nodeippool text eol=lf\n")}\n`;
    return mark;
  }
}

function data(text: string): string {
  return `data ${Buffer.byteLength(text)}\n${text}\n`;
}
