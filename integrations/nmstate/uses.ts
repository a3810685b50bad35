import {
  type Address,
  type Family,
  familyOf,
  type Issue,
  nodeOwner,
  type Parsed,
  parseAddress,
  parsePrefix,
  type Use,
  unwrap,
} from "../../core/index.ts";
import { type Findings, useOf } from "../../schema/findings.ts";
import { nameIssue } from "../../schema/names.ts";
import { type ClusterNode, childLabels, hostnameLabel } from "../../schema/node.ts";
import { asBag, asList, type Bag, type LocatedObject } from "../../schema/objects.ts";
import type { Path } from "../../schema/yaml.ts";
import { identifierOf, otherNames, reportedName } from "./nic-names.ts";
import { usesPools } from "./policy.ts";
import { doubtsAbout } from "./reported.ts";
import { asNumber, asTruth } from "./truth.ts";

/** The kinds that say what a node has. */
export const kindsWithAddresses = ["NodeNetworkState", "NodeNetworkConfigurationPolicy"];

/** What adds the addresses that a policy or a node's report shows; nothing for other kinds. */
export function usesOn(nodes: readonly ClusterNode[]): (object: LocatedObject, found: Findings) => void {
  const select = selecting(nodes);
  return (located, found) => {
    const { kind } = located.object;
    if (kind === "NodeNetworkState") readState(located, found);
    else if (kind === "NodeNetworkConfigurationPolicy") readPolicy(located, select, found);
  };
}

function readState({ object, at }: LocatedObject, found: Findings): void {
  found.speaks = true;
  const name = asBag(object.metadata)?.name;
  const status = asBag(object.status);
  const reported = asBag(status?.currentState)?.interfaces ?? [];
  const path = ["status", "currentState", "interfaces"];
  if (!Array.isArray(reported)) {
    found.issues.push({ message: "the interfaces of a NodeNetworkState must be a list", at: at(path, "interfaces") });
    return;
  }
  if (reported.length === 0) return;
  const issue = nameIssue(name);
  if (issue !== undefined) {
    found.issues.push({ message: `the name of a NodeNetworkState ${issue}`, at: at(["metadata"], "metadata") });
    return;
  }
  const owner = nodeOwner(name as string);
  const isHeard = !asList(status?.conditions).some(isFailing);
  const shown = (isHeard ? found.nodes.get(owner) : undefined) ?? new Map<string, Set<Family>>();
  if (isHeard) found.nodes.set(owner, shown);
  at(["status"], "interfaces");
  reported.forEach((item, i) => {
    for (const { message, path: inside } of doubtsAbout(item))
      found.issues.push({
        message: `node ${name}: ${message}`,
        at: at([...path, i, ...inside], `${inside.findLast((field) => typeof field === "string") ?? "interfaces"}`),
        hint: whole,
      });
    for (const entry of entriesOf(item, [...path, i])) {
      const use = useIn(entry, at, readAddress, found.issues);
      if (use !== undefined) found.uses.push({ ...use, owner, ...(isTemporary(entry) ? { isTemporary: true } : {}) });
    }
    show(shown, asBag(item) ?? {});
  });
  for (const [other, nic] of otherNames(reported)) {
    found.names.add(owner, other, nic);
    const families = shown.get(nic);
    if (families !== undefined && !shown.has(other)) shown.set(other, families);
  }
}

/**
 * Two interfaces of one name (an OVS bridge and its port) are one NIC here. One that is down, or that nmstate ignores, is
 * reported without addresses whatever its profile gives it: only one that is up tells.
 */
function show(shown: Map<string, Set<Family>>, nic: Bag): void {
  const { state = "up", ipv4, ipv6 } = nic;
  if (state !== "up") return;
  const name = `${reportedName(nic)}`;
  const families = shown.get(name) ?? new Set();
  if (asBag(ipv4) !== undefined) families.add(4);
  if (asBag(ipv6) !== undefined) families.add(6);
  shown.set(name, families);
}

const whole = "Give the dump as it came: kubectl get nns -o json.";

function isFailing(condition: unknown): boolean {
  const { type, status } = asBag(condition) ?? {};
  return type === "Failing" && status === "True";
}

function readPolicy({ object, at }: LocatedObject, select: Select, found: Findings): void {
  found.speaks = true;
  const spec = asBag(object.spec);
  const interfaces = asList(asBag(spec?.desiredState)?.interfaces);
  const entries = interfaces.flatMap((item, i) => entriesOf(item, ["spec", "desiredState", "interfaces", i]));
  const isTemplate = ({ ip }: Entry) => typeof ip !== "string" || /[{}$<>%]/.test(ip);
  const isOff = ({ nic, section }: Entry) => nic.state === "absent" || asTruth(section.enabled) === false;
  for (const { ip } of entries.filter(isOff)) {
    const address = readAddress(ip).value;
    if (address !== undefined) found.idle.add(address);
  }
  const literal = entries.filter((entry) => !isTemplate(entry) && !isOff(entry));
  const identified = interfaces.flatMap((item): [string, string][] => {
    const { name, ...entry } = asBag(item) ?? {};
    const mark = identifierOf(entry);
    return mark === undefined || typeof name !== "string" ? [] : [[name, mark]];
  });
  if (literal.length + identified.length === 0) return;
  const label = asBag(asBag(object.metadata)?.labels)?.[childLabels.node];
  const owners = select(asBag(spec?.nodeSelector) ?? {}, label);
  for (const owner of owners) for (const [name, mark] of identified) found.names.add(owner, name, mark);
  at(["spec"], "desiredState");
  const isOurs = usesPools(object);
  for (const entry of literal) {
    const read = isOurs ? parseAddress : readAddress;
    const use = useIn(entry, at, read, isOurs ? found.issues : found.unreadable);
    if (use !== undefined) for (const owner of owners) found.uses.push(owner === undefined ? use : { ...use, owner });
  }
}

/**
 * The owners a selector selects; one `undefined` where that cannot be told. `label` is the node that a rendered policy
 * says it is for: of a hostname that no known node has, it tells which part is the name.
 */
type Select = (selector: Bag, label: unknown) => (string | undefined)[];

/** Selects of these nodes. By hostname at once: a fleet has thousands of policies, each for one node. */
function selecting(nodes: readonly ClusterNode[]): Select {
  const byHostname = Map.groupBy(nodes, (node): unknown => node.labels.get(hostnameLabel));
  const isAnyBare = nodes.some((node) => node.bare);
  return (selector, label) => {
    const hostname = selector[hostnameLabel];
    const named = hostname === undefined ? [] : (byHostname.get(hostname) ?? []);
    if (named.length > 0) return named.map((node) => nodeOwner(node.name));
    if (typeof hostname === "string" && hostname.startsWith(`${label}.`)) return [nodeOwner(label as string)];
    if (hostname !== undefined) return [nameIssue(hostname) === undefined ? nodeOwner(hostname as string) : undefined];
    const labels = Object.entries(selector);
    if (nodes.length === 0 || (labels.length > 0 && isAnyBare)) return [undefined];
    return nodes
      .filter((node) => labels.every(([key, value]) => node.labels.get(key) === value))
      .map((node) => nodeOwner(node.name));
  };
}

/** Does the node report for how long it has the address? It does that of all, and writes `forever` for static ones. */
function isTemporary({ item }: Entry): boolean {
  const left = lifeTimes.map((field) => item[field] ?? undefined).find((value) => value !== undefined);
  return left !== undefined && left !== "forever";
}

/** All names that nmstate has for it. */
const lifeTimes = ["valid", "preferred"].flatMap((one) => [`${one}-life-time`, `${one}-left`, `${one}-lft`]);

/** One item of an address list. */
interface Entry {
  readonly nic: Bag;
  readonly section: Bag;
  readonly item: Bag;
  readonly ip: unknown;
  readonly path: Path;
}

/** All items of the address lists of an interface, in the order of the text. */
function entriesOf(item: unknown, path: Path): Entry[] {
  const nic = asBag(item) ?? {};
  return Object.entries(nic).flatMap(([name, value]) => {
    const section = asBag(value);
    if (section === undefined || (name !== "ipv4" && name !== "ipv6")) return [];
    return asList(section.address).map((entry, j) => {
      const item = asBag(entry) ?? {};
      return { nic, section, item, ip: item.ip, path: [...path, name, "address", j, "ip"] };
    });
  });
}

/** The use that an item of an address list is, if it is one: of its own accord a node has loopback and link-local addresses. */
function useIn(
  { nic, item, ip, path }: Entry,
  at: LocatedObject["at"],
  read: (text: unknown) => Parsed<Address>,
  issues: Issue[],
): Use | undefined {
  if (typeof ip !== "string" || isSelfMade(readAddress(ip).value)) return undefined;
  const place = at(path, ip);
  const address = ip.startsWith("ippool:")
    ? { issues: [{ message: `${ip} is a token, and no address yet` }] }
    : read(ip);
  for (const issue of address.issues ?? []) issues.push({ ...issue, at: place });
  if (address.issues) return undefined;
  const prefixLength = asNumber(item["prefix-length"]);
  const use = useOf(address.value, undefined, reportedName(nic), place);
  return prefixLength === undefined ? use : { ...use, prefixLength };
}

function isSelfMade(address: Address | undefined): boolean {
  return address !== undefined && selfMade.some(({ first, last }) => first <= address && address <= last);
}

const selfMade = ["127.0.0.0/8", "fe80::/10", "::1/128"].map((text) => unwrap(parsePrefix(text)));

/** An address as nmstate reads it: the last 32 bits of an IPv6 one may be written as IPv4. */
function readAddress(text: unknown): Parsed<Address> {
  const [, head = "", tail] = (typeof text === "string" ? /^([\da-f:]*:)([\d.]{7,15})$/i.exec(text) : null) ?? [];
  const { value } = parseAddress(tail);
  if (value === undefined || familyOf(value) !== 4) return parseAddress(text);
  return parseAddress(`${head}${(value >> 16n).toString(16)}:${(value & 0xffffn).toString(16)}`);
}
