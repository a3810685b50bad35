import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { type Cluster, freePort } from "../cluster/cluster.ts";
import { type Daemon, startDaemon } from "../cluster/daemon.ts";
import { tool } from "../tools/tools.ts";
import { until } from "../until.ts";
import { installForClusterctl } from "./clusterctl.ts";

/** Starts Cluster API's core manager on a cluster, with its kinds. No webhook of it is registered: nothing calls them. */
export async function startClusterApiManager(cluster: Cluster): Promise<Daemon> {
  await installForClusterctl(cluster);
  const folder = join(cluster.folder, "cluster-api-manager");
  mkdirSync(folder);
  const { certificate, key } = cluster.certificates.server;
  copyFileSync(certificate, join(folder, "tls.crt"));
  copyFileSync(key, join(folder, "tls.key"));
  const [health, webhook] = [await freePort(), await freePort()];
  const args = [
    `--kubeconfig=${cluster.kubeconfig}`,
    `--health-addr=127.0.0.1:${health}`,
    "--diagnostics-address=0",
    `--webhook-port=${webhook}`,
    `--webhook-cert-dir=${folder}`,
    "--skip-crd-migration-phases=StorageVersionMigration,CleanupManagedFields",
  ];
  const env = { PATH: process.env.PATH, POD_NAMESPACE: "default", POD_NAME: "manager", POD_UID: "0" };
  const log = join(cluster.folder, "cluster-api-manager.log");
  const daemon = await startDaemon(await tool("cluster-api-manager"), args, log, { env });
  const isReady = () =>
    fetch(`http://127.0.0.1:${health}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  await until(isReady, "Cluster API's core manager is ready");
  return daemon;
}
