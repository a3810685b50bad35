import { type Allocation, nodeNameOf, ownerOfKey, policyOfKey } from "../../core/index.ts";
import { asBag, asList, type Bag, conditionOf } from "../../schema/objects.ts";
import type { WhyReleasing } from "../in-cluster.ts";
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
 * Returns why a releasing address may still be on its node.
 *
 *  the node's policy  | its report           | why
 *  -------------------+----------------------+---------------------------------------------
 *  is on its way      | any                  | nothing: its handler is about to tell
 *  any other, or none | none                 | the node reports nothing
 *  the same           | does not name the NIC| the NIC is missing, and may come back with it
 *  failed             | names the NIC        | the policy failed; it is made again if you delete it
 *  any other, or none | names the NIC        | the report does not show the NIC without it
 */
export function whyReleasing(line: Allocation, { report, policy, enactment }: NodeObjects): WhyReleasing | undefined {
  const node = nodeNameOf(ownerOfKey(line.claim)) ?? "";
  const fares = policy === undefined ? undefined : faresBy(policy, enactment);
  if (fares === "progressing" || isTrying(enactment)) return undefined;
  const reported = `the report of node ${node} (kubectl get nns ${node})`;
  if (report === undefined) return { why: `node ${node} has no report (kubectl get nns ${node})` };
  if (!namesNic(report, line.interface))
    return { why: `${reported} has no NIC ${line.interface}, which may come back with the address` };
  if (fares !== "failing") return { why: `${reported} does not show NIC ${line.interface} without it` };
  const name = childName(policyOfKey(line.claim), node);
  return {
    why: `policy ${name}, which takes it off, failed${causeIn(enactment)}`,
    next: `Correct what its enactment says (kubectl get nnce ${node}.${name} -o yaml), and delete policy ${name}: the controller makes it again`,
  };
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
function causeIn(enactment: Bag | undefined): string {
  const message = conditionOf(asBag(enactment?.status)?.conditions, "Failing")?.message;
  const [, cause] = /NmstateError: ([^\n]{1,200})/.exec(`${message}`) ?? [];
  return cause === undefined ? "" : ` (${cause})`;
}
