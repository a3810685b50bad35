import type { Parsed } from "../../core/index.ts";
import type { Device } from "./device.ts";
import { inexpressible } from "./inexpressible.ts";

/**
 * The options of a bond, as the links of network data have them: `bond_mode`, and `bond_<option>` for each other one of the
 * kernel. All that a bond of the kernel does not have is an issue.
 *
 *  os-net-config                              | mode
 *  -------------------------------------------+---------------------------------------------------
 *  linux_bond, bonding_options: mode=4 a=b    | 802.3ad, and bond_a: b; balance-rr where none is given
 *  ovs_bond, ovs_options: bond_mode=...       | active-backup, which is also the default
 *   balance-tcp (and lacp)                    | 802.3ad over layers 3 and 4
 *   balance-slb, other options                | an issue
 */
export function bondOptions(bond: Device): Parsed<Readonly<Record<string, string>>> {
  const isOvs = bond.type === "ovs_bond";
  const field = isOvs ? "ovs_options" : "bonding_options";
  const words = `${bond.fields[field] ?? ""}`.split(/\s+/).filter((word) => word !== "");
  const options = new Map(words.map((word) => [word.replace(/=.*$/s, ""), word.slice(word.indexOf("=") + 1)]));
  const path = [...bond.path, field];
  const mode = options.get(isOvs ? "bond_mode" : "mode") ?? (isOvs ? "active-backup" : "balance-rr");
  options.delete(isOvs ? "bond_mode" : "mode");
  if (isOvs) {
    const isLacp = mode === "balance-tcp";
    if (isLacp) options.delete("lacp");
    const [more] = options.keys();
    if (more !== undefined) return { issues: [inexpressible(`network data has no ${more} of ovs_bond`, path)] };
    if (mode === "active-backup") return { value: { bond_mode: mode } };
    if (isLacp) return { value: { bond_mode: "802.3ad", bond_xmit_hash_policy: "layer3+4" } };
    return { issues: [inexpressible(`a bond of the kernel has no mode ${mode}`, path)] };
  }
  const name = /^\d$/.test(mode) ? modes[Number(mode)] : modes.find((one) => one === mode);
  if (name === undefined) return { issues: [{ message: `a bond has no mode ${mode}`, path }] };
  const others = [...options].map(([option, value]) => [`bond_${option}`, value]);
  return { value: { bond_mode: name, ...Object.fromEntries(others) } };
}

/** As the kernel numbers them. */
const modes = ["balance-rr", "active-backup", "balance-xor", "broadcast", "802.3ad", "balance-tlb", "balance-alb"];
