import { createHash, randomUUID } from "node:crypto";
import * as fs from "node:fs";
import { basename, dirname, join } from "node:path";
import { IpamError } from "../core/index.ts";

/**
 * The text of a file, or undefined if there is none. What is no file is refused: a rename would replace a link, and a
 * device or pipe may never end.
 */
export function readText(path: string): string | undefined {
  try {
    const found = fs.lstatSync(path, { throwIfNoEntry: false });
    if (found !== undefined && !found.isFile()) throw noFile(path, found.isSymbolicLink());
    return look(path)?.text;
  } catch (error) {
    throw asUnavailable(error, path);
  }
}

/**
 * What became of a text: it is, or was, in the file; another writer was first, and nothing was written; or a write that
 * was interrupted, perhaps this one, was finished by somebody else, perhaps by this call.
 */
export type Outcome = "written" | "late" | "interrupted";

/**
 * Replaces a file's text by compare-and-swap; where that fails, look at the file again. Durable and whole: after a crash at any point the file holds the old text or the new one.
 *
 * A file that is not there is made by link(2), which fails if there is one. rename(2) does not compare, so to replace
 * one, a writer first takes the step away from what it saw for itself:
 * 1. the new text is written to a draft of its own name and synced;
 * 2. symlink(draft, .FILE.HASH): EEXIST means that another writer took that step. Its draft is whole and synced, so
 *    whoever meets its link finishes it (a crashed writer's commit counts) and has lost;
 * 3. the file is looked at again: a link made after the winner's draft was renamed is a late one;
 * 4. rename(draft, FILE): a draft can be renamed once, so a step that somebody else finished is not done again, also by
 *    a writer that stood still while others went on. The folder is synced, and the link removed.
 *
 * The hash is of the text and of this very file (inode and ctime), so that a writer who died is never met again by a
 * text that went away and came back; what was begun from another file is not finished. Its writer may only stand still:
 * between its link and its rename every writer removes the drafts of the others, and then looks at the file again.
 * A link is removed by its own writer, or where its draft was renamed: that file is gone, and its step with it.
 */
export function replaceFile(path: string, base: string | undefined, text: string): Outcome {
  const folder = dirname(path);
  const draft = `.${basename(path)}.${randomUUID()}.tmp`;
  let step: string | undefined;
  let isLeft = false;
  try {
    if (base === undefined) fs.mkdirSync(folder, { recursive: true });
    const seen = look(path);
    if (seen?.text !== base) return "late";
    writeDurably(join(folder, draft), text);
    if (seen === undefined) return create(draft, path);
    const next = join(folder, `.${basename(path)}.${hashOf(`${seen.file} ${seen.text}`)}`);
    if (!madeBy(() => fs.symlinkSync(draft, next))) return finishOther(next, path, seen);
    step = next;
    if (!isSame(look(path), seen)) return "late";
    removeOtherDrafts(step, path);
    if (!isSame(look(path), seen)) return "late";
    // ENOENT: somebody finished it, or removed it.
    return finish(draft, path) || readText(path) === text ? "written" : "interrupted";
  } catch (error) {
    isLeft = step !== undefined; // for the next writer to finish
    throw asUnavailable(error, path);
  } finally {
    if (step !== undefined && !isLeft) discard(step);
    if (!isLeft) discard(join(folder, draft));
  }
}

/** A file at one moment. */
interface Sight {
  readonly text: string;
  /** Another one wherever the file was written, replaced or moved. */
  readonly file: string;
}

/** First the text: whoever replaces the file in between changes what comes after. */
function look(path: string): Sight | undefined {
  let text: string | undefined;
  try {
    text = fs.readFileSync(path, "utf8");
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
  }
  const found = fs.lstatSync(path, { bigint: true, throwIfNoEntry: false });
  if (found?.isSymbolicLink()) throw noFile(path, true);
  return text === undefined || found === undefined ? undefined : { text, file: `${found.ino} ${found.ctimeNs}` };
}

function noFile(path: string, isLink: boolean): IpamError {
  return isLink
    ? new IpamError("unavailable", `${path} is a symbolic link`, { hint: "Name the file itself." })
    : new IpamError("unavailable", `${path} is no file`);
}

function isSame(now: Sight | undefined, seen: Sight): boolean {
  return now?.text === seen.text && now.file === seen.file;
}

function create(draft: string, path: string): Outcome {
  if (!madeBy(() => fs.linkSync(join(dirname(path), draft), path))) return "late";
  sync(dirname(path));
  return "written";
}

/** Finishes what another writer began, if it began from the file that is there. */
function finishOther(step: string, path: string, seen: Sight): Outcome {
  const draft = draftOf(step, path);
  if (draft === undefined || !isSame(look(path), seen)) return "late";
  finish(draft, path);
  // Also where the draft is gone, and its writer with it.
  discard(step);
  return "interrupted";
}

/** Stops every writer that began from another file. */
function removeOtherDrafts(mine: string, path: string): void {
  const start = `.${basename(path)}.`;
  for (const name of fs.readdirSync(dirname(path))) {
    const step = join(dirname(path), name);
    if (!name.startsWith(start) || !/^[\w-]{22}$/.test(name.slice(start.length)) || step === mine) continue;
    const draft = draftOf(step, path);
    if (draft !== undefined) fs.rmSync(join(dirname(path), draft), { force: true });
  }
}

/** False if what was to be made is there already. */
function madeBy(make: () => void): boolean {
  try {
    make();
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw error;
  }
}

/** The draft a step names; undefined if the step is gone by now. Nothing but a draft of this file is ever renamed. */
function draftOf(step: string, path: string): string | undefined {
  let draft: string;
  try {
    draft = fs.readlinkSync(step);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    if (codeOf(error) !== "EINVAL") throw error;
    draft = "";
  }
  const start = `.${basename(path)}.`;
  if (draft.startsWith(start) && /^[0-9a-f-]{36}\.tmp$/.test(draft.slice(start.length))) return draft;
  throw new IpamError("unavailable", `${step} is in the way and is no step of nodeippool`, { hint: "Remove it." });
}

/** False if the draft is there no more. */
function finish(draft: string, path: string): boolean {
  try {
    fs.renameSync(join(dirname(path), draft), path);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return false;
    throw error;
  }
  sync(dirname(path));
  return true;
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

/** Removes what is of no use any more; if that fails, it lies about and does no harm. */
function discard(path: string): void {
  try {
    fs.rmSync(path, { force: true });
  } catch {
    // Nothing depends on it.
  }
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("base64url").slice(0, 22);
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}

function asUnavailable(error: unknown, path: string): IpamError {
  if (error instanceof IpamError) return error;
  return new IpamError("unavailable", `${path}: ${(error as Error).message}`, { cause: error });
}
