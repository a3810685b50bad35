import { type Allocation, byAddress, clusterSet, nodeOwner, type Snapshot } from "../core/index.ts";
import { partition } from "../core/partition.ts";
import { isManaged, type WatchedKind } from "../integrations/in-cluster.ts";
import type { Facts, Integration, ReadObjects, RenderedObject } from "../integrations/integration.ts";
import { kindOf, nameOfKind, objectKey } from "../integrations/object-key.ts";
import { type Desired, readDesired, renderDesired } from "../pipeline/desired.ts";
import { placeless } from "../schema/objects.ts";
import { asks, readsKind } from "./asking.ts";
import type { LinesByOwner } from "./lines-by-owner.ts";
import type { OwnerStanding } from "./owner-standing.ts";
import type { SourceOf } from "./reset.ts";
import type { Scene } from "./scene.ts";
import type { World } from "./world.ts";

/** How things stand when some owners are looked at. */
export interface Look {
  readonly owners: ReadonlySet<string>;
  readonly scene: Scene;
  readonly facts: Facts;
  readonly standing: OwnerStanding;
}

/**
 * Reads what is desired for owners, and renders what is to exist for them. An object that is made of what many owners have
 * belongs to its source, which is looked at as if it were an owner:
 *
 *  an object is | rendered of                    | when it is looked at
 *  -------------+--------------------------------+---------------------------------------
 *  an owner's   | the lines of its owner         | its owner
 *  shared       | all lines that its source gave | its source: whenever one of them changes
 */
export class Renderer {
  private readonly world: World;
  private readonly integrations: readonly Integration[];
  private readonly sourceOf: SourceOf;

  constructor(world: World, integrations: readonly Integration[], sourceOf: SourceOf) {
    this.world = world;
    this.integrations = integrations;
    this.sourceOf = sourceOf;
  }

  /** Is something made of this source, by its key, for many owners together? */
  isShared(source: string): boolean {
    const isOf = (one: Integration, { isShared, isOwnSource, ...kind }: WatchedKind) =>
      isShared && (isOwnSource ? nameOfKind(kind) === kindOf(source) : readsKind(one, kindOf(source)));
    return this.integrations.some((one) => one.inCluster?.kinds.some((kind) => isOf(one, kind)));
  }

  /** What these owners ask for, and perhaps others. */
  desired(look: Look): Desired {
    const { owners, scene, facts, standing } = look;
    const nodes = facts.nodes.filter(({ name }) => owners.has(nodeOwner(name)));
    // What concerns several of them is read once.
    const about = [...new Set([...owners].flatMap((owner) => this.world.ofOwner(owner)))].filter(
      (one) => !isManaged(one),
    );
    const [own, others] = partition(about, (one) => asks(one, this.integrations));
    const owned = own.filter((one) => !standing.rejected.has(objectKey(one))).map(placeless);
    return this.read({ owned: [...scene.shared, ...owned], others: others.map(placeless) }, { ...facts, nodes }, look);
  }

  /** All that is to exist for these owners, of what they ask for and the record that has it. */
  render(desired: Desired, look: Look, snapshot: Snapshot, lines: LinesByOwner): RenderedObject[] {
    const own = [...look.owners].map((owner) => lines.of(owner));
    const looked = {
      ...snapshot,
      allocations: own.flatMap(({ allocations }) => allocations).sort(byAddress),
      releasing: own.flatMap(({ releasing }) => releasing).sort(byAddress),
    };
    const shared = [...look.owners].filter((owner) => this.isShared(owner));
    return [
      ...this.rendered(desired, looked, false),
      ...shared.flatMap((source) => this.renderShared(source, look, snapshot)),
    ];
  }

  private renderShared(source: string, look: Look, snapshot: Snapshot): RenderedObject[] {
    const asking = [this.world.get(source), ...this.world.ofSource(source)].flatMap((object) =>
      object !== undefined && asks(object, this.integrations) ? [placeless(object)] : [],
    );
    if (asking.length === 0 || look.standing.kept.has(source)) return [];
    const desired = this.read({ owned: asking, others: [] }, look.facts, look);
    const isOf = ({ claim }: Allocation) => this.sourceOf(claim) === source;
    const { allocations, releasing } = snapshot;
    const lines = { ...snapshot, allocations: allocations.filter(isOf), releasing: releasing.filter(isOf) };
    return this.rendered(desired, lines, true);
  }

  private read(objects: ReadObjects, { nodes, poolUids }: Facts, { scene, standing }: Look): Desired {
    const source = {
      ...objects,
      pools: scene.sound,
      hasAllPools: true,
      nodes,
      ...(poolUids && { poolUids }),
      authority: "Cluster" as const,
      isBarred: (integration: Integration, owner: string) => standing.isBarred(integration, owner),
    };
    return readDesired(source, this.integrations);
  }

  /** Objects of kinds that are shared, or of the others. */
  private rendered(desired: Desired, snapshot: Snapshot, isShared: boolean): RenderedObject[] {
    const { instead, added } = renderDesired(desired, { snapshot, set: clusterSet });
    const all = [...[...instead.values()].flat(), ...added];
    return all.filter((object) => (this.world.kindFor(object).isShared ?? false) === isShared);
  }
}
