import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { asBag, asList, type Bag } from "../../../schema/objects.ts";
import type { Cluster } from "../cluster/cluster.ts";
import { tool } from "../tools/tools.ts";

/** A pod's attachment to a network, on a node. */
export interface Attached {
  readonly node: string;
  readonly pod: string;
  /** Default `net1`. */
  readonly interface?: string;
}

/** What the CNI plugin answers, or what it fails with. */
interface Answer {
  readonly address?: string;
  readonly gateway?: string;
  readonly error?: string;
}

/** The real whereabouts, called as Multus has an interface plugin call it, on whatever node is meant. */
export class WhereaboutsCni {
  /** It has its objects in the namespace of its kubeconfig's context. */
  static async on(cluster: Cluster, namespace = "kube-system"): Promise<WhereaboutsCni> {
    const folder = mkdtempSync(join(cluster.folder, "cni-"));
    const [kubeconfig, path] = [join(folder, "kubeconfig"), join(folder, "whereabouts.conf")];
    const config = JSON.parse(readFileSync(cluster.kubeconfig, "utf8"));
    config.contexts[0].context.namespace = namespace;
    writeFileSync(kubeconfig, JSON.stringify(config));
    writeFileSync(path, JSON.stringify({ kubernetes: { kubeconfig } }));
    return new WhereaboutsCni(await tool("whereabouts"), path);
  }

  private readonly binary: string;
  private readonly configuration: string;

  private constructor(binary: string, configuration: string) {
    this.binary = binary;
    this.configuration = configuration;
  }

  /** A pod gets its address of a network, as its NetworkAttachmentDefinition says. */
  async add(network: Bag, pod: Attached): Promise<Answer> {
    const { stdout, status } = await this.call("ADD", network, pod);
    if (status !== 0) return { error: stdout || `ended with ${status}` };
    const [{ address, gateway }] = JSON.parse(stdout).ips;
    return gateway === undefined ? { address } : { address, gateway };
  }

  /** A pod gives it back; what the plugin says if it cannot. */
  async del(network: Bag, pod: Attached): Promise<string> {
    const { stdout, stderr, status } = await this.call("DEL", network, pod);
    return status === 0 ? "" : stdout || stderr;
  }

  private async call(command: string, network: Bag, { node, pod, interface: nic = "net1" }: Attached) {
    const env = {
      CNI_COMMAND: command,
      CNI_CONTAINERID: `container-${pod}`,
      CNI_NETNS: "/none",
      CNI_NETNS_OVERRIDE: "1",
      CNI_IFNAME: nic,
      CNI_PATH: "/none",
      CNI_ARGS: `IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=${pod}`,
      NODENAME: node,
    };
    const child = spawn(this.binary, { env, timeout: 120_000, killSignal: "SIGKILL" });
    child.stdin.on("error", () => {});
    child.stdin.end(JSON.stringify(this.pluginOf(network)));
    const [stdout, stderr, [status]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, "close"),
    ]);
    return { stdout, stderr, status };
  }

  /** The configuration of the plugin that has the IPAM; of a list, with what libcni puts into each of its plugins. */
  private pluginOf({ metadata, spec }: Bag): Bag {
    const config = JSON.parse(`${asBag(spec)?.config}`);
    const { name = asBag(metadata)?.name, cniVersion } = config;
    const plugins: Bag[] = asList(config.plugins).map((one) => asBag(one) ?? {});
    const plugin = plugins.find(({ ipam }) => ipam !== undefined) ?? config;
    return { ...plugin, name, cniVersion, ipam: { ...asBag(plugin.ipam), configuration_path: this.configuration } };
  }
}
