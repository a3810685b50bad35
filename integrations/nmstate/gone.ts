import { type Allocation, familyOf, nodeNameOf, ownerOfKey, parseAddress, policyOfKey } from "../../core/index.ts";
import { emptyFindings } from "../../schema/findings.ts";
import { type ClusterNode, childLabels } from "../../schema/node.ts";
import { type Bag, conditionOf, placeless } from "../../schema/objects.ts";
import { hasTemplate } from "../../schema/template.ts";
import type { Facts } from "../contract/integration.ts";
import { isManaged } from "../contract/managed-by.ts";
import { keyOf, labelsOf, nameOf } from "../contract/object-metadata.ts";
import { capturedIn, isFleetEnactment, isServedBy, nodeOfEnactment } from "./captured.ts";
import { fleetName, nodeOf } from "./child.ts";
import { healthBy } from "./enactment.ts";
import { keyOfEnactment, nodeObjectsOf } from "./node-objects.ts";
import { readReport } from "./node-report.ts";
import { asEnactment, asPolicy, asReport } from "./objects.ts";
import { provenGone } from "./proven-gone.ts";
import { isTrying, namesNic, nicsIn } from "./releasing.ts";
import { wasGated } from "./shared-policy.ts";
import { isGivenBy, isTakenOff, type Lists, listsOf } from "./taken-off.ts";

interface Circumstances {
  readonly isReset?: boolean;
  readonly mustBeTakenOff?: boolean;
  /** Finds an object that concerns many nodes, by its key. */
  readonly find?: (key: string) => Bag | undefined;
}

/**
 * Returns the releasing addresses that are off their nodes, by what the cluster shows.
 *
 *  the node | its report (NodeNetworkState)     | its policy                                   | the address
 *  ---------+-----------------------------------+----------------------------------------------+------------
 *  gone     | none                              | none                                         | gone
 *  gone     | none                              | still there: a node of this name would act on it | in doubt
 *  gone     | still there                       | any                                          | in doubt
 *  there    | any                               | an enactment of the fleet form has it: its handler may apply it | in doubt
 *  there    | any                               | a plan made it, and it gives the address: the plan has that | gone
 *  there    | shows the address                 | any other                                    | in doubt
 *  there    | does not show the address         | still gives it: a retry puts it back         | in doubt
 *  there    | names the NIC, not the address    | enacted, and gives the NIC a list without it | gone
 *  there    | shows the NIC without the address | enacted before the report, and has no list   | gone
 *  there    | shows the NIC without the address | names NICs, this one not, and no other policy does: it left out a | in doubt; gone in a reset
 *           |                                   |  missing NIC, which comes back with the address before it shows it |
 *  there    | shows the NIC without the address | failed, or enacted since                     | in doubt; gone in a reset
 *  there    | shows the NIC without the address | on its way                                   | in doubt
 *  there    | shows the NIC without the address | none, but it is still enacted                | in doubt; gone in a reset
 *  there    | shows the NIC without the address | none, but another one gives it               | in doubt; gone in a reset
 *  there    | shows the NIC without the address | any; the node had the fleet form, and by that, or by another policy | gone
 *           |                                   |  that is enacted, the NIC has other addresses |
 *  there    | shows the NIC without the address | none, nor is it enacted                      | gone; in doubt if `mustBeTakenOff`
 *  there    | names the NIC otherwise           | any other, or none                           | in doubt
 *  there    | does not name the NIC             | on its way                                   | in doubt
 *  there    | does not name the NIC             | any other, or none                           | in doubt; gone in a reset
 *
 * A report shows a NIC without the address if the NIC is up and the family lists its addresses (`listsAddresses`). Any other report
 * proves nothing by itself: handlers leave out NICs that a filter excludes, and NetworkManager keeps the address in a profile, and
 * brings it back with the NIC or its link. Of a NIC that a policy gave an address, kubernetes-nmstate 0.86 with
 * NetworkManager 1.42 reports:
 *
 *  the NIC                          | it is     | the family                  | the address
 *  ---------------------------------+-----------+-----------------------------+-----------------------------------------
 *  is unplugged                     | not there |                             | comes back; a clean-up fails for good:
 *                                   |           |                             |  "unknown type interface eth1"
 *  lost its link a moment ago       | up        | IPv6 is on, without a list  | comes back
 *  lost its link, or is put down    | down      | on, without a list, or off  | comes back
 *  lost it by hand (ip addr flush)  | up        | on, without a list          | comes back
 *  is taken from NetworkManager     | ignore    | as the kernel has it        | comes back
 *  had a clean-up, link or not      | up        | off, or with a list         | is off
 *
 * `mustBeTakenOff`: nothing outlives an enactment of the fleet form that somebody deletes while its handler still applies it. A clean-up
 * policy that is enacted does: a handler applies one policy after the other. So it is, too, after a downgrade, on nodes that had the fleet form.
 *
 * A handler reports a state once and then only another one, so most reports stay older than the enactment that leads to them.
 * The times of both are by the clock of the same node, in seconds; so "before" is in an earlier second.
 */
export function goneFromNodes(
  objects: readonly Bag[],
  { nodes }: Facts,
  releasing: readonly Allocation[],
  { isReset = false, mustBeTakenOff = false, find: findOther = () => undefined }: Circumstances = {},
): Allocation[] {
  const there = new Map(nodes.map((node) => [node.name, node]));
  const byKey = new Map(objects.map((object) => [keyOf(object), object]));
  const find = (key: string) => byKey.get(key) ?? findOther(key);
  const reports = objects.filter(({ kind }) => kind === "NodeNetworkState");
  const found = emptyFindings();
  for (const report of reports) readReport(placeless(report), found);
  const { gone: off, kept } = provenGone(releasing, found.nodes, found.uses);
  const proven = new Set(off);
  const unused = new Set(kept.flatMap(({ line, isInUse }) => (isInUse ? [] : line)));
  const policies = objects.filter(({ kind }) => kind === "NodeNetworkConfigurationPolicy");
  const isByFleet = (node: ClusterNode) => mustBeTakenOff || wasGated(node);
  return releasing.filter((line) => {
    const node = nodeNameOf(ownerOfKey(line.claim)) ?? "";
    const { policy: own, enactment, report: state } = nodeObjectsOf(line, find);
    const nodeOfIt = there.get(node);
    if (nodeOfIt === undefined) return state === undefined && own === undefined;
    const fleet = find(keyOfEnactment(node, fleetName(policyOfKey(line.claim))));
    if (fleet !== undefined && mayApply(fleet, line)) return false;
    if (isGivenBy(line, listsIn(own))) return own !== undefined && isPlanned(own);
    const isProven = proven.has(line);
    const isUnseen = unused.has(line) && found.nodes.has(ownerOfKey(line.claim));
    const isNamed = namesNic(state, line.interface);
    if (isReset) return (isProven || (isUnseen && !isNamed)) && !isOnItsWay(own, enactment);
    const isEnacted = own !== undefined && healthBy(own, enactment) === "available";
    if (isEnacted && isTakenOff(line, listsIn(own))) return isProven || (isUnseen && isNamed);
    if (isProven && isByFleet(nodeOfIt) && objects.some((one) => isReplacedBy(one, line, node, find))) return true;
    if (!isProven || (own !== undefined && leavesOut(own, line, node, policies))) return false;
    // A handler makes the enactment before it applies the policy.
    if (own === undefined && (enactment !== undefined || policies.some((one) => isGivenBy(line, listsIn(one)))))
      return false;
    if (own === undefined) return !isByFleet(nodeOfIt);
    return isEnacted && isEnactedBefore(enactment, state);
  });
}

/** Returns whether a handler may still apply an address: the enactment captures it, or what it desires is not what it captures. */
function mayApply(enactment: Bag, { address }: Allocation): boolean {
  const isIt = ({ ip }: { readonly ip: string }) => parseAddress(ip).value === address;
  return asEnactment(enactment).status.isDesired !== true || isTrying(enactment) || capturedIn(enactment).some(isIt);
}

/** Returns whether a handler has put other addresses in the place of a line, by an enactment of the fleet form or by another policy of the node. */
function isReplacedBy(object: Bag, line: Allocation, node: string, find: (key: string) => Bag | undefined): boolean {
  const { interface: nic, address } = line;
  if (object.kind === "NodeNetworkConfigurationPolicy") {
    if (nodeOf(object) !== node || !isTakenOff(line, listsIn(object))) return false;
    return healthBy(object, find(keyOfEnactment(node, nameOf(object)))) === "available";
  }
  if (!isFleetEnactment(object) || nodeOfEnactment(object) !== node || !isServedBy(object)) return false;
  return capturedIn(object).some((one) => {
    const other = parseAddress(one.ip).value;
    return one.nic === nic && other !== undefined && other !== address && familyOf(other) === familyOf(address);
  });
}

/** Returns whether a plan made the policy of a node. */
function isPlanned(policy: Bag): boolean {
  return !isManaged(policy) && labelsOf(policy)[childLabels.policy] !== undefined;
}

/** Returns the address lists that a policy gives. */
function listsIn(policy: Bag | undefined): Lists {
  return listsOf(asPolicy(policy).spec.desiredState);
}

/** Returns whether a policy names NICs, and neither it nor another policy of its node names that of a line. */
function leavesOut(policy: Bag, { interface: nic }: Allocation, node: string, policies: readonly Bag[]): boolean {
  const isNamedBy = (one: Bag) => nicsIn(one).some((name) => name === nic || hasTemplate(name));
  if (nicsIn(policy).length === 0 || isNamedBy(policy)) return false;
  return !policies.some((one) => nodeOf(one) === node && isNamedBy(one));
}

/** Returns whether a node may still apply this policy. If the policy is gone, the handler may not have seen that yet. */
function isOnItsWay(child: Bag | undefined, enactment: Bag | undefined): boolean {
  if (child !== undefined) return healthBy(child, enactment) === "progressing";
  return isTrying(enactment);
}

function isEnactedBefore(enactment: Bag | undefined, state: Bag | undefined): boolean {
  const enacted = conditionOf(asEnactment(enactment).status.conditions, "Available")?.lastTransitionTime;
  const reported = asReport(state).status.lastSuccessfulUpdateTime;
  return typeof enacted === "string" && typeof reported === "string" && enacted < reported;
}
