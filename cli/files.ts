import { lstatSync, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { buffer } from "node:stream/consumers";
import { byCodeUnit, IpamError } from "../core/index.ts";
import type { SourceFile } from "../schema/index.ts";

const maxBytes = 256 * 1024 * 1024;

/** The names of the files that `render` wrote into a folder: it removes and overwrites no others, and nothing reads them as input. */
export const renderedList = ".nodeippool-rendered";

/** The name of the configuration, in whatever folder: no manifest, unless it has a kind. */
export const configName = "nodeippool.yaml";

/** The manifests of a folder (*.yaml, *.yml, *.json, all levels, links followed, hidden and rendered ones left out), of one file, or of standard input. */
export async function readInputs(path: string): Promise<SourceFile[]> {
  return isFolder(path) ? readNamed(path, namesOfInputs(path)) : [await readOne(path)];
}

/** The same of what is deployed: what lies in rendered folders is read as well. */
export async function readDeployed(path: string): Promise<SourceFile[]> {
  return isFolder(path)
    ? readNamed(
        path,
        namesOfInputs(path, () => false),
      )
    : [await readOne(path)];
}

/** Returns whether a path is a folder, not a file or standard input. */
export function isFolder(path: string): boolean {
  return path !== "-" && stat(path).isDirectory();
}

async function readOne(path: string): Promise<SourceFile> {
  if (path === "-") return { path: "stdin.yaml", text: await readInput("-"), label: "standard input" };
  return { path: basename(path), text: readFile(path), label: path };
}

/** The names of a folder's manifests, but for those in folders below it that are left out. */
export function namesOfInputs(path: string, isLeftOut = isRendered): string[] {
  const found: string[] = [];
  const visited = new Set<string>();
  const walk = (folder: string) => {
    const real = realPath(join(path, folder));
    if (visited.has(real) || (folder !== "" && isLeftOut(real))) return;
    visited.add(real);
    for (const entry of attempt(real, () => readdirSync(real))) {
      if (entry.startsWith(".") || entry === "node_modules") continue;
      const inside = folder === "" ? entry : `${folder}/${entry}`;
      // Throws for a link to nothing: what it is to lead to may be manifests, and without them owners would lose addresses.
      const what = stat(join(path, inside));
      if (what.isDirectory()) walk(inside);
      else if (isManifest(entry) && what.isFile()) found.push(inside);
      else if (isManifest(entry)) throw new IpamError("invalid", `${join(path, inside)} is no file`);
      else if (isManifest(entry.toLowerCase())) refuseUpperCase(join(path, inside));
    }
  };
  walk("");
  return found.sort(byCodeUnit);
}

/** Without it, the owners in it would lose their addresses. */
function refuseUpperCase(path: string): never {
  throw new IpamError("invalid", `${path} is not read: neither kubectl nor nodeippool takes it for a manifest`, {
    hint: "Let its name end in .yaml, .yml or .json, in lower case.",
  });
}

function isRendered(folder: string): boolean {
  return exists(join(folder, renderedList));
}

function readNamed(path: string, names: readonly string[]): SourceFile[] {
  const files = names.map((name) => ({ path: name, text: readFile(join(path, name)), label: join(path, name) }));
  return files.filter((file) => !isConfig(file.path, file.text));
}

/** A manifest may have the name of the configuration: only that has a kind. */
export function isConfig(path: string, text: string): boolean {
  return basename(path) === configName && !/^["']?kind["']?\s*:|"kind"\s*:/m.test(text);
}

/** Would a folder's reader, ours or kubectl, take a file of this name for a manifest? */
export function isManifest(name: string): boolean {
  return /\.(ya?ml|json)$/.test(name);
}

/** One file's text, or standard input. */
export async function readInput(path: string): Promise<string> {
  // Not readFileSync(0): who started us may have left the pipe non-blocking (EAGAIN).
  return path === "-" ? decode(await buffer(process.stdin), "standard input") : readFile(path);
}

/** One file's text. */
export function readFile(path: string): string {
  if (stat(path).size > maxBytes) throw new IpamError("invalid", `${path} is larger than 256 MiB`);
  return attempt(path, () => decode(readFileSync(path), path));
}

function decode(bytes: Uint8Array, path: string): string {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes);
    if (!text.includes("\0")) return text;
  } catch (error) {
    throw new IpamError("invalid", `${path} is not a text file: it is not UTF-8`, { cause: error });
  }
  throw new IpamError("invalid", `${path} is not a text file`);
}

function stat(path: string) {
  return attempt(path, () => statSync(path));
}

/** What the file system says of a path; what it refuses is `invalid`. */
function attempt<T>(path: string, ask: () => T): T {
  try {
    return ask();
  } catch (error) {
    if (error instanceof IpamError) throw error;
    const { code = "", message } = error as NodeJS.ErrnoException;
    const reasons: Record<string, string> = {
      ENOENT: code === "ENOENT" && exists(path) ? "is a link to nothing" : "does not exist",
      EISDIR: "is a folder",
      EACCES: "may not be read",
    };
    throw new IpamError("invalid", reasons[code] === undefined ? `${path}: ${message}` : `${path} ${reasons[code]}`, {
      cause: error,
    });
  }
}

/** Returns whether there is a file, folder or link of this name. */
export function exists(path: string): boolean {
  return attempt(path, () => lstatSync(path, { throwIfNoEntry: false }) !== undefined);
}

/** Returns whether a path is the folder of manifests, or inside it. */
export function liesIn(path: string, input: string): boolean {
  if (!isFolder(input)) return false;
  const inside = relative(realPath(input), realPath(path));
  return inside === "" || !(inside === ".." || inside.startsWith(`..${sep}`));
}

/** The path without links, also of what is not there yet. */
export function realPath(path: string): string {
  const whole = resolve(path);
  try {
    return realpathSync(whole);
  } catch {
    return whole === dirname(whole) ? whole : join(realPath(dirname(whole)), relative(dirname(whole), whole));
  }
}
