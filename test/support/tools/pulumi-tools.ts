import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { chmod, copyFile, mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { goPins } from "../../tools/pins.ts";
import { root } from "../console.ts";
import { findOnPath, tool, toolsFolder } from "./tools.ts";

const host = "pulumi-language-nodejs";
const plugin = "pulumi-resource-pulumi-nodejs";

/**
 * A folder with the Pulumi CLI and what it looks for beside itself: an installation on PATH or in ~/.pulumi, of whatever
 * version; else ours, built on first use.
 */
export async function pulumiFolder(): Promise<string> {
  const version = goPins.flatMap(({ versions }) => versions.get("github.com/pulumi/pulumi/pkg/v3") ?? [])[0]?.slice(1);
  const home = process.env.PULUMI_HOME || join(homedir(), ".pulumi");
  const onPath = findOnPath("pulumi");
  const folders = [
    ...(onPath === undefined ? [] : [dirname(onPath)]),
    join(home, "versions", version as string, "bin"),
    join(home, "bin"),
  ];
  const isWhole = (folder: string) => ["pulumi", host, plugin].every((name) => existsSync(join(folder, name)));
  return folders.find(isWhole) ?? (await assembled());
}

/** The CLI goes by where its file really is: all three are copied into one folder, which appears whole. */
async function assembled(): Promise<string> {
  const built = { pulumi: await tool("pulumi"), [host]: await tool(host) };
  const script = readFileSync(join(root, "test/tools/pulumi", plugin));
  const key = createHash("sha256").update(Object.values(built).join(" ")).update(script).digest("hex");
  const folder = join(toolsFolder(), `pulumi-engine-${key.slice(0, 12)}`);
  if (existsSync(folder)) return folder;
  await mkdir(toolsFolder(), { recursive: true });
  const draft = await mkdtemp(join(toolsFolder(), ".draft-"));
  try {
    for (const [name, path] of Object.entries(built)) await copyFile(path, join(draft, name));
    await writeFile(join(draft, plugin), script);
    await chmod(join(draft, plugin), 0o755);
    await rename(draft, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error; // else somebody else was faster
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  return folder;
}
