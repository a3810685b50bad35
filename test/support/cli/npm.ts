import { type ExecFileException, execFile, execFileSync } from "node:child_process";
import { cpSync, existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { root } from "../console.ts";
import { MissingPart } from "../tools/tools.ts";

/** Copies what a clone would have: the files that git tracks, and those it does not know yet. */
export function checkout(folder: string): void {
  const list = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    cwd: root,
    encoding: "utf8",
  });
  for (const file of new Set(list.split("\0")))
    if (file !== "" && existsSync(join(root, file))) cpSync(join(root, file), join(folder, file));
}

/** The environment of somebody at a shell of this machine: its own Node, and nothing that npm tells its scripts. */
export function shellEnvironment(): NodeJS.ProcessEnv {
  const path = (process.env.PATH ?? "").split(delimiter).filter((folder) => !folder.includes("node_modules"));
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(npm_(?!config_(registry|cache|userconfig)$)|INIT_CWD$|NODE_|VITEST)/.test(name),
  );
  return { ...Object.fromEntries(kept), PATH: path.join(delimiter), NO_COLOR: "1" };
}

/** What a command prints; throws all of what it says if it fails, MissingPart if that is for want of the registry. */
export async function say(folder: string, file: string, args: readonly string[], env = shellEnvironment()) {
  try {
    const { stdout } = await promisify(execFile)(file, args, {
      cwd: folder,
      env,
      timeout: 300_000,
      maxBuffer: 2 ** 26,
    });
    return stdout;
  } catch (error) {
    const { stdout, stderr, message } = error as ExecFileException;
    if (/\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ENETUNREACH|ENOTCACHED)\b/.test(stderr ?? ""))
      throw new MissingPart("the npm registry cannot be reached");
    throw new Error([message, stdout, stderr].join("\n"));
  }
}

const quick = ["--prefer-offline", "--no-audit", "--no-fund"];

export function npm(folder: string, verb: string, ...args: string[]): Promise<string> {
  return say(folder, "npm", [verb, ...(verb === "ci" || verb === "install" ? quick : []), ...args]);
}
