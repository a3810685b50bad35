import { readFileSync } from "node:fs";

/** The pins of one kind: each line of the file is a name and what it is pinned to. */
function pins(file: string): ReadonlyMap<string, string> {
  const text = readFileSync(new URL(file, import.meta.url), "utf8");
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(lines.map((line) => line.split(" ") as [string, string]));
}

/** Crate to version. */
export const crates = pins("crates.txt");

/** Command to Debian package. */
export const debianPackages = pins("debian.txt");
