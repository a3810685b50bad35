import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { parse } from "yaml";
import { partition } from "../../../core/partition.ts";
import { type Held, hold } from "../controller/hold.ts";
import { command, MissingPart, tool } from "../tools/tools.ts";
import { linkLocal } from "./link-local.ts";

/**
 * A network lab: nodes that are network namespaces of this machine, with real NICs, on which the real nmstatectl works.
 * The NICs of one name share one bridge. A node has its own hostname, its own empty /etc (nmstatectl writes
 * resolv.conf) and its own /sys. Nothing has a name outside: it all goes when the processes that
 * hold the namespaces end, at the latest with the process that made the lab.
 */
export interface Lab {
  readonly nodes: readonly LabNode[];
  close(): Promise<void>;
}

export interface LabNode {
  readonly name: string;
  /** Counts from 1. */
  readonly number: number;
  /** The process that holds its namespaces; `/proc/<pid>/ns/net` is what a CNI plugin calls CNI_NETNS. */
  readonly pid: number;
}

/** What nmstatectl shows, as far as tests look at it. */
export interface NetworkState {
  readonly hostname?: { readonly running?: string };
  readonly interfaces: readonly NetworkInterface[];
}

export interface NetworkInterface {
  readonly name: string;
  readonly type: string;
  readonly state: string;
  readonly ipv4?: IpState;
  readonly ipv6?: IpState;
}

interface IpState {
  readonly enabled: boolean;
  readonly address?: readonly { readonly ip: string; readonly "prefix-length": number }[];
}

export async function createLab(names: readonly string[], nics: readonly string[] = ["eth1", "eth2"]): Promise<Lab> {
  if (process.getuid?.() !== 0) throw new MissingPart("network namespaces need root");
  await tool("nmstatectl");
  command("ping");
  const held: Held[] = [];
  const close = async () => void (await Promise.all(held.map((one) => one.release())));
  try {
    const bridges = await namespaces("bridges");
    held.push(bridges);
    await ip(bridges.pid, nics.flatMap(bridgeCommands));
    const nodes: LabNode[] = [];
    for (const name of names) {
      const node = await namespaces(name);
      held.push(node);
      nodes.push({ name, number: nodes.length + 1, pid: node.pid });
    }
    for (const node of nodes) await plugIn(node, nics, bridges.pid);
    return { nodes, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * Duplicate address detection would keep an IPv6 address from use for a second; link-local ones are ours, see below.
 * A NIC that is down keeps its addresses in both families.
 */
function namespaces(hostname: string): Promise<Held> {
  const script = `
    mount -t sysfs sysfs /sys
    mount -t tmpfs tmpfs /etc
    echo ${hostname} > /proc/sys/kernel/hostname
    echo 0 > /proc/sys/net/ipv6/conf/all/accept_dad
    echo 0 > /proc/sys/net/ipv6/conf/default/accept_dad
    echo 1 > /proc/sys/net/ipv6/conf/default/addr_gen_mode
    echo 1 > /proc/sys/net/ipv6/conf/all/keep_addr_on_down`;
  return hold(command("unshare"), ["--net", "--mount", "--uts"], script);
}

/** With multicast snooping a bridge can lose the first neighbour discovery. */
export function bridgeCommands(nic: string): string[] {
  return [`link add ${nic} type bridge mcast_snooping 0`, `link set ${nic} up`];
}

async function plugIn(node: LabNode, nics: readonly string[], bridges: number): Promise<void> {
  for (const nic of nics) {
    const port = `${nic}-${node.number}`;
    await ip(node.pid, [`link add ${nic} type veth peer name ${port} netns ${bridges}`, `link set ${nic} up`]);
    await ip(bridges, [`link set ${port} master ${nic} up`]);
    await setLinkLocal(node, nic, true);
  }
  await ip(node.pid, ["link set lo up"]);
}

/**
 * `nmstatectl apply -k` in the node; throws what nmstatectl reports. The lab plays NetworkManager's part: link-local
 * addresses, the MTU, which nmstatectl -k looks at but never sets, and routes that a state both removes and wants, which -k removes.
 */
export async function applyState(node: LabNode, yaml: string): Promise<void> {
  const { interfaces = [], routes, ...rest } = parse(yaml);
  for (const { name, ipv6, mtu } of interfaces) {
    if (typeof ipv6?.enabled === "boolean") await setLinkLocal(node, name, ipv6.enabled);
    if (typeof mtu === "number") await ip(node.pid, [`link set ${name} mtu ${mtu}`]);
  }
  const apply = async (state: object) =>
    runIn(node, await tool("nmstatectl"), ["apply", "-q", "-k"], JSON.stringify(state));
  const [removed, wanted] = partition(routes?.config ?? [], ({ state }: { state?: string }) => state === "absent");
  if (removed.length > 0) await apply({ routes: { config: removed } });
  await apply({ ...rest, interfaces, routes: { config: wanted } });
}

/** `nmstatectl show -k` in the node. */
export async function show(node: LabNode): Promise<NetworkState> {
  return JSON.parse(await runIn(node, await tool("nmstatectl"), ["show", "-q", "-k", "--json"]));
}

/** The addresses of a NIC with their prefix lengths, less the link-local ones. */
export async function addresses(node: LabNode, nic: string): Promise<string[]> {
  const { ipv4, ipv6 } = (await show(node)).interfaces.find(({ name }) => name === nic) ?? {};
  const all = [...(ipv4?.address ?? []), ...(ipv6?.address ?? [])];
  return all.filter(({ ip }) => !ip.startsWith("fe80:")).map((one) => `${one.ip}/${one["prefix-length"]}`);
}

/** Whether one echo request of the node is answered within two seconds. */
export async function ping(from: LabNode, address: string): Promise<boolean> {
  try {
    await runIn(from, command("ping"), ["-n", "-q", "-c", "1", "-W", "2", address]);
    return true;
  } catch {
    return false;
  }
}

/** Runs a command in the node and returns what it prints; throws what it reports. */
export async function runIn(node: LabNode, file: string, args: readonly string[], input = ""): Promise<string> {
  return enter(node.pid, [file, ...args], input);
}

async function enter(pid: number, argv: readonly string[], input: string | Buffer): Promise<string> {
  const args = [`--target=${pid}`, "--net", "--mount", "--uts", "--", ...argv];
  const running = promisify(execFile)(command("nsenter"), args, { timeout: 30_000, killSignal: "SIGKILL" });
  running.child.stdin?.on("error", () => {}); // a command that reads no input; its exit status tells the rest
  running.child.stdin?.end(input);
  return (await running).stdout;
}

/** Runs lines of `ip -batch` in the network namespace of a process. */
export async function ip(pid: number, lines: readonly string[]): Promise<void> {
  await enter(pid, [command("ip"), "-batch", "-"], lines.join("\n"));
}

/**
 * NetworkManager gives a NIC its link-local address while IPv6 is enabled. nmstatectl relies on that: with -k it takes the
 * kernel's own link-local address away, and then calls IPv6 without another address disabled. So the lab sets one, which
 * says that it comes from a foreign protocol: such addresses nmstatectl leaves alone.
 */
async function setLinkLocal(node: LabNode, nic: string, wanted: boolean): Promise<void> {
  const index = Number(await runIn(node, "cat", [`/sys/class/net/${nic}/ifindex`]).catch(() => 0));
  if (index === 0) return; // the state is about to create it
  await runIn(node, command("ip"), ["-6", "address", "flush", "dev", nic, "scope", "link"]);
  if (wanted) await enter(node.pid, [command("ip"), "address", "restore"], linkLocal(node.number, index));
}
