import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { accessSync, constants, existsSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import type { TestContext } from "vitest";
import { crates, goCommands, goPins } from "../../tools/pins.ts";
import { hold } from "../controller/hold.ts";

const run = promisify(execFile);

/** Long enough for a hook that may be the first to ask for tools. */
export const BUILD_TIMEOUT = 30 * 60_000;

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

/**
 * The absolute path of a pinned tool: the one in KUBEBUILDER_ASSETS, of whatever version; else the one on PATH if it is
 * of the pinned version; else ours, built on first use.
 */
export async function tool(name: string): Promise<string> {
  const recipe = crateRecipe(name) ?? goRecipe(name);
  if (recipe === undefined) throw new Error(`${name} has no pin in test/tools`);
  const chosen = findIn(process.env.KUBEBUILDER_ASSETS, name);
  if (chosen !== undefined) return chosen;
  const installed = findOnPath(name);
  if (installed !== undefined && (await isOfVersion(installed, recipe.version))) return installed;
  return built(name, recipe);
}

/** The absolute path of a command of the system. */
export function command(name: string): string {
  const path = findOnPath(name);
  if (path === undefined) throw new MissingPart(`the command ${name} is not installed`);
  return path;
}

export function findOnPath(name: string): string | undefined {
  return findIn(process.env.PATH, name);
}

function findIn(path: string | undefined, name: string): string | undefined {
  const folders = (path ?? "").split(delimiter).filter((folder) => folder !== "");
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

/** Whether a command says that it is of this version; kubectl knows no `--version`. */
async function isOfVersion(path: string, version: string): Promise<boolean> {
  const asked = path.endsWith("kubectl") ? ["version", "--client"] : ["--version"];
  const { stdout } = await run(path, asked, { timeout: 10_000 }).catch(() => ({ stdout: "" }));
  return stdout.split(/\s+/).some((word) => word === version || word === `v${version}`);
}

/** Where tools are kept: outside of the checkout. */
export function toolsFolder(): string {
  return join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "nodeippool", "tools");
}

/** How a tool is built: `key` holds whatever decides what comes out. */
interface Recipe {
  readonly version: string;
  readonly key: string;
  readonly compiler: string;
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** The arguments of the compiler that put the command into `bin` of the folder. */
  args(folder: string): string[];
}

function crateRecipe(name: string): Recipe | undefined {
  const version = crates.get(name);
  if (version === undefined) return undefined;
  const args = ["install", "--locked", "--version", version, name];
  return { version, key: args.join(" "), compiler: "cargo", args: (folder) => [...args, "--root", folder] };
}

function goRecipe(name: string): Recipe | undefined {
  const path = goCommands.get(name);
  const pins = goPins.find(({ tools }) => path !== undefined && tools.includes(path));
  const module = [...(pins?.versions ?? [])].find(([prefix]) => path === prefix || path?.startsWith(`${prefix}/`));
  if (path === undefined || pins === undefined || module === undefined) return undefined;
  const [, version] = module;
  const flags = `-s -w -X ${versionVariable(path)}=${version}`;
  const args = ["build", "-trimpath", "-ldflags", flags, "-o"];
  return {
    version: version.slice(1),
    key: [...args, path, pins.text].join(" "),
    compiler: "go",
    cwd: pins.folder,
    env: { CGO_ENABLED: "0", GOWORK: "off" },
    args: (folder) => [...args, join(folder, "bin", name), path],
  };
}

/** Where a command built from this package keeps the version that it prints. */
function versionVariable(path: string): string {
  return path.startsWith("github.com/pulumi/")
    ? "github.com/pulumi/pulumi/sdk/v3/go/common/version.Version"
    : "k8s.io/component-base/version.gitVersion";
}

async function built(name: string, recipe: Recipe): Promise<string> {
  const { version, compiler } = recipe;
  const folder = await folderOf(name, recipe.key, async (draft) => {
    const path = findOnPath(compiler);
    if (path === undefined)
      throw new MissingPart(`${name} ${version} is not installed, nor is ${compiler} to build it`);
    process.stderr.write(`building ${name} ${version}, a few minutes\n`);
    const env = { ...process.env, ...recipe.env };
    await run(path, recipe.args(draft), { cwd: recipe.cwd ?? draft, env, maxBuffer: 64 * 2 ** 20 });
  });
  return join(folder, "bin", name);
}

/**
 * A folder of tools, made on first use; `key` holds whatever decides what comes out. It appears whole, by a rename, or not at
 * all; whoever comes while it is made waits for the lock.
 */
export async function folderOf(name: string, key: string, make: (draft: string) => Promise<void>): Promise<string> {
  const hash = createHash("sha256").update([process.platform, process.arch, key].join(" ")).digest("hex");
  const tools = toolsFolder();
  const folder = join(tools, `${name}-${hash.slice(0, 12)}`);
  if (existsSync(folder)) return folder;
  await mkdir(tools, { recursive: true });
  const lock = await hold(command("flock"), [`${folder}.lock`], ":");
  const draft = await mkdtemp(join(tools, ".draft-"));
  try {
    if (existsSync(folder)) return folder;
    await make(draft);
    await rename(draft, folder);
    return folder;
  } finally {
    await rm(draft, { recursive: true, force: true });
    await lock.release();
  }
}
