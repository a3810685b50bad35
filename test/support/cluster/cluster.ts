import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import http from "node:http";
import https from "node:https";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { tool } from "../tools/tools.ts";
import { backUp, restoredData } from "./backup.ts";
import { type Certificates, type KeyPair, makeCertificates } from "./certificates.ts";
import { type Daemon, removeAtEnd, startDaemon } from "./daemon.ts";

/** A real API server with its etcd on random ports of loopback; gone at the latest with the process that started it. */
export interface Cluster {
  /** Holds the logs, among others; removed by `stop`. */
  readonly folder: string;
  readonly server: string;
  /** The path of a kubeconfig of an administrator. */
  readonly kubeconfig: string;
  /** Of an administrator, and of a user `nobody` without any rights. */
  readonly tokens: { readonly admin: string; readonly nobody: string };
  readonly certificates: Certificates;
  /** The URL of etcd, which also answers JSON. Nothing in it is ever compacted, and objects are JSON. */
  readonly etcd: string;
  /** Runs kubectl as the administrator; returns what it prints, throws what it reports. */
  kubectl(args: readonly string[], input?: string): Promise<string>;
  /** Kills the API server, which leaves etcd as it is. */
  killApiServer(): Promise<void>;
  /** Starts it again, on the same port, perhaps with more flags. */
  startApiServer(flags?: readonly string[]): Promise<void>;
  /**
   * Starts controllers of the controller manager, for example garbage-collector-controller. The collector notices kinds
   * that are installed after it only half a minute later.
   */
  startControllers(...names: readonly string[]): Promise<void>;
  /** Starts the scheduler: pods without a gate get a node. */
  startScheduler(): Promise<void>;
  /** A backup of etcd as it is now: the path of a file. */
  backUp(): Promise<string>;
  /**
   * Puts the servers back to a backup, as its page on disaster recovery says: with revisions that nobody has seen yet,
   * and all before them compacted, so that no history can be replayed afterwards.
   */
  restore(backup: string): Promise<void>;
  stop(): Promise<void>;
}

export interface ClusterOptions {
  /** Whether etcd waits for the disk; off by default. */
  readonly fsync?: boolean;
  /** More flags of the API server. */
  readonly flags?: readonly string[];
}

const START_TIMEOUT = 180_000;
const PORT_TAKEN = "address already in use";

export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const tools: Record<string, string> = {};
  for (const name of ["etcd", "kube-apiserver", "kubectl"]) tools[name] = await tool(name);
  for (let attempt = 1; ; attempt++) {
    try {
      return await start(options, tools);
    } catch (error) {
      if (attempt === 3 || !(error as Error).message.includes(PORT_TAKEN)) throw error;
    }
  }
}

async function start(options: ClusterOptions, tools: Record<string, string>): Promise<Cluster> {
  const folder = mkdtempSync(join(tmpdir(), "nodeippool-cluster-"));
  const removeFolder = removeAtEnd(folder);
  const running = new Map<string, Daemon>();
  let certificates: Certificates;
  const logOf = (name: string) => join(folder, `${name}.log`);
  const run = async (name: string, args: readonly string[], url: string) => {
    const daemon = await startDaemon(tools[name] as string, args, logOf(name));
    running.set(name, daemon);
    await ready(name, daemon, logOf(name), url, readFileSync(certificates.authority.certificate, "utf8"));
  };
  const stop = async () => {
    await Promise.all([...running.values()].map((daemon) => daemon.stop()));
    await removeFolder();
  };
  try {
    certificates = await makeCertificates(folder);
    const etcd = `http://127.0.0.1:${await freePort()}`;
    const port = await freePort();
    const server = `https://127.0.0.1:${port}`;
    const tokens = { admin: "admin-token", nobody: "nobody-token" };
    const kubeconfig = writeKubeconfig(folder, server, certificates, tokens.admin);
    writeFileSync(join(folder, "tokens.csv"), `${tokens.admin},admin,1,"system:masters"\n${tokens.nobody},nobody,2\n`);
    const startApiServer = (flags: readonly string[] = []) =>
      run("kube-apiserver", [...apiServerFlags(folder, etcd, port, certificates), ...flags], `${server}/readyz`);

    const runClient = async (name: string, flags: readonly string[]) => {
      tools[name] = await tool(name);
      const own = await freePort();
      await run(
        name,
        [...clientFlags(kubeconfig, own, certificates.server), ...flags],
        `https://127.0.0.1:${own}/healthz`,
      );
    };
    const startEtcd = (data: string) => run("etcd", etcdFlags(data, etcd, options.fsync === true), `${etcd}/health`);
    const kill = async (name: string) => running.get(name)?.stop();
    await startEtcd(join(folder, "etcd"));
    await startApiServer(options.flags);
    // Somebody else's server may have answered on a port that ours could not have.
    for (const [name, daemon] of running)
      if (!daemon.isRunning()) throw new Error(`${name} ended:\n${tail(logOf(name))}`);
    return {
      ...{ folder, server, kubeconfig, tokens, certificates, etcd, stop, startApiServer },
      killApiServer: () => kill("kube-apiserver"),
      async startControllers(...controllers) {
        await runClient("kube-controller-manager", [`--controllers=${controllers.join(",")}`]);
      },
      startScheduler: () => runClient("kube-scheduler", []),
      backUp: () => backUp(etcd, folder),
      async restore(backup) {
        await Promise.all([kill("kube-apiserver"), kill("etcd")]);
        const data = await restoredData(backup);
        await startEtcd(data);
        await startApiServer();
      },
      kubectl: (args, input = "") =>
        output(tools.kubectl as string, args, { KUBECONFIG: kubeconfig, KUBECACHEDIR: join(folder, "cache") }, input),
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function etcdFlags(data: string, url: string, fsync: boolean): string[] {
  const peers = "http://127.0.0.1:0";
  return [
    `--data-dir=${data}`,
    `--listen-client-urls=${url}`,
    `--advertise-client-urls=${url}`,
    `--listen-peer-urls=${peers}`,
    `--initial-advertise-peer-urls=${peers}`,
    `--initial-cluster=default=${peers}`,
    `--unsafe-no-fsync=${!fsync}`,
  ];
}

function apiServerFlags(folder: string, etcd: string, port: number, certificates: Certificates): string[] {
  return [
    `--etcd-servers=${etcd}`,
    "--etcd-compaction-interval=0",
    "--storage-media-type=application/json",
    "--bind-address=127.0.0.1",
    `--secure-port=${port}`,
    "--endpoint-reconciler-type=none",
    "--service-cluster-ip-range=10.0.0.0/24",
    `--tls-cert-file=${certificates.server.certificate}`,
    `--tls-private-key-file=${certificates.server.key}`,
    `--client-ca-file=${certificates.authority.certificate}`,
    `--token-auth-file=${join(folder, "tokens.csv")}`,
    "--authorization-mode=RBAC",
    "--service-account-issuer=https://kubernetes.default.svc",
    `--service-account-key-file=${certificates.tokens}`,
    `--service-account-signing-key-file=${certificates.tokens}`,
    // Nothing here makes service accounts for pods.
    "--disable-admission-plugins=ServiceAccount",
  ];
}

/** The flags that the controller manager and the scheduler share. */
function clientFlags(kubeconfig: string, port: number, server: KeyPair): string[] {
  return [
    `--kubeconfig=${kubeconfig}`,
    `--tls-cert-file=${server.certificate}`,
    `--tls-private-key-file=${server.key}`,
    "--bind-address=127.0.0.1",
    `--secure-port=${port}`,
    "--leader-elect=false",
  ];
}

function writeKubeconfig(folder: string, server: string, certificates: Certificates, token: string): string {
  const path = join(folder, "kubeconfig");
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "test", cluster: { server, "certificate-authority": certificates.authority.certificate } }],
    users: [{ name: "admin", user: { token } }],
    contexts: [{ name: "test", context: { cluster: "test", user: "admin" } }],
    "current-context": "test",
  };
  writeFileSync(path, `${JSON.stringify(config, null, 2)}\n`);
  return path;
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, "close");
  return port;
}

/** Waits until the server says that it is ready; throws the end of its log if it does not get so far. */
async function ready(name: string, daemon: Daemon, log: string, url: string, ca: string): Promise<void> {
  const deadline = Date.now() + START_TIMEOUT;
  while (Date.now() < deadline && daemon.isRunning() && !(await answers(url, ca)))
    await Promise.race([daemon.ended, sleep(50)]);
  if (Date.now() >= deadline || !daemon.isRunning()) throw new Error(`${name} did not start:\n${tail(log)}`);
}

function tail(log: string): string {
  return readFileSync(log, "utf8").slice(-4000);
}

function answers(url: string, ca: string): Promise<boolean> {
  return new Promise((resolve) => {
    const request = url.startsWith("https:") ? https.get(url, { ca, agent: false }) : http.get(url, { agent: false });
    request.setTimeout(5_000, () => request.destroy());
    request.on("error", () => resolve(false));
    request.on("response", (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
  });
}

async function output(file: string, args: readonly string[], env: NodeJS.ProcessEnv, input: string): Promise<string> {
  const child = spawn(file, args, { env: { ...process.env, ...env }, timeout: 180_000, killSignal: "SIGKILL" });
  child.stdin.on("error", () => {}); // a command that reads no input; its exit status tells the rest
  child.stdin.end(input);
  const [printed, errors, [status]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  if (status !== 0) throw new Error(errors || printed || `${file} ended with ${status}`);
  return printed;
}
