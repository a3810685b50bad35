import type { ClusterIntegration } from "../../integrations/contract/cluster-integration.ts";
import type { RolloutHealth } from "../../integrations/contract/made-objects.ts";
import { isManaged } from "../../integrations/contract/managed-by.ts";
import { objectKey } from "../../integrations/contract/object-key.ts";
import type { Allocator } from "../allocate/allocator.ts";
import type { Seen } from "../cache/seen.ts";
import type { World } from "../cache/world.ts";
import { Rollout } from "./rollout.ts";
import type { Wanted } from "./wanted.ts";

/** What an object is made of, and the integration that makes it. */
export interface MadeOf {
  readonly source: string;
  readonly integration: ClusterIntegration;
}

/**
 * The gates of all sources. What a gate decides by is read from the cache, not from the events that the controller happened to get: a new
 * gate, as after a start of the controller, counts all objects of its source as the cache shows them. An object that is being
 * written is on its way, whatever the cache still shows.
 */
export class Rollouts {
  private readonly world: World;
  private readonly wanted: Wanted;
  private readonly allocator: Allocator;
  private readonly gates = new Map<string, Rollout>();
  private readonly writing = new Set<string>();

  constructor(world: World, wanted: Wanted, allocator: Allocator) {
    this.world = world;
    this.wanted = wanted;
    this.allocator = allocator;
  }

  /** Counts an object as the cache shows it. */
  see(key: string, origin: MadeOf): void {
    this.gate(origin).set(key, this.healthOf(key, origin));
  }

  /** Returns whether an object may be written now. If so, it is on its way until `written`. */
  start(key: string, origin: MadeOf): boolean {
    if (!this.gate(origin).start(key, this.limit(origin))) return false;
    this.writing.add(key);
    return true;
  }

  /** The write of an object has ended, well or not. */
  written(key: string, origin: MadeOf): void {
    this.writing.delete(key);
    this.see(key, origin);
  }

  /** There is nothing to change in an object: it waits no more. */
  leave(key: string, origin: MadeOf): void {
    this.gate(origin).leave(key);
  }

  /** Forgets an object that is gone and is not to exist. */
  forget(key: string, origin: MadeOf): void {
    const gate = this.gate(origin);
    gate.leave(key);
    gate.set(key, undefined);
    if (gate.isIdle()) this.gates.delete(origin.source);
  }

  /** Returns the keys of the objects for which there is room now. */
  next(origin: MadeOf): readonly string[] {
    return this.gates.get(origin.source)?.next(this.limit(origin)) ?? [];
  }

  private gate(origin: MadeOf): Rollout {
    const known = this.gates.get(origin.source);
    if (known !== undefined) return known;
    const gate = new Rollout();
    this.gates.set(origin.source, gate);
    const made = origin.integration.made?.rollout === undefined ? [] : this.world.ofSource(origin.source);
    for (const key of made.filter((one) => isManaged(one)).map(objectKey)) gate.set(key, this.healthOf(key, origin));
    return gate;
  }

  /** Returns the health of an object; undefined if there is none. One that only takes addresses off its owner stops no rollout by failing. */
  private healthOf(key: string, { source, integration: { made } }: MadeOf): RolloutHealth | undefined {
    if (this.writing.has(key)) return "progressing";
    const object = this.world.get(key);
    if (object === undefined) return undefined;
    const owner = this.ownerOf(object);
    const health = made?.rollout?.health(object, this.world.ofSource(key), this.world.owner(owner)) ?? "available";
    const isOf = (claim: string) => this.allocator.sourceOf(claim) === source;
    return health === "failing" && !this.allocator.record.mayHaveLive(owner, isOf) ? "available" : health;
  }

  private ownerOf(object: Seen): string {
    const { owners } = this.world.concerns(object);
    return owners === "all" ? "" : (owners[0] ?? "");
  }

  private limit({ source, integration: { made } }: MadeOf): number {
    const object = this.world.get(source);
    return (object && made?.rollout?.limit(object, this.wanted.countOf(source))) ?? Number.POSITIVE_INFINITY;
  }
}
