import { execFileSync } from "node:child_process";
import { findOnPath } from "../support/tools/tools.ts";
import { debianPackages } from "./pins.ts";

/** Installs the Debian packages whose command is missing; leaves the machine alone where we are not root. */
export function installDebianPackages(): void {
  const missing = [...debianPackages].filter(([command]) => findOnPath(command) === undefined);
  if (missing.length === 0) return;
  const packages = missing.map(([, name]) => name);
  if (process.getuid?.() !== 0) {
    process.stderr.write(`missing, to be installed by root: apt-get install ${packages.join(" ")}\n`);
    return;
  }
  apt("update", "-qq");
  apt("install", "--yes", "-qq", "--no-install-recommends", ...packages);
}

function apt(...args: string[]): void {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  execFileSync("apt-get", args, { env, stdio: ["ignore", process.stderr, process.stderr] });
}
