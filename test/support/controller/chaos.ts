import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { findAccess, type Objects, objectsOf } from "../../../kube/index.ts";
import type { Cluster } from "../cluster/cluster.ts";
import { nodes, setReady } from "../cluster/nodes.ts";
import { policy, pool } from "../objects/controller-objects.ts";
import { seeded } from "../seeded.ts";
import type { Stage } from "./stage.ts";

/** How many nodes each writer keeps at most. */
export const most = 12;
const writers = ["v", "w"];
/** What the label `step` says of a node that leaves: it is to go; its machine is off. Then its Node is deleted. */
export const steps = { leaving: "leaving", off: "off" };

/** Each has a pool and a NIC of its own. */
export const chaosPolicies = [1, 2, 3, 4].map((i) => ({
  name: `a${i}`,
  pool: `p${i}`,
  nic: `eth${i}`,
  more: { maxUnavailable: "100%" },
}));

export interface ChaosOptions {
  readonly seed: number;
  readonly allocations: number;
  /** SIGKILLs of controllers, of writers and of the API server. */
  readonly kills: { readonly controllers: number; readonly writers: number; readonly servers: number };
}

/** Nodes and policies come and go while controllers, writers and the API server are killed, until all of that was done. */
export async function chaos(cluster: Cluster, stage: Stage, options: ChaosOptions): Promise<void> {
  const random = seeded(options.seed);
  const kube = objectsOf(findAccess({ kubeconfig: cluster.kubeconfig }));
  // Not twice as large as what may be there at once: addresses go from hand to hand.
  await stage.apply(...chaosPolicies.map(({ pool: name }, i) => pool(name, i + 1, most * writers.length + 8)));
  await stage.apply(...chaosPolicies.map((one) => policy(one.name, one.pool, one.nic, one.more)));
  const { kills, allocations } = options;
  let given = 0;
  const goOn = { isSo: true };
  const kill = async (times: number, once: () => Promise<void>) => {
    for (let i = 0; i < times; i++) {
      await sleep(500 + 2_500 * random());
      await once();
    }
  };
  const controllers = [stage.controllerProcess(), stage.controllerProcess()];
  const killController = async () => {
    const i = random() < 0.5 ? 0 : 1;
    await controllers[i]?.stop();
    controllers[i] = stage.controllerProcess();
  };
  const startWriter = (i: number) => writer(cluster, writers[i] as string, Math.floor(random() * 2 ** 32));
  const running = writers.map((_, i) => startWriter(i));
  const killWriter = async () => {
    const i = random() < 0.5 ? 0 : 1;
    await running[i]?.();
    running[i] = startWriter(i);
  };
  const killServer = async () => {
    await cluster.killApiServer();
    await cluster.startApiServer();
  };
  const machines = follow(kube, stage, goOn);
  const seen = count(stage, goOn, (found) => {
    given = found;
  });
  await Promise.all([
    kill(kills.controllers, killController),
    kill(kills.writers, killWriter),
    kill(kills.servers, killServer),
  ]);
  while (given < allocations) await sleep(200);
  for (const end of running) await end();
  goOn.isSo = false;
  await Promise.all([machines, seen]);
  await calm(kube, stage);
  kube.close();
}

/** Starts a writer; returns what kills it. */
function writer(cluster: Cluster, name: string, seed: number): () => Promise<void> {
  const program = join(import.meta.dirname, "writer.ts");
  const args = [program, cluster.kubeconfig, name, `${seed}`];
  const child = spawn(process.execPath, args, { stdio: ["pipe", "ignore", "inherit"] });
  const ended = once(child, "exit");
  return async () => {
    child.kill("SIGKILL");
    await ended;
  };
}

/** Each node that joins has a machine; of one that is to leave the machine goes first. */
async function follow(kube: Objects, stage: Stage, goOn: { readonly isSo: boolean }): Promise<void> {
  for (; goOn.isSo; await sleep(100)) {
    const all = await kube.list(nodes).catch(() => []);
    const off = all.map(async ({ metadata: { name, labels } }) => {
      if (labels?.step === undefined && !stage.machines.has(name)) stage.boot(name, { isShort: true });
      if (labels?.step !== steps.leaving) return;
      await stage.halt(name);
      const body = { metadata: { labels: { step: steps.off } } };
      await kube.patch(nodes, name, undefined, body, { type: "merge" }).catch(() => {});
    });
    await Promise.all(off);
  }
}

/** Counts what is given, as far as it is seen. */
async function count(stage: Stage, goOn: { readonly isSo: boolean }, say: (given: number) => void): Promise<void> {
  let before = new Set<string>();
  for (let given = 0; goOn.isSo; await sleep(100)) {
    const now = new Set((await stage.lines().catch(() => [...before])).filter((line) => !line.endsWith(" releasing")));
    for (const line of now) if (!before.has(line)) given++;
    before = now;
    say(given);
  }
}

/** Who was to leave has left, all nodes are Ready, and all policies are there. */
async function calm(kube: Objects, stage: Stage): Promise<void> {
  for (const node of await kube.list(nodes)) {
    const { name, labels } = node.metadata;
    if (labels?.step === undefined) {
      if (!stage.machines.has(name)) stage.boot(name, { isShort: true });
      await setReady(kube, name, true);
    } else {
      await stage.halt(name);
      await kube.delete(nodes, node);
    }
  }
  const missing = await stage.kubectl("get nncp -o name");
  for (const one of chaosPolicies)
    if (!missing.includes(`/${one.name}\n`)) await stage.apply(policy(one.name, one.pool, one.nic, one.more));
  const workers = (await kube.list(nodes)).filter(({ metadata }) => metadata.labels?.role === "worker");
  await stage.serves(workers.flatMap(({ metadata }) => chaosPolicies.map(({ name }) => `${metadata.name}/${name}`)));
}
