import { partition } from "../../core/partition.ts";
import type { Bag } from "../../schema/objects.ts";
import { type Of, raw } from "../../schema/shape.ts";
import { isDeleting, keyOf } from "../contract/object-metadata.ts";
import type { Needs, Step } from "../contract/step.ts";
import { networksAnnotation } from "../networks/attachment-definition.ts";
import type { asInterface } from "../networks/objects.ts";
import {
  allocatedAnnotation,
  allocationsOf,
  multusFields,
  type PodAllocation,
  type ReportedInterface,
  reportedInterfaces,
} from "../networks/pod-allocation.ts";
import { addressesIn } from "./ipam-claim.ts";
import { debounce } from "./vm-constants.ts";
import { elementsOf, interfaceOf } from "./vm-pods.ts";
import { isSettled, keysOfVm, type VmView } from "./vm-view.ts";

/** What a network of a pod gets, nothing if it keeps no addresses; or why it waits. `after`: milliseconds for which waiting is normal. */
export type Given = { readonly given: readonly PodAllocation[] } | { readonly why: string; readonly after?: number };

/** A network of a VM in one of its pods. */
export interface NetworkOnPod {
  readonly interface: string;
  /** Returns what it gets now. */
  find(): Given;
  /** Whether a claim, by its name, is of the network that the pod has for this interface; true if there is no such claim. */
  isOf(claim: string): boolean;
}

/**
 * Returns the steps for a pod that has passed our gate: they restore the addresses that it was given if another program overwrites them.
 *
 *  an interface        | the networks for Multus | Multus reports       | the controller
 *  --------------------+-------------------------+----------------------+------------------------------------------------
 *  was given addresses | have them               | anything, or nothing | does nothing
 *  was given addresses | have it without them    | anything, or nothing | puts them back, once virt-controller is done
 *                      |                         |                      |  with the networks of the pod
 *  was given addresses | do not have it          | others               | takes them out of annotation `allocated`
 *  was given addresses | do not have it          | it, or nothing       | does nothing: it is attached still
 *  was given addresses | have it, as of another  | others               | takes them out of annotation `allocated`: it was
 *                      |  network than the claim |                      |  unplugged, and is plugged in anew
 *  was given nothing   | have it                 | others               | gives it what its claim has: it is plugged in
 *  was given nothing   | have it                 | it, with what its    | adds that to annotation `allocated`
 *                      |                         |  claim has           |
 *  was given nothing   | any other case                                 | does nothing
 *
 * What is plugged in is given its addresses in one write, which virt-controller may undo: it is not repeated before that is done.
 * If an interface is not attached a minute after it was given addresses, an Event reports that.
 */
export function runningPodSteps(
  pod: Bag,
  instance: Bag,
  networks: readonly NetworkOnPod[],
  view: VmView,
): readonly Step[] {
  const elements = elementsOf(pod);
  if (elements === undefined) return [];
  const before = allocationsOf(pod);
  const reported = reportedInterfaces(pod);
  const nics = new Set(elements.map(interfaceOf));
  const isAttached = (nic: string) => nics.has(nic) || (reported?.some((one) => one.interface === nic) ?? true);
  const [replaced, same] = partition(before, (one) => isReplaced(one, networks, reported));
  const given = same.filter((one) => isAttached(one.interface));
  const isGiven = new Set(given.map((one) => one.interface));
  const missing = isDeleting(pod) ? [] : networks.filter((one) => !isGiven.has(one.interface));
  const { plugged, adopted } = foundFor(reported === undefined ? [] : missing, reported ?? []);
  const added = plugged.flatMap(givenIn);
  const after = [...given, ...adopted, ...added];
  const mayRewrite = added.length > 0 || isSettled(instance) || isDeleting(instance) || isDeleting(pod);
  const annotations = {
    ...(after.length !== before.length || added.length + adopted.length > 0
      ? { [allocatedAnnotation]: JSON.stringify(after) }
      : {}),
    ...(mayRewrite && after.some((one) => !isAssigned(elements, one))
      ? { [networksAnnotation]: networksFor(elements, after) }
      : {}),
  };
  const change = { verb: "change", object: pod, fields: { metadata: { annotations } } } as const;
  return [
    ...(Object.keys(annotations).length === 0
      ? []
      : [added.length === 0 && replaced.length === 0 ? change : { ...change, needs: needsOf(view) }]),
    ...plugged.flatMap((one) => warningsOf(pod, one)),
    ...after.filter((one) => isUnattached(one, nics, reported)).flatMap((one) => warningsOf(pod, whyUnattached(one))),
  ];
}

/** Returns whether an interface was unplugged since it was given addresses of a claim, and is plugged in anew, into another network. */
function isReplaced(
  { interface: nic, claim }: PodAllocation,
  networks: readonly NetworkOnPod[],
  reported: readonly ReportedInterface[] | undefined,
): boolean {
  if (claim === undefined || reported === undefined || reported.some((one) => one.interface === nic)) return false;
  return networks.some((one) => one.interface === nic && !one.isOf(claim));
}

/** Returns whether Multus, which has reported what it attached to a pod, has not attached one of its interfaces. */
function isUnattached(
  { interface: nic }: PodAllocation,
  nics: ReadonlySet<string>,
  reported: readonly ReportedInterface[] | undefined,
): boolean {
  return nics.has(nic) && reported !== undefined && !reported.some((one) => one.interface === nic);
}

function whyUnattached({ interface: nic, ips = [] }: PodAllocation): Given {
  const what = ips.length === 0 ? `interface ${nic}` : `interface ${nic} with ${ips.join(", ")}`;
  const why = `Multus has not attached ${what}: migrate or restart the VM, and its next pod has it`;
  return { why, after: debounce };
}

/** Returns what is found for networks that are being plugged in, and what those that are attached have already. */
function foundFor(networks: readonly NetworkOnPod[], reported: readonly ReportedInterface[]) {
  const attachedAs = ({ interface: nic }: NetworkOnPod) => reported.find((one) => one.interface === nic);
  const [attached, plugged] = partition(networks, (one) => attachedAs(one) !== undefined);
  return {
    plugged: plugged.map((one) => one.find()),
    adopted: attached.flatMap((one) => givenIn(one.find()).filter((given) => isReported(given, attachedAs(one)))),
  };
}

/** Returns the Event that reports why a network of a pod waits. */
export function warningsOf(pod: Bag, found: Given): Step[] {
  if ("given" in found) return [];
  const { why: message, after } = found;
  return [{ verb: "warn", about: keyOf(pod), message, ...(after !== undefined && { after }) }];
}

/** Returns the networks of a pod whose interfaces were given these, as Multus reads them. */
export function networksFor(elements: readonly Of<typeof asInterface>[], given: readonly PodAllocation[]): string {
  const byInterface = new Map(given.map((one) => [one.interface, one]));
  const assigned = elements.map((element, i) => {
    const allocation = byInterface.get(interfaceOf(element, i));
    return allocation === undefined ? raw(element) : { ...raw(element), ...multusFields(allocation) };
  });
  return JSON.stringify(assigned);
}

/** Returns the objects that must be unchanged on the server for addresses to be injected. */
export function needsOf(view: VmView): Needs {
  return { keys: [...keysOfVm(view), ...view.claims.map(keyOf)] };
}

/** Returns whether the element of an interface has what the interface was given; true also if there is no such element. */
function isAssigned(elements: readonly Of<typeof asInterface>[], allocation: PodAllocation): boolean {
  const element = elements.find((one, i) => interfaceOf(one, i) === allocation.interface);
  const fields: Bag | undefined = element && raw(element);
  return (
    fields === undefined ||
    Object.entries(multusFields(allocation)).every(([key, value]) => `${fields[key]}` === `${value}`)
  );
}

function isReported({ ips = [] }: PodAllocation, now: ReportedInterface | undefined): boolean {
  const attached = new Set(addressesIn(now?.ips ?? []));
  return addressesIn(ips).every((address) => attached.has(address));
}

export function givenIn(found: Given): readonly PodAllocation[] {
  return "given" in found ? found.given : [];
}
