import { createHash, randomUUID } from "node:crypto";
import * as fs from "node:fs";
import { basename, dirname, join } from "node:path";
import { IpamError } from "../core/index.ts";

/** The text of a file, or undefined if there is none. A link is refused: a rename would replace it. */
export function readText(path: string): string | undefined {
  try {
    if (fs.lstatSync(path).isSymbolicLink())
      throw new IpamError("unavailable", `${path} is a symbolic link`, { hint: "Name the file itself." });
    return fs.readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw asUnavailable(error, path);
  }
}

/**
 * Replaces a file's text by compare-and-swap. True: the file holds the new text. False: another writer was there,
 * before this one or right after it; look at the file again.
 * Durable and whole: after a crash at any point the file holds the old text or the new one.
 *
 * rename(2) does not compare, so a writer first takes the step away from `base` for itself:
 * 1. the new text is written to a temporary file and synced;
 * 2. link(temp, .FILE.HASH-OF-BASE): EEXIST means that another writer took that step. Its text is whole and synced,
 *    so whoever meets its link finishes it (a crashed writer's commit counts) and has lost;
 * 3. the base is checked again: a link made after the winner's rename moved the winner's link away is a late one;
 * 4. rename(link, FILE), then the folder is synced.
 */
export function replaceFile(
  path: string,
  base: string | undefined,
  text: string,
  isWhole: (text: string) => boolean = () => true,
): boolean {
  const folder = dirname(path);
  const temp = join(folder, `.${basename(path)}.${randomUUID()}.tmp`);
  const step = join(folder, `.${basename(path)}.${hashOf(base)}`);
  try {
    if (base === undefined) fs.mkdirSync(folder, { recursive: true });
    writeDurably(temp, text);
    try {
      fs.linkSync(temp, step);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      if (readText(path) === base) {
        refuseStranger(step, isWhole);
        finish(step, path, folder);
      }
      return false;
    }
    if (readText(path) !== base) {
      discard(step);
      return false;
    }
    finish(step, path, folder);
    return readText(path) === text;
  } catch (error) {
    throw asUnavailable(error, path);
  } finally {
    discard(temp);
  }
}

/** Removes what is of no use any more; if that fails, it lies about and does no harm. */
function discard(path: string): void {
  try {
    fs.rmSync(path, { force: true });
  } catch {
    // Nothing depends on it.
  }
}

/** A step that holds no record is none of ours: nobody is to install it. */
function refuseStranger(step: string, isWhole: (text: string) => boolean): void {
  const text = readText(step);
  if (text !== undefined && !isWhole(text))
    throw new IpamError("unavailable", `${step} is in the way and holds no record`, { hint: "Remove it." });
}

/** ENOENT: somebody else finished this step already. */
function finish(step: string, path: string, folder: string): void {
  try {
    fs.renameSync(step, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  // rename does nothing where both names are one file already.
  if (fs.statSync(step, { throwIfNoEntry: false })?.ino === fs.statSync(path).ino) discard(step);
  sync(folder);
}

function writeDurably(path: string, text: string): void {
  const file = fs.openSync(path, "wx", 0o644);
  try {
    fs.writeFileSync(file, text);
    fs.fsyncSync(file);
  } finally {
    fs.closeSync(file);
  }
}

function sync(folder: string): void {
  const handle = fs.openSync(folder, "r");
  try {
    fs.fsyncSync(handle);
  } finally {
    fs.closeSync(handle);
  }
}

function hashOf(text: string | undefined): string {
  return text === undefined ? "absent" : createHash("sha256").update(text).digest("base64url").slice(0, 22);
}

function asUnavailable(error: unknown, path: string): IpamError {
  if (error instanceof IpamError) return error;
  return new IpamError("unavailable", `${path}: ${(error as Error).message}`, { cause: error });
}
