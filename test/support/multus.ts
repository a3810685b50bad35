import { mkdtempSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { asBag, asList, type Bag } from "../../schema/objects.ts";
import { type Held, hold } from "./hold.ts";
import { type LabNode, runIn } from "./lab.ts";
import { command, tool } from "./tools.ts";
import { elementsOf } from "./workload-objects.ts";

/**
 * A stand-in for Multus and the runtime of a node: it has the real plugins of CNI attach a pod, a network namespace, to the networks
 * in its annotations. A plugin is told of `ips` and `mac` what it says it can do. As from Multus, that of the default network hears of
 * addresses in CNI_ARGS alone.
 */
export class Multus {
  private readonly node: LabNode;
  private readonly plugins: string;

  static async on(node: LabNode): Promise<Multus> {
    const plugins = mkdtempSync(join(tmpdir(), "cni-"));
    for (const name of ["macvlan", "static"]) symlinkSync(await tool(`cni-${name}`), join(plugins, name));
    return new Multus(node, plugins);
  }

  private constructor(node: LabNode, plugins: string) {
    this.node = node;
    this.plugins = plugins;
  }

  /** Starts a pod on networks that are defined so; `end` gives them back. */
  async run(pod: Bag, definitions: readonly Bag[]): Promise<RunningPod> {
    const held = await hold(command("unshare"), ["--net", "--mount"], "mount -t sysfs sysfs /sys; ip link set lo up");
    const calls = elementsOf(pod).map((element) => {
      const definition = definitions.find(({ metadata }) => asBag(metadata)?.name === element.name);
      return { element, config: JSON.parse(`${asBag(definition?.spec)?.config}`) };
    });
    const all = (verb: string) => this.callAll(verb, calls, held);
    try {
      await all("ADD");
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
        await all("DEL");
        await held.release();
      },
    };
  }

  private async callAll(verb: string, calls: readonly { element: Bag; config: Bag }[], { pid }: Held): Promise<void> {
    for (const { element, config } of calls)
      for (const listed of asList(config.plugins)) {
        const plugin = asBag(listed) ?? {};
        const can = asBag(plugin.capabilities) ?? {};
        const told = element.interface === "eth0" ? [] : ["ips", "mac"];
        const runtimeConfig = Object.fromEntries(
          told.flatMap((key) => (can[key] === true && element[key] ? [[key, element[key]]] : [])),
        );
        const { name, cniVersion } = config;
        const env = [
          `CNI_COMMAND=${verb}`,
          `CNI_CONTAINERID=pod-${pid}`,
          `CNI_NETNS=/proc/${pid}/ns/net`,
          `CNI_IFNAME=${element.interface}`,
          `CNI_ARGS=IgnoreUnknown=true${element.ips ? `;IP=${element.ips}` : ""}`,
          `CNI_PATH=${this.plugins}`,
        ];
        const input = JSON.stringify({ ...plugin, name, cniVersion, runtimeConfig });
        await runIn(this.node, "env", [...env, join(this.plugins, `${plugin.type}`)], input);
      }
  }

  private enter({ pid }: Held, argv: readonly string[]): Promise<string> {
    return runIn({ ...this.node, pid }, argv[0] ?? "", argv.slice(1));
  }
}

export interface RunningPod {
  /** Runs a command in it, and returns what it prints. */
  exec(argv: readonly string[]): Promise<string>;
  /** The addresses of one of its NICs, with their prefix lengths, less the link-local ones. */
  addresses(nic: string): Promise<string[]>;
  end(): Promise<void>;
}
