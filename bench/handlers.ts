import { setTimeout as sleep } from "node:timers/promises";
import { findAccess, type KubeObject, type Objects, objectsOf, transport } from "../kube/index.ts";
import type { Transport } from "../kube/transport.ts";
import { hostnameLabel } from "../schema/node.ts";
import { startCluster } from "../test/support/cluster/cluster.ts";
import { installNmstate, installNmstateAdmission } from "../test/support/cluster/kinds.ts";
import { createNode, setReady } from "../test/support/cluster/nodes.ts";
import { Handler } from "../test/support/real/handler.ts";
import { MemoryMachine } from "../test/support/real/handler-machine.ts";
import type { Result } from "./measure.ts";

const policies = { apiVersion: "nmstate.io/v1", plural: "nodenetworkconfigurationpolicies" };
/** What handlers ask for policy by policy; the state of a node they report whether or not there are any. */
const asked = ["nodenetworkconfigurationpolicies", "nodenetworkconfigurationenactments", "nodes", "pods"];
/** As many objects as the controller makes at once. */
const parallel = 16;

/**
 * What it costs the API server that every handler looks at the policy of every node. No controller runs: only handlers do
 * what the real ones do, all in one process, whose own time is part of how long it takes, and not of what the server takes.
 */
export async function run(short: boolean): Promise<Result[]> {
  const results: Result[] = [];
  for (const nodes of short ? [10] : [10, 30, 100]) results.push(...(await trial(nodes)));
  return results;
}

async function trial(nodes: number): Promise<Result[]> {
  const cluster = await startCluster({ fsync: true });
  const access = findAccess({ kubeconfig: cluster.kubeconfig });
  const server = transport(access, 30_000);
  const kube = objectsOf(access);
  const handlers: Handler[] = [];
  try {
    await installNmstate(cluster);
    await installNmstateAdmission(cluster);
    const names = Array.from({ length: nodes }, (_, i) => `node${String(i).padStart(4, "0")}`);
    for (const name of names) {
      await createNode(kube, name);
      await setReady(kube, name, true);
    }
    const running = new Set(names);
    const start = (node: string) => {
      const pace = { retry: 1_000, report: 3_600_000 };
      handlers.push(new Handler({ access, node, running, pace, machine: new MemoryMachine(["eth1"], () => {}) }));
    };
    for (const name of names) start(name);
    await quiet(server);
    const made = await cost(server, () => createAll(kube, names));
    await handlers.pop()?.stop();
    const restarted = await cost(server, async () => start(names.at(-1) as string));
    const pairs = nodes * nodes;
    const figure = (name: string, value: number, unit: Result["unit"]): Result => ({
      name: `${nodes} nodes, each gets a policy: ${name}`,
      ...{ figure: value, best: value, unit },
    });
    return [
      figure("requests of a handler for each policy", (made.requests - nodes) / pairs, "requests"),
      figure("all in all", made.requests - nodes, "requests"),
      figure("the API server's processor time", made.processor * 1_000, "ms"),
      figure("until the handlers are done", made.time, "ms"),
      figure("one handler starts again", restarted.requests, "requests"),
    ];
  } finally {
    await Promise.all(handlers.map((one) => one.stop()));
    kube.close();
    server.close();
    await cluster.stop();
  }
}

async function createAll(kube: Objects, names: readonly string[]): Promise<void> {
  const left = names.entries();
  const lane = async () => {
    for (const [i, name] of left) await kube.create(policies, policyOf(name, i));
  };
  await Promise.all(Array.from({ length: parallel }, lane));
}

/** As the controller makes it. */
function policyOf(node: string, i: number): KubeObject {
  const address = [{ ip: `10.0.${i >> 8}.${i & 255}`, "prefix-length": 16 }];
  const spec = {
    nodeSelector: { [hostnameLabel]: node },
    desiredState: { interfaces: [{ name: "eth1", type: "ethernet", state: "up", ipv4: { enabled: true, address } }] },
  };
  const metadata = { name: `static-ip--${node}` };
  return { apiVersion: policies.apiVersion, kind: "NodeNetworkConfigurationPolicy", metadata, spec } as KubeObject;
}

interface Spent {
  /** Milliseconds. */
  readonly time: number;
  readonly requests: number;
  /** Seconds of the API server. */
  readonly processor: number;
}

async function cost(server: Transport, work: () => Promise<void>): Promise<Spent> {
  const before = await spent(server);
  await work();
  const after = await quiet(server);
  return {
    time: after.time - before.time,
    requests: after.requests - before.requests,
    processor: after.processor - before.processor,
  };
}

/** Waits until nothing was asked for three seconds; what was spent when the last was. */
async function quiet(server: Transport): Promise<Spent> {
  for (let last = await spent(server); ; ) {
    await sleep(3_000);
    const now = await spent(server);
    if (now.requests === last.requests) return last;
    last = now;
  }
}

/** By the API server's own count. */
async function spent(server: Transport): Promise<Spent> {
  const { body } = await server.send({ method: "GET", path: "/metrics" });
  const counts = body.matchAll(/^apiserver_request_total\{.*resource="(\w+)".*verb="(\w+)".*\} (\S+)$/gm);
  const requests = [...counts].filter(([, resource = "", verb]) => asked.includes(resource) && verb !== "WATCH");
  const [, processor] = /^process_cpu_seconds_total (\S+)$/m.exec(body) ?? [];
  return {
    time: performance.now(),
    requests: requests.reduce((sum, [, , , count]) => sum + Number(count), 0),
    processor: Number(processor),
  };
}
