import { nodeOwner, parseAddress } from "../../core/index.ts";
import type { Findings } from "../../schema/findings.ts";
import { nameIssue } from "../../schema/names.ts";
import { type ClusterNode, childLabels, hostnameLabel } from "../../schema/node.ts";
import type { Bag, LocatedObject } from "../../schema/objects.ts";
import type { UseReader } from "../contract/integration.ts";
import { isManaged } from "../contract/managed-by.ts";
import { labelsOf } from "../contract/object-metadata.ts";
import { nodeOf, owningNode } from "./child.ts";
import { entriesOf, type ListedAddress, readAddress, useIn } from "./listed-address.ts";
import { identifierOf } from "./nic-names.ts";
import { asDesiredState, asPolicy } from "./objects.ts";
import { usesPools } from "./policy.ts";
import { asTruth } from "./truth.ts";

/** Returns what adds the addresses that a policy shows to findings, where these are the nodes. */
export function usesOfPolicies(nodes: readonly ClusterNode[]): UseReader {
  const select = selecting(nodes);
  return (policy, found) => readPolicy(policy, select, found);
}

function readPolicy({ object, at }: LocatedObject, select: Select, found: Findings): void {
  found.speaks = true;
  const { interfaces } = asDesiredState(asPolicy(object).spec.desiredState);
  const entries = interfaces.flatMap((item, i) => entriesOf(item, ["spec", "desiredState", "interfaces", i]));
  const isTemplate = ({ ip }: ListedAddress) => typeof ip !== "string" || /[{}$<>%]/.test(ip);
  const isOff = ({ nic, section }: ListedAddress) => nic.state === "absent" || asTruth(section.enabled) === false;
  for (const { ip } of entries.filter(isOff)) {
    const address = readAddress(ip).value;
    if (address !== undefined) found.idle.add(address);
  }
  const literal = entries.filter((entry) => !isTemplate(entry) && !isOff(entry));
  const identified = interfaces.flatMap((nic): [string, string][] => {
    const { name } = nic;
    const mark = identifierOf(nic);
    return mark === undefined || typeof name !== "string" ? [] : [[name, mark]];
  });
  if (literal.length + identified.length === 0) return;
  const owners = ownersOf(object, select);
  for (const owner of owners) for (const [name, mark] of identified) found.names.add(owner, name, mark);
  at(["spec"], "desiredState");
  const isOurs = usesPools(object);
  for (const entry of literal) {
    const read = isOurs ? parseAddress : readAddress;
    const use = useIn(entry, at, read, isOurs ? found.issues : found.unreadable);
    if (use !== undefined) for (const owner of owners) found.uses.push(owner === undefined ? use : { ...use, owner });
  }
}

/** In a cluster a policy made for a node belongs to it, whatever its hostname label; also one that a backup brought back without owner. */
function ownersOf(object: Bag, select: Select): (string | undefined)[] {
  const node = isManaged(object) ? nodeOf(object) : owningNode(object);
  if (typeof node === "string") return [nodeOwner(node)];
  return select(asPolicy(object).spec.nodeSelector, labelsOf(object)[childLabels.node]);
}

/**
 * Returns the owners that a selector selects; one `undefined` if they are unknown. `label` is the node in the label of a rendered
 * policy: it shows which part of a hostname that no known node has is the node's name.
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
    if (typeof hostname === "string" && hostname.startsWith(`${label}.`)) return [nodeOwner(`${label}`)];
    if (hostname !== undefined) return [nameIssue(hostname) === undefined ? nodeOwner(`${hostname}`) : undefined];
    const labels = Object.entries(selector);
    if (nodes.length === 0 || (labels.length > 0 && isAnyBare)) return [undefined];
    return nodes
      .filter((node) => labels.every(([key, value]) => node.labels.get(key) === value))
      .map((node) => nodeOwner(node.name));
  };
}
