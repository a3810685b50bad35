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
    if (codeOf(error) === "ENOENT") return undefined;
    throw asUnavailable(error, path);
  }
}

/**
 * Replaces a file's text by compare-and-swap. True: the file holds the new text. False: another writer was there,
 * before this one or right after it; look at the file again.
 * Durable and whole: after a crash at any point the file holds the old text or the new one.
 *
 * rename(2) does not compare, so a writer first takes the step away from `base` for itself:
 * 1. the new text is written to a draft of its own name and synced;
 * 2. symlink(draft, .FILE.HASH-OF-BASE): EEXIST means that another writer took that step. Its draft is whole and
 *    synced, so whoever meets its link finishes it (a crashed writer's commit counts) and has lost;
 * 3. the base is checked again: a link made after the winner's draft was renamed is a late one;
 * 4. rename(draft, FILE): a draft can be renamed once, so a step that somebody else finished is not done again, also by
 *    a writer that stood still while others went on. The folder is synced, and the link removed.
 */
export function replaceFile(path: string, base: string | undefined, text: string): boolean {
  const folder = dirname(path);
  const draft = `.${basename(path)}.${randomUUID()}.tmp`;
  const step = join(folder, `.${basename(path)}.${hashOf(base)}`);
  let linked = false;
  try {
    if (base === undefined) fs.mkdirSync(folder, { recursive: true });
    writeDurably(join(folder, draft), text);
    linked = take(step, draft);
    if (!linked) {
      finishOther(step, path, base);
      return false;
    }
    if (readText(path) === base) finish(draft, path);
    discard(step);
    linked = false;
    return readText(path) === text;
  } catch (error) {
    throw asUnavailable(error, path);
  } finally {
    // A draft that a link still names is the next writer's to finish.
    if (!linked) discard(join(folder, draft));
  }
}

/** Makes the step this draft's; false if it is another one's. */
function take(step: string, draft: string): boolean {
  try {
    fs.symlinkSync(draft, step);
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw error;
  }
}

/** Finishes what another writer began, if it began from the text that is there. */
function finishOther(step: string, path: string, base: string | undefined): void {
  const draft = draftOf(step, path);
  if (draft === undefined || readText(path) !== base) return;
  finish(draft, path);
  // Also where the draft is gone: its writer failed, or somebody finished it.
  discard(step);
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
  const name = basename(path);
  if (draft.startsWith(`.${name}.`) && /^[0-9a-f-]{36}\.tmp$/.test(draft.slice(name.length + 2))) return draft;
  throw new IpamError("unavailable", `${step} is in the way and is no step of nodeippool`, { hint: "Remove it." });
}

/** ENOENT: somebody else finished this step already. */
function finish(draft: string, path: string): void {
  try {
    fs.renameSync(join(dirname(path), draft), path);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
  }
  sync(dirname(path));
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

function hashOf(text: string | undefined): string {
  return text === undefined ? "absent" : createHash("sha256").update(text).digest("base64url").slice(0, 22);
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}

function asUnavailable(error: unknown, path: string): IpamError {
  if (error instanceof IpamError) return error;
  return new IpamError("unavailable", `${path}: ${(error as Error).message}`, { cause: error });
}
