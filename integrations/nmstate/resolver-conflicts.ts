import { type Claim, nodeOwner } from "../../core/index.ts";
import type { Bag } from "../../schema/objects.ts";
import { raw } from "../../schema/shape.ts";
import { hasTemplate } from "../../schema/template.ts";
import type { Conflict, Facts, Holdings } from "../contract/integration.ts";
import { labelValue } from "./child.ts";
import { type NmstateModel, scopedPolicies } from "./model.ts";
import { asDesiredState, asPolicy } from "./objects.ts";
import { PolicyPairs, policyOnNode } from "./policy-pairs.ts";
import { foreignPolicies, type ScopedPolicy } from "./scoped-policy.ts";

/** The lists of a resolver, and how messages name them. */
const fields = { server: "DNS servers", search: "DNS search domains", options: "DNS options" } as const;

/** A list that a policy sets, as messages show it. */
type Lists = ReadonlyMap<keyof typeof fields, string>;

/** A policy that sets the resolver of its nodes. */
interface Setter extends ScopedPolicy {
  readonly lists: Lists;
}

/**
 * Returns the conflicts of policies that set the resolver of a node. A node has one resolver: whichever policy is applied last wins.
 *
 *  two policies of a node, of which one uses pools      | conflict
 *  -----------------------------------------------------+---------------------------------------------
 *  set one list, with other values                      | yes
 *  set one list, with the same values                   | no
 *  set one list, and one of them takes it from captures | no: it is not known here
 *  set other lists                                      | no: nmstate keeps what a policy does not set
 *  one was rendered of the other                        | no
 *
 * The later policy gets nothing new: one without a line beside one that has one, one with pools beside one without.
 */
export function resolverConflicts(
  model: NmstateModel,
  facts: Facts,
  claims: readonly Claim[],
  { snapshot }: Holdings,
): Conflict[] {
  if (!model.own.some(({ policy }) => listsOf(policy.desiredState).size > 0)) return [];
  const policies = scopedPolicies(model, facts);
  const names = new Set(model.own.map(({ policy }) => policy.name));
  const mine = policies.filter(({ name }) => names.has(name)).flatMap(settersIn);
  const known = new Set(policies.map(({ name }) => name));
  const foreign = foreignPolicies(facts.allOf, facts.nodes).filter(({ name }) => !known.has(name));
  const others = [...policies.filter(({ name }) => !names.has(name)), ...foreign].flatMap(settersIn);
  const pairs = new PolicyPairs(claims, [...policies, ...foreign], facts);
  const held = new Set(snapshot.allocations.map(({ claim }) => policyOnNode(claim)));
  const othersOn = onNodes(others);
  for (const [node, its] of onNodes(mine)) {
    const owner = nodeOwner(node);
    const isHeld = ({ name }: Setter) => held.has(`${owner} ${name}`);
    const all = [...(othersOn.get(node) ?? []), ...its.toSorted((a, b) => Number(isHeld(b)) - Number(isHeld(a)))];
    for (const [i, later] of all.entries())
      for (const first of names.has(later.name) ? all.slice(0, i) : []) addPair(pairs, first, later, owner);
  }
  return [...pairs.issues.values()];
}

/** Returns whether a policy sets the resolver of the nodes that it selects. */
export function setsResolver(policy: Bag): boolean {
  return listsOf(asPolicy(policy).spec.desiredState).size > 0;
}

function settersIn(policy: ScopedPolicy): Setter[] {
  const lists = listsOf(policy.desiredState);
  return lists.size === 0 || policy.nodes.length === 0 ? [] : [{ ...policy, lists }];
}

/** Returns the lists that a desired state sets, as far as it writes them out. An empty configuration removes all of them. */
function listsOf(desiredState: unknown): Lists {
  const { config } = asDesiredState(desiredState)["dns-resolver"];
  const isRemoval = config !== undefined && Object.keys(raw(config)).length === 0;
  const names = ["server", "search", "options"] as const;
  return new Map(
    names.flatMap((name) => {
      const list = isRemoval ? [] : config && raw(config)[name];
      const isWritten = Array.isArray(list) && list.every((one) => typeof one === "string" && !hasTemplate(one));
      return isWritten ? [[name, list.join(", ")] as const] : [];
    }),
  );
}

function onNodes(setters: readonly Setter[]): Map<string, Setter[]> {
  const all = setters.flatMap((setter) => setter.nodes.map(({ name }) => ({ name, setter })));
  const groups = Map.groupBy(all, ({ name }) => name);
  return new Map([...groups].map(([name, group]) => [name, group.map(({ setter }) => setter)]));
}

function addPair(pairs: PolicyPairs, first: Setter, later: Setter, owner: string): void {
  if (first.origin !== undefined && first.origin === labelValue(later.name)) return;
  for (const [field, list] of later.lists) {
    const other = first.lists.get(field);
    if (other === undefined || other === list) continue;
    pairs.add({
      pair: [first.name, later.name],
      owner,
      what: `${first.name} (${other || "none"}) and ${later.name} (${list || "none"}) set different ${fields[field]}`,
      why: "a node has one resolver, and the policy applied last wins",
      hint: "Set the resolver of a node in one policy, or alike in both.",
    });
    return;
  }
}
