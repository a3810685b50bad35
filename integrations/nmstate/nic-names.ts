import { asNic, type Nic } from "./objects.ts";

/** Returns the name of a NIC in a report; undefined if it is no name. YAML reads `101` and `true` as other types. */
export function reportedName({ name }: { readonly name?: unknown }): string | undefined {
  return name === undefined || (typeof name === "object" && name !== null) ? undefined : String(name);
}

/**
 * The other names that a node's report gives its NICs, each with the name that the NIC has there: those that nmstate
 * resolves in a policy. A name that another NIC has itself is that one's.
 *
 *  in a policy                                        | in the report
 *  ---------------------------------------------------+----------------------------------------------
 *  name: ens18                                        | alt-names: [{name: ens18}]
 *  name: storage, found by its MAC or PCI address     | profile-name: storage, and the same identifier
 *  identifier: mac-address, or pci-address            | permanent-mac-address, mac-address, pci-address
 *  name: sriov:eth1:0                                 | the virtual functions of eth1
 */
export function otherNames(reported: readonly unknown[]): [name: string, nic: string][] {
  const nics = reported.flatMap((item): { nic: Nic; name: string }[] => {
    const nic = asNic(item);
    const name = reportedName(nic);
    return name === undefined ? [] : [{ nic, name }];
  });
  const own = new Set(nics.map(({ name }) => name));
  const names = nics.flatMap(({ nic, name }) => [...namesOf(nic, name), ...permanentOf(nic, name)]);
  // Ports and VLANs have the MAC address of the NIC below, too.
  const lasting = nics.flatMap(({ nic, name }) => markOf("mac-address", nic["mac-address"], name));
  const found = new Map<string, string>();
  for (const [other, nic] of [...names, ...lasting]) if (!own.has(other) && !found.has(other)) found.set(other, nic);
  return [...found];
}

type Identified = { readonly [field in "identifier" | "mac-address" | "pci-address"]?: unknown };

/** Returns how a policy finds a NIC other than by its name, in the terms of `otherNames`. */
export function identifierOf(entry: Identified): string | undefined {
  const { identifier } = entry;
  if (identifier !== "mac-address" && identifier !== "pci-address") return undefined;
  return markOf(identifier, entry[identifier], "")[0]?.[0];
}

function namesOf(nic: Nic, name: string): [string, string][] {
  const alternative = nic["alt-names"].map(reportedName);
  const profile = identifierOf(nic) === undefined ? undefined : nic["profile-name"];
  return [
    ...[...alternative, profile].flatMap((other): [string, string][] =>
      typeof other === "string" && other !== "" ? [[other, name]] : [],
    ),
    ...nic.ethernet["sr-iov"].vfs.flatMap(({ id, "iface-name": virtual }): [string, string][] =>
      typeof virtual === "string" && virtual !== "" ? [[`sriov:${name}:${id}`, virtual]] : [],
    ),
  ];
}

function permanentOf(nic: Nic, name: string): [string, string][] {
  return [
    ...markOf("mac-address", nic["permanent-mac-address"], name),
    ...markOf("pci-address", nic["pci-address"], name),
  ];
}

function markOf(identifier: string, value: unknown, name: string): [string, string][] {
  if (typeof value !== "string" || value === "") return [];
  const text = value.toLowerCase();
  // The domain of a PCI address may be left out.
  const full = identifier === "pci-address" && /^[^:]*:[^:]*$/.test(text) ? `0000:${text}` : text;
  return [[`${identifier} ${full}`, name]];
}
