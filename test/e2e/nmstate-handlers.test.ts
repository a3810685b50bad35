import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, expect, test } from "vitest";
import { writesOf } from "../support/cluster/audit.ts";
import { root } from "../support/console.ts";
import { deployController } from "../support/controller/deployed-controller.ts";
import { tries } from "../support/long.ts";
import { ping, runIn } from "../support/real/lab.ts";
import { NmstateLab } from "../support/real/nmstate-lab.ts";
import { BUILD_TIMEOUT, MissingPart } from "../support/tools/tools.ts";
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

const isLong = tries(false, true);
const account = "system:serviceaccount:nodeippool:nodeippool-controller";
/** What nmstate says once a handler has given up, and not while it tries again. */
const unknownNic = /NmstateError: InvalidArgument: Failed to find unknown type interface eth1 in current state/;
const writes = () => writesOf(account, lab.folder).filter(({ object }) => !object.startsWith("events"));

test.beforeEach(({ skip }) => skip(missing !== undefined, missing?.message));

test("a policy with a misspelt pool says so beside the handlers, which refuse its correction until it is deleted", async () => {
  const { kubectl } = lab.cluster;
  const manifests = join(root, "examples/static-ip/manifests");
  await kubectl(["apply", "-f", join(manifests, "pools.yaml")]);
  const corrected = readFileSync(join(manifests, "static-ip.yaml"), "utf8");
  await kubectl(["apply", "-f", "-"], corrected.replace("ippool.traffic-1.", "ippool.trafic-1."));
  const cause = /trafic-1, which is not defined; did you mean traffic-1\? .*delete the policy and apply it again/;
  await until(async () => cause.test(await said("static-ip", "Degraded")), "the policy says what is wrong");
  await sleep(5_000);
  expect(await said("static-ip", "Degraded")).toMatch(cause);
  await expect(kubectl(["apply", "-f", "-"], corrected)).rejects.toThrow(/capture field cannot be modified/);
  await kubectl(["delete", "nncp", "static-ip"]);
});

test("a policy gives each node its addresses, with few writes, and none once they are there", async () => {
  const before = writes().length;
  await lab.cluster.kubectl(["apply", "-f", join(root, "examples/static-ip/manifests")]);
  await isAvailable("static-ip", 3);
  expect(await lab.onNodes()).toEqual([
    "10.10.10.1/24 10.10.11.1/24",
    "10.10.10.2/24 10.10.11.2/24",
    "10.10.10.3/24 10.10.11.3/24",
  ]);
  for (const node of lab.nodes.values())
    for (const address of ["10.10.10.1", "10.10.10.2", "10.10.10.3"]) expect(await ping(node, address)).toBe(true);

  await sleep(2_000);
  const made = writes();
  expect(made.length - before).toBeLessThanOrEqual(30);
  await sleep(tries(8_000, 60_000));
  expect(writes().slice(made.length)).toEqual([]);
});

test("a node that joins while a pool is full is told why, and served when the pool grows; no other node changes", async () => {
  const before = await lab.onNodes();
  await setRange({ exclude: ["10.10.10.4/30", "10.10.10.8/30"] });
  await until(async () => (await usage()) === "3 of 3", "the pool is full");
  await lab.join("node04");
  const events = 'jsonpath={.items[?(@.involvedObject.name=="node04")].message}';
  const told = () => lab.cluster.kubectl(["get", "events", "-A", "-o", events]);
  await until(async () => /traffic-1/.test(await told()), "an Event of the node names the pool");
  expect(await said("static-ip", "Degraded")).toMatch(/node04.*traffic-1/);
  expect(await lab.onNodes()).toEqual([...before, " "]);
  await setRange({ exclude: ["10.10.10.4", "10.10.10.7"], end: "10.10.10.12" });
  await isAvailable("static-ip", 4);
  expect(await lab.onNodes()).toEqual([...before, "10.10.10.5/24 10.10.11.5/24"]);
  expect(await usage()).toBe("4 of 10");
});

test("a node that is made anew under its name has its addresses again", async () => {
  const before = await lab.onNodes();
  await lab.leave("node04");
  await lab.join("node04");
  await until(async () => `${await lab.onNodes()}` === `${before}`, "node04 has its addresses");
  await isAvailable("static-ip", 4);
});

test("a policy that is deleted and made anew, as its captures cannot change, gives each node its addresses again", async () => {
  const before = await lab.onNodes();
  await lab.cluster.kubectl(["delete", "nncp", "static-ip"]);
  await lab.cluster.kubectl(["apply", "-f", join(root, "examples/static-ip/manifests/static-ip.yaml")]);
  await isAvailable("static-ip", 4);
  await until(async () => `${await lab.onNodes()}` === `${before}`, "all nodes have their addresses");
});

test("an edit passes over a node that is down, and reaches it once it is back; no address changes; a node that left meanwhile frees its own", async () => {
  await lab.leave("node04");
  const before = await lab.onNodes();
  await lab.killHandler("node01");
  await isReady("node01", "Unknown");
  const edit = [
    { op: "add", path: "/spec/desiredState/interfaces/0/mtu", value: 1400 },
    { op: "add", path: "/spec/maxUnavailable", value: 1 },
  ];
  await lab.cluster.kubectl(["patch", "nncp", "static-ip", "--type=json", "-p", JSON.stringify(edit)]);
  const mtus = async () => (await lab.everywhere((node) => runIn(node, "cat", ["/sys/class/net/eth1/mtu"]))).join("");
  await until(async () => (await mtus()) === "1500\n1400\n1400\n", "the nodes with a handler have the edit");
  const waits = /2\/3 nodes successfully configured, 1 nodes ignored due to NotReady state\. It waits for .* node01\./;
  await until(async () => waits.test(await said("static-ip", "Available")), "the policy names the node");
  await lab.startHandler("node01");
  await isReady("node01", "True");
  await until(async () => (await mtus()) === "1400\n1400\n1400\n", "all nodes have the edit");
  await until(async () => (await usage()) === "3 of 10", "the addresses of node04 are free");
  expect(await policies()).not.toContain("node04");
  await isAvailable("static-ip", 3);
  expect(await lab.onNodes()).toEqual(before);
});

test("a policy that is deleted takes its addresses off the nodes, beside a NIC that is away, too, and they are free, but not those of that NIC", async () => {
  await lab.pull("node02", "eth1");
  await lab.pull("node03", "eth1");
  await lab.cluster.kubectl(["delete", "nncp", "static-ip"]);
  await until(async () => (await usage()) === "0 of 8", "the addresses of node01 are free");
  expect((await lab.onNodes())[0]).toBe(" ");
  await until(async () => !(await policies()).includes("node01"), "its policy is gone");
  const failing = () => lab.cluster.kubectl(["get", "nnce", "-o", `jsonpath=${conditionIn("Failing")}`]);
  await until(async () => unknownNic.test(await failing()), "a handler has given up");
  await until(async () => (await lab.onNodes()).join() === " , , ", "the addresses of the other NICs are off");
  expect(await releasing()).toEqual(["10.10.10.2", "10.10.10.3"]);
});

test("a NIC that comes back has its address, and loses it once its policy is made again", async () => {
  await lab.plug("node02", "eth1");
  expect(await releasing()).toEqual(["10.10.10.2", "10.10.10.3"]);
  await lab.cluster.kubectl(["delete", "nncp", "static-ip--node02", "--ignore-not-found"]);
  await until(async () => (await lab.onNodes())[1] === " ", "the addresses are off node02");
  if (isLong) await until(async () => (await releasing()).join() === "10.10.10.3", "the address of node02 is free");
});

test("a reset frees the address of a NIC that does not come back", async () => {
  // A reset keeps it while the handler still tries to apply the policy that takes it off.
  const path = `jsonpath={.status.conditions[?(@.type=="Failing")].message}`;
  const failure = () => lab.cluster.kubectl(["get", "nnce", "node03.static-ip--node03", "-o", path]);
  await until(async () => unknownNic.test(await failure()), "the handler of node03 has given up");
  await lab.cluster.kubectl(["annotate", "nodeippool", "traffic-1", "nmstate.io/reset-ippool="]);
  await until(async () => !(await releasing()).includes("10.10.10.3"), "the address of node03 is free");
  if (isLong) {
    await until(async () => (await usage()) === "0 of 10", "all addresses are free");
    await until(async () => (await policies()) === "", "no policy is left");
  }
});

async function isAvailable(policy: string, nodes: number): Promise<void> {
  const message = `${nodes}/${nodes} nodes successfully configured`;
  await until(async () => (await said(policy, "Available")) === message, `${policy}: ${message}`, 60_000);
}

/** What the kubelet, or the node lifecycle controller in its place, says of a node. */
async function isReady(node: string, status: string): Promise<void> {
  const patch = JSON.stringify({ status: { conditions: [{ type: "Ready", status }] } });
  await lab.cluster.kubectl(["patch", "node", node, "--subresource=status", "-p", patch]);
}

async function policies(): Promise<string> {
  return (await lab.cluster.kubectl(["get", "nncp,nnce", "-o", "name"])).trim();
}

/** The message of a condition of a policy. */
function said(policy: string, type: string): Promise<string> {
  const path = `jsonpath={.status.conditions[?(@.type=="${type}")].message}`;
  return lab.cluster.kubectl(["get", "nncp", policy, "-o", path]);
}

async function setRange(range: object): Promise<void> {
  const patch = JSON.stringify({ spec: { range } });
  await lab.cluster.kubectl(["patch", "nodeippool", "traffic-1", "--type=merge", "-p", patch]);
}

/** What a condition of a list of objects says. */
function conditionIn(type: string): string {
  return `{.items[*].status.conditions[?(@.type=="${type}")].message}`;
}

/** The releasing addresses of traffic-1. */
async function releasing(): Promise<string[]> {
  const path = "jsonpath={.items[*].data.record}";
  const record = await lab.cluster.kubectl(["get", "configmaps", "-n", "nodeippool", "-o", path]);
  return [...record.matchAll(/"(10\.10\.10\.\d+)".*"releasing":true/g)].map(([, address = ""]) => address);
}

/** How many addresses of traffic-1 are used, and how many it has. */
async function usage(): Promise<string> {
  const path = "jsonpath={.status.allocated} {.status.free}";
  const shown = await lab.cluster.kubectl(["get", "nodeippool", "traffic-1", "-o", path]);
  const [used = 0, free = 0] = shown.split(" ").map(Number);
  return `${used} of ${used + free}`;
}
