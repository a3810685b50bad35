import { familyOf, formatIssue, type Plan, policyOfKey } from "../core/index.ts";
import { isPolicyClaim } from "../integrations/nmstate/select.ts";
import type { Proposal } from "../pipeline/proposal.ts";
import { asBag } from "../schema/objects.ts";
import { plural } from "./terminal.ts";
import type { Workspace } from "./workspace.ts";

/** What a plan does as told, and what may still be a mistake of typing. */
export function notesOn(workspace: Workspace, proposal: Proposal): string[] {
  const { plan } = proposal;
  return [
    ...idleNotes(workspace),
    ...gonePolicyNotes(workspace, plan),
    ...oldNicNotes(workspace, plan),
    ...resolverNotes(workspace),
    ...unsaidNotes(proposal),
  ];
}

/** What render will refuse as manifests, and write as files. Of what has no address yet nothing is rendered. */
function unsaidNotes({ plan, rendered }: Proposal): string[] {
  const unsaid = plan.pending.length > 0 ? [] : (rendered().unsaid ?? []);
  const asFiles = "As files: nodeippool render --format os-net-config --out FOLDER";
  return unsaid.map(({ hint: _, ...issue }) => `Note: ${formatIssue(issue)}. ${asFiles}`);
}

/** Objects that ask for nothing. */
function idleNotes({ desired: { parts, facts } }: Workspace): string[] {
  const idle = parts.flatMap(({ integration, model }) => integration.idle?.(model, facts) ?? []);
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

/** NICs that keep an address, because their policy gives it to another NIC and does not mention them: nmstate changes nothing there. */
function oldNicNotes({ manifests }: Workspace, { keep }: Plan): string[] {
  const moved = keep.flatMap(({ allocation: { address, claim, interface: nic }, was }) =>
    was?.interface === undefined || was.interface === nic || !isPolicyClaim(claim)
      ? []
      : { policy: policyOfKey(claim), old: was.interface, family: familyOf(address) },
  );
  const groups = Map.groupBy(moved, ({ policy, old, family }) => `${policy} ${old} ${family}`);
  return [...groups.values()].flatMap((group) => {
    const [{ policy, old, family }] = group as [(typeof group)[0]];
    const source = manifests.owned.find(({ object }) => asBag(object.metadata)?.name === policy);
    if (JSON.stringify(source?.object.spec)?.includes(JSON.stringify(old))) return [];
    const what = `policy ${policy} gives ${plural(group.length, "address")} to another NIC, and ${old} keeps ${group.length === 1 ? "it" : "them"}`;
    return [
      `Note: ${what}. If nodes still have ${old}, add it to the policy: {name: ${old}, ipv${family}: {enabled: false}}`,
    ];
  });
}

/** Policies that set DNS servers beside NICs. nmstate keeps the servers in the profile of a NIC, and NetworkManager then refuses to turn IPv4 off there. */
function resolverNotes({ manifests }: Workspace): string[] {
  return manifests.owned.flatMap(({ object: { kind, metadata, spec } }) => {
    const { interfaces, "dns-resolver": resolver } = asBag(asBag(spec)?.desiredState) ?? {};
    if (kind !== "NodeNetworkConfigurationPolicy" || interfaces === undefined || resolver === undefined) return [];
    const what = `policy ${asBag(metadata)?.name} has dns-resolver beside interfaces`;
    return [
      `Note: ${what}: nmstate 2.2.62 cannot take their addresses off later. Move dns-resolver to a policy of its own`,
    ];
  });
}
