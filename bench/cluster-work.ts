import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Access, transport } from "../kube/index.ts";
import { type Cluster, startCluster } from "../test/support/cluster/cluster.ts";
import { installIpamClaims, installNodeIPPool } from "../test/support/cluster/kinds.ts";
import { root } from "../test/support/console.ts";
import type { Result } from "./measure.ts";

/** Requests in flight of a bare client: more gain nothing. */
const parallel = 32;

export async function inParallel<T>(all: readonly T[], work: (one: T) => Promise<unknown>): Promise<void> {
  const left = all.values();
  const lane = async () => {
    for (const one of left) await work(one);
  };
  await Promise.all(Array.from({ length: parallel }, lane));
}

/** On a cluster with the kinds of networks, pools and IPAMClaims, where the controller has the rights of a role. */
export async function onCluster(
  { role, ...options }: { readonly role: string; readonly fsync?: boolean },
  work: (cluster: Cluster) => Promise<Result[]>,
): Promise<Result[]> {
  const cluster = await startCluster(options);
  try {
    await installNodeIPPool(cluster);
    await installIpamClaims(cluster);
    await cluster.kubectl(["apply", "-k", join(root, "deploy")]);
    await cluster.kubectl(["apply", "-f", join(root, `deploy/${role}/rbac.yaml`)]);
    return await work(cluster);
  } finally {
    await cluster.stop();
  }
}

/** The path of a kubeconfig of the controller's service account. */
export async function controllerKubeconfig(cluster: Cluster): Promise<string> {
  const token = await cluster.kubectl(["-n", "nodeippool", "create", "token", "nodeippool-controller"]);
  const path = join(cluster.folder, "kubeconfig-controller");
  writeFileSync(path, readFileSync(cluster.kubeconfig, "utf8").replaceAll(cluster.tokens.admin, token.trim()));
  return path;
}

/** Writes so far of these resources, by the API server's count. */
export async function writesOf(access: Access, resources: readonly string[]): Promise<number> {
  const server = transport(access, 30_000);
  const { body } = await server.send({ method: "GET", path: "/metrics" });
  server.close();
  const counts = body.matchAll(/^apiserver_request_total\{.*[{,]resource="(\w+)".*verb="(\w+)".*\} (\S+)$/gm);
  const isWrite = (resource: string, verb: string) =>
    resources.includes(resource) && ["POST", "PUT", "PATCH", "APPLY", "DELETE"].includes(verb);
  return [...counts].reduce((sum, [, of = "", by = "", count]) => sum + (isWrite(of, by) ? Number(count) : 0), 0);
}

/** Waits until nothing was written for two seconds. */
export async function quiet(writes: () => Promise<number>): Promise<void> {
  for (let [before, now] = [-1, await writes()]; before !== now; ) {
    await sleep(2_000);
    [before, now] = [now, await writes()];
  }
}
