import { type Address, type Issue, type Parsed, parseAddress } from "../../core/index.ts";
import { didYouMean } from "../../schema/nearest.ts";
import { asBag, asList, type Bag } from "../../schema/objects.ts";
import { isOfGroup } from "../attachment-definition.ts";

/** A VM of KubeVirt, and the secondary networks that Multus attaches it to. */
export interface VirtualMachine {
  /** Empty where the API server is to make one (`generateName`). */
  readonly name: string;
  readonly namespace: string;
  readonly attachments: readonly VmAttachment[];
}

/** A secondary network of a VM. */
export interface VmNetwork {
  /** What the VM calls the network. */
  readonly network: string;
  /** The NetworkAttachmentDefinition, as `namespace/name`. */
  readonly definition: string;
  /** Is it being unplugged? */
  readonly isAbsent: boolean;
  /** Where in the object the definition is named. */
  readonly path: readonly (string | number)[];
}

export interface VmAttachment extends VmNetwork {
  /** The addresses that it asks for. */
  readonly wanted: readonly Address[];
}

export const vmGroup = "kubevirt.io";
export const vmKind = "VirtualMachine";
export const vmiKind = "VirtualMachineInstance";

/** The addresses that a VM asks for, as JSON: `{"<network>": ["192.168.10.8"]}`. KubeVirt's own name for it. */
export const addressesAnnotation = "network.kubevirt.io/addresses";

/** Is it a VM, or one that runs without a VirtualMachine, with a network of Multus? */
export function isOnNetworks(object: Bag): boolean {
  return isVm(object) && asList(specOf(object).spec?.networks).some(isSecondary);
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
  const { namespace = "default" } = asBag(object.metadata) ?? {};
  const unplugged = new Set(
    asList(asBag(asBag(spec?.domain)?.devices)?.interfaces)
      .map((one) => asBag(one))
      .filter((one) => one?.state === "absent")
      .map((one) => one?.name),
  );
  return asList(spec?.networks).flatMap((item, i): VmNetwork[] => {
    const network = asBag(item)?.name;
    if (!isSecondary(item) || typeof network !== "string") return [];
    const asked = `${asBag(asBag(item)?.multus)?.networkName}`;
    const definition = asked.includes("/") ? asked : `${namespace}/${asked}`;
    const isAbsent = unplugged.has(network);
    return [{ network, definition, isAbsent, path: [...path, "spec", "networks", i, "multus", "networkName"] }];
  });
}

/** Those that it has and does not lose, each with what it asks for. */
export function parseVm(object: Bag): Parsed<VirtualMachine> {
  const { name, namespace = "default" } = asBag(object.metadata) ?? {};
  const { path, metadata, spec } = specOf(object);
  const wanted = parseWanted(asBag(metadata?.annotations)?.[addressesAnnotation]);
  const at = [...path, "metadata", "annotations", addressesAnnotation];
  if (wanted.issues !== undefined) {
    return { issues: wanted.issues.map((issue) => ({ ...issue, path: at })) };
  }
  const names = asList(spec?.networks).map((one) => `${asBag(one)?.name}`);
  const strange = [...wanted.value.keys()].find((network) => !names.includes(network));
  if (strange !== undefined)
    return { issues: [{ message: `the VM has no network ${strange}${didYouMean(strange, names)}`, path: at }] };
  const attachments = attachmentsOf(object)
    .filter(({ isAbsent }) => !isAbsent)
    .map((one) => ({ ...one, wanted: wanted.value.get(one.network) ?? [] }));
  return { value: { name: typeof name === "string" ? name : "", namespace: `${namespace}`, attachments } };
}

/** What the instance is to be: a VirtualMachine has it in its template. */
function specOf({ kind, metadata, spec }: Bag) {
  const template = kind === vmKind ? asBag(asBag(spec)?.template) : { metadata, spec };
  const path = kind === vmKind ? ["spec", "template"] : [];
  return { path, metadata: asBag(template?.metadata), spec: asBag(template?.spec) };
}

function isSecondary(network: unknown): boolean {
  const multus = asBag(asBag(network)?.multus);
  return multus !== undefined && multus.default !== true;
}

function parseWanted(text: unknown): Parsed<ReadonlyMap<string, readonly Address[]>> {
  if (text === undefined) return { value: new Map() };
  const issues: Issue[] = [];
  const byNetwork = new Map<string, readonly Address[]>();
  for (const [network, list] of Object.entries(bagIn(text) ?? { "": "" })) {
    const parsed = Array.isArray(list) ? list.map(parseAddress) : [];
    if (!Array.isArray(list)) issues.push({ message: 'expected JSON such as {"blue": ["192.168.10.8"]}' });
    issues.push(...parsed.flatMap((one) => one.issues ?? []));
    byNetwork.set(
      network,
      parsed.flatMap(({ value }) => value ?? []),
    );
  }
  return issues.length > 0 ? { issues } : { value: byNetwork };
}

function bagIn(text: unknown): Bag | undefined {
  try {
    return asBag(JSON.parse(`${text}`));
  } catch {
    return undefined;
  }
}
