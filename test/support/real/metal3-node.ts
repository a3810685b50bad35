import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { cloudInitFolder, pythonFolder } from "../tools/python-tools.ts";
import { command, MissingPart } from "../tools/tools.ts";

const run = promisify(execFile);

/** A machine with NICs of its own, an empty /etc, and the commands of this one; gone when they have run. */
export interface MetalMachine {
  /** MAC address by name. */
  readonly nics: Readonly<Record<string, string>>;
  /** Texts by path, for the commands to read. */
  readonly files: Readonly<Record<string, string>>;
}

/** What a shell script prints on such a machine, and how it ends. */
export async function onMachine({ nics, files }: MetalMachine, script: string) {
  if (process.getuid?.() !== 0) throw new MissingPart("network namespaces need root");
  const lines = [
    "set -e",
    "mount -t tmpfs none /etc",
    "mount -t sysfs none /sys",
    ...Object.entries(nics).flatMap(([name, mac], i) => [
      `ip link add name ${name} address ${mac} type veth peer name peer${i}`,
      `ip link set dev ${name} up`,
      `ip link set dev peer${i} up`,
    ]),
    ...Object.entries(files).map(([path, text]) => `printf %s ${quoted(text)} > ${path}`),
    "set +e",
    script,
  ];
  const PYTHONPATH = [await cloudInitFolder(), await pythonFolder()].join(":");
  const env = { ...process.env, PYTHONPATH, PYTHONDONTWRITEBYTECODE: "1" };
  const started = run(command("unshare"), ["--net", "--mount", "sh", "-c", lines.join("\n")], {
    env,
    timeout: 120_000,
  });
  const {
    stdout,
    stderr,
    code = 0,
  } = await started.then(
    (done) => ({ ...done, code: 0 }),
    (error: { stdout: string; stderr: string; code?: number }) => error,
  );
  return { stdout, stderr, code };
}

/** os-net-config, which takes for NICs only what has a device on a bus, and wants Open vSwitch installed; a virtual machine has neither. */
export function osNetConfigCommand(...args: readonly string[]): string {
  const program = [
    "import os, sys, os_net_config.utils as u",
    "u.is_ovs_installed = lambda: True",
    'u.is_real_nic = lambda name: os.path.exists("/sys/class/net/" + name)',
    "from os_net_config import cli",
    "sys.exit(cli.main(sys.argv))",
  ];
  return `python3 -c ${quoted(program.join("\n"))} ${args.map(quoted).join(" ")}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
