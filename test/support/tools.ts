import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { accessSync, constants, existsSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import type { TestContext } from "vitest";
import { crates } from "../tools/pins.ts";
import { hold } from "./hold.ts";

const run = promisify(execFile);

/** Long enough for a hook that may be the first to ask for a tool. */
export const BUILD_TIMEOUT = 20 * 60_000;

/** Something a test needs and this machine cannot provide. */
export class MissingPart extends Error {}

/** Waits for a part of a test; where it is missing, skips the test and says so, but fails with CI=true. */
export async function orSkip<T>(context: TestContext, part: Promise<T>): Promise<T> {
  try {
    return await part;
  } catch (error) {
    if (!(error instanceof MissingPart) || process.env.CI === "true") throw error;
    process.stderr.write(`skipped: ${context.task.name}: ${error.message}\n`);
    return context.skip(error.message);
  }
}

/** The absolute path of a pinned tool: the one on PATH if it is of that version, else ours, built on first use. */
export async function tool(name: string): Promise<string> {
  const version = crates.get(name);
  if (version === undefined) throw new Error(`${name} has no pin in test/tools`);
  const installed = findOnPath(name);
  if (installed !== undefined && (await versionOf(installed)) === version) return installed;
  return builtCrate(name, version);
}

/** The absolute path of a command of the system. */
export function command(name: string): string {
  const path = findOnPath(name);
  if (path === undefined) throw new MissingPart(`the command ${name} is not installed`);
  return path;
}

export function findOnPath(name: string): string | undefined {
  const folders = (process.env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The last word of what `--version` prints. */
async function versionOf(path: string): Promise<string | undefined> {
  const { stdout } = await run(path, ["--version"], { timeout: 10_000 });
  return stdout.trim().split(" ").at(-1);
}

/** A crate's folder appears whole, by a rename, or not at all; whoever comes while it is built waits for the lock. */
async function builtCrate(name: string, version: string): Promise<string> {
  const args = ["install", "--locked", "--version", version, name];
  const key = createHash("sha256").update([process.platform, process.arch, ...args].join(" "));
  const tools = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "nodeippool", "tools");
  const folder = join(tools, `${name}-${key.digest("hex").slice(0, 12)}`);
  const binary = join(folder, "bin", name);
  if (existsSync(binary)) return binary;

  const cargo = findOnPath("cargo");
  if (cargo === undefined) throw new MissingPart(`${name} ${version} is not installed, nor is cargo to build it`);
  await mkdir(tools, { recursive: true });
  const lock = await hold(command("flock"), [`${folder}.lock`], ":");
  const draft = await mkdtemp(join(tools, ".draft-"));
  try {
    if (existsSync(binary)) return binary;
    process.stderr.write(`building ${name} ${version} into ${folder}, a few minutes\n`);
    await run(cargo, [...args, "--root", draft], { cwd: draft, maxBuffer: 64 * 2 ** 20 });
    await rename(draft, folder);
    return binary;
  } finally {
    await rm(draft, { recursive: true, force: true });
    await lock.release();
  }
}
