import { IpamError } from "../../core/index.ts";
import type { ClusterIntegration } from "../../integrations/contract/cluster-integration.ts";
import type { RenderedObject } from "../../integrations/contract/integration.ts";
import type { MadeObjects } from "../../integrations/contract/made-objects.ts";
import { isManaged, marked } from "../../integrations/contract/managed-by.ts";
import { kindOf, nameOfKind, objectKey } from "../../integrations/contract/object-key.ts";
import { titleOf } from "../../schema/objects.ts";
import type { Allocator } from "../allocate/allocator.ts";
import { asks, goesWithOwner, readsKind } from "../allocate/asking.ts";
import type { Inputs } from "../allocate/inputs.ts";
import { isWaiting } from "../allocate/owner-state.ts";
import { refresh } from "../cache/refresh.ts";
import type { Seen } from "../cache/seen.ts";
import type { World } from "../cache/world.ts";
import type { Dependencies } from "../dependencies.ts";
import { type Change, changeOf, isOfContent, isWrite, leftMessage } from "./change.ts";
import { Compared, wasApplied, withAppliedDigest } from "./compared.ts";
import { DelayedEvents } from "./delayed-events.ts";
import { type NextCircumstances, nextOf } from "./next.ts";
import { isReplaced } from "./replacement.ts";
import { type MadeOf, Rollouts } from "./rollouts.ts";
import type { Wanted, WantedObject } from "./wanted.ts";
import { Writer } from "./writer.ts";

/** Makes objects what they should be: creates, replaces, deletes; never one that somebody else made. */
export class Applier {
  private readonly deps: Dependencies;
  private readonly world: World;
  private readonly wanted: Wanted;
  private readonly allocator: Allocator;
  private readonly again: (key: string) => void;
  private readonly rollouts: Rollouts;
  private readonly writer: Writer;
  /** What each object was made of, also once it is gone. */
  private readonly sources = new Map<string, string>();
  private readonly compared = new Compared();
  private readonly delayed: DelayedEvents;

  constructor(deps: Dependencies, world: World, wanted: Wanted, allocator: Allocator, again: (key: string) => void) {
    this.deps = deps;
    this.world = world;
    this.wanted = wanted;
    this.allocator = allocator;
    this.again = again;
    this.delayed = new DelayedEvents(deps);
    this.writer = new Writer(deps, world);
    this.rollouts = new Rollouts(world, wanted, allocator);
  }

  /** The health of an object may have changed: others of its source may start by that. */
  health(key: string): void {
    const there = this.world.get(key);
    const origin = this.originOf(key, there);
    if (origin === undefined) return;
    if (there === undefined && this.wanted.get(key) === undefined) this.forget(key, origin);
    else this.rollouts.see(key, origin);
    this.callNext(origin);
  }

  /** Returns in how many milliseconds to look again, if something is to be told then. */
  async apply(key: string): Promise<number | undefined> {
    const inputs = await this.allocator.inputs();
    // Nothing else happens between this look and the beginning of a write.
    const wanted = this.wanted.get(key);
    const there = this.world.get(key);
    const origin = this.originOf(key, there);
    if (origin === undefined) return;
    if (there === undefined && wanted === undefined) return this.forget(key, origin);
    this.rollouts.see(key, origin);
    const owner = wanted?.owner ?? this.ownerOf(there);
    if (owner === undefined) return;
    const change = this.changeOf(key, owner, wanted, there, origin.integration);
    const next = nextOf(change, this.circumstances(key, owner, change, origin, inputs));
    if (next === "decide") this.again(`decide ${owner}`);
    if (next === "compare") return this.compare(key, wanted as WantedObject);
    if (next !== "change") return;
    const again = this.delayed.tell(key, origin.source, this.whyNotCreated(key, change));
    if (isWrite(change)) {
      if (this.rollouts.start(key, origin)) await this.writeOf(origin, wanted as WantedObject, there);
      return;
    }
    if (change === "none") this.wanted.isThere(key);
    this.rollouts.leave(key, origin);
    if (there !== undefined) await this.take(change, there, { key, ...origin });
    this.callNext(origin);
    return again;
  }

  private circumstances(
    key: string,
    owner: string,
    change: Change,
    { source, integration: { made = {} } }: MadeOf,
    { whyRejected, rejected }: Inputs,
  ): NextCircumstances {
    const wanted = this.wanted.get(key);
    const stays = () => (made.outlivesSource && !this.isOver(owner, source)) || rejected.has(source);
    const isOpen = change !== "none" && this.isOpen(key, wanted, this.world.get(key));
    return {
      isRejected: whyRejected(this.world.get(source)) !== undefined || this.allocator.unread.isShownBy(key),
      isHeldBySource: wanted === undefined && (stays() || this.isListing(key, source)),
      isHeldByOwner: isWaiting(owner, this.world, this.deps.integrations),
      isOld: this.writer.isTooOld(wanted?.asOf ?? this.wanted.asOf(owner, source)),
      isMissing: wanted !== undefined && wanted.object === undefined && (isOpen || isOfContent(change, made)),
      isOpen,
    };
  }

  /** Returns which report of an earlier object keeps this one from being created, and what to do about it. */
  private whyNotCreated(key: string, change: Change): string | undefined {
    const isHeldUp = change === "none" && this.wanted.get(key) !== undefined && this.world.get(key) === undefined;
    const [report] = isHeldUp ? this.reportsOf(key) : [];
    return report && leftMessage(key, report);
  }

  /** What others say of an object, or of an earlier one of its name. */
  private reportsOf(key: string): Seen[] {
    return this.world.ofSource(key).filter((one) => !asks(one, this.deps.integrations));
  }

  /** What is done about an object, but for its being written. */
  private async take(change: Change, there: Seen, about: MadeOf & { key: string }) {
    const { key, source, integration } = about;
    const { made = {} } = integration;
    if (change === "delete") await this.delete(key, there);
    if (change === "unprotect") await this.unprotect(there, made);
    if (change === "refuse") await this.refuse(key, there, source, this.wanted.get(key)?.object, made);
  }

  /** Returns whether an owner has releasing lines alone. If the owner is unknown, or waits for another address, its objects stay. */
  private isOver(owner = "", source: string): boolean {
    const { allocations, releasing } = this.allocator.record.lines.of(owner);
    const isLeaving = releasing.length > 0 && allocations.length === 0 && !this.allocator.pending.has(owner);
    return isLeaving && this.world.get(source) !== undefined;
  }

  private changeOf(
    key: string,
    owner: string,
    wanted: WantedObject | undefined,
    there: Seen | undefined,
    { made = {} }: ClusterIntegration,
  ) {
    const object = wanted?.object && { ...wanted.object };
    const fingerprint = this.compared.fingerprint(key, wanted?.fingerprint, there);
    const isOthers = there !== undefined && !isManaged(there);
    const isTakenOver =
      isOthers &&
      (wanted === undefined
        ? goesWithOwner(there, this.world, this.deps.integrations)
        : made.takesOver?.(there, owner, object) === true);
    const isRefused = there !== undefined && object !== undefined && made.whyRefused?.(there, object) !== undefined;
    const isOfOthers = there !== undefined && this.world.kind(kindOf(key)).staysUnwanted?.(there) === true;
    const isKept = isRefused || (wanted === undefined && (isOfOthers || this.isKeptFor(key, owner, made)));
    const isApplied = there !== undefined && wanted !== undefined && wasApplied(there, wanted.fingerprint);
    const about = { ...made, isTakenOver, isKept, wasApplied: isApplied };
    return changeOf(fingerprint, there, this.reportsOf(key).length, about);
  }

  /** Reports whether an object is the one of a claim that waits for an address: its owner loses only what was recorded for it. */
  private isKeptFor(key: string, owner: string, { objectOf }: MadeObjects): boolean {
    const pending = this.allocator.pending.get(owner) ?? [];
    if (!pending.some(({ claim }) => objectOf?.(claim) === key)) return false;
    const isLeaving = this.world.owner(owner)?.metadata.deletionTimestamp !== undefined;
    return !isLeaving && this.allocator.record.lines.of(owner).releasing.length === 0;
  }

  /** Returns whether an object differs by its digest alone, and the controller wants what it wanted when it wrote it. */
  private isOpen(key: string, wanted: WantedObject | undefined, there: Seen | undefined): boolean {
    if (wanted === undefined || there === undefined || wanted.isChanged === true) return false;
    return this.compared.isOpen(key, wanted.fingerprint, there);
  }

  /** A webhook may only have added to it: what the server has is compared with what was applied. */
  private async compare(key: string, wanted: WantedObject): Promise<undefined> {
    await refresh(key, this.world, this.deps.objects, (stored) => this.note(wanted, stored));
    this.again(`apply ${key}`);
  }

  private note({ key, fingerprint, object }: WantedObject, stored: object): void {
    if (object === undefined) return;
    this.compared.note(key, fingerprint, { wanted: object, stored, kind: this.world.kindFor(object) });
  }

  /** Returns whether an object lists several owners, and one of them has a line still. It then stays, even without its source. */
  private isListing(key: string, source: string): boolean {
    return this.world.kind(kindOf(key)).isShared === true && this.allocator.hasLines(source);
  }

  private async refuse(
    key: string,
    there: Seen,
    source: string,
    wanted: RenderedObject | undefined,
    made: MadeObjects,
  ): Promise<void> {
    const { log, objects, observer } = this.deps;
    // Of what is not ours, a watch that selects by labels tells nothing.
    await refresh(key, this.world, objects);
    if (this.world.get(key) === undefined) return;
    log({ level: "error", message: "somebody else made this object", object: key });
    const why = wanted && made.whyRefused?.(there, { ...wanted });
    const next = why ?? "was made by somebody else. Delete it, or rename it.";
    observer?.wrong(source, "Refused", `${titleOf(there)} ${next}`);
  }

  private async writeOf(origin: MadeOf, wanted: WantedObject, there: Seen | undefined): Promise<void> {
    try {
      await this.write(wanted, there);
    } finally {
      this.rollouts.written(wanted.key, origin);
      this.callNext(origin);
    }
  }

  private async write(wanted: WantedObject, there: Seen | undefined): Promise<void> {
    const object = wanted.object as RenderedObject;
    const kind = this.world.kindFor(object);
    const ours = marked(object);
    const isOwn = kind.statusPart === undefined && (there === undefined || isReplaced(there, kind));
    const whole = isOwn ? withAppliedDigest(ours, wanted.fingerprint) : ours;
    const key = objectKey(object);
    try {
      const read = (stored: object) => this.note(wanted, stored);
      await (there === undefined ? this.writer.create(whole, read) : this.writer.replace(there, whole, read));
    } catch (error) {
      await this.recover(key, error);
    }
  }

  private async delete(key: string, there: Seen): Promise<void> {
    try {
      await this.writer.delete(there);
      await refresh(key, this.world, this.deps.objects);
    } catch (error) {
      await this.recover(key, error);
    }
  }

  private async unprotect(there: Seen, { protection }: MadeObjects): Promise<void> {
    try {
      if (protection !== undefined) await this.writer.finalizer(there, protection, false);
    } catch (error) {
      await this.recover(objectKey(there), error);
    }
  }

  /** Somebody else was there before: what there is now is looked at, and decided upon anew. */
  private async recover(key: string, error: unknown): Promise<never> {
    const isRead = error instanceof IpamError && (error.code === "conflict" || error.code === "unknown-outcome");
    try {
      if (isRead) await refresh(key, this.world, this.deps.objects);
    } finally {
      this.health(key);
    }
    throw error;
  }

  private callNext(origin: MadeOf): void {
    for (const key of this.rollouts.next(origin)) this.again(`apply ${key}`);
  }

  private ownerOf(there: Seen | undefined): string | undefined {
    const owners = there === undefined ? [] : this.world.concerns(there).owners;
    return owners === "all" ? undefined : owners[0];
  }

  private sourceOf(key: string, there: Seen | undefined): string | undefined {
    const isMade =
      there !== undefined && (isManaged(there) || goesWithOwner(there, this.world, this.deps.integrations));
    const made = isMade ? this.world.concerns(there).sources[0] : undefined;
    const source = this.wanted.get(key)?.source ?? made;
    if (source === undefined) return this.sources.get(key);
    this.sources.set(key, source);
    return source;
  }

  /** Nothing is to exist, and nothing does. */
  private forget(key: string, origin: MadeOf): undefined {
    this.compared.forget(key);
    this.delayed.tell(key, origin.source, undefined);
    this.rollouts.forget(key, origin);
    this.sources.delete(key);
    this.callNext(origin);
  }

  private originOf(key: string, there: Seen | undefined): MadeOf | undefined {
    const source = this.sourceOf(key, there);
    const integration = source === undefined ? undefined : this.makerOf(key, source);
    return source === undefined || integration === undefined ? undefined : { source, integration };
  }

  /** Of the integrations that watch a kind, the one that makes its objects of such a source. */
  private makerOf(key: string, source: string): ClusterIntegration | undefined {
    const makes = (one: ClusterIntegration) =>
      one.recording.kinds.some((kind) => nameOfKind(kind) === kindOf(key)) && readsKind(one, kindOf(source));
    return this.deps.integrations.find(makes);
  }
}
