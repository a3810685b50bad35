import type { Allocation } from "../../core/index.ts";
import type { World } from "../cache/world.ts";
import { keyOfLine } from "../record/release-hold.ts";
import type { ClusterPool } from "./cluster-pool.ts";
import { type Reset, resetOf, type SourceOf } from "./reset.ts";

/** The resets that are asked for. Each is about lines that were off their owners when it was first seen: the word was about then. */
export class Resets {
  private readonly world: World;
  private readonly sourceOf: SourceOf;
  /** The lines of each, by the key of the object that asks. */
  private begun = new Map<string, ReadonlySet<string>>();

  constructor(world: World, sourceOf: SourceOf) {
    this.world = world;
    this.sourceOf = sourceOf;
  }

  list(pools: ReadonlyMap<string, ClusterPool>): Reset[] {
    return this.world.resetting().map((object) => resetOf(object, this.world.concerns(object), pools, this.sourceOf));
  }

  /** Those that can be done. */
  possible(pools: ReadonlyMap<string, ClusterPool>): Reset[] {
    return this.list(pools).filter(({ problem }) => problem === undefined);
  }

  /**
   * Begins those that are new, of all releasing lines; `isOff` tells which of some are off their owners by the reports. A line
   * that is live again is out of a reset for good.
   */
  begin(
    pools: ReadonlyMap<string, ClusterPool>,
    releasing: readonly Allocation[],
    isOff: (lines: readonly Allocation[]) => readonly Allocation[],
  ): void {
    const now = new Set(releasing.map(keyOfLine));
    const still = (key: string) => new Set([...(this.begun.get(key) ?? [])].filter((line) => now.has(line)));
    const linesOf = ({ key, covers }: Reset) =>
      this.begun.has(key) ? still(key) : new Set(isOff(releasing.filter(covers)).map(keyOfLine));
    this.begun = new Map(this.possible(pools).map((reset) => [reset.key, linesOf(reset)]));
  }

  /** Returns whether a reset has begun for this object. This stays true until the next one begins, even if the object no longer asks. */
  hasBegun(key: string): boolean {
    return this.begun.has(key);
  }

  /** Returns whether a reset, or this one, covers a line. */
  isAbout(line: Allocation, key?: string): boolean {
    const about = key === undefined ? [...this.begun.values()] : [this.begun.get(key)];
    return about.some((lines) => lines?.has(keyOfLine(line)));
  }
}
