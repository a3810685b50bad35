import { type Allocation, ownerOfKey, type Plan, placeOf, type Snapshot, sameLine } from "../core/index.ts";
import type { Ground } from "./ground.ts";
import { ReleaseHold } from "./release-hold.ts";

/** The record as this controller knows it: by its own commits, and read anew now and then. */
export class KnownRecord {
  readonly hold: ReleaseHold;
  /** As it was last read or written, whether or not it is still so. */
  latest: Snapshot | undefined;
  /** When it was last read. */
  readAt = Number.NEGATIVE_INFINITY;
  private readonly ground: Ground;
  private snapshot: Snapshot | undefined;
  /** Owners whose lines somebody else changed, or lost. */
  private readonly changed = new Set<string>();

  constructor(ground: Ground) {
    this.ground = ground;
    this.hold = new ReleaseHold(ground.clock, ground.timing.hold);
  }

  /** As it was last seen. */
  async get(): Promise<Snapshot> {
    return this.snapshot ?? this.readAnew();
  }

  /** As it was a moment ago, for who decides by it. */
  async fresh(): Promise<Snapshot> {
    const { clock, timing } = this.ground;
    return clock.now() - this.readAt > timing.fresh ? this.readAnew() : this.get();
  }

  /** Records a plan. Throws as the state backend does; then nobody knows what the record is. */
  async commit(plan: Plan): Promise<Snapshot> {
    this.snapshot = undefined;
    return this.know(await this.ground.state.commit(plan));
  }

  /** It may be another one than we know. */
  forget(): void {
    this.snapshot = undefined;
  }

  /** The owners whose lines somebody else changed since this was asked. */
  takeChanged(): string[] {
    const owners = [...this.changed];
    this.changed.clear();
    return owners;
  }

  private async readAnew(): Promise<Snapshot> {
    const { clock, state } = this.ground;
    const at = clock.now();
    const snapshot = await state.read();
    this.readAt = at;
    for (const owner of changedOwners(this.latest, snapshot)) this.changed.add(owner);
    return this.know(snapshot);
  }

  private know(snapshot: Snapshot): Snapshot {
    this.snapshot = snapshot;
    this.latest = snapshot;
    this.hold.see(snapshot.releasing);
    return snapshot;
  }
}

/** The owners whose lines differ between two reads. */
function changedOwners(before: Snapshot | undefined, now: Snapshot): Set<string> {
  if (before === undefined) return new Set();
  const isOther = ({ pool }: Allocation) => before.base.get(pool) !== now.base.get(pool);
  const missing = (lines: readonly Allocation[], others: readonly Allocation[]) => {
    const byPlace = new Map(others.filter(isOther).map((line) => [placeOf(line), line]));
    return lines.filter(isOther).filter((line) => {
      const other = byPlace.get(placeOf(line));
      return other === undefined || !sameLine(line, other);
    });
  };
  const differing = (["allocations", "releasing"] as const).flatMap((list) => [
    ...missing(before[list], now[list]),
    ...missing(now[list], before[list]),
  ]);
  return new Set(differing.map(({ claim }) => ownerOfKey(claim)));
}
