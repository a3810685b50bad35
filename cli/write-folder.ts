import { lstatSync, mkdirSync, rmSync, type Stats } from "node:fs";
import { dirname, join } from "node:path";
import { byCodeUnit, IpamError, isPlain, shellWord } from "../core/index.ts";
import type { SourceFile } from "../schema/index.ts";
import { asBag, type LocatedObject } from "../schema/objects.ts";
import { objectsIn } from "../schema/objects-in-text.ts";
import { splitDocuments } from "../schema/yaml.ts";
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
  set: string,
  beside: readonly string[] = [],
): { written: number; removed: number } {
  if (statOf(folder)?.isFile())
    throw new IpamError("invalid", `${folder} is a file, and render writes a folder`, {
      hint: "Name a folder by --out.",
    });
  refuseInput(folder, input, beside);
  const list = join(folder, renderedList);
  const text = statOf(list) === undefined ? undefined : readFile(list);
  const listed = namesIn(text ?? "");
  if (text !== undefined) refuseOtherSet(folder, text, set);
  const wanted = files.map((file) => file.path);
  for (const name of [...listed, ...wanted]) refuseEscape(folder, name);
  const mine = new Set(listed);
  refuseLeft(folder, mine);
  for (const name of wanted)
    if (!mine.has(name) && statOf(join(folder, name)) !== undefined)
      throw new IpamError("invalid", `${join(folder, name)} is there, but no render wrote it`, {
        hint: `If an earlier render wrote it, commit ${list}, which git lacks. If not, render into a folder of its own.`,
      });
  try {
    return write(folder, files, listed, set);
  } catch (error) {
    throw new IpamError("unavailable", `${folder}: ${(error as Error).message}`, { cause: error });
  }
}

/**
 * Where one side of a merge changed a rendered file, and the other one has none any more, git leaves the file, and may
 * merge the list without it: addresses that are given up would be deployed again.
 */
function refuseLeft(folder: string, mine: ReadonlySet<string>): void {
  if (statOf(folder) === undefined) return;
  const others = namesOfInputs(folder).filter((name) => !mine.has(name));
  const left = others.map((name) => join(folder, name)).filter(hasPolicy);
  if (left.length === 0) return;
  const issues = left.map((path) => ({ message: `${path} has a policy, and is not in ${join(folder, renderedList)}` }));
  const hint = `Render into a folder of its own; or, if git lacks the list, commit it. If a merge has left this of an earlier render, remove it and render again: rm ${left.map(shellWord).join(" ")}`;
  throw new IpamError("invalid", [...issues.slice(0, -1), { ...(issues.at(-1) as { message: string }), hint }]);
}

/** Returns whether a file has a policy that configures nodes. */
function hasPolicy(path: string): boolean {
  const text = readFile(path);
  const kind = "NodeNetworkConfigurationPolicy";
  const isPolicy = ({ object }: LocatedObject) =>
    object.kind === kind && asBag(object.spec)?.desiredState !== undefined;
  return text.includes(kind) && splitDocuments({ path, text }).some((chunk) => objectsIn(chunk).value?.some(isPolicy));
}

function write(folder: string, files: readonly SourceFile[], listed: readonly string[], set: string) {
  const list = join(folder, renderedList);
  const wanted = files.map((file) => file.path);
  const keep = new Set(wanted);
  const obsolete = listed.filter((name) => !keep.has(name));
  mkdirSync(folder, { recursive: true });
  // First the list of both old and new names: a crash leaves no file that the next render does not know.
  writeWhole(list, listText(set, [...listed, ...wanted]));
  for (const { path } of files) mkdirSync(dirname(join(folder, path)), { recursive: true });
  const written = files.filter((file) => writeWhole(join(folder, file.path), file.text)).length;
  for (const name of obsolete) rmSync(join(folder, name), { force: true });
  writeWhole(list, listText(set, wanted));
  return { written, removed: obsolete.length };
}

/** The names in a list, both sides' where git left a conflict in it. */
function namesIn(text: string): string[] {
  return text.split(/\r?\n/).filter((line) => !/^(# claim set .*|([<=>|])\2{6}( .*)?)?$/.test(line));
}

/** The list of a claim set other than `default` says whose it is, in its first line. */
function listText(set: string, list: readonly string[]): string {
  const names = [...new Set(list)].sort(byCodeUnit);
  return [...(set === "default" ? [] : [`# claim set ${set}`]), ...names].map((line) => `${line}\n`).join("");
}

/** Throws `invalid` where the folder is that of another claim set: its policies would go. */
function refuseOtherSet(folder: string, list: string, set: string): void {
  const named = [...list.matchAll(/^# claim set (.+?)\r?$/gm)].map(([, name]) => name as string);
  // In a conflict of git, a side without that line is of the default set.
  const isWhole = list.startsWith("# claim set ") || named.length > 1;
  const other = [...named, ...(isWhole ? [] : ["default"])].find((name) => name !== set);
  if (other === undefined) return;
  throw new IpamError("invalid", `${folder} has what was rendered of claim set ${other}, not of ${set}`, {
    hint: "Each claim set, and each format, is rendered into a folder of its own.",
  });
}

/** Throws `invalid` for a folder that is, holds or lies in what render reads: the manifests, and `beside` them nodes and lock. */
function refuseInput(folder: string, input: string, beside: readonly string[]): void {
  const out = statOf(realPath(folder));
  if (out !== undefined && !out.isDirectory()) throw new IpamError("invalid", `--out ${folder} is no folder`);
  const holds = (path: string) => out !== undefined && path !== "-" && liesIn(path, folder);
  const held = [input, ...beside].find(holds);
  const why = liesIn(folder, input) ? `lies in the manifests (${input})` : `holds ${held}, which render reads`;
  if (liesIn(folder, input) || held !== undefined)
    throw new IpamError("invalid", `--out ${folder} ${why}`, {
      hint:
        input === "."
          ? "Put the manifests in manifests/, or name their file: nodeippool render FILE --out FOLDER."
          : "Render into a folder of its own, for example --out rendered.",
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
