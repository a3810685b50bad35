import { formatAddress, nodeNameOf, nodeOwner } from "../core/index.ts";
import { selectNodes } from "../nmstate/index.ts";
import { hostnameLabel } from "../schema/node.ts";
import { referencesIn } from "../schema/template.ts";
import type { Workspace } from "./workspace.ts";

/** What is meant for later, or a slip of the pen. */
export function notesOn(workspace: Workspace): string[] {
  return [...idlePolicyNotes(workspace), ...idleCaptureNotes(workspace), ...reservationNotes(workspace)];
}

/** Captures that get an address and put it nowhere. */
function idleCaptureNotes({ manifests }: Workspace): string[] {
  return manifests.policies.flatMap(({ name, captures, desiredState }) => {
    const used = new Set(referencesIn(desiredState).map(({ reference }) => reference.capture));
    return [...captures.keys()]
      .filter((capture) => !used.has(capture))
      .map(
        (capture) => `Note: policy ${name} takes an address for capture ${capture}, which its desiredState never uses`,
      );
  });
}

/** Policies that select no node. */
function idlePolicyNotes({ manifests, nodes }: Workspace): string[] {
  return manifests.policies
    .filter((policy) => selectNodes(policy, nodes).length === 0)
    .map(({ name }) => `Note: policy ${name} selects none of the nodes`);
}

/** Reservations for nodes that are not there. */
function reservationNotes({ manifests, nodes }: Workspace): string[] {
  const owners = new Set(nodes.map(({ name }) => nodeOwner(name)));
  return manifests.pools.flatMap((pool) =>
    pool.reservations.all.flatMap(({ address, owner }) => {
      if (owner === undefined || nodeNameOf(owner) === undefined || owners.has(owner)) return [];
      const twin = nodes.find((node) => nodeOwner(`${node.labels.get(hostnameLabel)}`) === owner);
      const meant = twin === undefined ? "" : `; did you mean ${nodeOwner(twin.name)}?`;
      return `Note: ${formatAddress(address)} of pool ${pool.name} is reserved for ${owner}, which is not among the nodes${meant}`;
    }),
  );
}
