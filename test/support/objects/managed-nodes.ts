import { execFile } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { startDaemon } from "../cluster/daemon.ts";
import { type Held, hold } from "../controller/hold.ts";
import { bridgeCommands, ip, type LabNode, runIn } from "../real/lab.ts";
import { networkManagerFolder } from "../real/network-manager.ts";
import { command, MissingPart, tool } from "../tools/tools.ts";
import { until } from "../until.ts";

/** The address of the switch: gateway and DNS server of the nodes, and where they reach the API server. */
export const gateway = "192.168.100.254";

const nics = ["eth0", "eth1", "eth2"];

/**
 * Nodes that are namespaces of this machine, each with a NetworkManager of its own. eth0 has an address and leads to the
 * gateway; eth1 and eth2 are for policies. The NICs of one name share one bridge of the switch, another namespace. All of
 * it ends with the processes that hold the namespaces, at the latest with this process.
 */
export interface ManagedNodes {
  /** The process that holds the network namespace of the switch. */
  readonly switchPid: number;
  add(name: string): Promise<LabNode>;
  remove(node: LabNode): Promise<void>;
  /** Brings a NIC back that was pulled, and NetworkManager its profile, as it does by itself when a machine starts. */
  plug(node: LabNode, nic: string): Promise<void>;
  close(): Promise<void>;
}

/** A node sees its own folder in `folder` as /run/share; the logs of its daemons are there. */
export async function createManagedNodes(folder: string): Promise<ManagedNodes> {
  if (process.getuid?.() !== 0) throw new MissingPart("network namespaces need root");
  command("dbus-daemon");
  const parts = { root: await networkManagerFolder(), nmstatectl: await tool("nmstatectl") };
  const handler = await tool("nmstate-handler");
  const held = new Map<string, Held>();
  const center = await hold(command("unshare"), ["--net"], ":");
  held.set("", center);
  const close = async () => void (await Promise.all([...held.values()].map((one) => one.release())));
  try {
    await ip(center.pid, ["link set lo up", ...nics.flatMap(bridgeCommands), `address add ${gateway}/24 dev eth0`]);
  } catch (error) {
    await close();
    throw error;
  }
  let count = 0;
  return {
    switchPid: center.pid,
    async add(name) {
      const number = ++count;
      const own = join(folder, name);
      mkdirSync(own, { recursive: true });
      const process = await hold(command("unshare"), namespaces, nodeScript(name, number, own, { ...parts, handler }));
      held.set(name, process);
      const node = { name, number, pid: childOf(process.pid) };
      await startNetworkManager(node, center.pid);
      return node;
    },
    async remove({ name }) {
      await held.get(name)?.release();
      held.delete(name);
    },
    async plug(node, nic) {
      await plug(node, [nic], center.pid);
      const [file = "", ...args] = insideOf(node);
      const up = ["/usr/bin/nmcli", "--wait", "10", "connection", "up", nic];
      await promisify(execFile)(file, [...args, ...up], { timeout: 20_000 });
    },
    close,
  };
}

/** In the namespaces of a node, also that of processes: they end with its first one. */
export function insideOf({ pid }: LabNode): string[] {
  return [command("nsenter"), `--target=${pid}`, "--net", "--mount", "--uts", "--pid", "--"];
}

const namespaces = ["--net", "--mount", "--uts", "--pid", "--fork", "--kill-child", "--mount-proc"];

interface Parts {
  /** Has NetworkManager in `usr` and `etc`. */
  readonly root: string;
  readonly nmstatectl: string;
  readonly handler: string;
}

/**
 * Makes a node's file system and starts its D-Bus. Where /sys is read-only, NetworkManager does without udev. /tmp is
 * the node's own because a handler writes there; the handler's name tells the API server which node it is of.
 */
function nodeScript(name: string, number: number, folder: string, parts: Parts): string {
  return `
    echo ${name} > /proc/sys/kernel/hostname
    echo 0 > /proc/sys/net/ipv6/conf/default/accept_dad
    mount -t sysfs -o ro sysfs /sys
    mount -t tmpfs tmpfs /run
    mkdir -p /run/share /run/bin /run/dbus /run/upper /run/work
    mount --bind ${folder} /run/share
    touch /run/bin/handler-${name} /run/bin/nmstatectl
    mount --bind ${parts.handler} /run/bin/handler-${name}
    mount --bind ${parts.nmstatectl} /run/bin/nmstatectl
    mount -t overlay -o lowerdir=${parts.root}/etc:/etc,upperdir=/run/upper,workdir=/run/work overlay /etc
    mount -t overlay -o lowerdir=${parts.root}/usr:/usr overlay /usr
    mount -t tmpfs tmpfs /var/lib
    mount -t tmpfs tmpfs /tmp
    mkdir -p /var/lib/NetworkManager /etc/NetworkManager/system-connections
    echo ${name} > /etc/hostname
    cat > /run/dbus.conf <<'EOF'
${dbusConfig}
EOF
    cat > /etc/NetworkManager/NetworkManager.conf <<'EOF'
${managerConfig}
EOF
    cat > /etc/NetworkManager/system-connections/eth0.nmconnection <<'EOF'
${profileOf(number)}
EOF
    chmod 600 /etc/NetworkManager/system-connections/eth0.nmconnection
    dbus-daemon --config-file=/run/dbus.conf --fork --nopidfile 2>/run/share/dbus.log`;
}

const dbusConfig = `<busconfig>
  <type>system</type>
  <listen>unix:path=/run/dbus/system_bus_socket</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow user="*"/>
    <allow own="*"/>
    <allow send_type="method_call"/>
    <allow send_destination="*" eavesdrop="false"/>
    <allow receive_sender="*"/>
  </policy>
</busconfig>`;

const managerConfig = `[main]
plugins=keyfile
no-auto-default=*
hostname-mode=none
auth-polkit=false
[logging]
level=INFO`;

function profileOf(number: number): string {
  return `[connection]
id=eth0
type=ethernet
interface-name=eth0
[ipv4]
method=manual
address1=192.168.100.${number}/24,${gateway}
dns=${gateway};
[ipv6]
method=link-local`;
}

async function plug(node: LabNode, names: readonly string[], switchPid: number): Promise<void> {
  const lines = names.flatMap((nic) => {
    const port = `${nic}-${node.number}`;
    return [`link add ${port} type veth peer name ${nic} netns ${node.pid}`, `link set ${port} master ${nic} up`];
  });
  await ip(switchPid, lines);
}

async function startNetworkManager(node: LabNode, switchPid: number): Promise<void> {
  await plug(node, nics, switchPid);
  await ip(node.pid, ["link set lo up"]);
  const log = "/run/share/network-manager.log";
  await startDaemon("/usr/sbin/NetworkManager", ["--no-daemon"], log, { within: insideOf(node) });
  const address = () => runIn(node, command("ip"), ["-brief", "address", "show", "eth0"]);
  await until(async () => (await address()).includes("192.168.100."), `eth0 of ${node.name} has its address`, 20_000);
}

/** unshare waits for its only child, which holds the namespaces. */
function childOf(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8"));
}
