import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Cluster } from "../cluster/cluster.ts";
import { type Daemon, startDaemon } from "../cluster/daemon.ts";
import { command, tool } from "../tools/tools.ts";

/** A server of whereabouts as in a container: it reads files of fixed names, which a root folder of its own has. */
export class WhereaboutsDaemon {
  /** The node slice controller, which has its objects in one namespace. */
  static sliceController(cluster: Cluster, namespace: string): Promise<WhereaboutsDaemon> {
    const conf = { kubernetes: { kubeconfig: "/etc/cni/net.d/whereabouts.d/whereabouts.kubeconfig" } };
    const files = { "etc/cni/net.d/whereabouts.d/whereabouts.conf": JSON.stringify(conf) };
    return WhereaboutsDaemon.start(cluster, "node-slice-controller", files, [`WHEREABOUTS_NAMESPACE=${namespace}`]);
  }

  /** The reconciler, which looks at all IPPools each second. */
  static reconciler(cluster: Cluster): Promise<WhereaboutsDaemon> {
    return WhereaboutsDaemon.start(cluster, "ip-reconciler", { "cron-schedule/config": "@every 1s" });
  }

  private static async start(cluster: Cluster, name: string, files: Record<string, string>, more: string[] = []) {
    const root = mkdtempSync(join(cluster.folder, `${name}-`));
    const account = "var/run/secrets/kubernetes.io/serviceaccount";
    const ca = readFileSync(cluster.certificates.authority.certificate, "utf8");
    const all = { log: "", ...files, [`${account}/token`]: cluster.tokens.admin, [`${account}/ca.crt`]: ca };
    for (const [path, text] of Object.entries(all)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
    copyFileSync(await tool(name), join(root, name));
    const { hostname, port } = new URL(cluster.server);
    const env = [`KUBERNETES_SERVICE_HOST=${hostname}`, `KUBERNETES_SERVICE_PORT=${port}`, ...more];
    const log = join(root, "log");
    return new WhereaboutsDaemon(
      await startDaemon(command("env"), [...env, command("chroot"), root, `/${name}`], log),
      log,
    );
  }

  private readonly daemon: Daemon;
  private readonly log: string;

  private constructor(daemon: Daemon, log: string) {
    this.daemon = daemon;
    this.log = log;
  }

  isRunning(): boolean {
    return this.daemon.isRunning();
  }

  /** Until it has logged this. */
  async logs(what: RegExp): Promise<void> {
    for (let tries = 0; tries < 600; tries++) {
      if (what.test(this.said())) return;
      await sleep(100);
    }
    throw new Error(`${what} is not in its log:\n${this.said().slice(-4000)}`);
  }

  said(): string {
    return readFileSync(this.log, "utf8");
  }

  stop(): Promise<void> {
    return this.daemon.stop();
  }
}
