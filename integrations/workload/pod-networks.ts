import type { Parsed } from "../../core/index.ts";
import { asBag, type Bag } from "../../schema/objects.ts";

/** A network of a pod. */
export interface PodNetwork {
  /** The NetworkAttachmentDefinition, as `namespace/name`. */
  readonly definition: string;
  /** What its interface is called in the pod. */
  readonly nic: string;
  /** As the pod says it. */
  readonly element: Bag;
}

/**
 * Reads the networks of a pod of a namespace as Multus does.
 *
 *  it says                            | network             | its interface
 *  -----------------------------------+---------------------+------------------------------
 *  lan, other/wan@eth5                | of the pod's own    | what stands behind @
 *                                     |  namespace, or that |
 *  [{"name": "lan", "namespace": ..., | likewise            | what it says
 *    "interface": ..., ...}]          |                     |
 *  no interface                       |                     | net1, net2, by its place
 */
export function parsePodNetworks(text: unknown, namespace: string): Parsed<readonly PodNetwork[]> {
  if (typeof text !== "string") return { issues: [{ message: "the networks of a pod are text" }] };
  const parsed = text.trimStart().startsWith("[") ? parseList(text) : { value: text.split(",").map(parseShort) };
  if (parsed.issues !== undefined) return parsed;
  const networks = parsed.value.map((element, i): PodNetwork => {
    const { name, namespace: of = namespace, interface: nic = `net${i + 1}` } = element;
    return { definition: `${of}/${name}`, nic: `${nic}`, element };
  });
  const nameless = networks.some(({ element: { name } }) => typeof name !== "string" || name === "");
  return nameless ? { issues: [{ message: "a network of a pod needs a name" }] } : { value: networks };
}

function parseList(text: string): Parsed<readonly Bag[]> {
  try {
    const list: unknown = JSON.parse(text);
    return { value: Array.isArray(list) ? list.map((one) => asBag(one) ?? {}) : [] };
  } catch (error) {
    return { issues: [{ message: `the networks of a pod are no JSON: ${(error as Error).message}` }] };
  }
}

/** `namespace/name@interface`, where all but the name may be left out. */
function parseShort(text: string): Bag {
  const [, namespace, name, nic] = /^(?:([^/]*)\/)?([^@]*)(?:@(.*))?$/s.exec(text.trim()) ?? [];
  return {
    name,
    ...(namespace === undefined ? {} : { namespace }),
    ...(nic === undefined ? {} : { interface: nic }),
  };
}
