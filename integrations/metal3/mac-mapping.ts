import type { Unit } from "./infra.ts";

/**
 * A script that is the same on all hosts of a unit: it finds by the MAC addresses which of them it runs on, and writes the
 * mapping of that one, in quotes: YAML 1.1 reads 10:11:22:33:44:55 as a number and `on` as true. NICs that are called so
 * already need none. It uses sh and python3 alone. If no host fits, or two do, or a NIC is missing, it prints that and exits with 1.
 */
export function mappingScript({ name, hosts }: Pick<Unit, "name" | "hosts">): string {
  const lines = hosts.map(
    (host) => `    ${JSON.stringify(host.name)}: ${JSON.stringify(Object.fromEntries(host.macs))},\n`,
  );
  return script.replace("UNIT", name).replace("HOSTS", lines.join(""));
}

const script = `#!/bin/sh
# Finds by its MAC addresses which host of UNIT this is, and writes what os-net-config calls its NICs.
exec python3 - <<'END'
import glob, os, sys
hosts = {
HOSTS}
here = {}
# The member of a bond shows the MAC address of the bond, and its own one elsewhere.
for path in glob.glob("/sys/class/net/*/address") + glob.glob("/sys/class/net/*/bonding_slave/perm_hwaddr"):
    try:
        with open(path) as f:
            here[f.read().strip().lower()] = path.split("/")[4]
    except OSError:
        pass
found = [name for name in hosts if set(here) & set(hosts[name].values())]
if len(found) != 1:
    what = "MAC addresses of " + ", ".join(found) if found else "none of the MAC addresses of these hosts"
    sys.exit("this machine has " + what + "; it has " + ", ".join(sorted(here)))
nics = hosts[found[0]]
missing = [nic + " " + nics[nic] for nic in nics if nics[nic] not in here]
if missing:
    sys.exit(found[0] + " lacks " + ", ".join(missing))
# os-net-config refuses an alias that is the name of a NIC in use, be it that very one.
lines = ['  "%s": "%s"\\n' % (nic, nics[nic]) for nic in nics if here[nics[nic]] != nic]
os.makedirs("/etc/os-net-config", exist_ok=True)
with open("/etc/os-net-config/mapping.yaml", "w") as f:
    f.write("interface_mapping:\\n" + "".join(lines) if lines else "interface_mapping: {}\\n")
END
`;
