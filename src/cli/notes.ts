import {
  contains,
  formatAddress,
  importedSet,
  isPlanned,
  listed,
  nodeNameOf,
  nodeOwner,
  ownerOfKey,
  type Plan,
  type Snapshot,
} from "../core/index.ts";
import { selectNodes } from "../nmstate/index.ts";
import { hostnameLabel } from "../schema/node.ts";
import { referencesIn } from "../schema/template.ts";
import { formerNicNotes } from "./nic-note.ts";
import type { Workspace } from "./workspace.ts";

/** What is meant for later, or a slip of the pen. */
export function notesOn(workspace: Workspace, made: Plan, before: Snapshot): string[] {
  return [
    ...idlePolicyNotes(workspace),
    ...idleCaptureNotes(workspace),
    ...reservationNotes(workspace),
    ...otherRangeNotes(workspace, made, before),
    ...formerNicNotes(made, workspace),
  ];
}

/** Addresses that another claim set has of a pool, and that the pool as it is defined here gives to nobody, or to another one. */
function otherRangeNotes({ manifests: { pools } }: Workspace, { set }: Plan, { allocations }: Snapshot): string[] {
  const foreign = Map.groupBy(
    allocations.filter((line) => line.set !== set && line.set !== importedSet),
    (line) => line.pool,
  );
  return pools.filter(isPlanned).flatMap((pool) => {
    const strange = (foreign.get(pool.name) ?? []).filter(({ address, claim }) => {
      const reservation = pool.reservations.at(address);
      return reservation === undefined
        ? !contains(pool.assignable, address)
        : reservation.owner !== undefined && reservation.owner !== ownerOfKey(claim);
    });
    if (strange.length === 0) return [];
    const addresses = listed(strange.map(({ address }) => formatAddress(address)));
    const sets = [...new Set(strange.map((line) => line.set))].join(", ");
    return `Note: pool ${pool.name} as it is defined here does not give ${addresses}, which claim set ${sets} has of it; all that share a pool define it alike`;
  });
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
