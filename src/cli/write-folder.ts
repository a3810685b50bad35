import { lstatSync, mkdirSync, rmSync, type Stats } from "node:fs";
import { join } from "node:path";
import { byCodeUnit, IpamError, isPlain, shellWord } from "../core/index.ts";
import type { SourceFile } from "../schema/index.ts";
import { asBag, chunksOf, type LocatedObject, objectsIn } from "../schema/objects.ts";
import { liesIn, namesOfInputs, readFile, realPath, renderedList } from "./files.ts";
import { writeWhole } from "./write-file.ts";

/**
 * Makes a folder hold these files. Everything is checked before anything is written: no path leaves the folder,
 * follows a link, or replaces a file that an earlier render did not write; nor is one that did left beside them, which
 * the list does not have. Throws IpamError `invalid`, or `unavailable` where the file system fails.
 */
export function writeFolder(
  folder: string,
  files: readonly SourceFile[],
  input: string,
): { written: number; removed: number } {
  refuseInput(folder, input);
  const list = join(folder, renderedList);
  const listed = statOf(list) === undefined ? [] : namesIn(readFile(list));
  const wanted = files.map((file) => file.path);
  for (const name of [...listed, ...wanted]) refuseEscape(folder, name);
  const mine = new Set(listed);
  refuseLeft(folder, mine, input);
  for (const name of wanted)
    if (liesIn(join(folder, name), input))
      throw new IpamError("invalid", `${join(folder, name)} lies in the manifests (${input})`, {
        hint: "Render into a folder beside them.",
      });
    else if (!mine.has(name) && statOf(join(folder, name)) !== undefined)
      throw new IpamError("invalid", `${join(folder, name)} is there, but no render wrote it`, {
        hint: "Render into a folder of its own. If a merge has left this of an earlier render, remove it and render again.",
      });
  try {
    return write(folder, files, listed);
  } catch (error) {
    throw new IpamError("unavailable", `${folder}: ${(error as Error).message}`, { cause: error });
  }
}

/**
 * Where one side of a merge changed a rendered file, and the other one has none any more, git leaves the file, and may
 * merge the list without it: addresses that are given up would be deployed again.
 */
function refuseLeft(folder: string, mine: ReadonlySet<string>, input: string): void {
  if (statOf(folder) === undefined) return;
  const others = namesOfInputs(folder).filter((name) => !mine.has(name));
  const isInput = (path: string) => realPath(path) === realPath(input) || liesIn(path, input);
  const left = others.map((name) => join(folder, name)).filter((path) => !isInput(path) && hasPolicy(path));
  if (left.length === 0) return;
  const issues = left.map((path) => ({ message: `${path} has a policy, and is not in ${renderedList}` }));
  const hint =
    statOf(join(folder, renderedList)) === undefined
      ? `That list is not there, though every render keeps one in its folder. Was it deleted, or does git ignore it? Bring it back. Was nothing rendered there yet? Then take a folder of its own.`
      : `A merge has left it, or somebody has put it there; what you write yourself belongs into the manifests. Remove it and render again: rm ${left.map(shellWord).join(" ")}`;
  throw new IpamError("invalid", [...issues.slice(0, -1), { ...(issues.at(-1) as { message: string }), hint }]);
}

/** Has a file a policy that sets what is on nodes? */
function hasPolicy(path: string): boolean {
  const text = readFile(path);
  const kind = "NodeNetworkConfigurationPolicy";
  if (!text.includes(kind)) return false;
  const isPolicy = ({ object }: LocatedObject) =>
    object.kind === kind && asBag(object.spec)?.desiredState !== undefined;
  return chunksOf({ path, text }).some((chunk) => objectsIn(chunk).value?.some(isPolicy) ?? false);
}

function write(folder: string, files: readonly SourceFile[], listed: readonly string[]) {
  const list = join(folder, renderedList);
  const wanted = files.map((file) => file.path);
  const keep = new Set(wanted);
  const obsolete = listed.filter((name) => !keep.has(name));
  mkdirSync(folder, { recursive: true });
  // First the list of both old and new names: a crash leaves no file that the next render does not know.
  writeWhole(list, namesText([...listed, ...wanted]));
  const written = files.filter((file) => writeWhole(join(folder, file.path), file.text)).length;
  for (const name of obsolete) rmSync(join(folder, name), { force: true });
  writeWhole(list, namesText(wanted));
  return { written, removed: obsolete.length };
}

/** The names in a list, both sides' where git left a conflict in it. */
function namesIn(text: string): string[] {
  return text.split(/\r?\n/).filter((line) => line !== "" && !/^([<=>|])\1{6}( |$)/.test(line));
}

function namesText(list: readonly string[]): string {
  return [...new Set(list)]
    .sort(byCodeUnit)
    .map((name) => `${name}\n`)
    .join("");
}

function refuseInput(folder: string, input: string): void {
  const out = statOf(realPath(folder));
  if (out !== undefined && !out.isDirectory()) throw new IpamError("invalid", `--out ${folder} is no folder`);
  if (liesIn(folder, input))
    throw new IpamError("invalid", `--out ${folder} lies in the manifests (${input})`, {
      hint: "Render into a folder beside them.",
    });
}

/** A name in the folder, below folders that are folders, for a file that is a file. */
function refuseEscape(folder: string, name: string): void {
  const parts = name.split("/");
  if (name.startsWith("/") || parts.some((part) => part === "" || part === "." || part === ".." || !isPlain(part)))
    throw new IpamError("invalid", `${JSON.stringify(name)} is no path inside ${folder}`);
  parts.forEach((_, i) => {
    const path = join(folder, ...parts.slice(0, i + 1));
    const stat = statOf(path);
    if (stat?.isSymbolicLink()) throw new IpamError("invalid", `${path} is a symbolic link; render does not follow it`);
    if (stat !== undefined && stat.isDirectory() !== i < parts.length - 1)
      throw new IpamError("invalid", `${path} is in the way of ${name}`);
  });
}

/** What is there, links not followed; undefined for nothing. */
function statOf(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch {
    return undefined;
  }
}
