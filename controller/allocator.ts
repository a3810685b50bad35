import {
  type Allocation,
  byAddress,
  byCodeUnit,
  clusterSet,
  isNoop,
  nodeOwner,
  ownerOfKey,
  type Pending,
  type Plan,
  type Snapshot,
} from "../core/index.ts";
import { isManaged } from "../integrations/in-cluster.ts";
import type { Facts, RenderedObject } from "../integrations/integration.ts";
import { type Desired, readDesired, renderDesired } from "../pipeline/desired.ts";
import type { ClusterNode } from "../schema/node.ts";
import { asBag, placeless } from "../schema/objects.ts";
import { decide, type Question } from "./decide.ts";
import type { Ground } from "./ground.ts";
import { KnownRecord } from "./known-record.ts";
import { asOwned, type Occupied, occupied, without } from "./occupied.ts";
import { Proof } from "./proof.ts";
import { Resets } from "./resets.ts";
import { asking, asks, factsOf, isReadBy, readScene, type Scene } from "./scene.ts";
import { objectKey, type Seen } from "./seen.ts";
import { Shown } from "./shown.ts";
import type { World } from "./world.ts";

/** What came of looking at some owners. */
export interface Looked {
  /** For whom this was decided. */
  readonly owners: ReadonlySet<string>;
  /** What is to exist for them. */
  readonly rendered: readonly RenderedObject[];
  /** The pools, and the claims, in which something changed, or that get nothing. */
  readonly pools: ReadonlySet<string>;
  readonly claims: readonly string[];
  readonly given: readonly Allocation[];
  readonly freed: readonly Allocation[];
  /** When the record was read. */
  readonly asOf: number;
  /** Owners to look at later, and in how many milliseconds: their addresses may be free by then, or they are seen. */
  readonly later: ReadonlyMap<string, number>;
}

/** Decides for owners in batches: one plan and one commit for all that wait. It alone writes the record. */
export class Allocator {
  /** Why claims of an owner get nothing, by owner. */
  readonly pending = new Map<string, readonly Pending[]>();
  private readonly world: World;
  private readonly ground: Ground;
  readonly record: KnownRecord;
  private seen: Scene | undefined;
  readonly shown = new Shown();
  readonly resets: Resets;
  private readonly proof: Proof;
  /** What `occupied` said last, and of what: each pool that reports asks for it. */
  private known: (Pick<Scene, "sound"> & Pick<Shown, "version"> & { snapshot: Snapshot; value: Occupied }) | undefined;

  constructor(ground: Ground, world: World) {
    this.ground = ground;
    this.world = world;
    this.record = new KnownRecord(ground);
    this.resets = new Resets(world, (claim) => this.sourceOf(claim));
    this.proof = new Proof(ground, world, this.record.hold, this.resets);
  }

  /** Something that all owners share has changed. */
  forgetScene(): void {
    this.seen = undefined;
  }

  /** The record may be another one than we know. */
  forgetRecord(): void {
    this.record.forget();
    this.seen = undefined;
  }

  async scene(): Promise<Scene> {
    this.seen ??= readScene(this.world, this.ground.integrations, await this.record.get());
    return this.seen;
  }

  /** Every owner that asks for something, has something, or is there. */
  async owners(): Promise<Set<string>> {
    const { allocations, releasing } = await this.record.get();
    const lines = [...allocations, ...releasing].filter(({ set }) => set === clusterSet);
    return new Set([...this.world.owners(), ...lines.map(({ claim }) => ownerOfKey(claim))]);
  }

  /** The objects that say how they stand: all that ask for addresses, and all pools. */
  async sources(): Promise<string[]> {
    const { pools } = await this.scene();
    return [...asking(this.world, this.ground.integrations), ...[...pools.values()].map(({ object }) => object)].map(
      objectKey,
    );
  }

  /** Decides for these owners, and records it. Throws as the state backend does; nothing is lost then. */
  async look(asked: ReadonlySet<string>): Promise<Looked> {
    const begun = this.ground.clock.now();
    await this.record.fresh();
    const scene = await this.scene();
    const snapshot = await this.record.get();
    const unseen = await this.unseen(asked);
    const owners = new Set([...asked].filter((owner) => !unseen.has(owner)));
    const asOf = this.record.readAt;
    const facts = factsOf(this.world, scene);
    const { nodes } = facts;
    const barred = this.barred(facts);
    const desired = this.desiredFor(owners, facts, barred, scene);
    const releasing = snapshot.releasing.filter((line) => line.set === clusterSet);
    this.resets.begin(scene.pools, releasing, (lines) => this.proof.proven(lines, scene, true));
    const gone = await this.proof.gone(
      releasing.filter(({ claim }) => owners.has(ownerOfKey(claim))),
      scene,
    );
    const question = this.question(owners, nodes, barred, scene, desired, this.occupied(scene, snapshot));
    const { plan, pending } = decide({ ...question, gone }, snapshot);
    const after = isNoop(plan) ? snapshot : await this.record.commit(plan);
    const before = [...owners].flatMap((owner) => this.pending.get(owner) ?? []);
    for (const owner of owners) this.pending.delete(owner);
    for (const [owner, list] of Map.groupBy(pending, ({ claim }) => ownerOfKey(claim))) this.pending.set(owner, list);
    const changed = [...plan.assign, ...plan.release.map(({ allocation }) => allocation), ...pending, ...before];
    return {
      owners,
      rendered: this.render(desired, owners, after),
      pools: new Set(changed.map(({ pool }) => pool)),
      claims: changed.map(({ claim }) => claim),
      given: plan.assign,
      freed: plan.release.filter(({ to }) => to === "free").map(({ allocation }) => allocation),
      asOf,
      later: this.later(owners, unseen, plan, after, begun),
    };
  }

  /**
   * Whom to look at again, and when: what an owner lost made way for what it waits for; its addresses may be free by then; it is
   * not seen yet.
   */
  private later(
    owners: ReadonlySet<string>,
    unseen: ReadonlySet<string>,
    { release }: Plan,
    after: Snapshot,
    begun: number,
  ) {
    const mine = after.releasing.filter(({ claim }) => owners.has(ownerOfKey(claim)));
    const lost = release.filter(({ to }) => to === "releasing").map(({ allocation }) => ownerOfKey(allocation.claim));
    return new Map([
      ...this.record.hold.later(mine, begun),
      ...[...unseen].map((owner) => [owner, this.ground.timing.send] as const),
      ...lost.filter((owner) => this.pending.has(owner)).map((owner) => [owner, 0] as const),
    ]);
  }

  /**
   * The owners that have an address and are on the server, but not shown by the watch: nothing is decided for them now. Who
   * was stopped for a while knows the record before it knows who has come meanwhile.
   */
  private async unseen(owners: ReadonlySet<string>): Promise<ReadonlySet<string>> {
    const unseen = new Set<string>();
    for (const owner of owners) {
      const isLive = this.record.lines.of(owner).allocations.some(({ set }) => set === clusterSet);
      if (isLive && (await this.proof.isBack(owner))) unseen.add(owner);
    }
    return unseen;
  }

  private desiredFor(
    owners: ReadonlySet<string>,
    { nodes, poolUids = new Map() }: Facts,
    barred: ReadonlySet<string>,
    scene: Scene,
  ): Desired {
    const looked = nodes.filter(({ name }) => owners.has(nodeOwner(name)) && !barred.has(nodeOwner(name)));
    const about = [...owners].flatMap((owner) => this.world.ofOwner(owner)).filter((one) => !isManaged(one));
    const [own, others] = partition(about, (one) => asks(one, this.ground.integrations));
    const owned = own.filter((one) => scene.whyRejected(one) === undefined).map(placeless);
    return readDesired(
      {
        owned: [...scene.shared, ...owned],
        others: others.map(placeless),
        pools: scene.sound,
        nodes: looked,
        poolUids,
        authority: "Cluster",
      },
      this.ground.integrations,
    );
  }

  private question(
    owners: ReadonlySet<string>,
    nodes: readonly ClusterNode[],
    barred: ReadonlySet<string>,
    scene: Scene,
    desired: Desired,
    occupied: Occupied,
  ): Omit<Question, "gone"> {
    return {
      pools: scene.sound.map((pool) => without(pool, occupied)),
      claims: desired.claims.map((claim) => asOwned(claim, desired.facts.pools, occupied)),
      owners,
      set: clusterSet,
      waiting: this.waiting(owners, nodes),
      isHeld: (line) => this.isHeld(line, scene, barred),
    };
  }

  /** The owners that get nothing new: nodes that are not Ready, and whom an integration has wait. */
  private waiting(owners: ReadonlySet<string>, nodes: readonly ClusterNode[]): ReadonlySet<string> {
    const unready = nodes.filter(({ isReady }) => isReady === false).map(({ name }) => nodeOwner(name));
    return new Set([...unready, ...[...owners].filter((owner) => this.isWaiting(owner))]);
  }

  /** Does an integration have an owner wait? Then nothing that it has is taken away, either. */
  isWaiting(owner: string): boolean {
    const object = this.world.get(owner);
    const part = this.ground.integrations.find((one) => object !== undefined && isReadBy(one, object));
    return part?.inCluster?.isWaiting?.(object as Seen) ?? false;
  }

  /**
   * Does a line stay although nobody claims it now?
   *
   *  its owner | its pool, and what asked for it            | it
   *  ----------+--------------------------------------------+-----------
   *  any       | a kind that tells about it is not served   | stays
   *  gone      | the pool is gone, or retains its addresses | stays
   *  gone      | the pool is there                          | is released
   *  there     | what asked for it cannot be read           | stays
   *  there     | nothing can be made for the owner          | stays
   *  there     | anything else                              | is released
   */
  private isHeld(line: Allocation, { pools, whyRejected }: Scene, barred: ReadonlySet<string>): boolean {
    if (this.proof.isBlind(line)) return true;
    const { pool, claim } = line;
    const owner = ownerOfKey(claim);
    if (this.world.get(owner) !== undefined)
      return barred.has(owner) || whyRejected(this.world.get(this.sourceOf(claim) ?? "")) !== undefined;
    const object = pools.get(pool)?.object;
    return object === undefined || asBag(object.spec)?.reclaimPolicy === "Retain";
  }

  /** What owners show to have, beside the record: of the same pools as what is decided by it. */
  occupied({ sound }: Scene, snapshot: Snapshot): Occupied {
    const { known, shown } = this;
    const { version } = shown;
    if (known?.sound === sound && known.snapshot === snapshot && known.version === version) return known.value;
    const value = occupied(sound, this.shown.uses(), this.record.lines);
    this.known = { sound, snapshot, version, value };
    return value;
  }

  /** Is there a line that a reset will free, once it was held long enough? */
  async hasToFree(key: string): Promise<boolean> {
    const { releasing } = await this.record.get();
    const lines = releasing.filter((line) => this.resets.isAbout(line, key));
    return this.proof.proven(lines, await this.scene(), true).length > 0;
  }

  /** Claims that get nothing, in the order of their keys: what is said of them is the same, whichever controller says it. */
  pendingOf(isMeant: (one: Pending) => boolean): Pending[] {
    const found = [...this.pending.values()].flat().filter(isMeant);
    return found.sort((a, b) => byCodeUnit(a.claim, b.claim));
  }

  /** The key of the object that asked for a claim; undefined if nobody here knows it. */
  sourceOf(claim: string): string | undefined {
    return this.ground.integrations.find(({ isClaim }) => isClaim(claim))?.inCluster?.sourceOf(claim);
  }

  /** The owners for whom nothing can be made. */
  private barred(facts: Facts): ReadonlySet<string> {
    return new Set(this.ground.integrations.flatMap(({ inCluster }) => [...(inCluster?.barred?.(facts).keys() ?? [])]));
  }

  private render(desired: Desired, owners: ReadonlySet<string>, snapshot: Snapshot): RenderedObject[] {
    const lines = [...owners].map((owner) => this.record.lines.of(owner));
    const looked = {
      ...snapshot,
      allocations: lines.flatMap(({ allocations }) => allocations).sort(byAddress),
      releasing: lines.flatMap(({ releasing }) => releasing).sort(byAddress),
    };
    const { instead, added } = renderDesired(desired, { snapshot: looked, set: clusterSet });
    return [...[...instead.values()].flat(), ...added];
  }
}

/** Those of which it is so, and the others. */
function partition<T>(all: readonly T[], isSo: (one: T) => boolean): [T[], T[]] {
  return [all.filter(isSo), all.filter((one) => !isSo(one))];
}
