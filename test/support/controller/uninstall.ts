import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import type { Cluster } from "../cluster/cluster.ts";
import { root } from "../console.ts";
import { tool } from "../tools/tools.ts";

const read = (page: string) => readFileSync(join(root, `docs/${page}.md`), "utf8");
const commandsIn = (text: string) => [...text.matchAll(/```sh\n(.*?)```/gs)].map(([, block = ""]) => block).join("\n");

/** Returns the commands of the last section of a page. */
export function lastCommandsOf(page: string): string {
  const text = read(page);
  return commandsIn(text.slice(text.lastIndexOf("\n## ")));
}

/** The same of a page about a component. */
export function uninstallOf(component: string): string {
  return lastCommandsOf(`${component}-controller`);
}

/** Returns a section of a page. */
export function sectionOf(page: string, title: string): { readonly commands: string; readonly linked: string[] } {
  const [, after = ""] = read(page).split(`\n## ${title}\n`);
  const [text = ""] = after.split("\n## ");
  const linked = [...text.matchAll(/\]\((\S+)\.md#\S*uninstall\)/g)].map(([, name = ""]) => name);
  return { commands: commandsIn(text), linked };
}

/** Runs commands as a reader of a page does, in this folder. */
export async function typeInto({ kubeconfig }: Cluster, commands: string, folder = root): Promise<void> {
  const path = [dirname(await tool("kubectl")), dirname(await tool("helm")), process.env.PATH].join(delimiter);
  const env = { ...process.env, PATH: path, KUBECONFIG: kubeconfig };
  await promisify(execFile)("bash", ["-euo", "pipefail", "-c", commands], { cwd: folder, env, timeout: 120_000 });
}
