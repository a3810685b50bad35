import { type Issue, isPlain } from "../../core/index.ts";
import { asBag } from "../../schema/objects.ts";
import { mapping, raw } from "../../schema/shape.ts";
import { hasTemplate } from "../../schema/template.ts";
import type { Path } from "../../schema/yaml.ts";
import { asDesiredState, type Nic } from "./objects.ts";
import { asTruth } from "./truth.ts";

/** Returns what is malformed in a desired state, where rendering and clean-up rely on its form. */
export function stateIssues(desiredState: unknown): Issue[] {
  return [
    ...[["interfaces"], ["routes", "config"]].flatMap((path) => listIssue(desiredState, path) ?? []),
    ...interfaceIssues(asDesiredState(desiredState).interfaces),
    ...textIssues(desiredState, []),
  ];
}

/** Where nmstate has a list of mappings, or a capture that is one. */
function listIssue(desiredState: unknown, path: readonly string[]): Issue | undefined {
  const value = path.reduce<unknown>((bag, field) => asBag(bag)?.[field], desiredState);
  const isList = Array.isArray(value) && value.every((item) => asBag(item) !== undefined);
  if (value === undefined || value === null || isList || hasTemplate(value)) return undefined;
  return { message: `${path.at(-1)} must be a list of mappings`, path };
}

/** Returns the issues of interfaces. nmstate silently takes the last of two entries for a NIC. An OVS bridge may share a name with its own port. */
function interfaceIssues(entries: readonly Nic[]): Issue[] {
  const seen = new Map<string, number>();
  return entries.flatMap((entry, i): Issue[] => {
    const root = ["interfaces", i];
    const issues = (["ipv4", "ipv6"] as const).flatMap((family) => familyIssues(raw(entry)[family], [...root, family]));
    const { name, type } = entry;
    if (typeof name !== "string") return issues;
    if (name === "" || !isPlain(name))
      return [
        ...issues,
        { message: `the name of an interface cannot be printed: ${JSON.stringify(name)}`, path: [...root, "name"] },
      ];
    const nic = `${type === "ovs-bridge" ? "bridge" : "interface"} ${name}`;
    const first = seen.get(nic);
    if (first === undefined) seen.set(nic, i);
    const twice = `${nic} is listed twice, here and as interfaces[${first}]; make one entry of both`;
    return first === undefined ? issues : [...issues, { message: twice, path: [...root, "name"] }];
  });
}

const truths = ["enabled", "dhcp", "autoconf"];

/** A file that is cut off ends in a field without its value, or with half of one. */
function familyIssues(family: unknown, path: Path): Issue[] {
  if (family === null) return [{ message: `${path.at(-1)} has no value`, path }];
  return Object.entries(mapping(family)).flatMap(([field, value]): Issue[] => {
    const issue = (what: string) => [{ message: `${field} ${what}`, path: [...path, field] }];
    if (value === null) return issue("has no value");
    const isTruth = value === undefined || hasTemplate(value) || asTruth(value) !== undefined;
    return truths.includes(field) && !isTruth ? issue("must be true or false") : [];
  });
}

/** Fields of a desired state that are text wherever they are. */
const texts: ReadonlySet<string> = new Set([
  ...["name", "profile-name", "description", "controller", "base-iface", "copy-mac-from", "mac-address", "pci-address"],
  ...["ip", "destination", "next-hop-interface", "next-hop-address", "vrf-name", "peer", "port1", "port2", "interlink"],
]);

/** nmstate takes no number and no truth for a text: `name: 101`, `1e3` or `true`; and none has the name `~`. */
function textIssues(value: unknown, path: Path): Issue[] {
  if (Array.isArray(value)) return value.flatMap((item, i) => textIssues(item, [...path, i]));
  const bag = asBag(value);
  if (bag !== undefined)
    return Object.entries(bag).flatMap(([field, item]) =>
      field === "ovs-db" ? [] : textIssues(item, [...path, field]),
    );
  const [field] = path.slice(-1);
  const isItem = typeof field === "number" && ["port", "ports"].includes(`${path.at(-2)}`);
  if (!isItem && !texts.has(`${field}`)) return [];
  const isText = typeof value === "string" || value === undefined || (value === null && field !== "name");
  return isText ? [] : [{ message: `${isItem ? "a port" : field} must be text; quote it`, path }];
}
