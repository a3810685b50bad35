import { setTimeout as sleep } from "node:timers/promises";
import { runController } from "../controller/run/start.ts";
import { type Access, findAccess, type KubeObject, type Objects, objectsOf, transport } from "../kube/index.ts";
import type { Transport } from "../kube/transport.ts";
import { startCluster } from "../test/support/cluster/cluster.ts";
import { installNmstate, installNmstateAdmission, installNodeIPPool } from "../test/support/cluster/kinds.ts";
import { createNode, setReady } from "../test/support/cluster/nodes.ts";
import { Handler } from "../test/support/real/handler.ts";
import { MemoryMachine } from "../test/support/real/handler-machine.ts";
import { type Result, ratio } from "./measure.ts";

const policies = { apiVersion: "nmstate.io/v1", plural: "nodenetworkconfigurationpolicies" };
/** What handlers ask for policy by policy; the state of a node they report whether or not there are any. */
const asked = ["nodenetworkconfigurationpolicies", "nodenetworkconfigurationenactments", "nodes", "pods"];
/** What the controller asks besides. */
const ours = ["configmaps", "events", "nodeippools"];
const pools = { apiVersion: "nmstate.io/v1", plural: "nodeippools" };

/** What a policy for all nodes costs, as a person writes it, with a policy for each node, and in the fleet form. */
type Form = "by hand" | "a policy for each node" | "the fleet form";

/**
 * What it costs the API server that every handler looks at every policy. The handlers do what the real ones do, all in one process, whose
 * own time is part of how long it takes, and not of what the server takes. The controller runs for the two forms that it makes.
 */
export async function run(short: boolean): Promise<Result[]> {
  const results: Result[] = [];
  for (const nodes of short ? [10] : [10, 30, 100]) {
    const hand = await trial(nodes, "by hand", short);
    results.push(hand.made, hand.joined, ...hand.others);
    for (const form of ["a policy for each node", "the fleet form"] as const) {
      const { made, joined, others } = await trial(nodes, form, short);
      results.push(beside(made, hand.made), beside(joined, hand.joined), ...others);
    }
  }
  return results;
}

function beside(one: Result, hand: Result): Result {
  return { ...one, ratios: [ratio("by hand", [one.figure], [hand.figure])] };
}

async function trial(nodes: number, form: Form, short: boolean) {
  const cluster = await startCluster({ fsync: true });
  const access = findAccess({ kubeconfig: cluster.kubeconfig });
  const server = transport(access, 30_000);
  const kube = objectsOf(access);
  const handlers: Handler[] = [];
  const ending = new AbortController();
  let controller: Promise<void> | undefined;
  try {
    for (const install of [installNmstate, installNmstateAdmission, installNodeIPPool]) await install(cluster);
    await cluster.kubectl(["create", "namespace", "nodeippool"]);
    const names = Array.from({ length: nodes }, (_, i) => `node${String(i).padStart(4, "0")}`);
    const running = new Set(names);
    const start = (node: string) => {
      const pace = { retry: 1_000, report: 3_600_000 };
      handlers.push(new Handler({ access, node, running, pace, machine: new MemoryMachine(["eth1"], () => {}) }));
    };
    const join = async (node: string) => {
      await createNode(kube, node);
      await setReady(kube, node, true);
      start(node);
    };
    for (const name of names) await join(name);
    if (form !== "by hand") controller = controllerOf(access, form === "the fleet form", ending.signal);
    await quiet(server);
    const made = await cost(server, () => createPolicy(kube, form));
    const joined = await cost(server, () => join("node9999"));
    await handlers.pop()?.stop();
    const restarted = await cost(server, async () => start("node9999"));
    const deleted = short || form === "by hand" ? [] : [await cost(server, () => deletePolicy(kube))];
    const figure = (what: string, value: number, unit: Result["unit"]): Result => ({
      name: `${nodes} nodes, ${form}: ${what}`,
      ...{ figure: value, best: value, unit },
    });
    const others = [
      figure("one handler starts again", restarted.requests, "requests"),
      figure("the API server's processor time", made.processor * 1_000, "ms"),
      figure("until the handlers are done", made.time, "ms"),
      ...deleted.map(({ requests }) =>
        figure("requests until all addresses are free, once it is deleted", requests, "requests"),
      ),
    ];
    return {
      made: figure("requests of all", made.requests, "requests"),
      joined: figure("requests when a node joins", joined.requests, "requests"),
      others,
    };
  } finally {
    ending.abort();
    await Promise.all([controller, ...handlers.map((one) => one.stop())]);
    kube.close();
    server.close();
    await cluster.stop();
  }
}

function controllerOf(access: Access, fleet: boolean, signal: AbortSignal): Promise<void> {
  return runController({ access, namespace: "nodeippool", fleet, signal, log: () => {} });
}

/** With the address of a pool for each node; by hand there is one address, as nothing here looks for duplicates. */
async function createPolicy(kube: Objects, form: Form): Promise<void> {
  const range = { cidr: "10.0.0.0/16" };
  const pool = { apiVersion: "nmstate.io/v1", kind: "NodeIPPool", metadata: { name: "p" }, spec: { range } };
  const isByHand = form === "by hand";
  if (!isByHand) await kube.create(pools, pool as KubeObject);
  const address = [{ ip: isByHand ? "10.0.0.1" : "{{ capture.a.ip }}", "prefix-length": 16 }];
  const spec = {
    maxUnavailable: "100%",
    ...(isByHand ? {} : { capture: { a: "ippool.p.allocate" } }),
    desiredState: { interfaces: [{ name: "eth1", type: "ethernet", state: "up", ipv4: { enabled: true, address } }] },
  };
  const { apiVersion } = policies;
  await kube.create(policies, {
    ...{ apiVersion, kind: "NodeNetworkConfigurationPolicy", metadata: { name: "static-ip" } },
    spec,
  } as KubeObject);
}

/** Nothing else is asked for meanwhile: an address is free 25 seconds after it is off, and the clean-up policy stays for 30 more. */
async function deletePolicy(kube: Objects): Promise<void> {
  const policy = await kube.get(policies, "static-ip");
  if (policy !== undefined) await kube.delete(policies, policy);
  await sleep(90_000);
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
  const requests = [...counts].filter(
    ([, resource = "", verb]) => [...asked, ...ours].includes(resource) && verb !== "WATCH",
  );
  const [, processor] = /^process_cpu_seconds_total (\S+)$/m.exec(body) ?? [];
  return {
    time: performance.now(),
    requests: requests.reduce((sum, [, , , count]) => sum + Number(count), 0),
    processor: Number(processor),
  };
}
