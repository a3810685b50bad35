import { execFileSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { readersEnvironment } from "../console.ts";
import { scratchFolder } from "../state/folder.ts";

/** Three versions of a text. */
export interface Versions {
  readonly base: string;
  readonly ours: string;
  readonly theirs: string;
}

export interface MergedText {
  readonly text: string;
  /** No conflict markers. */
  readonly clean: boolean;
}

export function git(folder: string, args: readonly string[], input: string | Buffer = ""): Buffer {
  return execFileSync("git", ["-c", "core.fsync=none", ...args], {
    cwd: folder,
    input,
    env: readersEnvironment(),
    maxBuffer: 1024 ** 3,
  });
}

/** What `git merge` makes of each, all in one repository and one process (`git merge-tree`, git 2.39). */
export function mergeTexts(all: readonly Versions[], conflictStyle = "merge"): MergedText[] {
  const folder = scratchFolder();
  try {
    git(folder, ["init", "--quiet", "--bare"]);
    git(folder, ["fast-import", "--quiet", `--export-marks=${join(folder, "marks")}`], history(all));
    const marks = new Map(
      readFileSync(join(folder, "marks"), "utf8")
        .split("\n")
        .map((line) => line.split(" ") as [string, string]),
    );
    const pairs = all.map((_, i) => `${marks.get(`:${3 * i + 2}`)} ${marks.get(`:${3 * i + 3}`)}\n`).join("");
    const answers = git(folder, ["-c", `merge.conflictStyle=${conflictStyle}`, "merge-tree", "--stdin"], pairs);
    const trees = [...answers.toString().matchAll(/(?:^|\0)([01])\0([0-9a-f]{40,64})\0/g)];
    const texts = blobs(git(folder, ["cat-file", "--batch"], trees.map(([, , tree]) => `${tree}:lock\n`).join("")));
    if (texts.length !== all.length) throw new Error(`git merged ${texts.length} of ${all.length}`);
    return texts.map((text, i) => ({ text, clean: trees[i]?.[1] === "1" }));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A `git fast-import` stream: for each text a base, and two commits on it. */
function history(all: readonly Versions[]): string {
  return all
    .flatMap((versions, i) =>
      (["base", "ours", "theirs"] as const).map((side, k) => {
        const mark = 3 * i + k + 1;
        const from = side === "base" ? "" : `from :${3 * i + 1}\n`;
        const file = `M 100644 inline lock\n${data(versions[side])}`;
        const start = side === "base" ? "reset refs/heads/main\n" : "";
        return `${start}commit refs/heads/main\nmark :${mark}\ncommitter a <a@b> 0 +0000\n${data("")}${from}${file}`;
      }),
    )
    .join("\n");
}

function data(text: string): string {
  return `data ${Buffer.byteLength(text)}\n${text}\n`;
}

/** The contents in the output of `git cat-file --batch`. */
function blobs(output: Buffer): string[] {
  const texts: string[] = [];
  for (let at = 0; at < output.length; ) {
    const end = output.indexOf("\n", at);
    const size = Number(output.toString("utf8", at, end).split(" ")[2]);
    texts.push(output.toString("utf8", end + 1, end + 1 + size));
    at = end + size + 2;
  }
  return texts;
}
