import { IpamError, type Plan, type Snapshot } from "../../core/index.ts";
import type { Dependencies, RecordChange } from "../dependencies.ts";
import { LinesByOwner } from "./lines-by-owner.ts";
import { type MovedLine, movedBetween } from "./moved-lines.ts";
import { noChange, together, writtenOf } from "./record-change.ts";
import { ReleaseHold } from "./release-hold.ts";
import { isUnreadable } from "./unreadable.ts";

/** The record as this controller knows it: by its own commits, and read anew now and then. */
export class KnownRecord {
  readonly hold: ReleaseHold;
  /** Of the record as it was last read or written. */
  readonly lines = new LinesByOwner();
  /** As it was last read or written, whether or not it is still so. */
  latest: Snapshot | undefined;
  /** What is wrong with it, if it could not be read for that. */
  damage: string | undefined;
  /** When it was last read. */
  readAt = Number.NEGATIVE_INFINITY;
  private readonly deps: Dependencies;
  private snapshot: Snapshot | undefined;
  private last: Promise<unknown> = Promise.resolve();
  /** Claims whose lines changed: by a commit of ours, or somebody else's. */
  private readonly changed = new Set<string>();
  private readonly moved: MovedLine[] = [];
  private isOtherwise = false;
  /** What commits were to change and nobody was told of: those that failed, and the last one. */
  private untold = noChange;

  /** `graceOf` says for how long a pool wants its addresses held back, in milliseconds. */
  constructor(deps: Dependencies, graceOf?: (pool: string) => number) {
    this.deps = deps;
    this.hold = new ReleaseHold(deps.clock, deps.timing.hold, graceOf);
  }

  /** As it was last seen. */
  async get(): Promise<Snapshot> {
    return this.snapshot ?? this.inTurn(async () => this.snapshot ?? this.readAnew());
  }

  /** As it was a moment ago, for who decides by it. */
  async fresh(): Promise<Snapshot> {
    return this.isFresh() ? this.get() : this.inTurn(async () => (this.isFresh() && this.snapshot) || this.readAnew());
  }

  /** Records a plan, which is to make this change. Throws as the state backend does; then nobody knows what the record is. */
  async commit(plan: Plan, change: RecordChange): Promise<Snapshot> {
    return this.inTurn(async () => {
      this.snapshot = undefined;
      this.untold = together(writtenOf(this.untold, this.lines), change);
      return this.know(await this.deps.state.commit(plan));
    });
  }

  /** What commits have changed since this was asked, as far as the record has it: one that failed may have written some parts. */
  takeWritten(): RecordChange {
    const written = writtenOf(this.untold, this.lines);
    this.untold = noChange;
    return written;
  }

  /** Whether somebody else has changed the record since this was asked, be it only what can be read of it. */
  takeOtherwise(): boolean {
    const { isOtherwise } = this;
    this.isOtherwise = false;
    return isOtherwise;
  }

  /** The live addresses that somebody else has changed since this was asked. */
  takeMoved(): MovedLine[] {
    return this.moved.splice(0);
  }

  /** Whether a pool is of a subnet whose record cannot be read now: its lines stay as they were read last. */
  isUnreadable({ pool }: { readonly pool: string }): boolean {
    return this.latest !== undefined && isUnreadable(pool, this.latest);
  }

  /** Whether an owner has a live line of one of these claims, as far as the record was read. */
  mayHaveLive(owner: string, isMeant: (claim: string) => boolean): boolean {
    return this.latest === undefined || this.lines.of(owner).allocations.some(({ claim }) => isMeant(claim));
  }

  /** It may be another one than we know. */
  forget(): void {
    this.snapshot = undefined;
  }

  /** The claims whose lines changed since this was asked. */
  takeChanged(): string[] {
    const claims = [...this.changed];
    this.changed.clear();
    return claims;
  }

  private isFresh(): boolean {
    const { clock, timing } = this.deps;
    return clock.now() - this.readAt <= timing.fresh;
  }

  /** One after the other: a reading that began before a commit and ended after it would be taken for what is. */
  private inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.last.then(work);
    this.last = turn.catch(() => {});
    return turn;
  }

  private async readAnew(): Promise<Snapshot> {
    const { clock, state, timing } = this.deps;
    const at = clock.now();
    const snapshot = await state.read().catch((error) => {
      if (error instanceof IpamError && ["corrupt", "invalid"].includes(error.code)) {
        this.damage = error.message;
        this.snapshot = undefined;
      }
      throw error;
    });
    if (clock.now() - this.readAt > timing.see) this.hold.beginAnew();
    this.readAt = at;
    // Pools have said what was wrong.
    this.isOtherwise ||= this.damage !== undefined;
    this.damage = undefined;
    // Most often nobody else has written; then all that was made of what we know may stay.
    if (this.latest !== undefined && isSame(this.latest, snapshot)) return this.know(this.latest);
    if (this.latest !== undefined) this.moved.push(...movedBetween(this.latest, snapshot));
    this.isOtherwise = true;
    return this.know(snapshot);
  }

  private know(snapshot: Snapshot): Snapshot {
    const changed = this.lines.follow(snapshot);
    if (this.latest !== undefined) for (const claim of changed) this.changed.add(claim);
    this.snapshot = snapshot;
    this.latest = snapshot;
    // What cannot be read may have been live in between: its time begins anew once it can.
    this.hold.see(snapshot.releasing.filter((line) => !this.isUnreadable(line)));
    return snapshot;
  }
}

/** Whether two snapshots say the same. Each pool has a token of its content. */
function isSame(before: Snapshot, now: Snapshot): boolean {
  const isEqual = (a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>) =>
    a.size === b.size && [...b].every(([pool, text]) => a.get(pool) === text);
  const textOf = ({ unreadable = [], full = [] }: Snapshot) =>
    JSON.stringify(
      [unreadable, full].map((list) => list.map(({ pools, why }) => [why, pools.map(({ name }) => name)])),
    );
  return isEqual(before.base, now.base) && textOf(before) === textOf(now);
}
