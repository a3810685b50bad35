import { type Address, type Issue, type Parsed, parseAddress, parsePrefix } from "../../core/index.ts";
import { parseJson } from "../../schema/json.ts";
import { didYouMean } from "../../schema/nearest.ts";
import { asBag, type Bag } from "../../schema/objects.ts";
import type { Of } from "../../schema/shape.ts";
import { metadataOf, namespaceOf } from "../contract/object-metadata.ts";
import { isOfGroup } from "../networks/attachment-definition.ts";
import { asInstance, type asInstanceSpec, asVirtualMachine } from "./objects.ts";

/** A VM of KubeVirt, and the secondary networks that Multus attaches it to. */
export interface VirtualMachine {
  /** Empty where the API server is to make one (`generateName`). */
  readonly name: string;
  readonly namespace: string;
  readonly attachments: readonly VmAttachment[];
}

/** A secondary network of a VM. */
export interface VmNetwork {
  /** The name of the network in the VM. */
  readonly network: string;
  /** The NetworkAttachmentDefinition, as `namespace/name`. */
  readonly definition: string;
  /** It is being unplugged. */
  readonly isAbsent: boolean;
  /** Where in the object the definition is named. */
  readonly path: readonly (string | number)[];
}

export interface VmAttachment extends VmNetwork {
  /** The addresses that it asks for. */
  readonly wanted: readonly Address[];
  /** The prefix lengths of those that it asks for with one. */
  readonly lengths: ReadonlyMap<Address, number>;
}

export const vmGroup = "kubevirt.io";
export const vmKind = "VirtualMachine";
export const vmiKind = "VirtualMachineInstance";

/**
 * The addresses that a VM asks for, as JSON: `{"<network>": ["192.168.10.8"]}`, also with a prefix length, as Forklift writes it.
 * KubeVirt's own name for it.
 */
export const addressesAnnotation = "network.kubevirt.io/addresses";

/** Returns whether an object is a VM, or an instance of one, with a network of Multus. */
export function isOnNetworks(object: Bag): boolean {
  return isVm(object) && specOf(object).spec.networks.some(isSecondary);
}

export function isVm({ apiVersion, kind }: Bag): boolean {
  return isOfGroup(apiVersion, vmGroup) && (kind === vmKind || kind === vmiKind);
}

/**
 * The attachments of a VM that may have addresses of their own.
 *
 *  network of the VM                      | is one
 *  ---------------------------------------+---------------------------------------------
 *  pod                                    | no: its addresses go with the pod
 *  multus, default                        | no: it takes the place of the pod network
 *  multus, its interface is `absent`      | it is being unplugged
 *  multus                                 | yes
 */
export function attachmentsOf(object: Bag): VmNetwork[] {
  const { path, spec } = specOf(object);
  const namespace = namespaceOf(object);
  const { interfaces } = spec.domain.devices;
  const unplugged = new Set(interfaces.flatMap(({ name, state }) => (state === "absent" ? [name] : [])));
  return spec.networks.flatMap((item, i): VmNetwork[] => {
    const { name: network, multus } = item;
    if (!isSecondary(item) || typeof network !== "string") return [];
    const asked = `${multus?.networkName}`;
    const definition = asked.includes("/") ? asked : `${namespace}/${asked}`;
    const isAbsent = unplugged.has(network);
    return [{ network, definition, isAbsent, path: [...path, "spec", "networks", i, "multus", "networkName"] }];
  });
}

/** Those that it has and does not lose, each with what it asks for. */
export function parseVm(object: Bag): Parsed<VirtualMachine> {
  const { name } = metadataOf(object);
  const { path, metadata, spec } = specOf(object);
  const wanted = parseWanted(metadata.annotations[addressesAnnotation]);
  const at = [...path, "metadata", "annotations", addressesAnnotation];
  if (wanted.issues !== undefined) {
    return { issues: wanted.issues.map((issue) => ({ ...issue, path: at })) };
  }
  const names = spec.networks.map((one) => `${one.name}`);
  const unknown = [...wanted.value.keys()].find((network) => !names.includes(network));
  if (unknown !== undefined)
    return { issues: [{ message: `the VM has no network ${unknown}${didYouMean(unknown, names)}`, path: at }] };
  const attachments = attachmentsOf(object)
    .filter(({ isAbsent }) => !isAbsent)
    .map((one) => ({ ...one, ...(wanted.value.get(one.network) ?? nothingWanted) }));
  return { value: { name: typeof name === "string" ? name : "", namespace: namespaceOf(object), attachments } };
}

/** Returns the spec of an instance, which a VirtualMachine has in its template. */
function specOf(object: Bag) {
  const isTemplate = object.kind === vmKind;
  const { metadata, spec } = isTemplate ? asVirtualMachine(object).spec.template : asInstance(object);
  return { path: isTemplate ? ["spec", "template"] : [], metadata, spec };
}

function isSecondary({ multus }: Of<typeof asInstanceSpec>["networks"][number]): boolean {
  return multus !== undefined && multus.default !== true;
}

type Wanted = Pick<VmAttachment, "wanted" | "lengths">;

const nothingWanted: Wanted = { wanted: [], lengths: new Map() };

function parseWanted(text: unknown): Parsed<ReadonlyMap<string, Wanted>> {
  if (text === undefined || text === null || text === "") return { value: new Map() };
  const issues: Issue[] = [];
  const byNetwork = new Map<string, Wanted>();
  for (const [network, list] of Object.entries(asBag(parseJson(text).value) ?? { "": "" })) {
    const parsed = Array.isArray(list) ? list.map(parseAsked) : [];
    if (!Array.isArray(list)) issues.push({ message: 'expected JSON such as {"blue": ["192.168.10.8"]}' });
    issues.push(...parsed.flatMap((one) => one.issues ?? []));
    const asked = parsed.flatMap(({ value }) => value ?? []);
    byNetwork.set(network, {
      wanted: asked.map(({ address }) => address),
      lengths: new Map(asked.flatMap(({ address, length }) => (length === undefined ? [] : [[address, length]]))),
    });
  }
  return issues.length > 0 ? { issues } : { value: byNetwork };
}

/** An address, with a prefix length or without. */
function parseAsked(text: unknown): Parsed<{ readonly address: Address; readonly length?: number }> {
  const [, before, length] = /^([^/]*)(\/.*)?$/s.exec(typeof text === "string" ? text : "") ?? [];
  const { value: address, issues } = parseAddress(before ?? text);
  if (issues !== undefined) return { issues };
  if (length === undefined) return { value: { address } };
  const prefix = parsePrefix(text);
  return prefix.issues !== undefined ? prefix : { value: { address, length: prefix.value.length } };
}
