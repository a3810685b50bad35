import { type Allocation, byAddress, clusterSet, nodeOwner, type Snapshot } from "../../core/index.ts";
import { partition } from "../../core/partition.ts";
import type { ClusterIntegration } from "../../integrations/contract/cluster-integration.ts";
import type { Facts, Integration, Left, ReadObjects, RenderedObject } from "../../integrations/contract/integration.ts";
import { isManaged } from "../../integrations/contract/managed-by.ts";
import { kindOf, nameOfKind, objectKey } from "../../integrations/contract/object-key.ts";
import type { WatchedKind } from "../../integrations/contract/watched-kind.ts";
import { type Desired, readDesired, renderDesired } from "../../pipeline/desired.ts";
import type { SourceObject } from "../../schema/manifest-document.ts";
import { placeless } from "../../schema/objects.ts";
import type { World } from "../cache/world.ts";
import type { Dependencies } from "../dependencies.ts";
import type { LinesByOwner } from "../record/lines-by-owner.ts";
import { asks, readsKind } from "./asking.ts";
import { asHad, type ContestedLine } from "./contested-lines.ts";
import { FailingObjects } from "./failing-objects.ts";
import type { Inputs } from "./inputs.ts";
import type { OwnerState } from "./owner-state.ts";
import type { SourceOf } from "./reset.ts";

/** How things stand when some owners are looked at. */
export interface Batch {
  readonly owners: ReadonlySet<string>;
  readonly inputs: Inputs;
  readonly facts: Facts;
  readonly ownerState: OwnerState;
}

/** What some objects ask for, and how to read that of fewer of them. */
interface Reading {
  readonly owned: readonly SourceObject[];
  readonly desired: Desired;
  read(owned: readonly SourceObject[]): Desired;
}

/** What is asked for at one moment. */
export interface Asked {
  /** By these owners, and perhaps others. */
  readonly own: Reading;
  /** By the sources of objects of many owners, as far as these are looked at. */
  readonly shared: ReadonlyMap<string, Reading>;
}

/** What the record has once a look is over. */
interface Recorded {
  readonly snapshot: Snapshot;
  readonly lines: LinesByOwner;
  readonly idle: ReadonlySet<Allocation>;
  readonly unclear: ReadonlySet<string>;
  readonly contested: readonly ContestedLine[];
}

/** What is to exist for the owners that were looked at. */
export interface Rendering {
  readonly rendered: readonly RenderedObject[];
  /** Their releasing addresses that nothing takes off, or not yet. */
  readonly left: readonly Left[];
  /** The owners whose objects stay as they are, whatever is rendered: they wait, or what asks for them cannot be read. */
  readonly kept: ReadonlySet<string>;
  /** The keys of the sources of which nothing is rendered, because they cannot be acted upon. */
  readonly rejected: ReadonlySet<string>;
}

/**
 * Reads what is desired for owners, and renders what is to exist for them. An object that is made of what many owners have
 * belongs to its source, which is looked at as if it were an owner:
 *
 *  an object is | rendered of                             | when it is looked at
 *  -------------+-----------------------------------------+---------------------------------------
 *  an owner's   | the lines of its owner                  | its owner
 *  shared       | all lines that its source gave; of a    | its source: whenever one of them changes
 *               |  contested one, the owner that has it   |
 */
export class Renderer {
  private readonly world: World;
  private readonly integrations: readonly ClusterIntegration[];
  private readonly sourceOf: SourceOf;
  readonly failing: FailingObjects;

  constructor(world: World, deps: Pick<Dependencies, "integrations" | "clock" | "timing" | "log">, sourceOf: SourceOf) {
    this.world = world;
    this.integrations = deps.integrations;
    this.sourceOf = sourceOf;
    this.failing = new FailingObjects(deps);
  }

  /** Returns whether one object is made of a source for all its owners. */
  isShared(source: string): boolean {
    const isOf = (one: ClusterIntegration, { isShared, isOwnSource, ...kind }: WatchedKind) =>
      isShared && (isOwnSource ? nameOfKind(kind) === kindOf(source) : readsKind(one, kindOf(source)));
    return this.integrations.some((one) => one.recording.kinds.some((kind) => isOf(one, kind)));
  }

  /** Reads it: the record is written before it is rendered, and by then the world may be another one. */
  asked(batch: Batch): Asked {
    const { owners, inputs, facts, ownerState } = batch;
    const nodes = facts.nodes.filter(({ name }) => owners.has(nodeOwner(name)));
    // What concerns several of them is read once.
    const about = [...new Set([...owners].flatMap((owner) => this.world.ofOwner(owner)))].filter(
      (one) => !isManaged(one),
    );
    const [own, others] = partition(about, (one) => asks(one, this.integrations));
    const owned = own.filter((one) => !ownerState.rejected.has(objectKey(one))).map(placeless);
    const objects = { owned: [...inputs.shared, ...owned], others: others.map(placeless) };
    const shared = [...owners].filter((owner) => this.isShared(owner)).flatMap((source) => this.askedBy(source, batch));
    return { own: this.reading(objects, { ...facts, nodes }, batch), shared: new Map(shared) };
  }

  private askedBy(source: string, batch: Batch): [string, Reading][] {
    const owned = [this.world.get(source), ...this.world.ofSource(source)].flatMap((object) =>
      object !== undefined && asks(object, this.integrations) ? [placeless(object)] : [],
    );
    if (owned.length === 0 || batch.ownerState.kept.has(source)) return [];
    return [[source, this.reading({ owned, others: [] }, batch.facts, batch)]];
  }

  private reading(objects: ReadObjects, facts: Facts, batch: Batch): Reading {
    const read = (owned: readonly SourceObject[]) => this.read({ ...objects, owned }, facts, batch);
    return { owned: objects.owned, read, desired: this.failing.guard(objects.owned, read) };
  }

  /**
   * Renders what is to exist for the owners of a look, of what was asked for and the record that has it. Nothing is made to take `idle`
   * lines off their owners; the objects of `unclear` owners stay as they are.
   */
  render(
    { own, shared }: Asked,
    { owners, ownerState }: Batch,
    { snapshot, lines, idle, unclear, contested }: Recorded,
  ): Rendering {
    const mine = [...owners].map((owner) => lines.of(owner));
    const ofOwners = {
      ...snapshot,
      allocations: mine.flatMap(({ allocations }) => allocations).sort(byAddress),
      releasing: mine
        .flatMap(({ releasing }) => releasing)
        .filter((line) => !idle.has(line))
        .sort(byAddress),
    };
    const bySource = (all: readonly Allocation[]) =>
      Map.groupBy(shared.size === 0 ? [] : all, ({ claim }) => this.sourceOf(claim));
    const sorted = ({ allocations, releasing }: Snapshot) => [bySource(allocations), bySource(releasing)] as const;
    const [recorded, had] = [sorted(snapshot), sorted(asHad(snapshot, contested))];
    const given = ([source, reading]: readonly [string, Reading]) => {
      const there = this.world.get(source);
      // What another program lists stays that program's word: it is refused where the record says otherwise.
      const [live, releasing] = there !== undefined && isManaged(there) ? had : recorded;
      const its = { ...snapshot, allocations: live.get(source) ?? [], releasing: releasing.get(source) ?? [] };
      return this.rendered(reading, its, true);
    };
    const all = [this.rendered(own, ofOwners, false), ...[...shared].map(given)];
    const kept = new Set([...ownerState.kept, ...unclear, ...all.flatMap((one) => one.unknown)]);
    const [rendered, left] = [all.flatMap((one) => one.rendered), all.flatMap((one) => one.left)];
    return { rendered, left, kept, rejected: ownerState.rejected };
  }

  private read(objects: ReadObjects, facts: Facts, { inputs, ownerState }: Batch): Desired {
    const { nodes, poolUids, conflicting, unsound, find, allOf } = facts;
    const source = {
      ...objects,
      pools: inputs.sound,
      hasAllPools: true,
      nodes,
      ...(poolUids && { poolUids }),
      ...(conflicting && { conflicting }),
      ...(unsound && { unsound }),
      ...(find && { find }),
      ...(allOf && { allOf }),
      authority: "Cluster" as const,
      isBarred: (integration: Integration, owner: string) => ownerState.isBarred(integration, owner),
    };
    return readDesired(source, this.integrations);
  }

  /** Objects of kinds that are shared, or of the others. */
  private rendered({ owned, desired, read }: Reading, snapshot: Snapshot, isShared: boolean) {
    const render = (some: Desired) => renderDesired(some, { snapshot, set: clusterSet });
    const {
      instead,
      added,
      left,
      kept = [],
    } = this.failing.guard(owned, (some) => render(some === owned ? desired : read(some)));
    const all = [...[...instead.values()].flat(), ...added];
    const isMeant = (object: RenderedObject) => (this.world.kindFor(object).isShared ?? false) === isShared;
    return { rendered: all.filter(isMeant), left, unknown: kept };
  }
}
