import { lstatSync, mkdirSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { byCodeUnit, IpamError } from "../core/index.ts";
import type { SourceFile } from "../schema/index.ts";
import { exists, readInput, renderedList } from "./files.ts";

/**
 * Makes a folder hold these files. Everything is checked before anything is written: no path leaves the folder,
 * follows a link, or replaces a file that an earlier render did not write.
 */
export function writeFolder(
  folder: string,
  files: readonly SourceFile[],
  input: string,
): { written: number; removed: number } {
  refuseInput(folder, input);
  const list = join(folder, renderedList);
  const listed = exists(list)
    ? readInput(list)
        .split("\n")
        .filter((name) => name !== "")
    : [];
  const wanted = files.map((file) => file.path);
  for (const name of [...listed, ...wanted]) refuseEscape(folder, name);
  const mine = new Set(listed);
  for (const name of wanted)
    if (!mine.has(name) && exists(join(folder, name)))
      throw new IpamError("invalid", `${join(folder, name)} is there, but no render wrote it`, {
        hint: "Render into a folder of its own.",
      });

  const obsolete = listed.filter((name) => !wanted.includes(name));
  mkdirSync(folder, { recursive: true });
  // First the list of both old and new names: a crash leaves no file that the next render does not know.
  replace(list, names([...listed, ...wanted]));
  const written = files.filter((file) => replace(join(folder, file.path), file.text)).length;
  for (const name of obsolete) rmSync(join(folder, name), { force: true });
  replace(list, names(wanted));
  return { written, removed: obsolete.length };
}

function names(list: readonly string[]): string {
  return [...new Set(list)]
    .sort(byCodeUnit)
    .map((name) => `${name}\n`)
    .join("");
}

function refuseInput(folder: string, input: string): void {
  if (input === "-" || !exists(input)) return;
  const inside = relative(realpathSync(input), exists(folder) ? realpathSync(folder) : resolve(folder));
  if (inside === "" || (!inside.startsWith("..") && !inside.startsWith(sep) && lstatSync(input).isDirectory()))
    throw new IpamError("invalid", `--out ${folder} lies in the manifests (${input})`, {
      hint: "Render into a folder beside them.",
    });
}

function refuseEscape(folder: string, name: string): void {
  const parts = name.split("/");
  if (name.startsWith("/") || parts.some((part) => part === "" || part === "." || part === ".."))
    throw new IpamError("invalid", `${JSON.stringify(name)} is no path inside ${folder}`);
  parts.forEach((_, i) => {
    const path = join(folder, ...parts.slice(0, i + 1));
    if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink())
      throw new IpamError("invalid", `${path} is a symbolic link; render does not follow it`);
  });
}

/** Writes a text whole or not at all; false if the file holds it already. */
function replace(path: string, text: string): boolean {
  if (exists(path) && readFileSync(path, "utf8") === text) return false;
  mkdirSync(dirname(path), { recursive: true });
  const temp = `${path}.${process.pid}.tmp`;
  writeFileSync(temp, text, { flag: "wx" });
  renameSync(temp, path);
  return true;
}
