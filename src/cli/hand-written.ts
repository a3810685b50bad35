import { IpamError, type Issue, ownerOfKey, type Plan } from "../core/index.ts";
import { handWritten, handWrittenIssue, holdersIn } from "../nmstate/hand-written.ts";
import type { ClusterNode, Manifests, SourceFile } from "../schema/index.ts";
import { findUses } from "../schema/index.ts";

interface Folder {
  readonly manifests: Manifests;
  readonly files: readonly SourceFile[];
  readonly nodes: readonly ClusterNode[];
}

/** Throws `in-use` if the plan gives somebody an address that a policy of the folder writes out for others. */
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
  const issues = uses.flatMap(({ address, owner, at }): Issue[] => {
    const holder = holders.get(address);
    if (owner === undefined || holder === undefined || ownerOfKey(holder) === owner) return [];
    return [{ ...handWrittenIssue(address, holder, `a policy writes it out for ${owner}`), at }];
  });
  const all = [...handWritten(manifests.policies, holders), ...issues];
  if (all.length > 0) throw new IpamError("in-use", all);
}
