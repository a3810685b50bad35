import { copyFileSync, existsSync, mkdirSync, rmSync } from "node:fs";
import type { Server } from "node:net";
import { join } from "node:path";
import type { Cluster } from "../cluster/cluster.ts";
import { type Daemon, startDaemon } from "../cluster/daemon.ts";
import { forward } from "../cluster/forward.ts";
import { gateway, insideOf } from "../objects/managed-nodes.ts";
import { command, tool } from "../tools/tools.ts";
import { until } from "../until.ts";
import type { LabNode } from "./lab.ts";

const common = {
  POD_NAMESPACE: "nmstate",
  WATCH_NAMESPACE: "",
  OPERATOR_NAME: "nmstate",
  ENABLE_PROFILER: "False",
};
const flags = ["--zap-time-encoding=iso8601"];

/** The handler of kubernetes-nmstate in its node; returns once it is ready. Its kubeconfig is in the node's folder. */
export async function startHandler(node: LabNode): Promise<Daemon> {
  const healthy = `/proc/${node.pid}/root/tmp/healthy`;
  rmSync(healthy, { force: true });
  const env = {
    ...common,
    PATH: "/run/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    KUBECONFIG: "/run/share/kubeconfig",
    NODE_NAME: node.name,
    POD_NAME: `nmstate-handler-${node.name}`,
    NMSTATE_INSTANCE_NODE_LOCK_FILE: "/run/handler_lock",
    PROBE_DNS_HOST: "root-servers.net",
    METRICS_BIND_ADDRESS: "127.0.0.1:8089",
  };
  const options = { within: insideOf(node), env };
  const daemon = await startDaemon(`/run/bin/handler-${node.name}`, flags, "/run/share/handler.log", options);
  await until(async () => existsSync(healthy), `the handler of ${node.name} is ready`, 60_000);
  return daemon;
}

/** What the namespace of the switch has for the nodes and the API server; `kubeconfig` and logs are in `folder`. */
export interface SwitchDaemons {
  /** Where the API server reaches the webhook, on loopback. */
  readonly webhookPort: number;
  stop(): Promise<void>;
}

/** Starts the gateway and the webhook server of kubernetes-nmstate. */
export async function startSwitchDaemons(cluster: Cluster, switchPid: number, folder: string): Promise<SwitchDaemons> {
  const within = [command("nsenter"), `--target=${switchPid}`, "--net", "--"];
  const sockets = { api: join(folder, "api.sock"), webhook: join(folder, "webhook.sock") };
  const servers: Server[] = [];
  const daemons: Daemon[] = [];
  servers.push(await forward({ path: sockets.api }, { host: "127.0.0.1", port: Number(new URL(cluster.server).port) }));
  const program = [join(import.meta.dirname, "lab-gateway.ts"), gateway, sockets.api, sockets.webhook];
  daemons.push(await startDaemon(process.execPath, program, join(folder, "gateway.log"), { within }));
  daemons.push(await startWebhook(cluster, folder, within));
  await until(async () => existsSync(sockets.webhook), "the gateway listens", 20_000);
  const outside = await forward({ host: "127.0.0.1", port: 0 }, { path: sockets.webhook });
  servers.push(outside);
  return {
    webhookPort: (outside.address() as { port: number }).port,
    async stop() {
      for (const server of servers) server.close();
      await Promise.all(daemons.map((daemon) => daemon.stop()));
    },
  };
}

/** It looks for its certificate in a folder of TMPDIR; that of the API server is for loopback, too. */
async function startWebhook({ certificates }: Cluster, folder: string, within: readonly string[]): Promise<Daemon> {
  const certs = join(folder, "k8s-webhook-server/serving-certs");
  mkdirSync(certs, { recursive: true });
  copyFileSync(certificates.server.certificate, join(certs, "tls.crt"));
  copyFileSync(certificates.server.key, join(certs, "tls.key"));
  const env = {
    ...common,
    PATH: process.env.PATH,
    TMPDIR: folder,
    KUBECONFIG: join(folder, "kubeconfig"),
    POD_NAME: "nmstate-webhook",
    RUN_WEBHOOK_SERVER: "",
    METRICS_BIND_ADDRESS: "127.0.0.1:8090",
  };
  return startDaemon(await tool("nmstate-handler"), flags, join(folder, "webhook.log"), { within, env });
}
