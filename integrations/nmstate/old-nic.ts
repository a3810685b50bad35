import {
  type Allocation,
  familyOf,
  listed,
  nameOfKey,
  ownerName,
  ownerOfKey,
  placeOf,
  policyOfKey,
} from "../../core/index.ts";
import { issueIn } from "../../schema/objects.ts";
import { hasTemplate } from "../../schema/template.ts";
import type { Conflict, Facts, Holdings } from "../contract/integration.ts";
import { addressListsOf } from "./address-list.ts";
import { type NmstateModel, type OwnPolicy, scopedPolicies } from "./model.ts";
import { asDesiredState } from "./objects.ts";
import type { Policy } from "./policy.ts";

/**
 * Returns the policies that give addresses to another NIC than before, if nothing takes them off the old one: nmstate keeps the addresses
 * of a NIC that no policy mentions, so the node would have an address on two NICs. `holdings.before` has the old NICs; without it, the
 * record itself.
 *
 *  the old NIC, in this policy or another one of the node                  | the old address
 *  ------------------------------------------------------------------------+---------------------------------
 *  has a list of that family, has it off, is absent, is down, is a port    | comes off
 *  is there with `state: ignore`                                           | stays, as the policy asks
 *  is there by a template, or the new one is found by MAC or PCI address   | is perhaps on the same NIC
 *  any other                                                               | stays: an issue
 */
export function leftOnOldNics(model: NmstateModel, facts: Facts, holdings: Holdings): Conflict[] {
  const moved = movedIn(model, holdings).filter(
    ({ of: { policy }, nic, was }) => !isFoundByAddress(policy, nic) && !takesOff(policy.desiredState, was),
  );
  if (moved.length === 0) return [];
  const policies = scopedPolicies(model, facts);
  const left = moved.filter(
    ({ was }) => !policies.some(({ nodes, desiredState }) => nodes.some(isNodeOf(was)) && takesOff(desiredState, was)),
  );
  const groups = Map.groupBy(
    left,
    ({ of, nic, was }) => `${of.policy.name} ${was.interface} ${nic} ${familyOf(was.address)}`,
  );
  return [...groups.values()].flatMap((group) => issueOf(group, facts.authority === "Cluster" ? orAbsent : orConfirm));
}

/** Returns the lines whose policies give their addresses to another NIC than before. */
function movedIn({ own }: NmstateModel, { snapshot, set, before }: Holdings): Moved[] {
  const lines = linesByPolicy(snapshot);
  const earlier = before && new Map([...before.releasing, ...before.allocations].map((line) => [placeOf(line), line]));
  return own.flatMap((of) =>
    (lines.get(of.policy.name) ?? []).flatMap((line) => {
      const was = earlier === undefined ? line : earlier.get(placeOf(line));
      const nic = line.set === set ? nicOf(of.policy, line) : undefined;
      if (nic === undefined || was?.interface === undefined || was.interface === nic) return [];
      return ownerOfKey(was.claim) === ownerOfKey(line.claim) ? [{ of, nic, was }] : [];
    }),
  );
}

interface Moved {
  readonly of: OwnPolicy;
  /** The new NIC. */
  readonly nic: string;
  readonly was: Allocation;
}

/** The next step if nodes no longer have the old NIC; where nothing can be confirmed, nmstate takes one that is absent. */
type Otherwise = (old: string | undefined) => string;
const orConfirm: Otherwise = (old) => `. If no node has it on ${old}, confirm it.`;
const orAbsent: Otherwise = (old) => `, or {name: ${old}, type: ethernet, state: absent} if nodes no longer have it.`;

function issueOf(group: readonly Moved[], otherwise: Otherwise): Conflict[] {
  const [first] = group;
  if (first === undefined) return [];
  const { of, nic, was } = first;
  const { policy, source } = of;
  const old = was.interface;
  const nodes = listed(group.map((one) => ownerName(one.was.claim)));
  const [what, them] = group.length === 1 ? ["the address", "it"] : [`${group.length} addresses`, "them"];
  const off = `{name: ${old}, ipv${familyOf(was.address)}: {enabled: false}}`;
  const issue = issueIn(source, {
    message: `policy ${policy.name} gives ${what} of ${old} to ${nic}, and nothing takes ${them} off ${old} (${nodes})`,
    path: ["spec", "desiredState", "interfaces"],
    hint: `Add the old NIC to the policy: ${off}${otherwise(old)}`,
    remedy: ["allow", "release"],
  });
  return [issue];
}

/** Returns the NIC that a policy gives the address of a line now; undefined if that is not one literal name. */
function nicOf({ name, captures }: Policy, { claim }: Allocation): string | undefined {
  return captures.get(nameOfKey(claim).slice(name.length + 1))?.interface;
}

function isNodeOf({ claim }: Allocation): (node: { readonly name: string }) => boolean {
  const name = ownerName(claim);
  return (node) => node.name === name;
}

/** Returns whether a policy finds a NIC by its MAC or PCI address. Its name in the policy is then no name on the node. */
function isFoundByAddress({ desiredState }: Policy, nic: string): boolean {
  return asDesiredState(desiredState).interfaces.some(
    ({ name, identifier }) => name === nic && (identifier ?? "name") !== "name",
  );
}

function takesOff(desiredState: unknown, { interface: old, address }: Allocation): boolean {
  const isNamed = (name: unknown) => name === old || hasTemplate(name);
  const lists = addressListsOf(desiredState).filter(({ family }) => family === familyOf(address));
  const { interfaces } = asDesiredState(desiredState);
  const isIgnored = interfaces.some(({ name, state }) => state === "ignore" && isNamed(name));
  return isIgnored || lists.some(({ nic }) => isNamed(nic));
}

const byPolicy = new WeakMap<Holdings["snapshot"], Map<string, Allocation[]>>();

/** In a cluster each policy is asked about by itself, and there are many lines. */
function linesByPolicy(snapshot: Holdings["snapshot"]): ReadonlyMap<string, readonly Allocation[]> {
  const known = byPolicy.get(snapshot) ?? Map.groupBy(snapshot.allocations, ({ claim }) => policyOfKey(claim));
  byPolicy.set(snapshot, known);
  return known;
}
