import { IpamError, type Plan, type Snapshot, type Use } from "../core/index.ts";
import {
  handWritten,
  heldAfter,
  literals,
  writtenForMany,
  writtenForOthers,
} from "../integrations/nmstate/hand-written.ts";
import { refuseWiping } from "../integrations/nmstate/neighbours.ts";
import { speakersIn } from "../integrations/nmstate/render.ts";
import type { ClusterNode, Manifests, SourceFile } from "../schema/index.ts";
import { findUses } from "../schema/index.ts";

interface Folder {
  readonly manifests: Manifests;
  readonly files: readonly SourceFile[];
  readonly nodes: readonly ClusterNode[];
}

/**
 * Throws `in-use` if a policy of the folder writes out for somebody what the plan or the record has for others, or an
 * address of a pool for several nodes, and `invalid` if it sets the addresses of a NIC that others have an address on.
 */
export function refuseHandWritten(folder: Folder, made: Plan, recorded: Snapshot): void {
  const { manifests } = folder;
  const speakers = speakersIn(folder);
  const held = heldAfter(recorded, made);
  const { foreign, own } = filesWith(folder);
  const issues = [
    ...handWritten(manifests.policies, held),
    ...writtenForMany(speakers, manifests.pools),
    ...writtenForOthers(usesIn(foreign, folder), held),
    ...writtenForOthers(usesIn(own, folder), { planned: new Map(), others: held.others }),
  ];
  if (issues.length > 0) throw new IpamError("in-use", issues);
  // What is pending may leave lines in force whose policy is gone.
  if (made.pending.length === 0) refuseWiping(held.lines, speakers);
}

/** The files that hold policies of others, and those that hold only ours, of which some write out addresses. */
function filesWith({ manifests: { documents }, files }: Folder) {
  const foreign = new Set(documents.flatMap((d) => (d.kind === "foreign" && d.policies.length > 0 ? d.file : [])));
  const own = new Set(documents.flatMap((d) => (d.kind === "policy" && literals(d.policy).length > 0 ? d.file : [])));
  return {
    foreign: files.filter(({ path }) => foreign.has(path)),
    own: files.filter(({ path }) => own.has(path) && !foreign.has(path)),
  };
}

function usesIn(files: readonly SourceFile[], { manifests, nodes }: Folder): Use[] {
  const { uses, elsewhere } = findUses(files, manifests.pools, nodes);
  return [...uses, ...elsewhere];
}
