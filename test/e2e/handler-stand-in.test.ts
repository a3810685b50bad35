import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, expect, test } from "vitest";
import { findAccess } from "../../kube/index.ts";
import { type Cluster, startCluster } from "../support/cluster/cluster.ts";
import { installAll } from "../support/cluster/kinds.ts";
import { addNodes } from "../support/cluster/nodes.ts";
import { Handler } from "../support/real/handler.ts";
import { type HandlerLog, logHandlers } from "../support/real/handler-log.ts";
import { MemoryMachine } from "../support/real/handler-machine.ts";
import { NmstateLab } from "../support/real/nmstate-lab.ts";
import { BUILD_TIMEOUT, MissingPart } from "../support/tools/tools.ts";
import { until } from "../support/until.ts";

// One script is played to the real handler and to the stand-in of the cluster tests, each in a cluster of its own.
interface Side {
  readonly cluster: Cluster;
  readonly log: HandlerLog;
}

const sides: Side[] = [];
let missing: MissingPart | undefined;

beforeAll(async () => {
  try {
    const lab = await NmstateLab.start(["node01"]);
    sides.push({ cluster: lab.cluster, log: logHandlers(findAccess({ kubeconfig: lab.cluster.kubeconfig })) });
    const { cluster, stop } = await startStandIn(lab);
    sides.push({ cluster, log: logHandlers(findAccess({ kubeconfig: cluster.kubeconfig })) });
    return async () => {
      for (const { log } of sides) await log.stop();
      await stop();
      await lab.stop();
    };
  } catch (error) {
    if (!(error instanceof MissingPart) || process.env.CI === "true") throw error;
    missing = error;
    return;
  }
}, BUILD_TIMEOUT);

test.beforeEach(({ skip }) => skip(missing !== undefined, missing?.message));

async function startStandIn(lab: NmstateLab) {
  const cluster = await startCluster();
  await installAll(cluster);
  await lab.serveWebhook(cluster);
  await addNodes(cluster, "node01");
  const machine = new MemoryMachine(["eth1", "eth2"], () => {});
  const access = findAccess({ kubeconfig: cluster.kubeconfig });
  const pace = { retry: 1_000, report: 1_000 };
  const handler = new Handler({ access, node: "node01", machine, running: new Set(["node01"]), pace });
  const stop = async () => {
    await handler.stop();
    await cluster.stop();
  };
  return { cluster, stop };
}

const policy = (name: string, nic: string, ip: string, node = "node01") => ({
  apiVersion: "nmstate.io/v1",
  kind: "NodeNetworkConfigurationPolicy",
  metadata: { name },
  spec: {
    nodeSelector: { "kubernetes.io/hostname": node },
    desiredState: {
      interfaces: [
        { name: nic, type: "ethernet", state: "up", ipv4: { enabled: true, address: [{ ip, "prefix-length": 24 }] } },
      ],
    },
  },
});

const both = <T>(work: (side: Side) => Promise<T>) => Promise.all(sides.map(work));
const apply = (object: object) => both(({ cluster }) => cluster.kubectl(["apply", "-f", "-"], JSON.stringify(object)));

/** Waits for this on both sides, and compares what was written meanwhile. */
async function sameAfter(words: string, done: (side: Side) => Promise<boolean>): Promise<void> {
  await both((side) => until(() => done(side), words, 60_000));
  await sleep(1_000);
  const [real, standIn] = sides.map(({ log }) => log.take());
  expect(standIn).toEqual(real);
}

function sameAfterCondition(policy: string, type: string): Promise<void> {
  const path = 'jsonpath={.status.conditions[?(@.status=="True")].type}';
  const is = async ({ cluster }: Side) => (await cluster.kubectl(["get", "nncp", policy, "-o", path])) === type;
  return sameAfter(`${policy} is ${type}`, is);
}

test("a policy is applied", async () => {
  await apply(policy("p", "eth1", "10.10.10.1"));
  await sameAfterCondition("p", "Available");
});

test("a policy is edited", async () => {
  await apply(policy("p", "eth1", "10.10.10.2"));
  await sameAfterCondition("p", "Available");
});

test("a node's report", async () => {
  const path = ["get", "nns", "node01", "-o", "json"];
  const shape = async ({ cluster }: Side) => {
    const { metadata, status } = JSON.parse(await cluster.kubectl(path));
    return {
      fields: Object.keys(status).sort(),
      labels: Object.keys(metadata.labels ?? {}),
      owners: metadata.ownerReferences.length,
    };
  };
  const [real, standIn] = await both(shape);
  expect(standIn).toEqual(real);
});

test("a policy of another node", async () => {
  await apply(policy("other", "eth1", "10.10.10.9", "node02"));
  await sameAfterCondition("other", "Ignored");
});

test("a policy whose template has no value", async () => {
  const capture = { a: "ippool.x.allocate" };
  const { spec, ...rest } = policy("raw", "eth1", "{{ capture.a.ip }}");
  await apply({ ...rest, spec: { ...spec, capture } });
  await sameAfterCondition("raw", "Degraded");
});

test("a policy that cannot be applied is tried five times", async () => {
  await apply(policy("bad", "eth9", "10.10.10.3"));
  await sameAfter("it gives up", async ({ log }) => (await log.events()).length === 1);
  const [real, standIn] = await both(({ log }) => log.events());
  expect(standIn).toEqual(real);
});

test("a policy that is deleted takes its enactment along", async () => {
  await both(({ cluster }) => cluster.kubectl(["delete", "nncp", "p", "bad", "other", "raw"]));
  await sameAfter("no enactment is left", async ({ cluster }) => {
    return (await cluster.kubectl(["get", "nnce", "-o", "name"])) === "";
  });
});
