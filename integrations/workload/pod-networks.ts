import type { Parsed } from "../../core/index.ts";
import { parseJson } from "../../schema/json.ts";
import type { Bag } from "../../schema/objects.ts";
import { mapping } from "../../schema/shape.ts";
import { defaultNetworkAnnotation, networksAnnotation } from "../networks/attachment-definition.ts";

/** A network of a pod. */
export interface PodNetwork {
  /** The NetworkAttachmentDefinition, as `namespace/name`. */
  readonly definition: string;
  /** What its interface is called in the pod. */
  readonly nic: string;
  /** As the pod says it. */
  readonly element: Bag;
  /** The annotation in which it says it. */
  readonly annotation: string;
}

/** The first NIC of every pod. */
export const podNic = "eth0";

/** Where a pod says its networks, in the order in which Multus makes them. */
export const networkAnnotations = [defaultNetworkAnnotation, networksAnnotation] as const;

/** The networks of a pod of a namespace, by its annotations. No two have one interface. The path of an issue is the annotation. */
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

/** Those of its networks that can be read. */
export function readPodNetworks(annotations: Bag, namespace: string): readonly PodNetwork[] {
  return parseEach(annotations, namespace).flatMap(({ value = [] }) => value);
}

/** What the annotations of a pod are to say of such networks. */
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
 *  it says                            | network             | its interface
 *  -----------------------------------+---------------------+------------------------------
 *  nothing                            | none                |
 *  lan, other/wan@eth5                | of the pod's own    | what stands behind @
 *                                     |  namespace, or that |
 *  [{"name": "lan", "namespace": ..., | likewise            | `interface`, else what older versions of
 *    "interface": ..., ...}]          |                     |  Multus called it, `interfaceRequest`
 *  no interface                       |                     | net1, net2, by its place
 *  one, as the default network        | of kube-system, or  | what it says, else eth0
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

/** Fields of JSON are called alike for Go, whatever the case of their letters. */
function fieldOf(element: Bag, name: string): unknown {
  const called = Object.keys(element).find((key) => key.toLowerCase() === name.toLowerCase());
  return element[name] ?? (called === undefined ? undefined : element[called]);
}

/** Where Multus looks for default networks, unless its configuration says otherwise. */
const multusNamespace = "kube-system";

function parseList(text: string): Parsed<readonly Bag[]> {
  const { value, issues } = parseJson(text, "the networks of a pod are");
  if (issues !== undefined) return { issues };
  if (Array.isArray(value)) return { value: value.map((one) => mapping(one)) };
  return { issues: [{ message: 'the networks of a pod are no JSON list such as [{"name": "lan"}]' }] };
}

/** `namespace/name@interface`, where all but the name may be left out. */
function parseShort(text: string): Bag {
  const [, namespace, name, nic] = /^(?:([^/]*)\/)?([^@]*)(?:@(.*))?$/s.exec(text.trim()) ?? [];
  return {
    name: name?.trim(),
    ...(namespace === undefined ? {} : { namespace: namespace.trim() }),
    ...(nic === undefined ? {} : { interface: nic.trim() }),
  };
}
