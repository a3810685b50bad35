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
import { partition } from "../core/partition.ts";
import { isManaged } from "../integrations/in-cluster.ts";
import type { Facts, Integration, RenderedObject } from "../integrations/integration.ts";
import { type Desired, readDesired, renderDesired } from "../pipeline/desired.ts";
import { placeless } from "../schema/objects.ts";
import { decide, type Question } from "./decide.ts";
import type { Ground } from "./ground.ts";
import { KnownRecord } from "./known-record.ts";
import { asOwned, type Occupied, occupied, without } from "./occupied.ts";
import { OwnerStanding } from "./owner-standing.ts";
import { Proof } from "./proof.ts";
import { inParallel } from "./refresh.ts";
import { Resets } from "./resets.ts";
import { asks, factsOf, readObjects, readScene, type Scene } from "./scene.ts";
import { objectKey } from "./seen.ts";
import { Shown } from "./shown.ts";
import type { World } from "./world.ts";

/** What came of looking at some owners. */
export interface Looked {
  /** For whom this was decided. */
  readonly owners: ReadonlySet<string>;
  /** Those of them whose objects stay as they are, whatever is rendered: they wait, or what asks for them cannot be read. */
  readonly kept: ReadonlySet<string>;
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
    this.proof = new Proof(ground, world, this.record.hold, this.resets, (claim) => this.sourceOf(claim));
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
    return [
      ...readObjects(this.world, this.ground.integrations),
      ...[...pools.values()].map(({ object }) => object),
    ].map(objectKey);
  }

  /** Decides for these owners, and records it. Throws as the state backend does; nothing is lost then. */
  async look(asked: ReadonlySet<string>): Promise<Looked> {
    await this.record.fresh();
    const scene = await this.scene();
    const snapshot = await this.record.get();
    const unseen = await this.unseen(asked);
    const owners = new Set([...asked].filter((owner) => !unseen.has(owner)));
    const asOf = this.record.readAt;
    const facts = factsOf(this.world, scene);
    const { integrations } = this.ground;
    const standing = new OwnerStanding(this.world, integrations, owners, scene, facts, (claim) => this.sourceOf(claim));
    const desired = this.desiredFor(owners, facts, scene, standing);
    const releasing = snapshot.releasing.filter((line) => line.set === clusterSet);
    this.resets.begin(scene.pools, releasing, (lines) => this.proof.proven(lines, scene, true));
    const { gone, doubtful } = await this.proof.gone(
      releasing.filter(({ claim }) => owners.has(ownerOfKey(claim))),
      scene,
      asOf,
    );
    const question = this.question(owners, scene, desired, this.occupied(scene, snapshot), standing);
    const { plan, pending } = decide({ ...question, gone }, snapshot);
    if (await this.proof.isAskedOtherwise(turned(plan))) return this.look(asked);
    const after = isNoop(plan) ? snapshot : await this.record.commit(plan);
    const before = [...owners].flatMap((owner) => this.pending.get(owner) ?? []);
    for (const owner of owners) this.pending.delete(owner);
    for (const [owner, list] of Map.groupBy(pending, ({ claim }) => ownerOfKey(claim))) this.pending.set(owner, list);
    const changed = [...plan.assign, ...plan.release.map(({ allocation }) => allocation), ...pending, ...before];
    return {
      owners,
      kept: standing.kept,
      rendered: this.render(desired, owners, after),
      pools: new Set(changed.map(({ pool }) => pool)),
      claims: changed.map(({ claim }) => claim),
      given: plan.assign,
      freed: plan.release.filter(({ to }) => to === "free").map(({ allocation }) => allocation),
      asOf,
      later: this.later(owners, { unseen, doubtful }, plan, after, asOf),
    };
  }

  /**
   * Whom to look at again, and when: what an owner lost made way for what it waits for; its addresses may be free by then; it is
   * not seen yet, or not as the server has it.
   */
  private later(
    owners: ReadonlySet<string>,
    { unseen, doubtful }: { readonly unseen: ReadonlySet<string>; readonly doubtful: ReadonlySet<string> },
    { release }: Plan,
    after: Snapshot,
    asOf: number,
  ) {
    const mine = after.releasing.filter(({ claim }) => owners.has(ownerOfKey(claim)));
    const lost = release.filter(({ to }) => to === "releasing").map(({ allocation }) => ownerOfKey(allocation.claim));
    const { fresh, send } = this.ground.timing;
    // Sooner the record would not be read again, and nothing be otherwise.
    const held = [...this.record.hold.later(mine, asOf)].map(([owner, ms]) => [owner, Math.max(ms, fresh)] as const);
    return new Map([
      ...held,
      ...[...doubtful].map((owner) => [owner, fresh] as const),
      ...[...unseen].map((owner) => [owner, send] as const),
      ...lost.filter((owner) => this.pending.has(owner)).map((owner) => [owner, 0] as const),
    ]);
  }

  /**
   * The owners that have an address and are on the server, but not shown by the watch: nothing is decided for them now. Who
   * was stopped for a while knows the record before it knows who has come meanwhile.
   */
  private async unseen(owners: ReadonlySet<string>): Promise<ReadonlySet<string>> {
    const unseen = new Set<string>();
    const isLive = (owner: string) => this.record.lines.of(owner).allocations.some(({ set }) => set === clusterSet);
    await inParallel([...owners].filter(isLive), async (owner) => {
      if (await this.proof.isBack(owner)) unseen.add(owner);
    });
    return unseen;
  }

  private desiredFor(
    owners: ReadonlySet<string>,
    { nodes, poolUids = new Map() }: Facts,
    scene: Scene,
    standing: OwnerStanding,
  ): Desired {
    const looked = nodes.filter(({ name }) => owners.has(nodeOwner(name)));
    const about = [...owners].flatMap((owner) => this.world.ofOwner(owner)).filter((one) => !isManaged(one));
    const [own, others] = partition(about, (one) => asks(one, this.ground.integrations));
    const owned = own.filter((one) => !standing.rejected.has(objectKey(one))).map(placeless);
    return readDesired(
      {
        owned: [...scene.shared, ...owned],
        others: others.map(placeless),
        pools: scene.sound,
        nodes: looked,
        poolUids,
        authority: "Cluster",
        isBarred: (integration, owner) => standing.isBarred(integration, owner),
      },
      this.ground.integrations,
    );
  }

  private question(
    owners: ReadonlySet<string>,
    scene: Scene,
    desired: Desired,
    occupied: Occupied,
    standing: OwnerStanding,
  ): Omit<Question, "gone"> {
    return {
      pools: scene.sound.map((pool) => without(pool, occupied)),
      claims: desired.claims.map((claim) => asOwned(claim, desired.facts.pools, occupied)),
      owners,
      set: clusterSet,
      waiting: standing.waiting,
      shareOf: (claim) => `${ownerOfKey(claim)} ${this.integrationOf(claim)?.name}`,
      // Of a kind that is not served nobody knows whether what asked is there.
      isHeld: (line) => this.proof.isBlind(line) || standing.isHeld(line),
    };
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
    return this.integrationOf(claim)?.inCluster?.sourceOf(claim);
  }

  private integrationOf(claim: string): Integration | undefined {
    return this.ground.integrations.find(({ isClaim }) => isClaim(claim));
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

/** The lines that a plan takes from their owners, or gives back to them. */
function turned({ release, keep }: Plan): Allocation[] {
  const taken = release.filter(({ to }) => to === "releasing").map(({ allocation }) => allocation);
  return [...taken, ...keep.flatMap(({ was }) => was ?? [])];
}
