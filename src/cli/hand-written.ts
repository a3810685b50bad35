import { familyOf, formatAddress, IpamError, type Issue, nameOfKey, ownerOfKey, type Plan } from "../core/index.ts";
import { handWritten, handWrittenIssue, holdersIn, liveIn } from "../nmstate/hand-written.ts";
import { addressList, listOf, policyOf } from "../nmstate/select.ts";
import type { ClusterNode, Manifests, SourceFile } from "../schema/index.ts";
import { findUses } from "../schema/index.ts";

interface Folder {
  readonly manifests: Manifests;
  readonly files: readonly SourceFile[];
  readonly nodes: readonly ClusterNode[];
}

/**
 * Throws `in-use` if the plan gives somebody an address that a policy of the folder writes out for others, or gives one to
 * a NIC whose whole list such a policy writes.
 */
export function refuseHandWritten({ manifests, files, nodes }: Folder, made: Plan): void {
  const holders = holdersIn(made);
  const written = new Set(
    manifests.documents.flatMap((d) => (d.kind === "foreign" && d.policyNames.length > 0 ? d.file : [])),
  );
  const { uses } = findUses(
    files.filter(({ path }) => written.has(path)),
    manifests.pools,
    nodes,
  );
  const placed = liveIn(made).filter((line) => line.interface !== undefined);
  const byList = new Map(placed.map((line) => [listOf(line), line]));
  const issues = uses.flatMap(({ address, owner, interface: nic, at }): Issue[] => {
    const holder = holders.get(address);
    const place = owner === undefined || nic === undefined ? "" : addressList(familyOf(address), nic, owner);
    const wiped = holder === undefined ? byList.get(place) : undefined;
    if (wiped !== undefined)
      return [
        {
          message: `policy ${policyOf(nameOfKey(wiped.claim))} and one that writes out ${formatAddress(address)} both set the ${place}; nmstate replaces the whole list`,
          hint: "Make one policy of both.",
          at,
        },
      ];
    if (owner === undefined || holder === undefined || ownerOfKey(holder) === owner) return [];
    return [{ ...handWrittenIssue(address, holder, `a policy writes it out for ${owner}`), at }];
  });
  const all = [...handWritten(manifests.policies, holders), ...issues];
  if (all.length > 0) throw new IpamError("in-use", all);
}
