import type { Parsed } from "../../core/index.ts";
import { parseJson } from "../../schema/json.ts";
import type { Bag } from "../../schema/objects.ts";
import { mapping } from "../../schema/shape.ts";
import { defaultNetworkAnnotation, networksAnnotation } from "../networks/attachment-definition.ts";

/** A network of a pod. */
export interface PodNetwork {
  /** The NetworkAttachmentDefinition, as `namespace/name`. */
  readonly definition: string;
  /** The name of its interface in the pod. */
  readonly nic: string;
  /** Its element in the annotation of the pod. */
  readonly element: Bag;
  /** The annotation that the element is in. */
  readonly annotation: string;
}

/** The first NIC of every pod. */
export const podNic = "eth0";

/** The annotations with the networks of a pod, in the order in which Multus attaches them. */
export const networkAnnotations = [defaultNetworkAnnotation, networksAnnotation] as const;

/** Parses the networks in the annotations of a pod. Two with one interface are an issue. The path of an issue is the annotation. */
export function parsePodNetworks(annotations: Bag, namespace: string): Parsed<readonly PodNetwork[]> {
  const parsed = parseEach(annotations, namespace);
  const issues = parsed.flatMap((one) => one.issues ?? []);
  if (issues.length > 0) return { issues };
  const networks = parsed.flatMap(({ value = [] }) => value);
  const twice = networks.find(({ nic }, i) => networks.findIndex((one) => one.nic === nic) < i);
  if (twice === undefined) return { value: networks };
  const message = `two networks of a pod have interface ${twice.nic}: give one of them another name`;
  return { issues: [{ message, path: [twice.annotation] }] };
}

/** Returns the networks that can be read. */
export function readPodNetworks(annotations: Bag, namespace: string): readonly PodNetwork[] {
  return parseEach(annotations, namespace).flatMap(({ value = [] }) => value);
}

/** Formats networks as the annotations of a pod. */
export function formatNetworks(networks: readonly PodNetwork[]): Readonly<Record<string, string>> {
  const byAnnotation = Map.groupBy(networks, ({ annotation }) => annotation);
  return Object.fromEntries(
    [...byAnnotation].map(([annotation, all]) => [annotation, JSON.stringify(all.map(({ element }) => element))]),
  );
}

function parseEach(annotations: Bag, namespace: string): Parsed<readonly PodNetwork[]>[] {
  const present = networkAnnotations.filter((annotation) => annotations[annotation] !== undefined);
  return present.map((annotation) => {
    const { value, issues } = parseNetworks(annotations[annotation] ?? "", annotation, namespace);
    return issues === undefined ? { value } : { issues: issues.map((issue) => ({ ...issue, path: [annotation] })) };
  });
}

/**
 * Reads the networks in an annotation as Multus does.
 *
 *  the annotation                     | network             | its interface
 *  -----------------------------------+---------------------+------------------------------
 *  nothing                            | none                |
 *  lan, other/wan@eth5                | of the pod's own    | what stands behind @
 *                                     |  namespace, or that |
 *  [{"name": "lan", "namespace": ..., | likewise            | `interface`, else what older versions of
 *    "interface": ..., ...}]          |                     |  Multus called it, `interfaceRequest`
 *  no interface                       |                     | net1, net2, by its place
 *  one, as the default network        | of kube-system, or  | the one it has, else eth0
 *                                     |  that               |
 *
 * Text with `[`, `{` or `"` in it is JSON; a field that is empty or null counts as absent.
 */
function parseNetworks(text: unknown, annotation: string, own: string): Parsed<readonly PodNetwork[]> {
  const isDefault = annotation === defaultNetworkAnnotation;
  const namespace = isDefault ? multusNamespace : own;
  if (text === "" && !isDefault) return { value: [] };
  if (typeof text !== "string") return { issues: [{ message: "the networks of a pod are text" }] };
  const parsed = /[[{"]/.test(text) ? parseList(text) : { value: text.split(",").map(parseShort) };
  if (parsed.issues !== undefined) return parsed;
  const networks = parsed.value.map((element, i): PodNetwork => {
    const field = (name: string) => fieldOf(element, name);
    const nic = field("interface") || field("interfaceRequest") || (isDefault ? podNic : `net${i + 1}`);
    return { definition: `${field("namespace") || namespace}/${field("name")}`, nic: `${nic}`, element, annotation };
  });
  const names = parsed.value.map((element) => fieldOf(element, "name"));
  const nameless = names.some((name) => typeof name !== "string" || name === "");
  if (nameless) return { issues: [{ message: "a network of a pod needs a name" }] };
  if (isDefault && networks.length !== 1) return { issues: [{ message: "a pod has one default network" }] };
  return { value: networks };
}

/** Returns a field as Go reads JSON: its name matches in any case of letters. */
function fieldOf(element: Bag, name: string): unknown {
  const called = Object.keys(element).find((key) => key.toLowerCase() === name.toLowerCase());
  return element[name] ?? (called === undefined ? undefined : element[called]);
}

/** The namespace in which Multus looks for default networks, unless its configuration has another one. */
const multusNamespace = "kube-system";

function parseList(text: string): Parsed<readonly Bag[]> {
  const { value, issues } = parseJson(text, "the networks of a pod are");
  if (issues !== undefined) return { issues };
  if (Array.isArray(value)) return { value: value.map((one) => mapping(one)) };
  return { issues: [{ message: 'the networks of a pod are no JSON list such as [{"name": "lan"}]' }] };
}

/** Parses `namespace/name@interface`; only the name is required. */
function parseShort(text: string): Bag {
  const [, namespace, name, nic] = /^(?:([^/]*)\/)?([^@]*)(?:@(.*))?$/s.exec(text.trim()) ?? [];
  return {
    name: name?.trim(),
    ...(namespace === undefined ? {} : { namespace: namespace.trim() }),
    ...(nic === undefined ? {} : { interface: nic.trim() }),
  };
}
