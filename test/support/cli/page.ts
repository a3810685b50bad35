import { spawn } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, relative } from "node:path";
import { type Cluster, startCluster } from "../cluster/cluster.ts";
import { installNmstate, installNodeIPPool } from "../cluster/kinds.ts";
import { readersEnvironment, root } from "../console.ts";
import { createPodNetwork, giveAddresses } from "../real/pod-network.ts";
import { pulumiFolder } from "../tools/pulumi-tools.ts";
import { tool } from "../tools/tools.ts";

/** Pages whose commands start other tools: they run with the end-to-end tests. */
export const isSlow = (page: string) => /\b(cdk8s|pulumi)\b/.test(page) || isKubernetes(page) || isInPod(page);

/** Pages whose commands run in a pod. */
const isInPod = (page: string) => page === "docs/detect.md";

/** Pages whose commands talk to a cluster. */
const isKubernetes = (page: string) => ["docs/install.md", "docs/state-backends.md"].includes(page) || isOperated(page);

/** Pages whose commands find a controller there, and nodes. */
const isOperated = (page: string) => ["docs/operate.md", "docs/cluster-pools.md"].includes(page);

/** Pages whose commands run at the root of a clone, where the project's own Pulumi.yaml is. */
const isPulumi = (page: string) => /\bpulumi\b/.test(page);

/** What the commands of a page need that takes time to make ready; more of the environment. */
export async function prepare(page: string): Promise<{ env: NodeJS.ProcessEnv; stop(): Promise<void> }> {
  const withTools = (folder: string) => ({ PATH: [folder, readersEnvironment().PATH].join(delimiter) });
  if (isKubernetes(page)) {
    const cluster = await startCluster();
    const env = { ...withTools(dirname(await tool("kubectl"))), KUBECONFIG: cluster.kubeconfig };
    const end = isOperated(page) ? await operate(cluster, env) : () => {};
    return {
      env,
      stop: async () => {
        end();
        await cluster.stop();
      },
    };
  }
  if (isInPod(page)) return enterPod();
  const stop = async () => {};
  if (!isPulumi(page)) return { env: {}, stop };
  const quiet = { PULUMI_SKIP_UPDATE_CHECK: "true", PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true" };
  return { env: { ...withTools(await pulumiFolder()), ...quiet }, stop };
}

/** A pod with an address of each family, of which another host has one; nodeippool runs in it. */
async function enterPod() {
  const { pod, other, gateway, close } = await createPodNetwork();
  await giveAddresses(pod, ["10.30.0.10/24", "2001:db8:30::10/64"]);
  await giveAddresses(other, ["2001:db8:30::10/64"]);
  await giveAddresses(gateway, ["10.30.0.1/24"]);
  const folder = mkdtempSync(join(tmpdir(), "nodeippool-pod-"));
  const words = [`--target=${pod.pid}`, "--net", process.execPath, join(root, "cli/main.ts")];
  writeFileSync(join(folder, "nodeippool"), `#!/bin/sh\nexec nsenter ${words.join(" ")} "$@"\n`, { mode: 0o755 });
  return { env: { PATH: [folder, readersEnvironment().PATH].join(delimiter) }, stop: close };
}

/** Three nodes, and a controller; returns what ends it. */
async function operate(cluster: Cluster, env: NodeJS.ProcessEnv): Promise<() => void> {
  await installNodeIPPool(cluster);
  await installNmstate(cluster);
  await cluster.kubectl(["create", "namespace", "nodeippool"]);
  const status = { conditions: [{ type: "Ready", status: "True", reason: "KubeletReady", message: "" }] };
  for (const name of ["node01", "node02", "node03"]) {
    const metadata = { name, labels: { "kubernetes.io/hostname": name } };
    await cluster.kubectl(["create", "-f", "-"], JSON.stringify({ apiVersion: "v1", kind: "Node", metadata }));
    await cluster.kubectl(["patch", "node", name, "--subresource=status", "-p", JSON.stringify({ status })]);
  }
  const words = ["controller", "--namespace", "nodeippool", "--listen", "off"];
  const controller = spawn("nodeippool", words, { env: { ...readersEnvironment(), ...env }, stdio: "ignore" });
  return () => controller.kill("SIGKILL");
}

/** All pages of the project that people read. */
export function pages(): string[] {
  const inside = (folder: string) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((name) => join(folder, name));
  return ["README.md", ...inside("docs"), ...inside("examples")].filter((page) => page.endsWith(".md")).sort();
}

/** What the commands of an example make: they must end with what is committed. */
const made = ["nodeippool.lock", "rendered"];

/**
 * A folder to run a page's commands in, with all examples as a reader finds them, and where in it a reader begins: in the
 * example that the page is of. The package is there as if it were installed.
 */
export function workFolder(page: string): { folder: string; start: string } {
  const folder = mkdtempSync(join(tmpdir(), "nodeippool-page-"));
  const isExample = page.startsWith("examples/") && !isPulumi(page);
  for (const name of ["deploy", "examples"]) cpSync(join(root, name), join(folder, name), { recursive: true });
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(root, join(folder, "node_modules/nodeippool"));
  if (isPulumi(page)) {
    cpSync(join(root, "Pulumi.yaml"), join(folder, "Pulumi.yaml"));
    writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }\n');
  }
  for (const name of ["cdk8s", "cdk8s-plus-33", "constructs", "@pulumi", ".bin"])
    symlinkSync(join(root, "node_modules", name), join(folder, "node_modules", name));
  const start = isExample ? join(folder, dirname(page)) : folder;
  if (isExample) symlinkSync("../../node_modules", join(start, "node_modules"));
  return { folder, start };
}

/** What is committed beside a page and its commands make anew. */
export function results(page: string): string[] {
  return page.startsWith("examples/") ? made.filter((name) => existsSync(join(root, dirname(page), name))) : [];
}

/** All files under a path, with their text. */
export function contents(path: string): Record<string, string> {
  if (!existsSync(path)) return {};
  if (statSync(path).isFile()) return { "": readFileSync(path, "utf8") };
  const files = readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map((entry) => join(entry.parentPath, entry.name)).sort();
  return Object.fromEntries(paths.map((file) => [relative(path, file), readFileSync(file, "utf8")]));
}
