import type { Issue, NamedPools, Parsed } from "../../core/index.ts";
import { parseJson } from "../../schema/json.ts";
import { ownPrefix } from "../../schema/node.ts";
import { asBag, asList, type Bag } from "../../schema/objects.ts";
import { list, type Of } from "../../schema/shape.ts";
import { boundPools, poolAnnotation } from "../networks/bound-pools.ts";
import { asNamedPools } from "./objects.ts";

/** What the annotations of Spiderpool begin with. */
const spiderpool = "ipam.spidernet.io/";

/** Returns whether an annotation is one of Spiderpool's. */
export function isOfSpiderpool(annotation: string): boolean {
  return annotation.startsWith(spiderpool);
}

/** How many addresses the pods of a Deployment have in all. */
export const countAnnotation = `${spiderpool}ippool-ip-number`;

/** On a pod, and in a template: the checks in the pod before it starts, `conflict`, `gateway`, both, or `none`. */
export const detectAnnotation = `${ownPrefix}detect`;

/** Returns the annotations of a pod that request pools, or checks of their addresses. */
export function aboutPools(annotations: Bag): Bag {
  const isAbout = (name: string) => name === poolAnnotation || name === detectAnnotation || isOfSpiderpool(name);
  const own = Object.entries(annotations).filter(([name]) => isAbout(name));
  return Object.fromEntries(own);
}

/** The NIC of a pod: its name in the pod, and its place among those that Multus attaches. */
export interface NicOfPod {
  readonly nic: string;
  readonly place: number;
}

/**
 * Parses the pools that the annotations of a pod request for one of its NICs. Spiderpool's are read as Spiderpool reads them.
 *
 *  annotation                          | requests
 *  ------------------------------------+------------------------------------------------------------
 *  ipam.spidernet.io/subnets, /subnet  | source `subnet`: the pool that the application has its own part of
 *  ipam.spidernet.io/ippools, /ippool  | source `workload`
 *  nodeippool.nmstate.io/pool          | the same: names with a comma between two, of either family
 *
 * Of subnets and subnet, and of ippools and ippool, the first one counts. Lists have an entry for each NIC: by its name, or, where they
 * have no names, by its place. An interface that is named twice is an error, as for Spiderpool.
 */
export function namedByPod(
  annotations: Bag,
  nic: NicOfPod,
): Parsed<{ readonly subnet: NamedPools; readonly workload: NamedPools }> {
  const issues: Issue[] = [];
  const take = (parsed: Parsed<NamedPools | undefined>): NamedPools | undefined => {
    issues.push(...(parsed.issues ?? []));
    return parsed.value;
  };
  const ofSpiderpool = (list: string, one: string) =>
    take(inList(annotations, `${spiderpool}${list}`, nic)) ?? take(inObject(annotations, `${spiderpool}${one}`));
  const subnet = ofSpiderpool("subnets", "subnet") ?? {};
  const workload = ofSpiderpool("ippools", "ippool") ?? namedBy(annotations);
  return issues.length > 0 ? { issues } : { value: { subnet, workload } };
}

/** The annotations by which a pod requests pools. */
const naming = [poolAnnotation, ...["subnets", "subnet", "ippools", "ippool"].map((name) => `${spiderpool}${name}`)];

/** Returns whether a pod requests pools. */
export function namesPools(annotations: Bag): boolean {
  return naming.some((name) => annotations[name] !== undefined);
}

/** Returns a text that is equal for pods that request the same pools in the same way. */
export function poolRequest(annotations: Bag): string {
  return JSON.stringify(naming.map((name) => annotations[name] ?? ""));
}

/** Returns the pools that a NetworkAttachmentDefinition, or a pod, names in our own annotation. */
export function namedBy(annotations: Bag): NamedPools {
  const any = boundPools({ metadata: { annotations } });
  return any === undefined ? {} : { any };
}

/** Parses the default pools that a namespace names for its pods in Spiderpool's annotations. */
export function namedByNamespace(annotations: Bag): Parsed<NamedPools> {
  const issues: Issue[] = [];
  const listOf = (family: 4 | 6): NamedPools => {
    const name = `${spiderpool}default-ipv${family}-ippool`;
    if (annotations[name] === undefined) return {};
    const { value, issues: wrong = [] } = parseAnnotation(annotations, name);
    const names = namesIn(value);
    if (names === undefined) issues.push(...(wrong.length > 0 ? wrong : [notNames(name)]));
    return names === undefined || names.length === 0 ? {} : { [family]: names };
  };
  const named = { ...listOf(4), ...listOf(6) };
  return issues.length > 0 ? { issues } : { value: named };
}

function inList(annotations: Bag, name: string, { nic, place }: NicOfPod): Parsed<NamedPools | undefined> {
  if (annotations[name] === undefined) return { value: undefined };
  const { value, issues } = parseAnnotation(annotations, name);
  if (issues !== undefined) return { issues };
  if (!Array.isArray(value)) return { issues: [{ message: `annotation ${name} is no list`, hint: listHint }] };
  const entries = list(asNamedPools)(value);
  const names = entries.map(nameOf);
  const twice = names.find((one, i) => one !== "" && names.indexOf(one) < i);
  if (twice !== undefined)
    return {
      issues: [{ message: `annotation ${name} names interface ${twice} twice`, hint: "Write one entry for it." }],
    };
  const isNamed = entries.some((one) => nameOf(one) !== "");
  const entry = isNamed ? entries.find((one) => nameOf(one) === nic) : entries[place];
  return entry === undefined ? { value: {} } : familiesIn(entry, name);
}

const listHint = 'Write [{"interface": "net1", "ipv4": ["pool-a"]}].';

function nameOf({ interface: nic = "" }: Of<typeof asNamedPools>): string {
  return `${nic}`;
}

function inObject(annotations: Bag, name: string): Parsed<NamedPools | undefined> {
  if (annotations[name] === undefined) return { value: undefined };
  const { value, issues } = parseAnnotation(annotations, name);
  if (issues !== undefined) return { issues };
  return asBag(value) === undefined ? { issues: [notNames(name)] } : familiesIn(asNamedPools(value), name);
}

function familiesIn(entry: Of<typeof asNamedPools>, name: string): Parsed<NamedPools> {
  const lists = ([4, 6] as const).map((family) => [family, entry[`ipv${family}`] ?? []] as const);
  const wrong = lists.some(([, list]) => namesIn(list) === undefined);
  const found = lists.flatMap(([family, list]) => (asList(list).length === 0 ? [] : [[family, namesIn(list)]]));
  return wrong ? { issues: [notNames(name)] } : { value: Object.fromEntries(found) };
}

function namesIn(list: unknown): readonly string[] | undefined {
  return Array.isArray(list) && list.every((name) => typeof name === "string") ? list : undefined;
}

function notNames(annotation: string): Issue {
  return { message: `annotation ${annotation} has no list of names of pools`, hint: 'Write {"ipv4": ["pool-a"]}.' };
}

function parseAnnotation(annotations: Bag, name: string): Parsed<unknown> {
  return parseJson(annotations[name], `annotation ${name} is`);
}
