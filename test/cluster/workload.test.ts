import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { asBag, type Bag } from "../../schema/objects.ts";
import { installIpamClaims, installNodeIPPool } from "../support/cluster/kinds.ts";
import { clusterOfFile } from "../support/cluster/of-file.ts";
import { root } from "../support/console.ts";
import { macvlanNetwork } from "../support/objects/vm-objects.ts";
import { defaultKey, ipsOf, networksKey } from "../support/objects/workload-objects.ts";
import { createLab } from "../support/real/lab.ts";
import { Multus } from "../support/real/multus.ts";
import { cli, folderOf } from "../support/schema/cli.ts";

const network = macvlanNetwork("red", "lan");
const eth = macvlanNetwork("eth", "lan");
const pool = {
  apiVersion: "nmstate.io/v1",
  kind: "NodeIPPool",
  metadata: { name: "lan" },
  spec: { range: { cidr: "10.0.0.0/24", start: "10.0.0.10", end: "10.0.0.29" } },
};

const both = { [defaultKey]: "default/eth", [networksKey]: "red" };

function statefulSet(replicas: number, annotations: Bag = both, name = "web"): Bag {
  const labels = { app: name };
  return {
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    metadata: { name, namespace: "default" },
    spec: {
      replicas,
      podManagementPolicy: "Parallel",
      serviceName: name,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels, annotations },
        spec: { containers: [{ name: "web", image: "web" }] },
      },
    },
  };
}

const others = [
  statefulSet(1, { [defaultKey]: "default/eth" }, "one"),
  statefulSet(1, { [networksKey]: "red" }, "plain"),
];

describe("a StatefulSet on a network of macvlan, without a controller", () => {
  const cluster = clusterOfFile(async (started) => {
    await installNodeIPPool(started);
    await installIpamClaims(started);
    await started.kubectl(["apply", "-k", join(root, "deploy/pod-addresses")]);
    await started.startControllers("statefulset-controller", "garbage-collector-controller");
  });
  const kubectl = (args: string, input?: string) => cluster().kubectl(args.split(" "), input);
  const podsNow = async (): Promise<Bag[]> => JSON.parse(await kubectl("get pods -o json")).items;
  const podNamed = async (name: string) => (await podsNow()).find(({ metadata }) => asBag(metadata)?.name === name);

  /** `web-0 10.0.0.12/24 10.0.0.13/24` of each pod: that of eth0 comes first. */
  async function addresses(): Promise<string[]> {
    return (await podsNow()).map((pod) => [asBag(pod.metadata)?.name, ...ipsOf(pod)].join(" "));
  }

  async function until(work: () => Promise<void>): Promise<void> {
    for (let tries = 0; ; tries++)
      try {
        return await work();
      } catch (error) {
        if (tries > 150) throw error;
        await sleep(200);
      }
  }

  it("has the addresses that were planned, each pod its own, and no pod more", async () => {
    const text = (replicas: number) =>
      [pool, network, eth, ...others, statefulSet(replicas)].map((one) => JSON.stringify(one)).join("\n---\n");
    const folder = folderOf({ "m/all.yaml": text(3) });
    const apply = async () => {
      for (const words of [
        ["allocate", "m"],
        ["render", "m", "--out", "r"],
      ])
        expect(await cli(words, folder)).toMatchObject({ status: 0 });
      await kubectl(`apply -f ${join(folder, "r")}`);
    };
    // The policies are in force a moment after they are there.
    const stray = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "stray", labels: { "nodeippool.nmstate.io/addresses": "planned" } },
      spec: { containers: [{ name: "web", image: "web" }] },
    };
    await until(async () => {
      const refused = kubectl("create --dry-run=server -f -", JSON.stringify(stray));
      await expect(refused).rejects.toThrow(/nodeippool-pod-addresses/);
    });
    await apply();
    // A copy of what is rendered says nothing.
    const map = JSON.parse(await kubectl("get configmap nodeippool-web -o json"));
    const data = { "web-0": '[{"name":"red","ips":["10.0.0.99/24"]}]' };
    const metadata = { name: "nodeippool-web-backup", labels: map.metadata.labels };
    await kubectl("create -f -", JSON.stringify({ ...map, metadata, data }));
    const three = [
      "one-0 10.0.0.10/24",
      "plain-0 10.0.0.11/24",
      "web-0 10.0.0.12/24 10.0.0.13/24",
      "web-1 10.0.0.14/24 10.0.0.15/24",
      "web-2 10.0.0.16/24 10.0.0.17/24",
    ];
    await until(async () => expect(await addresses()).toEqual(three));

    const lab = await createLab(["n1"]);
    onTestFinished(() => lab.close());
    const multus = await Multus.on(lab.nodes[0] as never, cluster());
    const running = await multus.run((await podNamed("web-1")) as Bag);
    onTestFinished(() => running.end());
    expect(await running.addresses("eth0")).toEqual(["10.0.0.14/24"]);
    expect(await running.addresses("net1")).toEqual(["10.0.0.15/24"]);

    const uid = asBag((await podNamed("web-1"))?.metadata)?.uid;
    await kubectl("delete pod web-1 --force --grace-period=0");
    await until(async () => {
      expect(await addresses()).toEqual(three);
      expect(asBag((await podNamed("web-1"))?.metadata)?.uid).not.toBe(uid);
    });

    await kubectl("scale statefulset web --replicas=4");
    await until(async () =>
      expect(await kubectl("get events -o yaml")).toContain("no addresses are planned for this pod"),
    );
    expect(await addresses()).toEqual(three);
    writeFileSync(join(folder, "m/all.yaml"), text(4));
    await apply();
    await until(async () => expect(await addresses()).toEqual([...three, "web-3 10.0.0.18/24 10.0.0.19/24"]));
  });
});
