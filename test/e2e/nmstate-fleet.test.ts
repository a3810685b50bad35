import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { runController } from "../../controller/run/start.ts";
import { findAccess } from "../../kube/index.ts";
import { root } from "../support/console.ts";
import { addresses, type LabNode, ping, runIn } from "../support/real/lab.ts";
import { NmstateLab } from "../support/real/nmstate-lab.ts";
import { BUILD_TIMEOUT, MissingPart } from "../support/tools/tools.ts";
import { until } from "../support/until.ts";

// The fleet form, with kubernetes-nmstate as it is installed. Each test goes on where the one before ended.
let lab: NmstateLab;
let missing: MissingPart | undefined;
const log: string[] = [];

beforeAll(async () => {
  try {
    lab = await NmstateLab.start(["node01", "node02", "node03"]);
  } catch (error) {
    if (!(error instanceof MissingPart) || process.env.CI === "true") throw error;
    missing = error;
    return;
  }
  await lab.cluster.kubectl(["create", "namespace", "nodeippool"]);
  const stop = new AbortController();
  const access = findAccess({ kubeconfig: lab.cluster.kubeconfig });
  const controller = runController({
    ...{ access, namespace: "nodeippool", fleet: true, signal: stop.signal },
    log: ({ level, ...event }) => void (level !== "debug" && log.push(JSON.stringify({ level, ...event }))),
  });
  lab.onStop(() => {
    stop.abort();
    return controller;
  });
  return () => lab.stop();
}, BUILD_TIMEOUT);

test.beforeEach(({ skip }) => skip(missing !== undefined, missing?.message));

test("a policy becomes one policy, and each node has its addresses", async () => {
  await lab.cluster.kubectl(["apply", "-f", join(root, "examples/static-ip/manifests")]);
  await isAvailable("static-ip", 3);
  expect(await onNodes()).toEqual([
    "10.10.10.1/24 10.10.11.1/24",
    "10.10.10.2/24 10.10.11.2/24",
    "10.10.10.3/24 10.10.11.3/24",
  ]);
  for (const node of lab.nodes.values())
    for (const address of ["10.10.10.1", "10.10.10.2", "10.10.10.3"]) expect(await ping(node, address)).toBe(true);
  expect(await policies()).toBe("static-ip static-ip---fleet");
});

test("a node that joins gets its addresses, and the others keep theirs", async () => {
  const before = await onNodes();
  await lab.join("node04");
  await until(async () => (await onNodes()).length === 4 && !(await onNodes()).includes(" "), "node04 is served");
  await isAvailable("static-ip", 4);
  expect((await onNodes()).slice(0, 3)).toEqual(before);
});

test("an edit reaches all nodes, and no address changes", async () => {
  const before = await onNodes();
  const edit = [{ op: "add", path: "/spec/desiredState/interfaces/0/mtu", value: 1400 }];
  await change(edit);
  const mtus = () => everywhere((node) => runIn(node, "cat", ["/sys/class/net/eth1/mtu"]));
  await until(async () => (await mtus()).join("") === "1400\n".repeat(4), "all nodes have the edit");
  await isAvailable("static-ip", 4);
  expect(await onNodes()).toEqual(before);
});

test("an enactment that somebody deletes comes back with its addresses", async () => {
  const before = await onNodes();
  await lab.cluster.kubectl(["delete", "nnce", "node02.static-ip---fleet"]);
  const shown = () =>
    lab.cluster.kubectl(["get", "nnce", "node02.static-ip---fleet", "-o", "jsonpath={.status.desiredState}"]);
  await until(async () => (await shown().catch(() => "")).includes("10.10.10.2"), "it is desired again");
  await isAvailable("static-ip", 4);
  expect(await onNodes()).toEqual(before);
});

test("nodes that the policy selects no more lose their addresses, which are free then", async () => {
  await lab.cluster.kubectl(["label", "node", "node01", "node02", "net=storage"]);
  const edit = [{ op: "add", path: "/spec/nodeSelector/net", value: "storage" }];
  await change(edit);
  await until(async () => (await onNodes()).slice(2).join() === " , ", "node03 and node04 have lost their addresses");
  expect((await onNodes()).slice(0, 2)).toEqual(["10.10.10.1/24 10.10.11.1/24", "10.10.10.2/24 10.10.11.2/24"]);
  await until(async () => (await allocated()) === "2", "the addresses are free");
  await isAvailable("static-ip", 2);
  await until(async () => (await policies()) === "static-ip static-ip---fleet", "no clean-up policy is left");
});

test("a policy that is deleted takes its addresses off the nodes, and leaves no label", async () => {
  await lab.cluster.kubectl(["delete", "nncp", "static-ip"]);
  await until(async () => (await onNodes()).every((one) => one === " "), "no node has an address");
  await until(async () => (await allocated()) === "0", "the addresses are free");
  await until(async () => (await policies()) === "", "no policy is left");
  const labels = await lab.cluster.kubectl(["get", "nodes", "-o", "jsonpath={.items[*].metadata.labels}"]);
  expect(labels).not.toContain("gate.nodeippool");
});

/** kubernetes-nmstate refuses a change of a policy that is in progress. */
async function change(patch: readonly object[]): Promise<void> {
  const args = ["patch", "nncp", "static-ip", "--type=json", "-p", JSON.stringify(patch)];
  const isTaken = () => lab.cluster.kubectl(args).then(Boolean, (error) => !/still in progress/.test(`${error}`));
  await until(isTaken, "the change is accepted");
}

async function isAvailable(policy: string, nodes: number): Promise<void> {
  const path = 'jsonpath={.status.conditions[?(@.type=="Available")].message}';
  const said = () => lab.cluster.kubectl(["get", "nncp", policy, "-o", path]);
  const last = { said: "" };
  await until(async () => {
    last.said = await said();
    return last.said === `${nodes}/${nodes} nodes successfully configured`;
  }, `${policy} is available on ${nodes} nodes`).catch((error) => {
    throw new Error(`${error.message}: ${last.said}\n${log.slice(-30).join("\n")}`);
  });
}

async function policies(): Promise<string> {
  return lab.cluster.kubectl(["get", "nncp", "-o", "jsonpath={.items[*].metadata.name}"]);
}

async function allocated(): Promise<string> {
  return lab.cluster.kubectl(["get", "nodeippool", "traffic-1", "-o", "jsonpath={.status.allocated}"]);
}

/** What the NICs of each node really have. */
function onNodes(): Promise<string[]> {
  return everywhere(async (node) => `${await addresses(node, "eth1")} ${await addresses(node, "eth2")}`);
}

function everywhere(look: (node: LabNode) => Promise<string>): Promise<string[]> {
  const nodes = [...lab.nodes.values()].sort((a, b) => a.number - b.number);
  return Promise.all(nodes.map(look));
}
