import { type Address, formatAddress, IpamError, listed } from "../../core/index.ts";
import { didYouMean } from "../../schema/nearest.ts";
import { asBag, asList } from "../../schema/objects.ts";
import type { Path } from "../../schema/yaml.ts";
import type { Network } from "./infra.ts";
import { asDeviceAddress } from "./objects.ts";

const configFields = ["gateway", "dnsServers"] as const;

/**
 * What a template of a network configuration stands for:
 *
 *     {{ ip['net0'] }}                  the address of the host and the prefix length: 192.168.0.10/24
 *     {{ config['net0'].gateway }}      192.168.0.1
 *     {{ config['net0'].dnsServers }}   a list
 */
export interface NetworkReference {
  readonly network: string;
  readonly field: "ip" | (typeof configFields)[number];
}

const form = /^\{\{\s*(ip|config)\s*\[\s*(?:'([^'"{}]*)'|"([^'"{}]*)")\s*\]\s*(?:\.\s*(\w+)\s*)?\}\}$/;
const whole =
  "a template is the whole value: {{ ip['NET'] }}, {{ config['NET'].gateway }} or {{ config['NET'].dnsServers }}";

const joined =
  "lists are joined as items of one list: [\"{{ config['A'].dnsServers }}\", \"{{ config['B'].dnsServers }}\"]";

/** Reads one scalar; undefined where it is no template. There is no other template language here. */
export function readNetworkTemplate(text: string): NetworkReference | { readonly why: string } | undefined {
  if (!text.includes("{{")) return undefined;
  const [matched, root, single, double, field] = form.exec(text) ?? [];
  const network = single ?? double ?? "";
  if (matched === undefined && /dnsServers.*dnsServers/s.test(text)) return { why: joined };
  if (matched === undefined || (root === "ip") !== (field === undefined)) return { why: whole };
  if (field === undefined) return { network, field: "ip" };
  const known = configFields.find((one) => one === field);
  if (known !== undefined) return { network, field: known };
  return { why: `config has the fields ${listed(configFields)}, not ${field}${didYouMean(field, configFields)}` };
}

/** Every template in plain data: a reference, or why it is none, with its path. */
export function templatesIn(
  value: unknown,
  path: Path = [],
): ({ path: Path } & (NetworkReference | { why: string }))[] {
  if (typeof value === "string") {
    const read = readNetworkTemplate(value);
    return read === undefined ? [] : [{ ...read, path }];
  }
  if (typeof value !== "object" || value === null) return [];
  const entries = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return entries.flatMap(([key, item]) => [
    ...(`${key}`.includes("{{") ? [{ why: whole, path: [...path, key] }] : []),
    ...templatesIn(item, [...path, key]),
  ]);
}

/** Every address of a device that is written out instead, with its path. */
export function writtenAddresses(value: unknown, path: Path): { readonly text: string; readonly path: Path }[] {
  if (typeof value !== "object" || value === null) return [];
  const entries = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return entries.flatMap(([key, item]) => {
    const own = key === "addresses" ? asList(item).map((one) => asDeviceAddress(one).ip_netmask) : [];
    const written = own.flatMap((text, i) =>
      typeof text !== "string" || text.includes("{{") ? [] : [{ text, path: [...path, key, i, "ip_netmask"] }],
    );
    return [...written, ...writtenAddresses(item, [...path, key])];
  });
}

/** Returns the networks that a configuration takes an address of, in order, each once. */
export function networksOf(networkConfig: readonly unknown[]): string[] {
  const found = templatesIn(networkConfig).flatMap((one) =>
    "network" in one && one.field === "ip" ? [one.network] : [],
  );
  return [...new Set(found)];
}

/** Returns the value of a reference; undefined if the network does not have it. */
export function literalFor(
  { network, field }: NetworkReference,
  networks: ReadonlyMap<string, Network>,
  addresses: ReadonlyMap<string, Address>,
): string | string[] | undefined {
  const { pool, dnsServers = [] } = networks.get(network) ?? {};
  const address = addresses.get(network);
  if (field === "dnsServers") return dnsServers.length === 0 ? undefined : dnsServers.map(formatAddress);
  if (field === "gateway") return pool?.gateway === undefined ? undefined : formatAddress(pool.gateway);
  return pool === undefined || address === undefined ? undefined : `${formatAddress(address)}/${pool.prefix.length}`;
}

/**
 * A copy of plain data with every template replaced; each value keeps its type. A list whose items stand for lists is all of
 * their items, each once.
 * Throws IpamError `invalid` for an address that is missing, or for what parsing refuses.
 */
export function fillTemplates(
  value: unknown,
  networks: ReadonlyMap<string, Network>,
  addresses: ReadonlyMap<string, Address>,
): unknown {
  if (typeof value === "string") {
    const read = readNetworkTemplate(value);
    const filled = read !== undefined && "network" in read ? literalFor(read, networks, addresses) : undefined;
    if (read !== undefined && filled === undefined) throw new IpamError("invalid", `there is no value for ${value}`);
    return filled ?? value;
  }
  if (Array.isArray(value)) {
    const items = value.map((item) => ({ item, filled: fillTemplates(item, networks, addresses) }));
    const isJoined = items.some(({ item, filled }) => Array.isArray(filled) && !Array.isArray(item));
    const all = items.flatMap(({ item, filled }) => (Array.isArray(item) ? [filled] : filled));
    return isJoined ? [...new Set(all)] : all;
  }
  const bag = asBag(value);
  if (bag === undefined) return value;
  return Object.fromEntries(Object.entries(bag).map(([key, item]) => [key, fillTemplates(item, networks, addresses)]));
}
