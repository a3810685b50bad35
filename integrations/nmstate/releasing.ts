import { type Allocation, nodeNameOf, ownerOfKey, policyOfKey } from "../../core/index.ts";
import { asBag, asList, type Bag, conditionOf } from "../../schema/objects.ts";
import type { Releasing } from "../in-cluster.ts";
import { childName } from "./child.ts";
import { faresBy } from "./enactment.ts";

/** What the cluster shows of the node that had an address. */
export interface NodeObjects {
  /** Its NodeNetworkState. */
  readonly report: Bag | undefined;
  /** The policy that the controller made for it. */
  readonly policy: Bag | undefined;
  /** How its handler fared with that. */
  readonly enactment: Bag | undefined;
}

/**
 * Returns what keeps an address on its node, and whether the node's policy leaves it out (`isLeftOut`).
 *
 *  the node's policy  | its report           | why
 *  -------------------+----------------------+---------------------------------------------
 *  is on its way      | any                  | nothing: its handler is about to tell
 *  any other, or none | none                 | the node reports nothing
 *  the same           | does not name the NIC| the NIC is missing, and may come back with it
 *  failed             | names the NIC        | the policy failed; it is made again if you delete it
 *  any other, or none | names the NIC        | the report does not show the NIC without it
 */
export function releasingFrom(line: Allocation, objects: NodeObjects): Releasing {
  const { report, policy, enactment } = objects;
  const node = nodeNameOf(ownerOfKey(line.claim)) ?? "";
  const fares = policy === undefined ? undefined : faresBy(policy, enactment);
  const leftOut = isLeftOut(line, objects) ? { isLeftOut: true } : {};
  if (fares === "progressing" || isTrying(enactment)) return leftOut;
  const reported = `the report of node ${node} (kubectl get nns ${node})`;
  if (report === undefined) return { why: `node ${node} has no report (kubectl get nns ${node})` };
  if (!namesNic(report, line.interface))
    return { ...leftOut, why: `${reported} has no NIC ${line.interface}, which may come back with the address` };
  if (fares !== "failing") return { why: `${reported} does not show NIC ${line.interface} without it` };
  const name = childName(policyOfKey(line.claim), node);
  const cause = causeIn(enactment);
  return {
    why: `policy ${name}, which takes it off, failed${cause === undefined ? "" : ` (${cause})`}`,
    next: `Correct what its enactment says (kubectl get nnce ${node}.${name} -o yaml), and delete policy ${name}: the controller makes it again`,
  };
}

/**
 * Returns whether a node's policy says nothing of the NIC of an address, because nmstate refuses the whole policy where a NIC is missing.
 * Handlers leave NICs out of reports that they are told to filter, so the report alone proves nothing: nmstate has to say it first.
 *
 *  the report     | the node's policy                                      | is left out
 *  ---------------+--------------------------------------------------------+-------------
 *  names the NIC  | any: the NIC may be back                               | no
 *  does not       | none, or it names no other NIC that the report names   | no: something shows that it fails
 *  does not       | names the NIC, and failed because there is no such NIC | yes
 *  does not       | names the NIC, any other                               | no
 *  does not       | does not name the NIC: it is left out already          | yes
 */
function isLeftOut({ interface: nic }: Allocation, { report, policy, enactment }: NodeObjects): boolean {
  if (nic === undefined || report === undefined || policy === undefined || namesNic(report, nic)) return false;
  const nics = nicsIn(policy);
  if (!nics.some((name) => name !== nic && namesNic(report, name))) return false;
  // nmstate 2.2: "Failed to find unknown type interface eth1 in current state".
  const isUnknown = `${causeIn(enactment)} `.includes(`unknown type interface ${nic} `);
  return !nics.includes(nic) || (faresBy(policy, enactment) === "failing" && isUnknown);
}

/** Returns the names of the NICs that a policy says something of. */
export function nicsIn(policy: Bag | undefined): string[] {
  const interfaces = asList(asBag(asBag(policy?.spec)?.desiredState)?.interfaces);
  return interfaces.flatMap((item) => asBag(item)?.name ?? []).map((name) => `${name}`);
}

/** Returns whether a report names a NIC, as one that is up or not, or by whatever name. */
export function namesNic(report: Bag | undefined, nic: string | undefined): boolean {
  const interfaces = asList(asBag(asBag(report?.status)?.currentState)?.interfaces);
  return nic === undefined || JSON.stringify(interfaces).includes(JSON.stringify(nic));
}

/** Returns whether a handler still tries: of a policy that is gone, it may not have heard. */
export function isTrying(enactment: Bag | undefined): boolean {
  return conditionOf(asBag(enactment?.status)?.conditions, "Progressing")?.status === "True";
}

/** Returns what nmstate says in the condition of an enactment that failed. */
function causeIn(enactment: Bag | undefined): string | undefined {
  const message = conditionOf(asBag(enactment?.status)?.conditions, "Failing")?.message;
  return /NmstateError: ([^\n]{1,200})/.exec(`${message}`)?.[1]?.trim();
}
