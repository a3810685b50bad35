import type { Claim, Use } from "../../core/index.ts";
import type { ClusterIntegration } from "../../integrations/contract/cluster-integration.ts";
import { nameOfKind } from "../../integrations/contract/object-key.ts";
import { placeless } from "../../schema/objects.ts";
import type { Seen } from "../cache/seen.ts";
import type { World } from "../cache/world.ts";
import type { LinesByOwner } from "../record/lines-by-owner.ts";
import { factsOf, type Inputs } from "./inputs.ts";

/**
 * Returns what owners without a line, or with something `unrecorded`, show to have themselves. Nothing is asked where all claims have
 * their lines: a claim that gets nothing new takes nothing from another owner.
 */
export function requestedUses(
  claims: readonly Claim[],
  lines: LinesByOwner,
  unrecorded: ReadonlySet<string>,
  inputs: Inputs,
  world: World,
  integrations: readonly ClusterIntegration[],
): Use[] {
  const ownersOf = (object: Seen) => {
    const { owners } = world.concerns(object);
    return owners === "all" ? [] : owners;
  };
  const isWithout = (object: Seen) =>
    ownersOf(object).every((owner) => lines.of(owner).allocations.length === 0 || unrecorded.has(owner));
  if (claims.every((claim) => lines.hasLine(claim))) return [];
  return integrations.flatMap(({ recording }) => {
    if (recording.contention?.requestedUses === undefined) return [];
    const kinds = recording.kinds.filter(({ isOwner }) => isOwner);
    const owners = kinds.flatMap((kind) => world.all(nameOfKind(kind)).filter(isWithout).flatMap(ownersOf));
    const objects = new Set(owners.flatMap((owner) => world.ofOwner(owner)));
    const given = [...inputs.shared, ...[...objects].map(placeless)];
    return recording.contention.requestedUses(given, factsOf(world, inputs));
  });
}
