import {
  type Allocation,
  type Claim,
  claimKey,
  familyOf,
  formatAddress,
  formatBlock,
  formatOwner,
  identityOf,
  importedSet,
  isOfOtherSet,
  nameOfKey,
  nodeOwner,
  ownerName,
  placed,
  policyOfKey,
  type Snapshot,
} from "../../core/index.ts";
import { partition } from "../../core/partition.ts";
import type { Conflict, Facts, Holdings } from "../contract/integration.ts";
import { type AddressList, addressListsOf, listName, listNameOf, listText, portOf } from "./address-list.ts";
import { type NmstateModel, scopedPolicies } from "./model.ts";
import { type PairConflict, PolicyPairs, policyOnNode } from "./policy-pairs.ts";
import { internalPortsOf, isPolicyOf, type ScopedPolicy } from "./scoped-policy.ts";

/**
 * What would make nodes flap: nmstate replaces the address list of a NIC as a whole, so of two policies that set one,
 * whichever is applied last wins. An imported line is no policy's yet.
 *
 *  on one address list                               | conflict
 *  --------------------------------------------------+---------
 *  claims of two policies                            | yes
 *  a claim, and a line of another set's other policy | yes
 *  a line, and another policy that overrides it      | yes
 *  the same, but it writes out the very same address | no
 *  a line, and the policy that it is of              | no
 *
 * The claims that get nothing new for that are those of the policy that came later: one without a line, beside one that has
 * one. A policy for one node is called by the policy and the node, whatever the claim set: one policy name in two sets on one
 * node would be one object, so it is a conflict, too.
 */
export function conflictsOf(
  model: NmstateModel,
  facts: Facts,
  claims: readonly Claim[],
  { snapshot, set }: Holdings,
): Conflict[] {
  const policies = scopedPolicies(model, facts);
  // A policy without claims and nodes conflicts with none. In a cluster this is called for each of many objects alone, without nodes.
  if (claims.length === 0 && policies.every(({ nodes }) => nodes.length === 0)) return [];
  const own = new Set(claims.map(({ owner, name, pool }) => identityOf({ pool, claim: claimKey(owner, name) })));
  // A line without a claim is released once nothing is pending.
  const isInForce = (line: Allocation) => (line.set === set ? own.has(identityOf(line)) : line.set !== importedSet);
  const lines = snapshot.allocations.filter((line) => line.interface !== undefined && isInForce(line));
  const pairs = new PolicyPairs(claims, policies, facts);
  const setters = new Map(
    lines
      .filter((line) => line.set !== set)
      .map((line) => [listNameOf(line), { policy: policyOfKey(line.claim), shown: shownOf(line) }]),
  );
  const held = new Set(lines.map(identityOf));
  const [first, later] = partition(claims, ({ owner, name, pool }) =>
    held.has(identityOf({ pool, claim: claimKey(owner, name) })),
  );
  for (const { owner, name, pool, interface: nic } of [...first, ...later]) {
    const prefix = facts.pools.get(pool)?.prefix;
    if (nic === undefined || prefix === undefined) continue;
    const family = familyOf(prefix.first);
    const list = listName(family, nic, formatOwner(owner));
    const policy = policyOfKey(claimKey(owner, name));
    const other = setters.get(list) ?? { policy, shown: policy };
    setters.set(list, other);
    if (other.policy === policy) continue;
    const shown = `${other.shown} and ${policy}`;
    pairs.add(onList([other.policy, policy], shown, listText(family, nic), formatOwner(owner)));
  }
  const internal = internalPortsOf(policies);
  const lists = Map.groupBy(lines, listNameOf);
  for (const policy of policies) addOverrides(pairs, policy, lists, internal);
  return [...pairs.issues.values(), ...inTwoSets(claims, snapshot, set)];
}

/** `shown` is how the message names the pair. */
function onList(pair: PairConflict["pair"], shown: string, list: string, owner: string): PairConflict {
  const hint = "Set all addresses of one NIC in one policy.";
  return { pair, owner, what: `${shown} both set the ${list}`, why: "nmstate replaces the whole list", hint };
}

function shownOf({ claim, set }: Allocation): string {
  return `${policyOfKey(claim)} (set ${set})`;
}

function addOverrides(
  pairs: PolicyPairs,
  policy: ScopedPolicy,
  lists: ReadonlyMap<string, readonly Allocation[]>,
  internal: ReadonlySet<string>,
): void {
  const overriding = addressListsOf(policy.desiredState).filter(
    ({ overrides, nic }) => overrides !== undefined && !(overrides === portOf && internal.has(nic)),
  );
  for (const { name } of overriding.length === 0 ? [] : policy.nodes)
    for (const list of overriding) {
      const place = listName(list.family, list.nic, nodeOwner(name));
      const lines = lists.get(place) ?? [];
      const [line] = lines;
      if (line === undefined || isPolicyOf(policy, line) || isSame(list, lines)) continue;
      const setter = policyOfKey(line.claim);
      const shown = `${setter} and ${policy.name} (${whatOf(list)})`;
      pairs.add(onList([setter, policy.name], shown, listText(list.family, list.nic), nodeOwner(name)));
    }
}

/** Returns whether a policy has exactly the addresses, as literals, that the record has there. */
function isSame({ addresses }: AddressList, lines: readonly Allocation[]): boolean {
  const given = new Set(addresses);
  return given.size === lines.length && lines.every(({ address }) => given.has(address));
}

function whatOf({ overrides, addresses }: AddressList): string {
  const [first] = addresses ?? [];
  return first === undefined ? `${overrides}` : `address: ${formatAddress(first)}`;
}

/** Policies of this set that another set has lines of, on one node. A claim whose name has no capture is of no policy. */
function inTwoSets(claims: readonly Claim[], { allocations, releasing }: Snapshot, set: string): Conflict[] {
  const own = Map.groupBy(claims, ({ owner, name }) => policyOnNode(claimKey(owner, name)));
  const theirs = [...allocations, ...releasing].filter(
    (line) => isOfOtherSet(line, set) && nameOfKey(line.claim).includes("/") && own.has(policyOnNode(line.claim)),
  );
  const groups = Map.groupBy(theirs, (line) => `${policyOfKey(line.claim)} ${line.set}`);
  return [...groups.values()].flatMap((group): Conflict[] => {
    const [first, ...others] = group;
    if (first === undefined) return [];
    const policy = policyOfKey(first.claim);
    const more = others.length === 0 ? "" : ` and ${others.length} more`;
    const what = `${formatBlock(first)} of ${ownerName(first.claim)}${more}`;
    const ours = group.flatMap(({ claim }) => own.get(policyOnNode(claim)) ?? []);
    const issue: Conflict = {
      message: `policy ${policy} has addresses in claim set ${first.set}, too: ${what}`,
      ...placed(ours[0]?.at?.()),
      hint: "Rename one of them; or declare that it came from there.",
      remedy: ["to-set", policy, first.set, set],
      claims: ours.map(({ owner, name }) => claimKey(owner, name)),
    };
    return [issue];
  });
}
