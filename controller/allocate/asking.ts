import { nodeOwner, ownerOfKey } from "../../core/index.ts";
import type { ClusterIntegration } from "../../integrations/contract/cluster-integration.ts";
import { isManaged } from "../../integrations/contract/managed-by.ts";
import { kindInGroup, nameOfKind } from "../../integrations/contract/object-key.ts";
import { poolKind } from "../cache/kinds.ts";
import type { Seen } from "../cache/seen.ts";
import type { World } from "../cache/world.ts";
import type { IsMachine } from "./occupied.ts";

/** Returns whether an object is a NodeIPPool. Objects of other kinds may define pools, too. */
export function isNodeIPPool(object: Seen): boolean {
  return nameOfKind(object) === poolKind;
}

/** The integration that a claim is of. */
export function integrationOf(
  claim: string,
  integrations: readonly ClusterIntegration[],
): ClusterIntegration | undefined {
  return integrations.find(({ isClaim }) => isClaim(claim));
}

/** The key of the object that asked for a claim: its owner, where its integration says nothing else. */
export function sourceOf(claim: string, world: World, integrations: readonly ClusterIntegration[]): string | undefined {
  const { recording } = integrationOf(claim, integrations) ?? {};
  if (recording === undefined) return undefined;
  return recording.sourceOf === undefined ? world.keyOfOwner(ownerOfKey(claim)) : recording.sourceOf(claim);
}

/** The integration that reads an object to see who asks. */
export function readerOf(object: Seen, integrations: readonly ClusterIntegration[]): ClusterIntegration | undefined {
  return integrations.find((one) => isReadBy(one, object));
}

/** Returns whether an integration reads objects of a kind, as keys have it. */
export function readsKind({ reads }: ClusterIntegration, name: string): boolean {
  return reads.some(({ kind, group }) => kindInGroup(kind, group) === name);
}

/** Returns whether an integration's objects may define pools. */
export function definesPools({ pools }: ClusterIntegration): boolean {
  return pools !== undefined;
}

/** The objects that may define pools. */
export function poolObjects(world: World, integrations: readonly ClusterIntegration[]): Seen[] {
  return [...world.all(poolKind), ...readObjects(world, integrations.filter(definesPools))];
}

/** All objects that integrations read to see who asks, also those that are being deleted. */
export function readObjects(world: World, integrations: readonly ClusterIntegration[]): Seen[] {
  return integrations.flatMap((one) =>
    one.reads.flatMap(({ kind, group }) =>
      world.all(kindInGroup(kind, group)).filter((object) => isReadBy(one, object)),
    ),
  );
}

/** Returns whether an object asks for addresses. An object that is being deleted does not. */
export function asks(object: Seen, integrations: readonly ClusterIntegration[]): boolean {
  return object.metadata.deletionTimestamp === undefined && integrations.some((one) => isReadBy(one, object));
}

/** Returns whether an integration reads an object as a source. Objects that the controller made are no sources. */
export function isReadBy({ reads }: ClusterIntegration, object: Seen): boolean {
  return (
    !isManaged(object) &&
    reads.some((one) => kindInGroup(one.kind, one.group) === nameOfKind(object) && one.owns(object))
  );
}

/** Returns whether another program's object goes with its owner, which is being deleted. */
export function goesWithOwner(object: Seen, world: World, integrations: readonly ClusterIntegration[]): boolean {
  const { owners } = world.concerns(object);
  const [owner] = owners === "all" ? [] : owners;
  if (owner === undefined || world.owner(owner)?.metadata.deletionTimestamp === undefined) return false;
  return integrations.some(({ made }) => made?.takesOver?.(object, owner, undefined) === true);
}

/** Returns a function that tells whether a node is the machine of an owner. */
export function machinesIn(world: World, integrations: readonly ClusterIntegration[]): IsMachine {
  return (owner, name) => {
    const node = world.owner(nodeOwner(name));
    return (
      node !== undefined &&
      integrations.some(({ recording }) => recording.contention?.isMachine?.(owner, node) === true)
    );
  };
}
