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
export function readInputs(path: string): Promise<SourceFile[]> {
  return readAt(path, isRendered);
}

/** The same of what is deployed: what lies in rendered folders is read as well. */
export function readDeployed(path: string): Promise<SourceFile[]> {
  return readAt(path, () => false);
}

async function readAt(path: string, isLeftOut: (folder: string) => boolean): Promise<SourceFile[]> {
  return isFolder(path) ? readNamed(path, namesIn(path, isLeftOut)) : [await readOne(path)];
}

/** The names of these in a folder. */
export function namesOfInputs(folder: string): string[] {
  return namesIn(folder, isRendered);
}

function isRendered(folder: string): boolean {
  return exists(join(folder, renderedList));
}

function isFolder(path: string): boolean {
  return path !== "-" && stat(path).isDirectory();
}

async function readOne(path: string): Promise<SourceFile> {
  if (path === "-") return { path: "stdin.yaml", text: await readInput("-"), label: "standard input" };
  return { path: basename(path), text: readFile(path), label: path };
}

/** The names of a folder's manifests, but for those in folders below it that are left out. */
function namesIn(path: string, isLeftOut: (folder: string) => boolean): string[] {
  const found: string[] = [];
  const visited = new Set<string>();
  const walk = (folder: string) => {
    const real = realPath(join(path, folder));
    if (visited.has(real) || (folder !== "" && isLeftOut(real))) return;
    visited.add(real);
    for (const entry of entriesOf(real)) {
      if (entry.startsWith(".") || entry === "node_modules") continue;
      const inside = folder === "" ? entry : `${folder}/${entry}`;
      // Throws for a link to nothing: what it is to lead to may be manifests, and without them owners would lose addresses.
      const what = stat(join(path, inside));
      if (what.isDirectory()) walk(inside);
      else if (isManifest(entry) && what.isFile()) found.push(inside);
      else if (isManifest(entry)) throw new IpamError("invalid", `${join(path, inside)} is no file`);
    }
  };
  walk("");
  return found.sort(byCodeUnit);
}

function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    throw asInvalid(error, folder);
  }
}

function readNamed(path: string, names: readonly string[]): SourceFile[] {
  const files = names.map((name) => ({ path: name, text: readFile(join(path, name)), label: join(path, name) }));
  return files.filter((file) => !isConfig(file));
}

function isConfig({ path, text }: SourceFile): boolean {
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
  try {
    return decode(readFileSync(path), path);
  } catch (error) {
    throw asInvalid(error, path);
  }
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
  try {
    return statSync(path);
  } catch (error) {
    throw asInvalid(error, path);
  }
}

function asInvalid(error: unknown, path: string): IpamError {
  if (error instanceof IpamError) return error;
  const code = (error as NodeJS.ErrnoException).code;
  if (code === "ENOENT")
    return new IpamError("invalid", exists(path) ? `${path} is a link to nothing` : `${path} does not exist`);
  if (code === "EISDIR") return new IpamError("invalid", `${path} is a folder`);
  if (code === "EACCES") return new IpamError("invalid", `${path} may not be read`);
  return new IpamError("invalid", `${path}: ${(error as Error).message}`, { cause: error });
}

/** Is there a file, folder or link of this name? */
export function exists(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    throw asInvalid(error, path);
  }
}

/** Is a path the folder of manifests, or inside it? */
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
