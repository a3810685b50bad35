import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { runController } from "../../controller/run/start.ts";
import { findAccess } from "../../kube/index.ts";
import { root } from "../support/console.ts";
import { tries } from "../support/long.ts";
import { ping, runIn } from "../support/real/lab.ts";
import { NmstateLab } from "../support/real/nmstate-lab.ts";
import { BUILD_TIMEOUT, MissingPart } from "../support/tools/tools.ts";
import { until } from "../support/until.ts";

// The fleet form, with kubernetes-nmstate as it is installed. Each test goes on where the one before ended.
let lab: NmstateLab;
let missing: MissingPart | undefined;
const log: string[] = [];
const isLong = tries(false, true);

beforeAll(async () => {
  try {
    lab = await NmstateLab.start(["node01", "node02", "node03"]);
  } catch (error) {
    if (!(error instanceof MissingPart) || process.env.CI === "true") throw error;
    missing = error;
    return;
  }
  await lab.cluster.kubectl(["create", "namespace", "nodeippool"]);
  stopController = startController(true);
  lab.onStop(() => stopController());
  return () => lab.stop();
}, BUILD_TIMEOUT);

let stopController: () => Promise<void>;

/** Starts a controller that knows the fleet form, or does not; returns what ends it. */
function startController(fleet: boolean): () => Promise<void> {
  const stop = new AbortController();
  const running = runController({
    ...{ access: findAccess({ kubeconfig: lab.cluster.kubeconfig }), namespace: "nodeippool", fleet },
    signal: stop.signal,
    log: ({ level, ...event }) => void (level !== "debug" && log.push(JSON.stringify({ level, ...event }))),
  });
  return () => {
    stop.abort();
    return running;
  };
}

test.beforeEach(({ skip }) => skip(missing !== undefined, missing?.message));

test("a policy becomes one policy, and each node has its addresses", async () => {
  await lab.cluster.kubectl(["apply", "-f", join(root, "examples/static-ip/manifests")]);
  await isAvailable("static-ip", 3);
  expect(await lab.onNodes()).toEqual([
    "10.10.10.1/24 10.10.11.1/24",
    "10.10.10.2/24 10.10.11.2/24",
    "10.10.10.3/24 10.10.11.3/24",
  ]);
  for (const node of lab.nodes.values())
    for (const address of ["10.10.10.1", "10.10.10.2", "10.10.10.3"]) expect(await ping(node, address)).toBe(true);
  expect(await policies()).toBe("static-ip static-ip---fleet");
  const page = readFileSync(join(root, "docs/fleet.md"), "utf8");
  const isShown = async () => page.includes((await lab.cluster.kubectl(["get", "nncp"])).trim());
  await until(isShown, "the page shows what kubectl prints");
});

test("a node that joins gets its addresses, and the others keep theirs", async () => {
  const before = await lab.onNodes();
  await lab.join("node04");
  await until(
    async () => (await lab.onNodes()).length === 4 && !(await lab.onNodes()).includes(" "),
    "node04 is served",
  );
  await isAvailable("static-ip", 4);
  expect((await lab.onNodes()).slice(0, 3)).toEqual(before);
});

test("an edit reaches all nodes, and no address changes", async () => {
  const before = await lab.onNodes();
  const edit = [{ op: "add", path: "/spec/desiredState/interfaces/0/mtu", value: 1400 }];
  await change(edit);
  const mtus = () => lab.everywhere((node) => runIn(node, "cat", ["/sys/class/net/eth1/mtu"]));
  await until(async () => (await mtus()).join("") === "1400\n".repeat(4), "all nodes have the edit");
  await isAvailable("static-ip", 4);
  expect(await lab.onNodes()).toEqual(before);
});

test("an enactment that somebody deletes comes back with its addresses", async () => {
  const before = await lab.onNodes();
  await lab.cluster.kubectl(["delete", "nnce", "node02.static-ip---fleet"]);
  const shown = () =>
    lab.cluster.kubectl(["get", "nnce", "node02.static-ip---fleet", "-o", "jsonpath={.status.desiredState}"]);
  await until(async () => (await shown().catch(() => "")).includes("10.10.10.2"), "it is desired again");
  await isAvailable("static-ip", 4);
  expect(await lab.onNodes()).toEqual(before);
});

test("a downgrade, and an upgrade after it, take no address off a node", async () => {
  const before = await lab.onNodes();
  const missed: string[][] = [];
  const watching = new AbortController();
  const watch = (async () => {
    while (!watching.signal.aborted) {
      const seen = await lab.onNodes();
      if (`${seen}` !== `${before}`) missed.push(seen);
    }
  })();
  await stopController();
  stopController = startController(false);
  const own = [1, 2, 3, 4].map((i) => `static-ip--node0${i}`);
  await until(async () => (await policies()) === ["static-ip", ...own].join(" "), "each node has a policy of its own");
  await isAvailable("static-ip", 4);
  await until(async () => !(await gated()), "no gate is left");
  await stopController();
  stopController = startController(true);
  await until(async () => (await policies()) === "static-ip static-ip---fleet", "all nodes have one policy");
  await isAvailable("static-ip", 4);
  watching.abort();
  await watch;
  expect(missed).toEqual([]);
});

test("nodes that the policy selects no more lose their addresses, which are free then", async () => {
  await lab.cluster.kubectl(["label", "node", "node01", "node02", "net=storage"]);
  const edit = [{ op: "add", path: "/spec/nodeSelector/net", value: "storage" }];
  await change(edit);
  await until(
    async () => (await lab.onNodes()).slice(2).join() === " , ",
    "node03 and node04 have lost their addresses",
  );
  expect((await lab.onNodes()).slice(0, 2)).toEqual(["10.10.10.1/24 10.10.11.1/24", "10.10.10.2/24 10.10.11.2/24"]);
  await until(async () => (await allocated()) === "2", "the addresses are free");
  await isAvailable("static-ip", 2);
});

test("a policy that is deleted takes its addresses off the nodes, and leaves no label", async () => {
  await lab.cluster.kubectl(["delete", "nncp", "static-ip"]);
  const seen = new Set<string>();
  const isOff = async () => {
    for (const name of (await policies()).split(" ")) seen.add(name);
    return (await lab.onNodes()).every((one) => one === " ");
  };
  await until(isOff, "no node has an address");
  // One policy for all of them, and none for a node alone.
  expect([...seen].filter((name) => name.startsWith("static-ip--") && name !== "static-ip---fleet")).toEqual([
    "static-ip---cleanup",
  ]);
  await until(async () => (await allocated()) === "0", "the addresses are free");
  await until(async () => (await policies()) === "", "no policy is left");
  expect(await gated()).toBe(false);
});

test("both families, from two captures, with a route over the gateway of the pool, and a policy beside it on the same nodes", async () => {
  const pool = (name: string, range: object, more: object = {}) => ({
    ...{ apiVersion: "nmstate.io/v1", kind: "NodeIPPool", metadata: { name }, spec: { range, ...more } },
  });
  const policy = (name: string, capture: object, desiredState: object) => ({
    ...{ apiVersion: "nmstate.io/v1", kind: "NodeNetworkConfigurationPolicy", metadata: { name } },
    spec: { capture, desiredState },
  });
  const family = (capture: string) => ({
    enabled: true,
    dhcp: false,
    address: [{ ip: `{{ capture.${capture}.ip }}`, "prefix-length": `{{ capture.${capture}.prefix-length }}` }],
  });
  const nic = (name: string, more: object) => ({ name, type: "ethernet", state: "up", ...more });
  const route = {
    ...{ destination: "198.51.100.0/24", "next-hop-interface": "eth1" },
    "next-hop-address": "{{ capture.four.gateway }}",
  };
  const objects = [
    pool("four", { cidr: "10.20.0.0/24", start: "10.20.0.10" }, { gateway: "10.20.0.1" }),
    pool("six", { cidr: "fd00:20::/64", start: "fd00:20::10" }),
    pool("other", { cidr: "10.30.0.0/24", start: "10.30.0.1" }),
    policy(
      "both",
      { four: "ippool.four.allocate", six: "ippool.six.allocate" },
      {
        interfaces: [nic("eth1", { ipv4: family("four"), ipv6: { ...family("six"), autoconf: false } })],
        routes: { config: [route] },
      },
    ),
    policy("second", { one: "ippool.other.allocate" }, { interfaces: [nic("eth2", { ipv4: family("one") })] }),
  ];
  await lab.cluster.kubectl(["apply", "-f", "-"], JSON.stringify({ apiVersion: "v1", kind: "List", items: objects }));
  await isAvailable("both", 4);
  await isAvailable("second", 4);
  const given = (i: number) => [`10.20.0.${9 + i}/24`, `fd00:20::${i === 1 ? 10 : 10 + i - 1}/64`, `10.30.0.${i}/24`];
  const shown = await lab.everywhere(async (node) => {
    const text = await runIn(node, "ip", ["-o", "address", "show"]);
    const routes = await runIn(node, "ip", ["route", "show", "198.51.100.0/24"]);
    expect(routes).toContain("via 10.20.0.1 dev eth1");
    return [...text.matchAll(/(10\.[23]0\.0\.\d+\/24|fd00:20::\S+)/g)]
      .map(([one]) => one)
      .sort()
      .join(" ");
  });
  expect(shown).toEqual([1, 2, 3, 4].map((i) => given(i).sort().join(" ")));
  expect(await policies()).toBe("both both---fleet second second---fleet");
});

test.runIf(isLong)(
  "a node that fails stops the others, as the policy says; mended, and its enactment deleted, all are served",
  async () => {
    await lab.cluster.kubectl(["delete", "nncp", "second"]);
    await until(async () => !(await policies()).includes("second"), "no policy is left");
    await lab.pull("node02", "eth2");
    const third = {
      ...{ apiVersion: "nmstate.io/v1", kind: "NodeNetworkConfigurationPolicy", metadata: { name: "third" } },
      spec: {
        maxUnavailable: 1,
        capture: { one: "ippool.other.allocate" },
        desiredState: {
          interfaces: [
            {
              ...{ name: "eth2", type: "ethernet", state: "up" },
              ipv4: {
                enabled: true,
                dhcp: false,
                address: [{ ip: "{{ capture.one.ip }}", "prefix-length": "{{ capture.one.prefix-length }}" }],
              },
            },
          ],
        },
      },
    };
    await lab.cluster.kubectl(["apply", "-f", "-"], JSON.stringify(third));
    const path = 'jsonpath={.status.conditions[?(@.type=="Degraded")].message}';
    const degraded = () => lab.cluster.kubectl(["get", "nncp", "third", "-o", path]);
    const fails = 'jsonpath={.status.conditions[?(@.type=="Failing")].reason}';
    const reason = () => lab.cluster.kubectl(["get", "nnce", "node02.third---fleet", "-o", fails]).catch(() => "");
    await until(async () => (await reason()) === "FailedToConfigure", "the handler of node02 has given up", 90_000);
    await until(async () => /failed to configure .*node02/.test(await degraded()), "the policy names node02");
    await lab.plug("node02", "eth2");
    await lab.cluster.kubectl(["delete", "nnce", "node02.third---fleet"]);
    await isAvailable("third", 4);
  },
);

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
    return last.said.startsWith(`${nodes}/${nodes} nodes successfully configured`);
  }, `${policy} is available on ${nodes} nodes`).catch((error) => {
    throw new Error(`${error.message}: ${last.said}\n${log.slice(-30).join("\n")}`);
  });
}

async function policies(): Promise<string> {
  return lab.cluster.kubectl(["get", "nncp", "-o", "jsonpath={.items[*].metadata.name}"]);
}

/** Returns whether a node has a gate. */
async function gated(): Promise<boolean> {
  const labels = await lab.cluster.kubectl(["get", "nodes", "-o", "jsonpath={.items[*].metadata.labels}"]);
  return /(gate|cleanup).nodeippool/.test(labels);
}

async function allocated(): Promise<string> {
  return lab.cluster.kubectl(["get", "nodeippool", "traffic-1", "-o", "jsonpath={.status.allocated}"]);
}
