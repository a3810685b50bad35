import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const here = import.meta.dirname;
const read = (...path: string[]) => readFileSync(join(here, ...path), "utf8");

/** The pins of one kind: each line of the file is a name and what it is pinned to. */
function pins(file: string): ReadonlyMap<string, string> {
  const lines = read(file)
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(lines.map((line) => line.split(" ") as [string, string]));
}

/** Crate to version. */
export const crates = pins("crates.txt");

/** Command to Go package. */
export const goCommands = pins("go.txt");

/** Command to Debian package. */
export const debianPackages = pins("debian.txt");

/** Package of PyPI to version. */
export const pythonPackages = pins("python.txt");

/** A folder here with a go.mod: the modules it requires, with their versions, and all of its pins as text. */
export interface GoPins {
  readonly folder: string;
  readonly tools: readonly string[];
  readonly versions: ReadonlyMap<string, string>;
  readonly text: string;
}

export const goPins: readonly GoPins[] = readdirSync(here, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => {
    const mod = read(name, "go.mod");
    return {
      folder: join(here, name),
      tools: [...mod.matchAll(/^(?:tool |\t)([^\s(]+)$/gm)].map(([, path]) => path as string),
      versions: new Map([...mod.matchAll(/^(?:require |\t)(\S+) (v\S+)/gm)].map(([, path, v]) => [path, v] as never)),
      text: mod + read(name, "go.sum"),
    };
  });
