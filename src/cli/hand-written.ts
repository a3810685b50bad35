import { IpamError, type Plan } from "../core/index.ts";
import { handWritten, holdersIn, liveIn, writtenForMany, writtenForOthers } from "../nmstate/hand-written.ts";
import { refuseWiping } from "../nmstate/neighbours.ts";
import { speakersIn } from "../nmstate/render.ts";
import { selectNodes } from "../nmstate/select.ts";
import type { ClusterNode, Manifests, SourceFile } from "../schema/index.ts";
import { findUses } from "../schema/index.ts";

interface Folder {
  readonly manifests: Manifests;
  readonly files: readonly SourceFile[];
  readonly nodes: readonly ClusterNode[];
}

/**
 * Throws `in-use` if the plan gives somebody an address that a policy of the folder writes out for others, or one writes an
 * address of a pool out for several nodes, and `invalid` if it gives one to a NIC whose addresses another policy of the folder sets.
 */
export function refuseHandWritten(folder: Folder, made: Plan): void {
  const { manifests, files, nodes } = folder;
  const holders = holdersIn(made);
  const written = new Set(
    manifests.documents.flatMap((d) => (d.kind === "foreign" && d.policies.length > 0 ? d.file : [])),
  );
  const { uses } = findUses(
    files.filter(({ path }) => written.has(path)),
    manifests.pools,
    nodes,
  );
  const issues = [
    ...handWritten(manifests.policies, holders),
    ...writtenForMany(manifests.policies, (policy) => selectNodes(policy, nodes), manifests.pools),
    ...writtenForOthers(uses, holders),
  ];
  if (issues.length > 0) throw new IpamError("in-use", issues);
  // What is pending may leave lines in force whose policy is gone.
  if (made.pending.length === 0) refuseWiping(liveIn(made), speakersIn(folder));
}
