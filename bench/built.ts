import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("..", import.meta.url));
/** The built program. */
export const main = join(root, "dist/cli/main.js");

/** Runs Node; returns what it prints. */
export function node(args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8", maxBuffer: 2 ** 30 });
  if (status !== 0) throw new Error(`node ${args.join(" ")} failed:\n${stderr}`);
  return stdout;
}
