import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { asBag, asList, type Bag } from "../../../schema/objects.ts";
import type { Cluster } from "../cluster/cluster.ts";
import { type Held, hold } from "../controller/hold.ts";
import { command, tool } from "../tools/tools.ts";
import { type LabNode, runIn } from "./lab.ts";
import { playedMac } from "./virt-controller.ts";

/**
 * The real Multus on a node: a container runtime calls it, it reads the pod and its networks from the API server, has the real
 * plugins of CNI attach the pod, a network namespace, to them, and reports that on the pod. The default network of the cluster is
 * macvlan with a fixed address, too.
 */
export class Multus {
  private readonly node: LabNode;
  private readonly cluster: Cluster;
  private readonly folder: string;

  static async on(node: LabNode, cluster: Cluster): Promise<Multus> {
    const folder = mkdtempSync(join(cluster.folder, "multus-"));
    const plugins = join(folder, "bin");
    mkdirSync(plugins);
    // Multus runs where it reaches the API server, and the plugins where the NICs of the node are.
    for (const name of ["macvlan", "static"]) {
      const enter = `exec ${command("nsenter")} --target=${node.pid} --net --mount --uts -- ${await tool(`cni-${name}`)} "$@"`;
      writeFileSync(join(plugins, name), `#!/bin/sh\n${enter}\n`, { mode: 0o755 });
    }
    return new Multus(node, cluster, folder);
  }

  private constructor(node: LabNode, cluster: Cluster, folder: string) {
    this.node = node;
    this.cluster = cluster;
    this.folder = folder;
  }

  /** Attaches a pod of the API server to its networks; `end` detaches it. */
  async run(pod: Bag): Promise<RunningPod> {
    const held = await hold(command("unshare"), ["--net", "--mount"], "mount -t sysfs sysfs /sys; ip link set lo up");
    try {
      await this.call("ADD", pod, held);
    } catch (error) {
      await held.release();
      throw error;
    }
    return {
      exec: (argv) => this.enter(held, argv),
      addresses: async (nic) => {
        const shown = await this.enter(held, ["ip", "-json", "address", "show", nic]);
        const found = asList(JSON.parse(shown)).flatMap((one) => asList(asBag(one)?.addr_info));
        return found
          .map((one) => asBag(one) ?? {})
          .filter(({ scope }) => scope === "global")
          .map(({ local, prefixlen }) => `${local}/${prefixlen}`);
      },
      end: async () => {
        await this.call("DEL", pod, held);
        await held.release();
      },
    };
  }

  private async call(verb: string, pod: Bag, { pid }: Held): Promise<void> {
    const { name, namespace = "default", uid } = asBag(pod.metadata) ?? {};
    const plugins = join(this.folder, "bin");
    const env = {
      CNI_COMMAND: verb,
      CNI_CONTAINERID: `pod-${pid}`,
      CNI_NETNS: `/proc/${pid}/ns/net`,
      CNI_IFNAME: "eth0",
      CNI_ARGS: `IgnoreUnknown=true;K8S_POD_NAMESPACE=${namespace};K8S_POD_NAME=${name};K8S_POD_UID=${uid}`,
      CNI_PATH: plugins,
    };
    const config = {
      ...{ cniVersion: "1.0.0", name: "multus", type: "multus", delegates: [defaultNetwork] },
      ...{ kubeconfig: this.cluster.kubeconfig, cniDir: join(this.folder, "cache"), binDir: plugins },
    };
    const running = promisify(execFile)(await tool("multus"), [], { env, timeout: 30_000, killSignal: "SIGKILL" });
    running.child.stdin?.end(JSON.stringify(config));
    await running.catch((error) => Promise.reject(new Error(`Multus ${verb} ${name}: ${error.stdout}${error.stderr}`)));
  }

  private enter({ pid }: Held, argv: readonly string[]): Promise<string> {
    return runIn({ ...this.node, pid }, argv[0] ?? "", argv.slice(1));
  }
}

const defaultNetwork = {
  ...{ cniVersion: "1.0.0", name: "cluster", type: "macvlan", master: "eth1" },
  ipam: { type: "static", addresses: [{ address: "192.0.2.1/24" }] },
};

export interface RunningPod {
  /** Runs a command in it, and returns what it prints. */
  exec(argv: readonly string[]): Promise<string>;
  /** The addresses of one of its NICs, with their prefix lengths, less the link-local ones. */
  addresses(nic: string): Promise<string[]>;
  end(): Promise<void>;
}

/** What Multus reported on a pod, as its stand-in writes it (`reportOfMultus`): with its MAC address for each one. */
export function reportedOn({ metadata }: Bag): Readonly<Record<string, string>> {
  const key = "k8s.v1.cni.cncf.io/network-status";
  const report: Bag[] = JSON.parse(`${asBag(asBag(metadata)?.annotations)?.[key]}`);
  const played = report.map((one) => ({
    ...one,
    mac: `${one.mac}`.replace(/^([0-9a-f]{2}:){5}[0-9a-f]{2}$/, playedMac),
  }));
  return { [key]: JSON.stringify(played) };
}
