import { formatAddress, formatIssue, listed, ownerOfKey, type Plan, policyOfKey } from "../core/index.ts";
import { keepsResolver } from "../integrations/nmstate/resolver.ts";
import { isPolicyClaim } from "../integrations/nmstate/select.ts";
import type { Proposal } from "../pipeline/proposal.ts";
import { reservedForAbsent } from "../pipeline/reserved-for.ts";
import { hostnameLabel } from "../schema/node.ts";
import { asBag } from "../schema/objects.ts";
import { unreadPodNotes } from "./pod-addresses.ts";
import { plural } from "./terminal.ts";
import type { Workspace } from "./workspace.ts";

/** What a plan does as told, and what may still be a mistake of typing. */
export function notesOn(workspace: Workspace, proposal: Proposal): string[] {
  const { plan } = proposal;
  return [
    ...idleNotes(workspace),
    ...gonePolicyNotes(workspace, plan),
    ...reservationNotes(proposal),
    ...hostnameNotes(workspace),
    ...resolverNotes(workspace),
    ...unreadPodNotes(workspace.files, workspace.nodes, workspace.desired.pools),
    ...unsaidNotes(proposal),
  ];
}

/** What render will refuse as manifests, and write as files. Of what has no address yet nothing is rendered. */
function unsaidNotes({ plan, rendered }: Proposal): string[] {
  const inexpressible = plan.pending.length > 0 ? [] : (rendered().inexpressible ?? []);
  const asFiles = "As files: nodeippool render --format os-net-config --out FOLDER";
  return inexpressible.map(({ hint: _, ...issue }) => `Note: ${formatIssue(issue)}. ${asFiles}`);
}

/** Objects that ask for nothing. */
function idleNotes({ desired: { parts, facts } }: Workspace): string[] {
  const idle = parts.flatMap(({ integration, model }) => integration.explain?.idle?.(model, facts) ?? []);
  return idle.map(({ why }) => `Note: ${why}`);
}

/** Policies of the claim set that are not here and keep nothing: deleted, or those of another folder that shares the record. */
function gonePolicyNotes({ manifests }: Workspace, { keep, release, set }: Plan): string[] {
  const kept = keep.map(({ allocation }) => policyOfKey(allocation.claim));
  const here = new Set([...manifests.owned.map(({ object }) => asBag(object.metadata)?.name), ...kept]);
  const ofPolicies = release.filter(({ allocation }) => isPolicyClaim(allocation.claim));
  const lines = Map.groupBy(ofPolicies, ({ allocation }) => policyOfKey(allocation.claim));
  return [...lines]
    .filter(([policy]) => !here.has(policy))
    .map(
      ([policy, { length }]) =>
        `Note: policy ${policy} of claim set ${set} is not here: ${plural(length, "address")} released. If another folder plans it, give each folder a claim set of its own (--set), and the policy to its folder: nodeippool mv ${policy} --to-set NAME`,
    );
}

/** Reserved for owners that are not here and have no line: an owner to come, or a misspelt one. */
function reservationNotes({ desired, before }: Proposal): string[] {
  const recorded = new Set([...before.allocations, ...before.releasing].map(({ claim }) => ownerOfKey(claim)));
  const absent = reservedForAbsent(desired).filter(({ owner }) => !recorded.has(owner));
  if (absent.length === 0) return [];
  const which = listed(absent.map(({ address, owner }) => `${formatAddress(address)} for ${owner}`));
  return [`Note: reservations for owners that are not here: ${which}. Check the names; nobody else gets the addresses`];
}

/** Nodes whose hostname label is not their name, while most nodes have their names there. */
function hostnameNotes({ nodes }: Workspace): string[] {
  const labels = nodes.map((node) => ({ name: node.name, label: node.labels.get(hostnameLabel) }));
  const others = labels.filter(({ name, label }) => label !== undefined && label !== name);
  const equal = labels.filter(({ name, label }) => label === name);
  if (others.length === 0 || others.length >= equal.length) return [];
  const which = listed(others.map(({ name, label }) => `${label} on node ${name}`));
  return [
    `Note: label ${hostnameLabel} is not the name of its node: ${which}. Policies select nodes by this label. Compare it: kubectl get nodes -L ${hostnameLabel}`,
  ];
}

/** Policies whose DNS servers stay beside NICs: NetworkManager refuses to turn an address family off in a profile that has DNS servers. */
function resolverNotes({ manifests }: Workspace): string[] {
  return manifests.owned.flatMap(({ object: { kind, metadata, spec } }) => {
    if (kind !== "NodeNetworkConfigurationPolicy" || !keepsResolver(asBag(spec)?.desiredState)) return [];
    const what = `policy ${asBag(metadata)?.name} has dns-resolver beside interfaces, with a link-local server or auto-dns: true`;
    return [
      `Note: ${what}: nmstate 2.2.62 cannot take their addresses off later. Move dns-resolver to a policy of its own`,
    ];
  });
}
