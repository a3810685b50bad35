import {
  type Allocation,
  type Claim,
  formatAddress,
  formatOwner,
  IpamError,
  type Issue,
  identityOf,
  isOfOtherSet,
  nameOfKey,
  ownerName,
  ownerOfKey,
  policyOf,
  policyOfKey,
  type Snapshot,
} from "../../core/index.ts";

/**
 * A policy for one node is called by the policy and the node, whatever the claim set: two sets that both have addresses of
 * a policy of one name on a node would write one object. It may be one policy, planned as the wrong set, or before it is
 * said that it came over. Throws `invalid` for each such policy, also where what the other set has of it is releasing. A
 * program's claim whose name has no capture is that of no policy.
 */
export function refuseSameName(claims: readonly Claim[], { allocations, releasing }: Snapshot, set: string): void {
  const asked = new Set(claims.map(({ owner, name }) => placeOfPolicy(formatOwner(owner), name)));
  const isAnothers = (line: Allocation) =>
    isOfOtherSet(line, set) &&
    nameOfKey(line.claim).includes("/") &&
    asked.has(placeOfPolicy(ownerOfKey(line.claim), nameOfKey(line.claim)));
  const lines = [...allocations, ...releasing].filter(isAnothers);
  const left = new Set(releasing);
  const own = new Set(allocations.filter((line) => line.set === set).map(identityOf));
  const groups = Map.groupBy(lines, (line) => `${policyOfKey(line.claim)} ${line.set}`);
  const issues = [...groups.values()].map((group): Issue => {
    const [first, ...others] = group as [Allocation, ...Allocation[]];
    const policy = policyOfKey(first.claim);
    const more = others.length === 0 ? "" : ` and ${others.length} more`;
    const what = `${formatAddress(first.address)} of ${ownerName(first.claim)}${left.has(first) ? " (releasing)" : ""}`;
    const message = `policy ${policy} has addresses in claim set ${first.set}, too: ${what}${more}`;
    // What this set has by the same key has no room for the other one: that can only be freed.
    if (group.every((line) => own.has(identityOf(line))))
      return { message, hint: "Call this one otherwise, or free that when it is off the node.", remedy: ["release"] };
    return {
      message,
      hint: "Rename one of them; or declare that it came from there.",
      remedy: ["to-set", policy, first.set, set],
    };
  });
  if (issues.length > 0) throw new IpamError("invalid", issues);
}

function placeOfPolicy(owner: string, name: string): string {
  return `${owner} ${policyOf(name)}`;
}
