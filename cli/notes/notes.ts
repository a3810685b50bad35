import {
  type Allocation,
  contains,
  formatAddress,
  IpamError,
  identityOf,
  isOfOtherSet,
  isPlanned,
  listed,
  nodeNameOf,
  nodeOwner,
  ownerInPool,
  ownerName,
  ownerOfKey,
  type Plan,
  placeOf,
  policyOfKey,
  type Snapshot,
  type Use,
} from "../../core/index.ts";
import { selectNodes } from "../../integrations/nmstate/index.ts";
import { findUses } from "../../schema/index.ts";
import { hostnameLabel } from "../../schema/node.ts";
import { isInterfaceAddress, referencesIn } from "../../schema/template.ts";
import { command } from "../advice.ts";
import { firstFew, plural } from "../terminal.ts";
import type { Workspace } from "../workspace.ts";
import { kustomizeNotes } from "./kustomize.ts";
import { formerNicNotes } from "./nic-note.ts";
import { reservedNote, reservedWords } from "./reserved-note.ts";
import { leftStrayNotes } from "./stray-note.ts";

/** What is meant for later, or a slip of the pen. */
export function notesOn(workspace: Workspace, made: Plan, before: Snapshot): string[] {
  return [
    ...nothingNotes(workspace),
    ...idlePolicyNotes(workspace),
    ...idleCaptureNotes(workspace),
    ...gonePolicyNotes(workspace, made),
    ...reservationNotes(workspace, made, before),
    ...mentionNotes(workspace, made),
    ...otherRangeNotes(workspace, made, before),
    ...formerNicNotes(made, workspace),
    ...leftStrayNotes(made, before, workspace.manifests.policies),
    ...kustomizeNotes(workspace.files),
  ];
}

function nothingNotes({ manifests: { pools, policies } }: Workspace): string[] {
  if (pools.length + policies.length > 0) return [];
  return ["Note: no pool is here, and no policy that takes an address from one"];
}

/** Addresses that another claim set has of a pool, and that the pool as it is defined here gives to nobody, or to another one. */
function otherRangeNotes({ manifests: { pools } }: Workspace, { set }: Plan, { allocations }: Snapshot): string[] {
  const foreign = Map.groupBy(
    allocations.filter((line) => isOfOtherSet(line, set)),
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

/** Captures that get an address which no interface has. */
function idleCaptureNotes({ manifests }: Workspace): string[] {
  return manifests.policies.flatMap(({ name, captures, desiredState }) => {
    const references = referencesIn(desiredState);
    const isIn = (list: typeof references, capture: string) =>
      list.some(({ reference }) => reference.capture === capture);
    const onInterfaces = references.filter(({ reference, path }) => isInterfaceAddress(reference.field, path));
    return [...captures.keys()]
      .filter((capture) => !isIn(onInterfaces, capture))
      .map((capture) => {
        const what = isIn(references, capture) ? "sets on no interface (ipv4.address, ipv6.address)" : "never uses";
        return `Note: policy ${name} takes an address for capture ${capture}, which its desiredState ${what}`;
      });
  });
}

/** Policies that select no node. */
function idlePolicyNotes({ manifests, nodes }: Workspace): string[] {
  return manifests.policies
    .filter((policy) => selectNodes(policy, nodes).length === 0)
    .map(({ name }) => `Note: policy ${name} selects none of the nodes`);
}

/** Policies that are not here, and have nothing any more: deleted, or those of another folder that shares the record. */
export function gonePolicyNotes({ manifests }: Workspace, { keep, release, set }: Plan): string[] {
  const kept = keep.map(({ allocation }) => policyOfKey(allocation.claim));
  const here = new Set([...manifests.policies.map(({ name }) => name), ...kept]);
  const lines = Map.groupBy(release, ({ allocation }) => policyOfKey(allocation.claim));
  return [...lines]
    .filter(([policy]) => !here.has(policy))
    .map(
      ([policy, { length }]) =>
        `Note: policy ${policy} of claim set ${set} takes no address here, and all it has goes (${plural(length, "address")}); if it is of another folder, each folder needs a claim set of its own (--set); if it went there: ${command(["to-set", [policy], set])}`,
    );
}

/** Reservations for nodes that are not there, or of what somebody else has or had: a claim that is in the plan would be refused that. */
function reservationNotes(
  { manifests: { pools }, nodes }: Workspace,
  { assign, keep, pending, release }: Plan,
  { releasing }: Snapshot,
): string[] {
  if (pools.every(({ reservations }) => reservations.all.length === 0)) return [];
  const names = new Set(nodes.map(({ name }) => nodeOwner(name)));
  const claims = [...assign, ...keep.map(({ allocation }) => allocation), ...pending];
  const planned = new Set(claims.flatMap((claim) => [ownerInPool(claim), identityOf(claim)]));
  const byPlace = (lines: readonly Allocation[]) => new Map(lines.map((line) => [placeOf(line), line]));
  const kept = byPlace(keep.map(({ allocation }) => allocation));
  const left = byPlace([...releasing, ...release.map(({ allocation }) => allocation)]);
  return pools.flatMap(({ name, reservations }) =>
    reservations.all.flatMap(({ address, owner, claim }) => {
      if (planned.has(`${name} ${owner}${claim === undefined ? "" : `/${claim}`}`)) return [];
      const what = reservedWords(name, address, owner);
      const place = placeOf({ address, pool: name });
      const isOthers = (line: Allocation | undefined): line is Allocation =>
        line !== undefined && ownerOfKey(line.claim) !== owner;
      const [holder, former] = [kept.get(place), left.get(place)];
      if (owner !== undefined && isOthers(holder)) return reservedNote(name, address, owner, holder);
      if (isOthers(former))
        return `${what}, but ${ownerName(former.claim)} had it, and may have it yet: it is releasing`;
      if (owner === undefined || nodeNameOf(owner) === undefined || names.has(owner)) return [];
      const twin = nodes.find((node) => nodeOwner(`${node.labels.get(hostnameLabel)}`) === owner);
      const meant = twin === undefined ? "" : `; did you mean ${nodeOwner(twin.name)}?`;
      return `${what}, which is not among the nodes${meant}`;
    }),
  );
}

/** New addresses that a text of the folder names, say as next hop or for a load balancer: somebody may have them. */
function mentionNotes({ files, manifests: { pools }, nodes }: Workspace, { assign }: Plan): string[] {
  const kept = new Map(pools.map(({ name, reservations }) => [name, reservations]));
  const isOwn = ({ pool, address, claim }: Allocation) => kept.get(pool)?.at(address)?.owner === ownerOfKey(claim);
  const fresh = new Map(assign.flatMap((line) => (isOwn(line) ? [] : [[line.address, line] as const])));
  if (fresh.size === 0) return [];
  const uses = mentionsIn(files, pools, nodes).filter(({ address }) => fresh.has(address));
  const mentions = Map.groupBy(uses, ({ address }) => address);
  const notes = [...mentions].map(([address, [first]]) => {
    const owner = ownerName((fresh.get(address) as Allocation).claim);
    const { file, line, column } = (first as Use).at;
    return `Note: ${formatAddress(address)} goes to ${owner}, and ${file}:${line}:${column} names it; whoever has it already, exclude or reserve it in the pool`;
  });
  return firstFew(notes);
}

/** What `audit` would say of broken texts is not for a plan to say. */
function mentionsIn(...folder: Parameters<typeof findUses>): readonly Use[] {
  try {
    return findUses(...folder).uses.filter(({ owner }) => owner === undefined);
  } catch (error) {
    if (error instanceof IpamError) return [];
    throw error;
  }
}
