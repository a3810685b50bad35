import { type Allocation, nodeNameOf, ownerOfKey, policyOfKey } from "../../core/index.ts";
import { emptyFindings } from "../../schema/findings.ts";
import { asBag, type Bag, conditionOf, placeless } from "../../schema/objects.ts";
import type { Facts } from "../integration.ts";
import { childName } from "./child.ts";
import { faresBy } from "./enactment.ts";
import { provenGone } from "./proven-gone.ts";
import { isTakenOff, type Lists } from "./taken-off.ts";
import { usesOn } from "./uses.ts";

/**
 * Which releasing addresses are off their nodes, by what the cluster shows.
 *
 *  the node | its report (NodeNetworkState)     | its policy                                   | the address
 *  ---------+-----------------------------------+----------------------------------------------+------------
 *  gone     | none                              | any                                          | gone
 *  gone     | still there                       | any                                          | in doubt
 *  there    | shows the NIC without the address | enacted, and gives the NIC a list without it | gone
 *  there    | shows the NIC without the address | enacted before the report, whatever it says  | gone
 *  there    | shows the NIC without the address | none, failed, or enacted since               | in doubt; gone in a reset
 *  there    | shows the NIC without the address | on its way                                   | in doubt
 *  there    | shows the address, or not the NIC | any                                          | in doubt
 *
 * A handler reports a state once and then only another one, so most reports stay older than the enactment that leads to them.
 * The times of both are by the clock of the same node, in seconds; so "before" is in an earlier second.
 */
export function goneFromNodes(
  objects: readonly Bag[],
  { nodes }: Facts,
  releasing: readonly Allocation[],
  isReset = false,
): Allocation[] {
  const there = new Set(nodes.map(({ name }) => name));
  const byName = new Map(objects.map((object) => [`${object.kind}/${asBag(object.metadata)?.name}`, object]));
  const reports = objects.filter(({ kind }) => kind === "NodeNetworkState");
  const found = emptyFindings();
  const read = usesOn(nodes);
  for (const object of reports) read(placeless(object), found);
  const proven = new Set(provenGone(releasing, found.nodes, found.uses).gone);
  return releasing.filter((line) => {
    const node = nodeNameOf(ownerOfKey(line.claim)) ?? "";
    const state = byName.get(`NodeNetworkState/${node}`);
    if (!there.has(node)) return state === undefined;
    const policy = childName(policyOfKey(line.claim), node);
    const child = byName.get(`NodeNetworkConfigurationPolicy/${policy}`);
    const enactment = byName.get(`NodeNetworkConfigurationEnactment/${node}.${policy}`);
    if (!proven.has(line)) return false;
    if (isReset) return !isOnItsWay(child, enactment);
    if (child === undefined || faresBy(child, enactment) !== "available") return false;
    return isTakenOff(line, (child.lists ?? []) as Lists) || isEnactedBefore(enactment, state);
  });
}

/** Is the node about to do something for this policy? Of one that is gone, its handler may not have heard. */
function isOnItsWay(child: Bag | undefined, enactment: Bag | undefined): boolean {
  if (child !== undefined) return faresBy(child, enactment) === "progressing";
  return conditionOf(asBag(enactment?.status)?.conditions, "Progressing")?.status === "True";
}

function isEnactedBefore(enactment: Bag | undefined, state: Bag | undefined): boolean {
  const enacted = conditionOf(asBag(enactment?.status)?.conditions, "Available")?.lastTransitionTime;
  const reported = asBag(state?.status)?.lastSuccessfulUpdateTime;
  return typeof enacted === "string" && typeof reported === "string" && enacted < reported;
}
