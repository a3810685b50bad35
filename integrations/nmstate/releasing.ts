import { type Allocation, nodeNameOf, ownerOfKey, policyOfKey } from "../../core/index.ts";
import { type Bag, conditionOf } from "../../schema/objects.ts";
import type { Facts, Holdings, Left } from "../contract/integration.ts";
import { nameOf } from "../contract/object-metadata.ts";
import { isReadyNode } from "../contract/watched-nodes.ts";
import { childName } from "./child.ts";
import { hasCondition, healthBy } from "./enactment.ts";
import { type NodeObjects, nodeObjectsOf } from "./node-objects.ts";
import { asDesiredState, asEnactment, asPolicy, asReport } from "./objects.ts";
import { isGivenBy, listsOf } from "./taken-off.ts";

/**
 * Returns what the node's policies are to take off: without addresses on NICs that are missing, beside others of the same policy. nmstate
 * refuses the whole policy where a NIC is missing.
 */
export function withoutMissingNics({ snapshot, set }: Holdings, find: NonNullable<Facts["find"]>): Holdings {
  const missing = new Set(snapshot.releasing.filter((line) => isLeftOut(line, nodeObjectsOf(line, find))));
  if (missing.size === 0) return { snapshot, set };
  const others = [...snapshot.allocations, ...snapshot.releasing].filter((line) => !missing.has(line));
  const served = new Set(others.map(childOf));
  const releasing = snapshot.releasing.filter((line) => !missing.has(line) || !served.has(childOf(line)));
  return { set, snapshot: { ...snapshot, releasing } };
}

/** Returns the node's policy that a line is in. */
function childOf({ claim }: Allocation): string {
  return childName(policyOfKey(claim), nodeNameOf(ownerOfKey(claim)) ?? "");
}

/** Returns why releasing addresses are still on their nodes, as far as the cluster shows it; `left` are those that no policy takes off. */
export function keptOnNodes(
  { snapshot, set }: Holdings,
  find: NonNullable<Facts["find"]>,
  left: readonly Left[],
): Left[] {
  const whyLeft = new Map(left.map(({ line, why }) => [line, why]));
  return snapshot.releasing
    .filter((line) => line.set === set)
    .flatMap((line) => {
      const kept = whyKept(line, nodeObjectsOf(line, find), whyLeft.get(line));
      return kept === undefined ? [] : { line, ...kept };
    });
}

/**
 * Returns what keeps an address on its node, and the next step.
 *
 *  the node     | its policy                | its report            | why
 *  -------------+---------------------------+-----------------------+---------------------------------------------
 *  gone         | any                       | any                   | what is left of it; undefined if nothing is
 *  not Ready    | any                       | any                   | nothing takes it off
 *  Ready        | still gives the address   | any                   | the rollout has not reached the node
 *  Ready        | is on its way             | any                   | the handler has not finished
 *  Ready        | any other, or none        | none                  | the node reports nothing
 *  Ready        | the same                  | does not name the NIC | the NIC is missing, and may come back with it
 *  Ready        | failed                    | names the NIC         | the policy failed; it is made again if you delete it
 *  Ready        | any other, or none        | names the NIC         | `left`, or the report does not show the NIC without it
 */
export function whyKept(
  line: Allocation,
  { node, report, policy, enactment }: NodeObjects,
  left?: string,
): Pick<Left, "why" | "next"> | undefined {
  const name = nodeNameOf(ownerOfKey(line.claim)) ?? "";
  const child = policy === undefined ? childOf(line) : nameOf(policy);
  const state = `kubectl get nnce ${name}.${child} -o yaml`;
  const isShared = child !== childOf(line);
  if (node === undefined)
    return whyAfterNode(name, isShared ? `nnce ${name}.${child}` : `nncp ${child}`, report, policy);
  if (!isReadyNode(node))
    return {
      why: `node ${name} is not Ready, so that nothing takes it off`,
      next: `Start node ${name} again or, if it does not come back, delete it: kubectl delete node ${name}`,
    };
  const health = policy === undefined ? undefined : healthBy(policy, enactment);
  if (isGivenBy(line, listsOf(asPolicy(policy).spec.desiredState)))
    return {
      why: `policy ${child} still has it, because the rollout of its policy has not reached node ${name}`,
      next: `See which nodes the rollout waits for: kubectl describe nncp ${policyOfKey(line.claim)}`,
    };
  if (health === "progressing" || isTrying(enactment))
    return {
      why: `the handler of node ${name} has not finished policy ${child}, which takes it off (${state})`,
      next: `See whether it runs on node ${name}: kubectl get pods -A -l component=kubernetes-nmstate-handler -o wide`,
    };
  const reported = `the report of node ${name} (kubectl get nns ${name})`;
  if (report === undefined) return { why: `node ${name} has no report (kubectl get nns ${name})` };
  if (!namesNic(report, line.interface))
    return { why: `${reported} has no NIC ${line.interface}, which may come back with the address` };
  const isAbout = !isShared || nicsIn(policy).includes(`${line.interface}`);
  if (health !== "failing" || !isAbout)
    return { why: left ?? `${reported} does not show NIC ${line.interface} without it` };
  return whyFailing(line, { name, child, isShared, state, cause: causeIn(enactment) });
}

interface Failed {
  readonly name: string;
  /** The policy that takes the address off; `isShared`: the addresses of other nodes, too. */
  readonly child: string;
  readonly isShared: boolean;
  readonly state: string;
  readonly cause: string | undefined;
}

function whyFailing({ interface: nic }: Allocation, { name, child, isShared, state, cause }: Failed) {
  // NetworkManager refuses to turn a family off in a profile that has DNS servers, and nmstate 2.2.62 does not take them out.
  const correct = cause?.includes(".dns: this property is not allowed")
    ? `Take the DNS servers out of the NIC's profile on node ${name} (nmcli connection modify ${nic} ipv4.dns "" ipv6.dns "")`
    : `Correct what its enactment says (${state})`;
  return {
    why: `policy ${child}, which takes it off, failed${cause === undefined ? "" : ` (${cause})`}`,
    next: isShared
      ? `${correct}, and delete that: kubectl delete nnce ${name}.${child}. The controller makes it again`
      : `${correct}, and delete policy ${child}: the controller makes it again`,
  };
}

function whyAfterNode(name: string, child: string, report: Bag | undefined, policy: Bag | undefined) {
  const [what, left] = policy === undefined ? ["report", `nns ${name}`] : ["policy", child];
  if ((policy ?? report) === undefined) return undefined;
  return {
    why: `node ${name} is gone, but its ${what} is still there (kubectl get ${left})`,
    next: `If the machine is gone, too, delete what is left of it: kubectl delete ${left}`,
  };
}

/**
 * Returns whether a node's policy leaves out the NIC of an address, because nmstate refuses the whole policy if a NIC is missing. Handlers
 * leave NICs out of reports that a filter excludes, so the report alone proves nothing: nmstate must have reported the NIC as missing.
 *
 *  the report     | the node's policy                                      | is left out
 *  ---------------+--------------------------------------------------------+-------------
 *  names the NIC  | any: the NIC may be back                               | no
 *  does not       | none, or it names no other NIC that the report names   | no: its failure stays visible
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
  return !nics.includes(nic) || (healthBy(policy, enactment) === "failing" && isUnknown);
}

/** Returns the names of the NICs that a policy configures. */
export function nicsIn(policy: Bag | undefined): string[] {
  const { interfaces } = asDesiredState(asPolicy(policy).spec.desiredState);
  return interfaces.flatMap(({ name }) => name ?? []).map((name) => `${name}`);
}

/** Returns whether a report names a NIC, as one that is up or not, or by whatever name. */
export function namesNic(report: Bag | undefined, nic: string | undefined): boolean {
  const { interfaces } = asReport(report).status.currentState;
  return nic === undefined || JSON.stringify(interfaces).includes(JSON.stringify(nic));
}

/** Returns whether an enactment shows a handler at work on its policy, even one that is gone: the handler may not have seen that yet. */
export function isTrying(enactment: Bag | undefined): boolean {
  return hasCondition(enactment, "Progressing");
}

/** Returns the message of nmstate in the condition of an enactment that failed. */
function causeIn(enactment: Bag | undefined): string | undefined {
  const message = conditionOf(asEnactment(enactment).status.conditions, "Failing")?.message;
  return /NmstateError: ([^\n]{1,200})/.exec(`${message}`)?.[1]?.trim();
}
