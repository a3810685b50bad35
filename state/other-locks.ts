import { existsSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { IpamError, type PoolRecord, type Snapshot, sameSubnet, shellWord } from "../core/index.ts";
import { decode } from "./codec.ts";
import { git, repositoryFolders } from "./git.ts";
import { withoutMark } from "./mark.ts";
import { refuseRenamed, refuseUnknownHistory } from "./renamed-lock.ts";
import { readText } from "./replace-file.ts";

/**
 * Throws `stale` for a lock that is not there, but in git's index: it was deleted by a slip, not with `git rm`; that has
 * another name now; or that may be in a submodule which is not checked out.
 */
export function refuseDeleted(path: string): void {
  // Of a folder that is none, git lists what is in it.
  const isSubmodule = (folder: string) => {
    const [entry = "", name] =
      git(dirname(folder), "ls-files", "--stage", "-z", "--", basename(folder))?.split(/[\t\0]/) ?? [];
    return entry.startsWith("160000 ") && name === basename(folder);
  };
  const folders = repositoryFolders(path);
  const submodule = folders.slice(0, -1).find(isSubmodule);
  if (submodule !== undefined) {
    const name = shellWord(basename(submodule));
    const parent = relative("", dirname(submodule));
    const inParent = parent === "" ? "git submodule" : `git -C ${shellWord(parent)} submodule`;
    throw new IpamError("stale", `${path} is not there, and the submodule that it lies in is not checked out`, {
      hint: `Check it out: ${inParent} init ${name} && ${inParent} update ${name}`,
    });
  }
  const nearest = folders.find((folder) => existsSync(folder));
  if (nearest === undefined) return;
  if (!git(nearest, "ls-files", "--", relative(nearest, path))) {
    refuseRenamed(path, nearest);
    return;
  }
  throw new IpamError("stale", `${path} is not there, but git has it: to plan without it could move everybody`, {
    hint: `Bring it back: git restore ${shellWord(path)}. To begin a new record: git rm ${shellWord(path)}.`,
  });
}

/**
 * Throws `in-use` for pools that begin in a lock below another one of its repository that has one of them, or had them
 * perhaps, before its record moved, where the lock itself is new: somebody works in a subfolder, and two records would
 * hand out the same addresses.
 */
export function refuseSecond(path: string, now: Snapshot, next: Snapshot, isNew: boolean): void {
  const begun = new Map(next.pools.map((pool) => [pool.name, pool]));
  for (const { name } of now.pools) begun.delete(name);
  if (begun.size === 0) return;
  const [folder] = repositoryFolders(path).filter((one) => existsSync(one));
  if (isNew && folder !== undefined) refuseUnknownHistory(path, folder, [...begun.values()]);
  const isBegun = (pool: PoolRecord) => {
    const own = begun.get(pool.name);
    return own !== undefined && sameSubnet(own, pool);
  };
  for (const { above, text } of locksAbove(path)) {
    const { mark, rest } = withoutMark(text, above);
    if (mark?.state === "left" && isNew)
      throw new IpamError(
        "in-use",
        `the record of ${above} has moved to ${mark.other}, and ${path} would begin another`,
        {
          hint: `If its pools are meant, plan where it is: in the folder of ${above}. The lock of other networks can have another name.`,
        },
      );
    const both = decodeOther(rest, above).pools.find(isBegun);
    if (both === undefined) continue;
    throw new IpamError(
      "in-use",
      `${above} has addresses of pool ${both.name}, and ${path} would begin a second record of it`,
      {
        hint: `Work in the folder of ${above}, or name that lock. The lock of another cluster has another name, and a pool of another network says so in its spec (network).`,
      },
    );
  }
}

/** Another lock than the one that a command is about, and than its advice: it cannot be settled from here. */
function decodeOther(text: string, path: string): Snapshot {
  try {
    return decode(text, path);
  } catch (error) {
    if (!(error instanceof IpamError)) throw error;
    const hint = "It may have the same pools. Settle that one first, in its folder.";
    throw new IpamError(
      error.code,
      error.issues.map(({ message, at }) => ({ message, ...(at === undefined ? {} : { at }), hint })),
    );
  }
}

/** The locks of the same name in the folders above it, up to the top of its git repository. */
export function locksAbove(path: string): { readonly above: string; readonly text: string }[] {
  return repositoryFolders(path)
    .slice(1)
    .flatMap((folder) => {
      const above = relative("", join(folder, basename(path)));
      const text = readText(above);
      return text === undefined ? [] : [{ above, text }];
    });
}
