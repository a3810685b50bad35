import { IpamError, ownerOfKey } from "../../core/index.ts";
import { partition } from "../../core/partition.ts";
import { isManaged } from "../../integrations/contract/managed-by.ts";
import { kindOf, objectKey } from "../../integrations/contract/object-key.ts";
import type { Concern } from "../../integrations/contract/watched-kind.ts";
import { Queue } from "../../kube/index.ts";
import { Allocator, type Decided } from "../allocate/allocator.ts";
import { goesWithOwner, poolObjects } from "../allocate/asking.ts";
import { unusableIn } from "../allocate/inputs.ts";
import { usesShownBy } from "../allocate/observations.ts";
import { lacksFinalizer } from "../allocate/owner-state.ts";
import { kindsOf, poolKind } from "../cache/kinds.ts";
import { World } from "../cache/world.ts";
import type { Dependencies, Observer } from "../dependencies.ts";
import { retryLevel } from "../log.ts";
import { Quarantine } from "../reconcile/quarantine.ts";
import { Reporter } from "../reconcile/reporter.ts";
import { Resetter } from "../reconcile/resetter.ts";
import { releasingDelay, StillReleasing } from "../reconcile/still-releasing.ts";
import { tellMoved } from "../record/moved-lines.ts";
import type { Timing } from "../timing.ts";
import { Applier } from "../write/applier.ts";
import { Wanted, wantedObject } from "../write/wanted.ts";

/** How many requests are in flight at once. */
const maxInFlight = 32;
/** So many owners are looked at in one go: what is made of them is written before it is too old, and takes little memory. */
const batch = 500;

/**
 * The controller without its watches. A change in the cluster requeues keys of one queue; each run decides by the cache and the record:
 *
 *  key          | what is done                                              | by
 *  -------------+-----------------------------------------------------------+----------------
 *  allocate     | one plan and one commit for all owners that wait; the     | Allocator
 *               | record is read again and again for what others change,    |
 *               | more often while addresses are held back                  |
 *  decide OWNER | an owner waits, or a source of which one object is made   |
 *               | for many owners                                           |
 *  apply KEY    | an object is created, replaced or deleted                 | Applier
 *  report KEY   | the status of a pool, or of a source object, is written   | Reporter
 *  reset KEY    | a reset that an object asks for comes to its end          | Resetter
 *  releasing    | Events name addresses that are releasing for long         | StillReleasing
 */
export class Engine {
  readonly world: World;
  readonly queue: Queue;
  readonly allocator: Allocator;
  private readonly applier: Applier;
  private readonly reporter: Reporter;
  private readonly quarantine: Quarantine;
  private readonly resetter: Resetter;
  private readonly stillReleasing: StillReleasing;
  private readonly observer: Observer | undefined;
  private readonly timing: Timing;
  private readonly integrations: Dependencies["integrations"];
  private readonly wanted = new Wanted();
  /** Owners to look at; all of them is one wish more. */
  private readonly waiting = new Set<string>();
  private isAll = true;
  private deciding: ReadonlySet<string> = new Set();
  /** Objects that say how they stand once it is decided what they have: they may have come back with another wish. */
  private readonly unreported = new Set<string>();
  /** Whether all owners are being decided, batch by batch. */
  private isRound = false;
  private isOpen = false;
  /** What did not fit the record when somebody was looked at last. */
  private misfits = "";
  /** Whether every owner was decided once. */
  hasDecided = false;

  constructor(deps: Dependencies) {
    const { cache, clock, timing, random, log, observer, integrations } = deps;
    this.integrations = integrations;
    this.world = new World(cache, kindsOf(integrations), (concern, key) => this.changed(concern, key));
    this.queue = new Queue((key) => this.run(key), {
      parallel: maxInFlight,
      // Addresses first: how it all stands is told when there is nothing else to do.
      isLast: (key) => key.startsWith("report ") || key === "releasing",
      clock,
      random,
      failed: (key, error, pause) =>
        log({ level: retryLevel(error, pause), message: "will try again", key, error, pause }),
      ran: (key, ms, error) => observer?.ran(key, ms, error),
    });
    this.observer = observer;
    this.timing = timing;
    this.allocator = new Allocator(deps, this.world);
    this.applier = new Applier(deps, this.world, this.wanted, this.allocator, (key) => this.queue.add(key));
    this.quarantine = new Quarantine(deps, this.world);
    this.reporter = new Reporter(deps, this.world, this.wanted, this.allocator, this.quarantine);
    this.resetter = new Resetter(deps, this.world, this.allocator, this.reporter);
    this.stillReleasing = new StillReleasing(deps, this.world, this.allocator);
  }

  /** The world is known: from now on it is acted upon. */
  open(): void {
    if (this.isOpen) return;
    this.isOpen = true;
    this.queue.add("allocate");
  }

  /** Looks at everything again, and reads the record anew. */
  resync(): void {
    this.allocator.forgetRecord();
    this.isAll = true;
    if (this.isOpen) this.queue.add("allocate");
  }

  private changed({ owners, sources, isEvidence = false }: Concern, key: string): void {
    if (owners === "all") {
      this.isAll = true;
      this.allocator.forgetInputs();
    } else
      for (const owner of owners)
        if (!isEvidence || this.allocator.record.hold.hasOwner(owner)) this.waiting.add(owner);
    if (this.world.asksReset(key) || this.allocator.resets.hasBegun(key)) this.resync();
    const { shows, makesRoom = false } = this.world.kind(kindOf(key));
    if (shows || makesRoom || kindOf(key) === poolKind) this.heard(key, makesRoom && !isEvidence);
    if (this.quarantine.heard(key) && this.isOpen) this.tellPools();
    if (kindOf(key) === "Node" && this.allocator.shown.hasMachines()) this.tellPools();
    if (!this.isOpen) return;
    if (this.isAll || this.waiting.size > 0) this.queue.add("allocate");
    this.tell(key, this.timing.settle);
    const above = new Set([...sources, ...sources.flatMap((source) => this.above(source))]);
    for (const one of above) if (one !== key) this.tell(one, this.timing.gather);
  }

  /** An owner reports what it has, or may use something no more: pools have collisions by that, or room. */
  private heard(key: string, mayHaveRoom: boolean): void {
    if (!(this.allocator.shown.set(key, usesShownBy(key, this.world, this.integrations)) || mayHaveRoom)) return;
    for (const owner of this.allocator.pending.keys()) this.waiting.add(owner);
    if (this.isOpen) this.tellPools();
  }

  private tellPools(): void {
    for (const pool of poolObjects(this.world, this.integrations))
      this.queue.addAfter(`report ${objectKey(pool)}`, this.timing.gather);
  }

  /** What an object was made of. */
  private above(key: string): readonly string[] {
    const object = this.world.get(key);
    return object === undefined ? [] : this.world.concerns(object).sources;
  }

  /** An object changed, or something that tells about it did. An owner, which somebody waits for, does not gather. */
  private tell(key: string, pause: number): void {
    const there = this.world.get(key);
    const isMade = this.wanted.get(key) !== undefined || there === undefined || isManaged(there);
    if (isMade) {
      this.applier.health(key);
      this.queue.add(`apply ${key}`);
    } else this.queue.addAfter(`report ${key}`, this.world.kindFor(there).isOwner ? 0 : pause);
  }

  private async run(key: string): Promise<number | undefined> {
    const [verb, object = ""] = key.split(/ (.*)/s);
    if (verb === "allocate") return this.allocate();
    if (verb === "decide") return this.wait(object);
    if (verb === "apply") return this.applier.apply(object);
    if (verb === "reset") return this.resetter.reset(object);
    if (verb === "releasing") return this.stillReleasing.tell();
    return this.isUndecided(object) ? void this.unreported.add(object) : this.reporter.report(object);
  }

  /** Returns whether an object is an owner that waits for a decision. */
  private isUndecided(key: string): boolean {
    const object = this.world.get(key);
    if (object === undefined || lacksFinalizer(object, this.integrations)) return false;
    const { owners } = this.world.concerns(object);
    const isWaited = (owner: string) => this.isAll || this.waiting.has(owner) || this.deciding.has(owner);
    return owners !== "all" && owners.some((owner) => this.world.keyOfOwner(owner) === key && isWaited(owner));
  }

  private reportUnreported(): void {
    for (const key of [...this.unreported].filter((one) => !this.isUndecided(one))) {
      this.unreported.delete(key);
      this.queue.addAfter(`report ${key}`, this.timing.settle);
    }
  }

  private wait(owner: string): undefined {
    this.waiting.add(owner);
    this.queue.add("allocate");
  }

  /** Owners whose lines somebody has changed wait to be looked at, and what lists them; what asked says how it stands. Are there any? */
  private takeChanged(but: ReadonlySet<string> = new Set()): boolean {
    const claims = this.allocator.record.takeChanged();
    const changed = claims.map(ownerOfKey).filter((owner) => !but.has(owner));
    const sources = new Set(claims.flatMap((claim) => this.allocator.sourceOf(claim) ?? []));
    const shared = [...sources].filter((source) => this.allocator.renderer.isShared(source));
    for (const one of [...changed, ...shared]) this.waiting.add(one);
    // Whoever wrote it may have come to its end before it said so.
    for (const source of sources) this.queue.addAfter(`report ${source}`, this.timing.gather);
    // Somebody else may have made room.
    if (changed.length > 0) for (const owner of this.allocator.pending.keys()) this.waiting.add(owner);
    return changed.length + shared.length > 0;
  }

  /** Looks at those who wait. Held addresses must be seen so often that one which is live for a moment is seen to be. */
  private async allocate(): Promise<undefined> {
    const { record } = this.allocator;
    try {
      await record.fresh();
      tellMoved(this.allocator, this.observer);
      if (this.isAll || this.waiting.size > 0) await this.decideWaiting();
      else if (this.takeChanged()) this.queue.add("allocate");
      if (record.takeOtherwise()) {
        this.tellPools();
        await this.seeMisfits(true);
      }
    } catch (error) {
      if (record.damage !== undefined) this.tellPools();
      throw error;
    } finally {
      this.queue.addAfter("allocate", record.hold.isRunning() ? this.timing.see / 4 : this.timing.reread);
    }
  }

  private async decideWaiting(): Promise<void> {
    const isAll = this.isAll;
    const owners = new Set<string>();
    this.isAll = false;
    this.isRound ||= isAll;
    try {
      if (isAll) for (const owner of await this.allocator.owners()) this.waiting.add(owner);
      // Who has lost a line is looked at before what lists it.
      await this.allocator.record.fresh();
      this.takeChanged();
      for (const owner of this.nextBatch()) owners.add(owner);
      for (const owner of owners) this.waiting.delete(owner);
      const isEnd = this.isRound && this.waiting.size === 0;
      await this.decide(owners, isEnd);
      if (isEnd) this.isRound = false;
      this.hasDecided ||= isEnd;
    } catch (error) {
      for (const owner of owners) this.waiting.add(owner);
      this.isAll ||= isAll;
      if (error instanceof IpamError && error.code !== "invalid") this.allocator.forgetRecord();
      throw error;
    } finally {
      this.deciding = new Set();
      this.reportUnreported();
    }
  }

  /** What lists many comes after all that wait: until they are looked at, it would list a part of them. */
  private nextBatch(): string[] {
    const isShared = (owner: string) => this.allocator.renderer.isShared(owner);
    const [shared, own] = partition([...this.waiting], isShared);
    return [...own, ...shared].slice(0, batch);
  }

  /** `isEnd`: with these all were looked at. */
  private async decide(asked: ReadonlySet<string>, isEnd: boolean): Promise<void> {
    const allocated = await this.allocator.allocate(asked, (decided) => this.take(decided));
    const { owners, rendered, kept, rejected, asOf, decided } = allocated;
    this.stillReleasing.heard(allocated);
    const wanted = rendered.map((object) => wantedObject(object, this.world, asOf));
    const byOwner = Map.groupBy(wanted, ({ owner }) => owner);
    for (const owner of kept) this.wanted.forgetIfNone(owner);
    for (const owner of owners) {
      if (kept.has(owner)) continue;
      const keys = this.wanted.replace(owner, byOwner.get(owner) ?? [], asOf, rejected);
      for (const made of this.world.ofOwner(owner))
        if (isManaged(made) || goesWithOwner(made, this.world, this.integrations)) keys.add(objectKey(made));
      for (const key of keys) this.queue.add(`apply ${key}`);
      if (keys.size === 0) this.wanted.forget(owner);
    }
    await this.seeMisfits(decided.change.released.length > 0);
    this.takeChanged(new Set(decided.claims.map(ownerOfKey)));
    if (this.waiting.size > 0) this.queue.add("allocate");
    if (this.allocator.record.latest?.releasing.length) this.queue.addAfter("releasing", releasingDelay);
    if (isEnd) for (const object of this.world.resetting()) this.queue.add(`reset ${objectKey(object)}`);
    this.reportSoon(isEnd ? await this.allocator.sources() : wanted.map(({ source }) => source));
  }

  /** Tells of what is recorded, and looks again at those for whom it may matter. */
  private take({ pools, claims, change, later }: Decided): void {
    tellMoved(this.allocator, this.observer);
    this.observer?.recorded(change);
    // Who waits for room is served as soon as there is some.
    if (change.released.length > 0) for (const owner of this.allocator.pending.keys()) this.waiting.add(owner);
    for (const [owner, ms] of later) this.queue.addAfter(`decide ${owner}`, ms);
    this.reportSoon([...pools, ...claims.flatMap((claim) => this.allocator.sourceOf(claim) ?? [])]);
  }

  private reportSoon(sources: readonly string[]): void {
    for (const key of new Set(sources)) this.queue.addAfter(`report ${key}`, this.timing.settle);
  }

  /** What did not fit the record may fit what is left of it. In a round all are looked at anyway. */
  private async seeMisfits(hasFreed: boolean): Promise<void> {
    const misfits = unusableIn(await this.allocator.inputs());
    if (misfits !== this.misfits && (hasFreed || !this.isRound)) this.resync();
    this.misfits = misfits;
  }
}
