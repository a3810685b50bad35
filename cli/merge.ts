import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { IpamError, type Snapshot } from "../core/index.ts";
import { encode } from "../state/codec.ts";
import { git, gitAnywhere } from "../state/git.ts";
import { decodeBase, decodeSide } from "../state/git-versions.ts";
import { mergeRecords } from "../state/merge.ts";
import { exists, readFile } from "./files.ts";
import { print } from "./terminal.ts";
import { writeWhole } from "./write-file.ts";

/**
 * `nodeippool merge %O %A %B`: the merged lock is left in %A. On a collision %A gets git's own conflict markers and
 * the exit status is 4, which git takes as a conflict; `nodeippool allocate --landed REV` settles it.
 */
export function mergeVerb(
  base: string | undefined,
  ours: string | undefined,
  theirs: string | undefined,
  options: { install?: boolean },
): void {
  if (options.install) install();
  else if (base === undefined || ours === undefined || theirs === undefined)
    throw new IpamError("invalid", "merge takes three files: base, ours, theirs", {
      hint: "nodeippool merge --install sets it up for git.",
    });
  else mergeFiles(base, ours, theirs);
}

function mergeFiles(base: string, ours: string, theirs: string): void {
  try {
    const before = decodeBase(readFile(base));
    const [a, b] = [ours, theirs].map((path) => decodeSide(readFile(path), path, before)) as [Snapshot, Snapshot];
    const { snapshot, losers } = mergeRecords(before, a, b);
    if (losers.length > 0) throw new IpamError("conflict", `${losers.length} lines would be lost`);
    writeWhole(ours, encode(snapshot));
  } catch (error) {
    gitAnywhere(".", "merge-file", "-L", "ours", "-L", "base", "-L", "theirs", ours, base, theirs);
    throw error;
  }
}

const attribute = "nodeippool.lock merge=nodeippool text eol=lf";

function install(): void {
  const root = git(".", "rev-parse", "--show-toplevel")?.trim();
  if (root === undefined) throw new IpamError("invalid", "this folder is in no git repository");
  // By whole paths: git runs it without npm's. If it cannot run at all, git's own merge leaves its markers in %A.
  const command = [process.execPath, process.argv[1] ?? ""]
    .map((path) => `'${path.replaceAll("'", "'\\''")}'`)
    .join(" ");
  const fallback = "git merge-file -L ours -L base -L theirs %A %O %B";
  const driver = `${command} merge %O %A %B; s=$?; case $s in 0|4|5) ;; *) ${fallback}; s=1;; esac; exit $s`;
  for (const [key, value] of [
    ["name", "nodeippool lock"],
    ["driver", driver],
  ] as const)
    if (git(root, "config", `merge.nodeippool.${key}`, value) === undefined)
      throw new IpamError("unavailable", "git config could not be written");
  const path = join(root, ".gitattributes");
  const text = exists(path) ? readFileSync(path, "utf8") : "";
  if (!text.split("\n").includes(attribute))
    appendFileSync(path, `${text === "" || text.endsWith("\n") ? "" : "\n"}${attribute}\n`);
  print(
    `git merges nodeippool.lock with: ${driver}`,
    `Commit .gitattributes; every clone runs nodeippool merge --install once.`,
  );
}
