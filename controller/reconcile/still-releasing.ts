import { type Allocation, clusterSet, formatBlock, ownerName, ownerOfKey, releaseCommand } from "../../core/index.ts";
import type { Left } from "../../integrations/contract/integration.ts";
import { isManaged } from "../../integrations/contract/managed-by.ts";
import type { Recording } from "../../integrations/contract/recording.ts";
import { resetAnnotation } from "../../schema/node-ip-pool.ts";
import type { Allocated, Allocator } from "../allocate/allocator.ts";
import { integrationOf } from "../allocate/asking.ts";
import type { World } from "../cache/world.ts";
import type { Dependencies } from "../dependencies.ts";
import { keyOfLine } from "../record/release-hold.ts";

/** For so many milliseconds an address may be releasing without an Event. */
export const releasingDelay = 60_000;
/** So many addresses are named in one message. */
const maxNamed = 3;
/** For so many addresses an object that was made for one owner has its own Event. */
const maxOwnEvents = 10;

/** An address that is releasing for more than a minute. */
interface Stuck {
  readonly line: Allocation;
  readonly why: string;
  /** The next step, the same for addresses that it is for together; undefined where only a release by name frees the address. */
  readonly next: string | undefined;
}

/**
 * Sends Events about addresses that are releasing for more than a minute and that nothing frees by itself: why, and what to do.
 *
 *  the address                       | its pool                | the next step
 *  ----------------------------------+-------------------------+-----------------------------------
 *  is free once the pool is reset    | can be reset            | reset it
 *  the same                          | is gone, is being       | release the address by its name
 *                                    |  deleted or invalid     |
 *  any other                         | any                     | what the integration says, or else
 *                                    |                         |  release the address by its name
 *
 * They are sent on the pool, on what asked for the address and on what was made to take it off; if none of these is there, on its owner.
 */
export class StillReleasing {
  private readonly deps: Dependencies;
  private readonly world: World;
  private readonly allocator: Allocator;
  /** By owner, as of the last look at it. */
  private readonly left = new Map<string, readonly Left[]>();

  constructor(deps: Dependencies, world: World, allocator: Allocator) {
    this.deps = deps;
    this.world = world;
    this.allocator = allocator;
  }

  /** Takes what was found when some owners were looked at. */
  heard({ owners, left }: Pick<Allocated, "owners" | "left">): void {
    const byOwner = Map.groupBy(left, ({ line }) => ownerOfKey(line.claim));
    for (const owner of owners) {
      const own = byOwner.get(owner);
      if (own === undefined) this.left.delete(owner);
      else this.left.set(owner, own);
    }
  }

  /** Returns in how many milliseconds to look again; undefined if nothing is releasing. */
  async tell(): Promise<number | undefined> {
    const { record, proof } = this.allocator;
    const { releasing } = await record.get();
    const lines = releasing.filter((line) => line.set === clusterSet && !record.isUnreadable(line));
    if (lines.length === 0) return undefined;
    const waits = lines.map((line) => releasingDelay - record.hold.seenFor(line)).filter((ms) => ms > 0);
    const long = lines.filter((line) => record.hold.seenFor(line) >= releasingDelay && !proof.isBlind(line));
    const byObject = new Map<string, Stuck[]>();
    for (const [i, one] of (await this.stuck(long)).entries())
      for (const key of this.about(one.line, i < maxOwnEvents)) byObject.set(key, [...(byObject.get(key) ?? []), one]);
    for (const [key, stuck] of byObject) this.deps.observer?.wrong(key, "StillReleasing", this.messageOf(stuck));
    return Math.min(releasingDelay, ...waits);
  }

  private async stuck(lines: readonly Allocation[]): Promise<Stuck[]> {
    const inputs = await this.allocator.inputs();
    const { proof } = this.allocator;
    const [off, offInReset] = [false, true].map((isReset) => new Set(proof.proven(lines, inputs, isReset)));
    const nextOf = (line: Allocation) => {
      const pool = inputs.pools.get(line.pool);
      if (pool === undefined || pool.problem !== undefined || !offInReset?.has(line)) return undefined;
      return `If you know that it is off, reset the pool: kubectl annotate nodeippool ${line.pool} ${resetAnnotation}=`;
    };
    return lines.flatMap((line) => {
      const known = this.left.get(ownerOfKey(line.claim))?.find((one) => keyOfLine(one.line) === keyOfLine(line));
      return known === undefined || off?.has(line) ? [] : { line, why: known.why, next: nextOf(line) ?? known.next };
    });
  }

  private partOf({ claim }: Allocation): Recording | undefined {
    return integrationOf(claim, this.deps.integrations)?.recording;
  }

  /** The keys of the objects that have an Event about a line. */
  private about(line: Allocation, withMade: boolean): string[] {
    const made = (this.partOf(line)?.evidenceOf?.(line) ?? []).filter((key) => isManaged(this.world.get(key) ?? {}));
    const keys = [this.allocator.keyOfPool(line.pool), this.allocator.sourceOf(line.claim), ...(withMade ? made : [])];
    const there = keys.flatMap((key) => (key !== undefined && this.world.get(key) !== undefined ? [key] : []));
    return there.length > 0 ? there : [this.world.keyOfOwner(ownerOfKey(line.claim)) ?? ""];
  }
  /** One next step for all that it is for; the others are told once these are free. */
  private messageOf(stuck: readonly Stuck[]): string {
    const next = stuck.find((one) => one.next !== undefined)?.next;
    const same = stuck.filter((one) => one.next === next);
    const named = same.slice(0, maxNamed).map(({ line, why }) => `${nameOf(line)}: ${why}`);
    const more = same.length > maxNamed ? `; and ${same.length - maxNamed} more` : "";
    return `Still releasing after a minute: ${named.join("; ")}${more}. ${next ?? this.releaseByName(same)}`;
  }

  private releaseByName(stuck: readonly Stuck[]): string {
    const names = stuck.slice(0, maxNamed).map(({ line }) => formatBlock(line));
    return `If you know that it is off: ${releaseCommand(names, this.deps.state.where?.namespace)}`;
  }
}

function nameOf(line: Allocation): string {
  const nic = line.interface === undefined ? "" : `, NIC ${line.interface}`;
  return `${formatBlock(line)} of ${ownerName(line.claim)}${nic}`;
}
