import { spawn } from "node:child_process";
import { once } from "node:events";
import { delimiter, dirname } from "node:path";
import { tool } from "../tools/tools.ts";
import type { Cluster } from "./cluster.ts";

/** What a shell needs to reach a cluster: its kubeconfig, and kubectl on the PATH. */
export async function clusterEnvironment({ kubeconfig }: Cluster): Promise<{ KUBECONFIG: string; PATH: string }> {
  return { KUBECONFIG: kubeconfig, PATH: [dirname(await tool("kubectl")), process.env.PATH].join(delimiter) };
}

/** Runs a command with that environment; returns its exit status. Ctrl-C is for the command alone. */
export async function runCommand(cluster: Cluster, [file = "", ...args]: readonly string[]): Promise<number> {
  process.on("SIGINT", () => {});
  const env = { ...process.env, ...(await clusterEnvironment(cluster)) };
  const [status] = await once(spawn(file, args, { env, stdio: "inherit" }), "exit");
  return status ?? 1;
}
