import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, expect, test } from "vitest";
import { writesOf } from "../support/cluster-audit.ts";
import { root } from "../support/console.ts";
import { deployController } from "../support/deployed-controller.ts";
import { addresses, type LabNode, ping, runIn } from "../support/lab.ts";
import { tries } from "../support/long.ts";
import { NmstateLab } from "../support/nmstate-lab.ts";
import { BUILD_TIMEOUT, MissingPart } from "../support/tools.ts";
import { until } from "../support/until.ts";

// The workflows of the proposal, with kubernetes-nmstate as it is installed. Each test goes on where the one before ended.
let lab: NmstateLab;
let missing: MissingPart | undefined;

beforeAll(async () => {
  try {
    lab = await NmstateLab.start(["node01", "node02", "node03"]);
  } catch (error) {
    if (!(error instanceof MissingPart) || process.env.CI === "true") throw error;
    missing = error;
    return;
  }
  const controller = await (await deployController(lab.cluster, lab.folder))();
  lab.onStop(() => controller.stop());
  return () => lab.stop();
}, BUILD_TIMEOUT);

const account = "system:serviceaccount:nodeippool:nodeippool-controller";
const writes = () => writesOf(account, lab.folder).filter(({ object }) => !object.startsWith("events"));

test.beforeEach(({ skip }) => skip(missing !== undefined, missing?.message));

test("a policy gives each node its addresses, with few writes, and none once they are there", async () => {
  await lab.cluster.kubectl(["apply", "-f", join(root, "examples/static-ip/manifests")]);
  await isAvailable("static-ip", 3);
  expect(await onNodes()).toEqual([
    "10.10.10.1/24 10.10.11.1/24",
    "10.10.10.2/24 10.10.11.2/24",
    "10.10.10.3/24 10.10.11.3/24",
  ]);
  for (const node of lab.nodes.values())
    for (const address of ["10.10.10.1", "10.10.10.2", "10.10.10.3"]) expect(await ping(node, address)).toBe(true);

  await sleep(2_000);
  const made = writes();
  expect(made.length).toBeLessThanOrEqual(30);
  await sleep(tries(15_000, 60_000));
  expect(writes().slice(made.length)).toEqual([]);
});

test("a node that joins gets addresses, and no other node changes", async () => {
  const before = await onNodes();
  await lab.join("node04");
  await isAvailable("static-ip", 4);
  expect(await onNodes()).toEqual([...before, "10.10.10.5/24 10.10.11.5/24"]);
  expect(await usage()).toBe("4 of 8");
});

test("an end that grows makes room, and no node changes", async () => {
  const before = await onNodes();
  const end = (address: string) => JSON.stringify({ spec: { range: { end: address } } });
  await lab.cluster.kubectl(["patch", "nodeippool", "traffic-1", "--type=merge", "-p", end("10.10.10.12")]);
  await until(async () => (await usage()) === "4 of 10", "two more addresses are free");
  expect(await onNodes()).toEqual(before);
});

test("a node that leaves frees its addresses, and its policy goes", async () => {
  await lab.leave("node04");
  await until(async () => (await usage()) === "3 of 10", "the addresses of node04 are free");
  expect(await lab.cluster.kubectl(["get", "nncp", "-o", "name"])).not.toContain("node04");
  await isAvailable("static-ip", 3);
});

test("an edit reaches a node whose handler was down, and no address changes", async () => {
  const before = await onNodes();
  await lab.killHandler("node01");
  const edit = [{ op: "add", path: "/spec/desiredState/interfaces/0/mtu", value: 1400 }];
  await lab.cluster.kubectl(["patch", "nncp", "static-ip", "--type=json", "-p", JSON.stringify(edit)]);
  const mtus = async () => (await everywhere((node) => runIn(node, "cat", ["/sys/class/net/eth1/mtu"]))).join("");
  await until(async () => (await mtus()) === "1500\n1400\n1400\n", "the nodes with a handler have the edit");
  await lab.startHandler("node01");
  await until(async () => (await mtus()) === "1400\n1400\n1400\n", "all nodes have the edit");
  await isAvailable("static-ip", 3);
  expect(await onNodes()).toEqual(before);
});

test("a policy that is deleted takes its addresses off the nodes, and they are free", async () => {
  await lab.cluster.kubectl(["delete", "nncp", "static-ip"]);
  await until(async () => (await usage()) === "0 of 10", "all addresses are free");
  expect(await onNodes()).toEqual([" ", " ", " "]);
  const left = async () => (await lab.cluster.kubectl(["get", "nncp,nnce", "-o", "name"])).trim();
  await until(async () => (await left()) === "", "no policy is left");
});

async function isAvailable(policy: string, nodes: number): Promise<void> {
  const condition = '{.status.conditions[?(@.type=="Available")].message}';
  const message = `${nodes}/${nodes} nodes successfully configured`;
  const shown = () => lab.cluster.kubectl(["get", "nncp", policy, "-o", `jsonpath=${condition}`]);
  await until(async () => (await shown()) === message, `${policy}: ${message}`, 30_000);
}

/** How many addresses of traffic-1 are used, and how many it has. */
async function usage(): Promise<string> {
  const path = "jsonpath={.status.allocated} {.status.free}";
  const shown = await lab.cluster.kubectl(["get", "nodeippool", "traffic-1", "-o", path]);
  const [used = 0, free = 0] = shown.split(" ").map(Number);
  return `${used} of ${used + free}`;
}

/** What the NICs of each node really have. */
function onNodes(): Promise<string[]> {
  return everywhere(async (node) => `${await addresses(node, "eth1")} ${await addresses(node, "eth2")}`);
}

function everywhere(look: (node: LabNode) => Promise<string>): Promise<string[]> {
  const nodes = [...lab.nodes.values()].sort((a, b) => a.number - b.number);
  return Promise.all(nodes.map(look));
}
