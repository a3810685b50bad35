import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import type { Cluster } from "./cluster.ts";
import { root } from "./console.ts";
import { tool } from "./tools.ts";

/** The commands of the last section of a page about the controller. */
export function uninstallOf(page: string): string {
  const text = readFileSync(join(root, `docs/${page}-controller.md`), "utf8");
  const blocks = [...text.slice(text.lastIndexOf("\n## ")).matchAll(/```sh\n(.*?)```/gs)];
  return blocks.map(([, block = ""]) => block).join("\n");
}

/** Runs commands as a reader of a page does. */
export async function typeInto({ kubeconfig }: Cluster, commands: string): Promise<void> {
  const path = [dirname(await tool("kubectl")), process.env.PATH].join(delimiter);
  const env = { ...process.env, PATH: path, KUBECONFIG: kubeconfig };
  await promisify(execFile)("bash", ["-eo", "pipefail", "-c", commands], { env, timeout: 60_000 });
}
