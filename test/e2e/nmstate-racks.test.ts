import { beforeAll, expect, test } from "vitest";
import { deployController } from "../support/controller/deployed-controller.ts";
import { tries } from "../support/long.ts";
import { addresses, type LabNode, runIn } from "../support/real/lab.ts";
import { NmstateLab } from "../support/real/nmstate-lab.ts";
import { until } from "../support/until.ts";

// The controller, with kubernetes-nmstate as it is installed. Only where NODEIPPOOL_LONG is set.
const isLong = tries(false, true);
let lab: NmstateLab;
let node: LabNode;

beforeAll(async () => {
  if (!isLong) return;
  lab = await NmstateLab.start(["node01"]);
  const controller = await (await deployController(lab.cluster, lab.folder))();
  lab.onStop(() => controller.stop());
  node = lab.nodes.get("node01") as LabNode;
  return () => lab.stop();
});

test.runIf(isLong)(
  "a node changes racks and leaves: its NIC has what its rack says, and all other addresses become free",
  async () => {
    for (const one of [...rack("a", 1), ...rack("b", 2)])
      await lab.cluster.kubectl(["apply", "-f", "-"], JSON.stringify(one));
    await label("rack=a");
    await shows("10.1.0.1/24 fd01::1/64, 10.91.0.0/16 10.1.0.254, 10.93.0.0/16 10.1.0.254, fd91::/32 fd01::fe");
    await label("rack=b");
    await shows("10.2.0.1/24 fd02::1/64, 10.91.0.0/16 10.2.0.254, 10.94.0.0/16 10.2.0.254, fd91::/32 fd02::fe");
    await until(async () => (await releasing()) === 0, "the addresses of the old rack are free", 120_000);
    await label("rack-");
    await shows("");
    await until(async () => (await releasing()) === 0, "all addresses are free", 120_000);
    expect(await lab.cluster.kubectl(["get", "nncp", "-o", "name"])).not.toContain("--node01");
  },
);

const label = (change: string) => lab.cluster.kubectl(["label", "--overwrite", "node", "node01", change]);

/** Waits until eth1 has these addresses, and these routes with their next hops. */
async function shows(state: string): Promise<void> {
  const there = async () => {
    const routes = await runIn(node, "sh", [
      "-c",
      "ip -4 route show dev eth1 proto static; ip -6 route show dev eth1 proto static",
    ]);
    const hops = [...routes.matchAll(/^(\S+) via (\S+)/gm)].map(([, destination, hop]) => `${destination} ${hop}`);
    return [(await addresses(node, "eth1")).join(" "), ...hops.sort()].join(", ");
  };
  await until(async () => (await there()) === state, `eth1 has ${state}`, 60_000);
}

async function releasing(): Promise<number> {
  const path = "jsonpath={.items[*].data.record}";
  const record = await lab.cluster.kubectl(["get", "configmaps", "-n", "nodeippool", "-o", path]);
  return record.split('"releasing":true').length - 1;
}

/** The pools and the policy of a rack. */
function rack(name: string, net: number): object[] {
  const pool = (family: string, cidr: string, gateway: string) => ({
    apiVersion: "nmstate.io/v1",
    kind: "NodeIPPool",
    metadata: { name: `${family}-${name}` },
    spec: { range: { cidr }, gateway },
  });
  const address = (family: string) => [
    { ip: `{{ capture.${family}.ip }}`, "prefix-length": `{{ capture.${family}.prefix-length }}` },
  ];
  const route = (family: string, destination: string) => ({
    destination,
    "next-hop-interface": "eth1",
    "next-hop-address": `{{ capture.${family}.gateway }}`,
  });
  const ipv4 = { enabled: true, dhcp: false, address: address("four") };
  const ipv6 = { enabled: true, dhcp: false, autoconf: false, address: address("six") };
  const config = [route("four", "10.91.0.0/16"), route("four", `10.${92 + net}.0.0/16`), route("six", "fd91::/32")];
  const policy = {
    apiVersion: "nmstate.io/v1",
    kind: "NodeNetworkConfigurationPolicy",
    metadata: { name: `rack-${name}` },
    spec: {
      nodeSelector: { rack: name },
      capture: { four: `ippool.four-${name}.allocate`, six: `ippool.six-${name}.allocate` },
      desiredState: {
        interfaces: [{ name: "eth1", type: "ethernet", state: "up", ipv4, ipv6 }],
        routes: { config },
      },
    },
  };
  return [pool("four", `10.${net}.0.0/24`, `10.${net}.0.254`), pool("six", `fd0${net}::/64`, `fd0${net}::fe`), policy];
}
