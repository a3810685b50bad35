import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { connect } from "node:net";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { root } from "../support/console.ts";
import { BUILD_TIMEOUT, orSkip, tool } from "../support/tools/tools.ts";

const tools = ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl"] as const;

/** Runs `npm run cluster`; returns once it says that it is ready. */
async function npmRunCluster(...command: string[]) {
  const child = spawn(process.execPath, [join(root, "scripts/cluster.ts"), ...command], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const exited = once(child, "exit");
  let printed = "";
  child.stdout.setEncoding("utf8").on("data", (text) => {
    printed += text;
  });
  while (!/KUBECONFIG=\S+/.test(printed)) {
    const ended = await Promise.race([once(child.stdout, "data").then(() => false), exited]);
    if (ended) throw new Error(`npm run cluster ended: ${printed}`);
  }
  const folder = dirname(/KUBECONFIG=(\S+)/.exec(printed)?.[1] as string);
  const server = /https:\S+/.exec(printed)?.[0].replace(/\.$/, "") as string;
  return { child, exited, folder, server, printed: () => printed };
}

async function listens(server: string): Promise<boolean> {
  const { hostname, port } = new URL(server);
  const socket = connect(Number(port), hostname);
  return once(socket, "connect").then(
    () => !!socket.destroy(),
    () => false,
  );
}

async function isGone(folder: string): Promise<boolean> {
  for (let tries = 0; tries < 600 && existsSync(folder); tries++) await sleep(100);
  return !existsSync(folder);
}

test("clusters live side by side, and each goes with Ctrl-C or with its killed process", {
  timeout: BUILD_TIMEOUT,
}, async (context) => {
  for (const name of tools) await orSkip(context, tool(name));
  const [first, second] = await Promise.all([npmRunCluster(), npmRunCluster()]);
  expect(first.folder).not.toBe(second.folder);
  expect([await listens(first.server), await listens(second.server)]).toEqual([true, true]);

  first.child.kill("SIGINT");
  await first.exited;
  expect(first.child.exitCode).toBe(0);
  expect(existsSync(first.folder)).toBe(false);
  expect([await listens(first.server), await listens(second.server)]).toEqual([false, true]);

  second.child.kill("SIGKILL");
  await second.exited;
  expect(await isGone(second.folder)).toBe(true);
  // The servers are killed by a process that has seen its parent die.
  for (let tries = 0; tries < 300 && (await listens(second.server)); tries++) await sleep(100);
  expect(await listens(second.server)).toBe(false);
});

test("`npm run cluster -- COMMAND` runs it with kubectl and a kubeconfig, and exits as it does", {
  timeout: BUILD_TIMEOUT,
}, async (context) => {
  for (const name of tools) await orSkip(context, tool(name));
  const workload = "kubectl create deployment web --image=nginx; kubectl wait --for=create pod -l app=web";
  const line = `echo KUBECONFIG=$KUBECONFIG; kubectl create -f examples/static-ip/manifests; kubectl get nip; ${workload}; kubectl get net-attach-def && exit 7`;
  const { exited, printed, child, folder } = await npmRunCluster("sh", "-c", line);
  await exited;
  expect(printed()).toMatch(/^traffic-1 +10\.10\.10\.0\/24/m);
  expect(printed()).toMatch(/^pod\/web-\w+-\w+ condition met$/m);
  expect(child.exitCode).toBe(7);
  expect(existsSync(folder)).toBe(false);
});

test.each([
  ["lab", "--help", 0],
  ["cluster", "--help", 0],
  ["lab", "--halp", 1],
  ["cluster", "--halp", 1],
])("`npm run %s -- %s` prints help and starts nothing", async (script, option, code) => {
  const child = spawn(process.execPath, [join(root, `scripts/${script}.ts`), option], { timeout: 20_000 });
  const output = Promise.all([text(child.stdout), text(child.stderr)]);
  expect((await once(child, "exit"))[0]).toBe(code);
  expect((await output).join("")).toContain(`npm run ${script} -- COMMAND...`);
});
