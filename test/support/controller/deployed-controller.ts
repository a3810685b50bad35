import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import type { Cluster } from "../cluster/cluster.ts";
import { type Daemon, startDaemon } from "../cluster/daemon.ts";
import { root } from "../console.ts";
import { command } from "../tools/tools.ts";

interface Deployment {
  readonly kind: string;
  readonly spec: {
    readonly template: { readonly spec: { readonly containers: readonly [Container] } };
  };
}

interface Container {
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value: string }[];
}

/** `kubectl apply -k deploy/`, and its pod on this machine; `start` may be called again after it was stopped. */
export async function deployController(cluster: Cluster, folder: string): Promise<() => Promise<Daemon>> {
  await cluster.kubectl(["apply", "-k", join(root, "deploy")]);
  const text = readFileSync(join(root, "deploy/controller.yaml"), "utf8");
  const documents = parseAllDocuments(text).map((document): Deployment => document.toJS());
  const container = documents.find(({ kind }) => kind === "Deployment")?.spec.template.spec.containers[0] as Container;
  const account = join(folder, "serviceaccount");
  await writeAccount(cluster, account);
  const { hostname, port } = new URL(cluster.server);
  const env = {
    ...Object.fromEntries(container.env.map(({ name, value }) => [name, value])),
    ...{ PATH: process.env.PATH, HOME: "/nonexistent", NODE_COMPILE_CACHE: join(folder, "compiled") },
    ...{ KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port },
  };
  const within = [command("unshare"), "--mount", "sh", "-ec", mountAccount, account];
  // Its port would be that of every other one on this machine.
  const args = [join(root, "cli/main.ts"), ...container.args, "--listen", "off"];
  return () => startDaemon(process.execPath, args, join(folder, "controller.log"), { within, env });
}

/** Mounts the folder $0 where pods have their service account, then runs the command. */
const mountAccount = `
  mount -t tmpfs tmpfs /run
  mkdir -p /run/secrets/kubernetes.io/serviceaccount
  mount --bind "$0" /run/secrets/kubernetes.io/serviceaccount
  exec "$@"`;

async function writeAccount({ kubectl, certificates }: Cluster, folder: string): Promise<void> {
  mkdirSync(folder);
  const namespace = "nodeippool";
  const token = await kubectl(["create", "token", "nodeippool-controller", "-n", namespace, "--duration", "24h"]);
  writeFileSync(join(folder, "token"), token.trim());
  writeFileSync(join(folder, "namespace"), namespace);
  writeFileSync(join(folder, "ca.crt"), readFileSync(certificates.authority.certificate));
}
