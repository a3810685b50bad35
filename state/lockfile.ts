import { statSync } from "node:fs";
import { emptySnapshot, IpamError, type Plan, type Snapshot } from "../core/index.ts";
import { applyAll } from "./apply.ts";
import type { StateBackend } from "./backend.ts";
import { decode, encode } from "./codec.ts";
import { refuseMarked, withoutMark } from "./mark.ts";
import { refuseMissing } from "./missing-lock.ts";
import { isRecordOfRun } from "./offer.ts";
import { readText, replaceFile } from "./replace-file.ts";

/** A state backend in one file that lies beside the configuration and is reviewed with it. */
export interface Lockfile extends StateBackend {
  /** Like `read`, for callers that cannot wait (cdk8s constructs). */
  readSync(): Snapshot;
  /** Makes several plans true in one write, or none of them. Each is made on top of those before it. */
  commitAll(plans: readonly Plan[]): Snapshot;
}

/** How a lockfile is read, where not as it stands. */
export interface LockfileOptions {
  /** Reads the text of the file; default: `decode`, which refuses conflict markers and every broken invariant. */
  readonly understand?: (text: string) => Snapshot;
  /** Begins this lock, where it is not there, also beside another one of its git repository. Default: that is refused. */
  readonly init?: boolean;
}

/** The lockfile at this path; a missing file is an empty record, unless its git repository has a lock. Nothing is written but by `commit`. */
export function lockfile(path: string, options: LockfileOptions = {}): Lockfile {
  const understand = options.understand ?? ((text: string) => decodeLock(text, path));
  const parse = (text: string | undefined) => {
    if (text === undefined) {
      // A run of the command line has asked for its lock before.
      refuseMissing(path, options.init || isRecordOfRun(path));
      return emptySnapshot;
    }
    refuseMarked(text, path);
    return understand(text);
  };
  const commitAll = (plans: readonly Plan[]): Snapshot => {
    for (let attempt = 0; attempt < 1000; attempt++) {
      const base = readText(path);
      const now = parse(base);
      const next = applyAll(now, plans);
      if (next === now && (base === undefined || encode(now) === base)) return now;
      if (replaceFile(path, base, encode(next)) === "written") return next;
      // Another writer was faster; `applyAll` says whether it touched the same pools.
    }
    throw new IpamError("unavailable", `${path} changes faster than it can be written`);
  };
  const readSync = () => parse(readText(path));
  return {
    name: path,
    readSync,
    read: async () => readSync(),
    commit: async (plan) => commitAll([plan]),
    commitAll,
    async writtenAt() {
      const file = statSync(path, { throwIfNoEntry: false });
      return file && new Date(file.mtimeMs); // in whole milliseconds; `mtime` may be later than it was
    },
  };
}

/** The text of a lockfile without its mark, and the mark; empty for a file that is not there. */
export function readMarked(path: string): ReturnType<typeof withoutMark> {
  return withoutMark(readText(path) ?? "", path);
}

/** `decode`, with its own word for a file in the middle of a git merge. */
function decodeLock(text: string, path: string): Snapshot {
  if (hasMarkers(text))
    throw new IpamError("conflict", `${path} has merge conflict markers`, {
      hint: "Merge both sides; whoever loses is planned anew.",
      remedy: ["record"],
    });
  return decode(text, path);
}

/** Returns whether a text has both sides of a conflict, as git leaves them. */
export function hasMarkers(text: string): boolean {
  return /^<{7} /m.test(text);
}
