import {
  type Allocation,
  type Claim,
  clusterSet,
  emptySnapshot,
  formatOwner,
  IpamError,
  identityOf,
  isNoop,
  ownerOfKey,
  type Plan,
  type Snapshot,
} from "../../core/index.ts";
import type { ClusterIntegration } from "../../integrations/contract/cluster-integration.ts";
import { objectKey } from "../../integrations/contract/object-key.ts";
import type { Desired } from "../../pipeline/desired.ts";
import { inParallel } from "../cache/refresh.ts";
import type { World } from "../cache/world.ts";
import type { Dependencies, RecordChange } from "../dependencies.ts";
import type { Finder } from "../events.ts";
import { KnownRecord } from "../record/known-record.ts";
import { recordChange } from "../record/record-change.ts";
import { RecordLoss } from "../record/record-loss.ts";
import { integrationOf, machinesIn, readObjects, sourceOf } from "./asking.ts";
import { contestedIn } from "./contested-lines.ts";
import { changedBy, decide, placeOfClaim, type Question } from "./decide.ts";
import { conflictingIn, factsOf, type Inputs, readInputs, toLookAgain } from "./inputs.ts";
import { Observations } from "./observations.ts";
import type { Occupied } from "./occupied.ts";
import { OwnerState } from "./owner-state.ts";
import { PendingClaims } from "./pending-claims.ts";
import { plannableClaims } from "./plannable-claims.ts";
import { definersOf, graceOf } from "./pools.ts";
import { Proof } from "./proof.ts";
import { withoutRoom } from "./recordable.ts";
import { type Batch, Renderer, type Rendering } from "./renderer.ts";
import { requestedUses } from "./requested-uses.ts";
import type { SourceOf } from "./reset.ts";
import { Resets } from "./resets.ts";
import { UnreadAddresses } from "./unread-addresses.ts";

/** What came of looking at some owners. */
export interface Allocated extends Rendering {
  /** For whom this was decided. */
  readonly owners: ReadonlySet<string>;
  /** When the record was read. */
  readonly asOf: number;
  readonly decided: Decided;
}

/** What was decided, and recorded. */
export interface Decided {
  /** What defines the pools in which something changed, and the claims, or that get nothing. */
  readonly pools: ReadonlySet<string>;
  readonly claims: readonly string[];
  readonly change: RecordChange;
  /** Owners to look at later, and in how many milliseconds: their addresses may be free by then, or they are seen. */
  readonly later: ReadonlyMap<string, number>;
}

/** Decides for owners in batches: one plan and one commit for all that wait. It alone writes the record. */
export class Allocator implements Finder {
  /** Why claims of an owner get nothing, by owner. */
  readonly pending = new PendingClaims();
  /** Owners for whom nothing could be made when somebody was looked at last: a change of one owner may be about another one. */
  private unservable: ReadonlySet<string> = new Set();
  private readonly world: World;
  private readonly deps: Dependencies;
  readonly record: KnownRecord;
  private seen: Inputs | undefined;
  /** The key of the object that asked for a claim; undefined if nobody here knows it. */
  readonly sourceOf: SourceOf = (claim) => sourceOf(claim, this.world, this.deps.integrations);
  /** The pools as they were last seen. */
  pools: Inputs["pools"] = new Map();
  readonly shown: Observations;
  readonly unread: UnreadAddresses;
  readonly resets: Resets;
  readonly renderer: Renderer;
  readonly proof: Proof;
  readonly loss: RecordLoss;

  constructor(deps: Dependencies, world: World) {
    this.deps = deps;
    this.world = world;
    this.record = new KnownRecord(deps, (pool) => graceOf(this.pools.get(pool)));
    const { sourceOf } = this;
    this.shown = new Observations(machinesIn(world, deps.integrations));
    this.unread = new UnreadAddresses(this.shown, this.record);
    this.resets = new Resets(world, sourceOf);
    this.renderer = new Renderer(world, deps, sourceOf);
    this.loss = new RecordLoss(deps, world);
    this.proof = new Proof(deps, world, this.record.hold, this.resets, sourceOf);
  }

  /** Something that all owners share has changed. */
  forgetInputs(): void {
    this.renderer.failing.forget();
    this.seen = undefined;
  }

  /** The record may be another one than we know. */
  forgetRecord(): void {
    this.record.forget();
    this.seen = undefined;
  }

  async inputs(): Promise<Inputs> {
    return this.inputsBy(await this.record.get());
  }

  private inputsBy(snapshot: Snapshot): Inputs {
    const { why } = this.renderer.failing;
    if (this.seen?.record !== snapshot) this.seen = readInputs(this.world, this.deps.integrations, snapshot, why);
    this.pools = this.seen.pools;
    this.loss.check(snapshot);
    return this.seen;
  }

  /** Every owner that asks for something, has something, or is there; and what objects of many owners are made of. */
  async owners(): Promise<Set<string>> {
    const { allocations, releasing } = await this.record.get();
    const { owners } = await this.inputs();
    const lines = [...allocations, ...releasing].filter(({ set }) => set === clusterSet);
    const asking = readObjects(this.world, this.deps.integrations);
    const sources = asking.flatMap((object) => this.world.concerns(object).sources);
    const given = lines.flatMap(({ claim }) => this.sourceOf(claim) ?? []);
    const shared = [...new Set([...sources, ...given])].filter((source) => this.renderer.isShared(source));
    return new Set([...this.world.owners(), ...owners, ...shared, ...lines.map(({ claim }) => ownerOfKey(claim))]);
  }

  /** The objects that say how they stand: all that ask for addresses, and all pools. */
  async sources(): Promise<string[]> {
    const { defined } = await this.inputs();
    return [...readObjects(this.world, this.deps.integrations), ...defined.map(({ object }) => object)].map(objectKey);
  }

  /**
   * Decides for these owners, and records it. What takes time, because the server is asked, comes before the world is looked at and
   * after: what is decided is of one moment. Throws as the state backend does, and `conflict` where the server has what asks
   * otherwise than it was seen; nothing is lost then. What is recorded is told first: rendering throws `conflict`, too,
   * if an integration fails on one of the objects.
   */
  async allocate(asked: ReadonlySet<string>, tell: (decided: Decided) => void): Promise<Allocated> {
    await this.record.fresh();
    const { unseen, gone: wereGone } = await this.unseen(asked);
    const owners = new Set([...asked].filter((owner) => !unseen.has(owner)));
    const { gone, doubtful, readAt } = await this.gone(owners);
    await this.record.get();
    const { latest: snapshot = emptySnapshot, readAt: asOf } = this.record;
    const inputs = this.inputsBy(snapshot);
    const facts = factsOf(this.world, inputs);
    const { integrations } = this.deps;
    const ownerState = new OwnerState(this.world, integrations, owners, inputs, facts, this.sourceOf, this.unread);
    const batch = { owners, inputs, facts, ownerState };
    const desired = this.renderer.asked(batch);
    const { unclear, contested, ...question } = this.question(batch, desired.own.desired);
    const { plan, pending } = decide({ ...question, gone }, snapshot);
    if (await this.proof.isAskedOtherwise(plan, wereGone))
      throw new IpamError("conflict", "what asks for addresses is otherwise on the server than it was seen");
    const change = recordChange(plan, adoptedBy(question));
    const after = isNoop(plan) ? snapshot : await this.record.commit(plan, change);
    const changed = [...changedBy(plan), ...pending, ...this.pending.replace(owners, pending)];
    const turnedNow = ownerState.unservableNow(this.unservable);
    this.unservable = ownerState.allUnservable;
    const idle = this.proof.idle(owners, this.record.lines, inputs);
    const decided = {
      pools: new Set(changed.flatMap(({ pool }) => definersOf(this.pools.get(pool)))),
      claims: changed.map(({ claim }) => claim),
      change: this.record.takeWritten(),
      later: new Map([
        ...this.later(owners, { unseen, doubtful }, plan, after, readAt),
        ...this.loss.later(pending),
        ...toLookAgain(plan, facts, inputs, this.world).map((owner) => [owner, 0] as const),
        ...turnedNow.filter((owner) => !owners.has(owner)).map((owner) => [owner, 0] as const),
      ]),
    };
    tell(decided);
    const recorded = { snapshot: after, lines: this.record.lines, idle, unclear, contested };
    return { owners, asOf, decided, ...this.renderer.render(desired, batch, recorded) };
  }

  /** The releasing lines of these owners that may be free, and by a record of when. */
  private async gone(owners: ReadonlySet<string>) {
    const inputs = await this.inputs();
    const { readAt } = this.record;
    const releasing = (await this.record.get()).releasing.filter((line) => line.set === clusterSet);
    this.resets.begin(inputs.pools, releasing, (lines) => this.proof.proven(lines, inputs, true));
    const own = releasing.filter((line) => owners.has(ownerOfKey(line.claim)) && !this.record.isUnreadable(line));
    return { readAt, ...(await this.proof.gone(own, () => this.inputs(), readAt)) };
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
    const { fresh, send } = this.deps.timing;
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
   * was stopped for a while knows the record before it knows who has come meanwhile. `gone`: those of whom the server was asked.
   */
  private async unseen(owners: ReadonlySet<string>) {
    const isLive = (owner: string) => this.record.lines.of(owner).allocations.some(({ set }) => set === clusterSet);
    const gone = new Set([...owners].filter((owner) => isLive(owner) && this.world.isGone(owner)));
    const back = await inParallel([...gone], async (owner) => ((await this.proof.isBack(owner)) ? [owner] : []));
    return { unseen: new Set(back.flat()), gone };
  }

  private question(batch: Batch, desired: Desired) {
    const [{ owners, inputs, ownerState }, { claims }] = [batch, desired];
    const { lines } = this.record;
    const { unrecorded, ambiguous } = this.shown.ownersBeside(inputs.sound, lines);
    const requested = requestedUses(claims, lines, unrecorded, inputs, this.world, this.deps.integrations);
    const beside = ambiguous.size === 0 ? [] : this.renderer.asked({ ...batch, owners: ambiguous }).own.desired.claims;
    const occupied = this.shown.occupied(inputs.sound, lines, requested, [...claims, ...beside]);
    const isGone = (owner: string) => this.world.isGone(owner);
    // Of a kind that is not served nobody knows whether what asked is there.
    const isUnknown = (line: Allocation) => this.record.isUnreadable(line) || this.proof.isBlind(line);
    const contested = contestedIn(occupied, lines, { isGone, isUnknown, ownerState, shown: this.shown });
    const lost = [...contested.values()].flat();
    const plannable = plannableClaims(claims, inputs.sound, occupied, contested, lines, isGone);
    return {
      ...plannable,
      refused: [...plannable.refused, ...withoutRoom(plannable, inputs.pools, lines, this.loss)],
      owners,
      set: clusterSet,
      isWaiting: (claim: Claim) => ownerState.isWaiting(formatOwner(claim.owner), plannable.isObserved(claim)),
      conflicting: conflictingIn(desired, lines.record),
      shareOf: (claim: string) => this.shareOf(claim),
      contested: lost,
      isHeld: (line: Allocation) =>
        !lost.some((one) => one.line === line) && (isUnknown(line) || ownerState.isHeld(line)),
    };
  }

  /** What owners show to have, beside the record. */
  occupied({ sound }: Inputs): Occupied {
    return this.shown.occupied(sound, this.record.lines);
  }

  /** Returns whether a reset will free a line once it was held long enough. */
  async hasToFree(key: string): Promise<boolean> {
    const { releasing } = await this.record.get();
    const lines = releasing.filter((line) => this.resets.isAbout(line, key));
    return this.proof.proven(lines, await this.inputs(), true).length > 0;
  }

  /** Returns whether the record has a line of a source. */
  hasLines(source: string): boolean {
    const { allocations, releasing } = this.record.latest ?? emptySnapshot;
    return [...allocations, ...releasing].some(({ claim }) => this.sourceOf(claim) === source);
  }

  keyOfOwner(owner: string): string | undefined {
    return this.world.keyOfOwner(owner);
  }

  /** The key of what defines a pool, as it was last seen; undefined if nobody here knows it. */
  keyOfPool(name: string): string | undefined {
    return definersOf(this.pools.get(name))[0];
  }

  /** All or nothing is for what one object asks for one owner: a full pool of one policy keeps no node from the addresses of another. */
  private shareOf(claim: string): string {
    const share = this.integrationOf(claim)?.recording.owners?.shareOf?.(claim) ?? this.sourceOf(claim);
    return `${ownerOfKey(claim)} ${share}`;
  }

  private integrationOf(claim: string): ClusterIntegration | undefined {
    return integrationOf(claim, this.deps.integrations);
  }
}

/** Tells of an allocated line whether its owner had shown the address before. */
function adoptedBy({ claims, isObserved }: Pick<Question, "claims" | "isObserved">): (line: Allocation) => boolean {
  const shown = new Set(claims.filter(isObserved).map(placeOfClaim));
  return (line) => shown.has(identityOf(line));
}
