import { type Allocation, nodeOwner, ownerOfKey } from "../../core/index.ts";
import type { ClusterIntegration } from "../../integrations/contract/cluster-integration.ts";
import type { Facts } from "../../integrations/contract/integration.ts";
import { objectKey } from "../../integrations/contract/object-key.ts";
import { isLeftToPlan } from "../../schema/node-ip-pool.ts";
import { asBag } from "../../schema/objects.ts";
import type { Seen } from "../cache/seen.ts";
import type { World } from "../cache/world.ts";
import { integrationOf, readerOf } from "./asking.ts";
import type { Inputs } from "./inputs.ts";
import { isEnding, isHandedOver } from "./left-to-plan.ts";
import type { SourceOf } from "./reset.ts";
import type { UnreadAddresses } from "./unread-addresses.ts";

/** How owners stand when they are looked at. It holds for the whole look: an object that is mended meanwhile asks the next time. */
export class OwnerState {
  /** The keys of objects that ask for these owners, or for all, and cannot be acted upon. */
  readonly rejected: ReadonlySet<string>;
  /** The owners that get nothing new: nodes that are not Ready, whom an integration has wait, who may have addresses on record that cannot be read, and all while reports are missed. */
  private readonly waiting: ReadonlySet<string>;
  /** The owners whose objects stay as they are: an integration has them wait, what asks for them cannot be acted upon, and all while reports are missed. */
  readonly kept: ReadonlySet<string>;
  private readonly integrations: readonly ClusterIntegration[];
  /** The owners for whom an integration can make nothing, by its name. */
  private readonly unservable: ReadonlyMap<string, ReadonlySet<string>>;
  private readonly world: World;
  private readonly inputs: Inputs;
  private readonly sourceOf: SourceOf;
  private readonly isReporting: boolean;

  constructor(
    world: World,
    integrations: readonly ClusterIntegration[],
    owners: ReadonlySet<string>,
    inputs: Inputs,
    facts: Facts,
    sourceOf: SourceOf,
    unread: UnreadAddresses,
  ) {
    this.world = world;
    this.integrations = integrations;
    this.inputs = inputs;
    this.sourceOf = sourceOf;
    const about = [...owners].flatMap((owner) => world.ofOwner(owner));
    const rejected = about.filter((one) => inputs.whyRejected(one) !== undefined);
    const unready = facts.nodes.filter(({ isReady }) => isReady === false);
    const waiting = [...owners].filter(
      (owner) => isWaiting(owner, world, integrations) || unread.whyWaits(owner) !== undefined,
    );
    this.unservable = new Map(
      integrations.map(({ name, recording }) => [name, new Set(recording.owners?.unservable?.(facts).keys())]),
    );
    this.rejected = new Set([...inputs.rejected, ...rejected.map(objectKey)]);
    this.isReporting = world.isReporting();
    this.waiting = this.isReporting
      ? new Set([...unready.map(({ name }) => nodeOwner(name)), ...waiting])
      : new Set(owners);
    const isRejected = (owner: string) => this.rejected.has(world.keyOfOwner(owner) ?? owner);
    this.kept = this.isReporting ? new Set([...waiting, ...[...owners].filter(isRejected)]) : this.waiting;
  }

  /** Returns whether an owner gets nothing new. What it shows it still gets, unless reports are missed, or an integration has it wait. */
  isWaiting(owner: string, isObserved: boolean): boolean {
    const getsNothing = !this.isReporting || isWaiting(owner, this.world, this.integrations);
    return this.waiting.has(owner) && (getsNothing || !isObserved);
  }

  /** Returns whether an integration can make no object for an owner. */
  isBarred({ name }: Pick<ClusterIntegration, "name">, owner: string): boolean {
    return this.unservable.get(name)?.has(owner) ?? false;
  }

  /** All for whom some integration can make nothing. */
  get allUnservable(): ReadonlySet<string> {
    return new Set([...this.unservable.values()].flatMap((owners) => [...owners]));
  }

  /** Those of whom this is otherwise than it was. */
  unservableNow(before: ReadonlySet<string>): string[] {
    const now = this.allUnservable;
    return [...new Set([...before, ...now])].filter((owner) => before.has(owner) !== now.has(owner));
  }

  /**
   * Does a line stay although nobody claims it now?
   *
   *  its owner    | its pool, and what asked for it            | it
   *  -------------+--------------------------------------------+-----------
   *  there, not   | the pool was left to a plan, which has not | stays
   *   deleted     |  taken it over                             |
   *  the same     | the pool was left to a plan, which has     | is released
   *  gone, or     | the pool retains its addresses             | stays
   *   deleted     |                                            |
   *  gone, or no  | the pool is gone, or retains its addresses | stays
   *   object      |                                            |
   *  gone         | the pool is gone, and was but what all who | is released
   *               | asked for it together said                 |
   *  gone         | the pool is there                          | is released
   *  there, or no | what asked for it cannot be acted upon     | stays
   *   object      |                                            |
   *  there        | who claimed it can make nothing for it     | stays
   *  there, and   | any                                        | stays
   *   shows it    |                                            |
   *  any          | anything else                              | is released
   */
  isHeld(line: Allocation): boolean {
    const { pool, claim } = line;
    const owner = ownerOfKey(claim);
    const there = this.world.owner(owner);
    const isGone = this.world.isGone(owner);
    const integration = integrationOf(claim, this.integrations);
    const isBarred = integration !== undefined && this.isBarred(integration, owner);
    const isRejected = this.rejected.has(this.sourceOf(claim) ?? "");
    const object = this.inputs.pools.get(pool)?.object;
    if (isEnding(owner, this.world) && this.isRetained(line)) return true;
    if (isLeftToPlan(object) && !isEnding(owner, this.world)) return !isHandedOver(line, this.world, this.sourceOf);
    if (!isGone && (isBarred || isRejected)) return true;
    const rules = integration?.recording.owners;
    if (there !== undefined)
      return rules?.isWaiting?.(there) || rules?.has?.(there, line, (key) => this.world.get(key)) || false;
    const isOfSources = integration?.recording.kinds.some((kind) => kind.isOwnSource) === true;
    return object === undefined ? isRejected || !isOfSources : this.isRetained(line);
  }

  /** Reports whether the pool of a line retains addresses of owners that are gone. */
  isRetained({ pool }: Allocation): boolean {
    return asBag(this.inputs.pools.get(pool)?.object.spec)?.reclaimPolicy === "Retain";
  }
}

/** Returns whether an owner waits: it lacks its finalizer, or its integration makes it wait. It gets nothing new and loses nothing. */
export function isWaiting(owner: string, world: World, integrations: readonly ClusterIntegration[]): boolean {
  const object = world.owner(owner);
  if (object === undefined) return false;
  const { isWaiting: mustWait } = readerOf(object, integrations)?.recording.owners ?? {};
  return lacksFinalizer(object, integrations) || mustWait?.(object) === true;
}

/** Returns whether an owner lacks the finalizer that it has before anything is allocated for it. The report that sets it does not wait. */
export function lacksFinalizer(object: Seen, integrations: readonly ClusterIntegration[]): boolean {
  const { deletionTimestamp, finalizers = [] } = object.metadata;
  const finalizer = readerOf(object, integrations)?.recording.owners?.finalizer;
  return finalizer !== undefined && deletionTimestamp === undefined && !finalizers.includes(finalizer);
}
