import {
  type Address,
  formatAddress,
  IpamError,
  type Issue,
  ownerOfKey,
  type Plan,
  parseAddress,
} from "../core/index.ts";
import { findUses } from "../schema/find-addresses.ts";
import { asBag, asList } from "../schema/objects.ts";
import type { Policy } from "../schema/policy.ts";
import type { Workspace } from "./workspace.ts";

/**
 * Throws `in-use` if the plan gives somebody an address that a policy of the folder writes out for others: the record
 * knows nothing of such an address, so nothing but an audit would see that two have it.
 */
export function refuseHandWritten({ manifests, files, nodes }: Workspace, made: Plan): void {
  const live = [...made.assign, ...made.keep.filter(({ releasing }) => !releasing).map(({ allocation }) => allocation)];
  const holders = new Map<Address, string>(live.map((line) => [line.address, line.claim]));
  const issues: Issue[] = [];
  for (const policy of manifests.policies)
    for (const address of literals(policy)) {
      const holder = holders.get(address);
      if (holder !== undefined) issues.push(issueOf(address, holder, `policy ${policy.name} writes it out`));
    }
  const written = new Set(
    manifests.documents.flatMap((d) => (d.kind === "foreign" && d.policyNames.length > 0 ? d.file : [])),
  );
  for (const { address, owner, at } of findUses(
    files.filter(({ path }) => written.has(path)),
    manifests.pools,
    nodes,
  ).uses) {
    const holder = holders.get(address);
    if (owner !== undefined && holder !== undefined && ownerOfKey(holder) !== owner)
      issues.push({ ...issueOf(address, holder, `a policy writes it out for ${owner}`), at });
  }
  if (issues.length > 0) throw new IpamError("in-use", issues);
}

function issueOf(address: Address, holder: string, why: string): Issue {
  return {
    message: `${formatAddress(address)} is for ${holder}, but ${why}`,
    hint: "Keep it away from others: a reservation of the pool, or exclude.",
  };
}

/** The addresses in a policy's address lists that come from no pool. */
function literals({ desiredState }: Policy): Address[] {
  return asList(asBag(desiredState)?.interfaces).flatMap((nic) =>
    ["ipv4", "ipv6"].flatMap((family) =>
      asList(asBag(asBag(nic)?.[family])?.address).flatMap((entry) => parseAddress(asBag(entry)?.ip).value ?? []),
    ),
  );
}
