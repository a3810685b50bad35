import {
  type Allocation,
  byCodeUnit,
  clusterSet,
  IpamError,
  nodeNameOf,
  ownerOfKey,
  type Pending,
} from "../../core/index.ts";
import { partition } from "../../core/partition.ts";
import type { Known } from "../../integrations/contract/known.ts";
import { isManaged } from "../../integrations/contract/managed-by.ts";
import { objectKey } from "../../integrations/contract/object-key.ts";
import { type Needs, type Step, warn } from "../../integrations/contract/step.ts";
import { Later, refusalOf } from "../../kube/index.ts";
import { resetAnnotation } from "../../schema/node-ip-pool.ts";
import { poolConflictsOf } from "../../schema/pool-conflicts.ts";
import type { Allocator } from "../allocate/allocator.ts";
import { definesPools, integrationOf, isNodeIPPool, readerOf } from "../allocate/asking.ts";
import type { ClusterPool } from "../allocate/cluster-pool.ts";
import { factsOf, type Inputs, whyPaused } from "../allocate/inputs.ts";
import { lacksFinalizer } from "../allocate/owner-state.ts";
import { isDefinedBy } from "../allocate/pools.ts";
import { isOutdated, refresh } from "../cache/refresh.ts";
import type { Seen } from "../cache/seen.ts";
import type { World } from "../cache/world.ts";
import type { Dependencies } from "../dependencies.ts";
import type { OwnLines } from "../record/lines-by-owner.ts";
import { isUnreadable } from "../record/unreadable.ts";
import { DelayedEvents } from "../write/delayed-events.ts";
import type { Status } from "../write/status.ts";
import { StepTaker } from "../write/step-taker.ts";
import type { Wanted } from "../write/wanted.ts";
import { poolFinalizer, Writer } from "../write/writer.ts";
import { beingReset, isEmptied, type PoolFacts, poolStatus, whyExhausted, whyNodeWaits } from "./pool-status.ts";
import type { Quarantine } from "./quarantine.ts";

/** Says of pools, and of objects that ask for addresses, how they stand. */
export class Reporter {
  private readonly deps: Dependencies;
  private readonly world: World;
  private readonly wanted: Wanted;
  private readonly allocator: Allocator;
  private readonly quarantine: Quarantine;
  private readonly delayed: DelayedEvents;
  private readonly writer: Writer;

  constructor(deps: Dependencies, world: World, wanted: Wanted, allocator: Allocator, quarantine: Quarantine) {
    this.deps = deps;
    this.world = world;
    this.wanted = wanted;
    this.allocator = allocator;
    this.quarantine = quarantine;
    this.delayed = new DelayedEvents(deps);
    this.writer = new Writer(deps, world);
  }

  /** Returns in how many milliseconds to look again, if that is needed. */
  async report(key: string): Promise<number | undefined> {
    const object = this.world.get(key);
    const paused = object && whyPaused(object, this.world, this.deps.integrations);
    // A missing Cluster may be on its way. The status and the finalizer of what is paused stay as they are.
    const again = this.delayed.tell(key, key, paused && `It gets and loses nothing: ${paused}`);
    if (object === undefined || isManaged(object) || paused !== undefined) return again;
    const { damage } = this.allocator.record;
    if (damage !== undefined) return this.reportDamage(object, damage);
    try {
      if (lacksFinalizer(object, this.deps.integrations)) return await this.setFinalizer(object);
      // Whose status gives it its addresses is told none by a record that may be outdated; timing.ts says why that matters. Counts of a pool,
      // and its finalizer, follow a record that other controllers may have changed.
      if (this.world.kindFor(object).isOwner || isNodeIPPool(object)) await this.allocator.record.fresh();
      const inputs = await this.allocator.inputs();
      if (isNodeIPPool(object)) return await this.reportPool(object, inputs);
      await this.reportSource(object, key, inputs);
      return undefined;
    } catch (error) {
      const isOutdated = error instanceof IpamError && (error.code === "conflict" || refusalOf(error)?.status === 404);
      // Of pools, which hardly anybody else writes, the watch tells soon enough.
      if (isOutdated && !isNodeIPPool(object)) await refresh(key, this.world, this.deps.objects);
      throw error;
    }
  }

  /** An owner with its finalizer has changed: it is decided for, and reported, by that. Another program may take the finalizer off at once. */
  private async setFinalizer(object: Seen): Promise<number | undefined> {
    const { finalizer = "" } = readerOf(object, this.deps.integrations)?.recording.owners ?? {};
    const written = await this.writer.finalizer(object, finalizer, true);
    return lacksFinalizer(written, this.deps.integrations) ? this.deps.timing.gather : undefined;
  }

  /** What counts on the record stays as it was said last. */
  private async reportDamage(object: Seen, message: string): Promise<undefined> {
    if (!isNodeIPPool(object)) return;
    const problem = { reason: "UnsynchronizedIPPool", message } as const;
    const nothing = { live: [], releasing: [], pending: [], collisions: [], conflicts: new Map() };
    const status = poolStatus({ pool: undefined, problem, ...nothing });
    await this.writer.status(object, status, { generation: object.metadata.generation, hasHeartbeat: false });
  }

  private async reportPool(object: Seen, inputs: Inputs): Promise<number | undefined> {
    const { name, generation } = object.metadata;
    const one = inputs.defined.find((other) => isDefinedBy(other, objectKey(object)));
    if (one === undefined) return undefined;
    const facts = await this.factsOfPool(one, inputs);
    const { pool, live, releasing } = facts;
    // What was emptied is written anew with the reset that it asks for: it would ask again.
    const isNewReset = isEmptied(object, pool, live) && !this.world.asksReset(objectKey(object));
    if (isNewReset) await this.writer.change(object, { metadata: { annotations: { [resetAnnotation]: "" } } });
    const status = poolStatus(isNewReset ? { ...facts, rebuilding: beingReset } : facts);
    let latest = this.world.get(objectKey(object)) ?? object;
    // Whoever defines pools of its own has addresses of those, also where one has the same name.
    const isOurs = ({ set, claim }: Allocation) => {
      const of = integrationOf(claim, this.deps.integrations);
      return set === clusterSet && !(of !== undefined && definesPools(of));
    };
    // Of a pool that is being deleted nothing is allocated: addresses that are off their owners need not wait for their time in it.
    const isDeleted = object.metadata.deletionTimestamp !== undefined;
    const off = new Set(isDeleted ? this.allocator.proof.off(releasing, inputs) : []);
    const isInUse = [...live, ...releasing].some((line) => isOurs(line) && !off.has(line));
    await takeAll([
      async () => {
        latest = await this.quarantine.write(latest, live, inputs.conflicting);
      },
      async () => {
        latest = await this.writer.status(latest, status, { generation, hasHeartbeat: false });
      },
      async () => {
        // What cannot be read may be in use, or not: the finalizer stays as it is.
        if (!isUnreadable(name, inputs.record) && this.allocator.loss.left(name) === 0)
          await this.writer.finalizer(latest, poolFinalizer, isInUse);
      },
    ]);
    this.tellWrong(object, status);
    this.tellOverlap(one);
    this.tellWaiting(facts.pending, inputs);
    return this.allocator.loss.left(name) || undefined;
  }

  /** Tells nodes that wait for a full pool, the first ten: a fleet must not make a fleet of Events. */
  private tellWaiting(pending: PoolFacts["pending"], { pools: all }: Inputs): void {
    const isExhausted = ({ code }: Pending) => code === "exhausted";
    const owners = new Set(pending.filter(isExhausted).map(({ claim }) => ownerOfKey(claim)));
    for (const owner of [...owners].filter((one) => nodeNameOf(one) !== undefined).slice(0, 10)) {
      const key = this.world.keyOfOwner(owner);
      const names = (this.allocator.pending.get(owner) ?? []).filter(isExhausted).map(({ pool }) => pool);
      const message = whyNodeWaits(new Map(names.map((name) => [name, all.get(name)?.pool])));
      if (key !== undefined) this.deps.observer?.wrong(key, "ExhaustedIPPool", message);
    }
  }

  private async factsOfPool(
    { name, pool, whole, problem, noRoom, object, isShadowed }: ClusterPool,
    inputs: Inputs,
  ): Promise<PoolFacts> {
    const snapshot = await this.allocator.record.get();
    const isResetting = this.allocator.resets.possible(inputs.pools).some((reset) => reset.pool === name);
    const waits = this.allocator.loss.whyWaits(name);
    const isOf = (line: { readonly pool: string }) => line.pool === name;
    return {
      // What was counted stays: another controller may have read what this one has not.
      pool: isUnreadable(name, inputs.record) || isShadowed || waits ? undefined : (pool ?? whole),
      problem,
      noRoom,
      live: snapshot.allocations.filter(isOf),
      releasing: snapshot.releasing.filter(isOf),
      pending: this.allocator.pending.list(isOf),
      collisions: [...(this.allocator.occupied(inputs).collisions.get(name) ?? [])].sort(byCodeUnit),
      conflicts: poolConflictsOf(object),
      rebuilding: waits ?? (isResetting ? beingReset : undefined),
    };
  }

  private tellWrong(object: Seen, { conditions: [available] }: Status): void {
    if (available?.status === "False")
      this.deps.observer?.wrong(objectKey(object), `${available.reason}`, `${available.message}`);
  }

  /** The pools that an object defines, and how they stand. */
  private async poolsOf(object: Seen, inputs: Inputs): Promise<Known["pools"]> {
    const defined = inputs.defined.filter((one) => isDefinedBy(one, objectKey(object)));
    const found: Known["pools"][number][] = [];
    for (const one of defined) found.push({ name: one.name, ...poolStatus(await this.factsOfPool(one, inputs)) });
    // Why the object is rejected is told already, and is what is wrong with its pools.
    if (inputs.whyRejected(object) === undefined) for (const one of found) this.tellWrong(object, one);
    for (const one of defined) this.tellOverlap(one);
    return found;
  }

  private tellOverlap({ object, overlappedBy }: ClusterPool): void {
    if (overlappedBy !== undefined) this.deps.observer?.wrong(objectKey(object), "OverlappingIPPool", overlappedBy);
  }

  private async reportSource(object: Seen, key: string, inputs: Inputs): Promise<void> {
    const integration = readerOf(object, this.deps.integrations);
    if (integration === undefined) return;
    // What an owner has on record is not known, so its status and its finalizer stay as they are.
    const { owners } = this.world.concerns(object);
    const [waits] = owners === "all" ? [] : owners.flatMap((owner) => this.allocator.unread.whyWaits(owner) ?? []);
    if (waits !== undefined) return this.deps.observer?.wrong(key, "UnsynchronizedIPPool", waits);
    const rejected = inputs.whyRejected(object);
    if (rejected !== undefined) this.deps.observer?.wrong(key, "InvalidSpec", rejected);
    const known = await this.knownOf(object, inputs);
    const steps = integration.report?.(known, factsOf(this.world, inputs)) ?? [];
    const invalid = known.pending.find(({ code }) => code === "invalid");
    const isSaid = steps.some((step) => step.verb === "warn" && step.message === invalid?.message);
    await this.take(invalid === undefined || isSaid ? steps : [...steps, warn(object, invalid.message)]);
  }

  private async knownOf(object: Seen, inputs: Inputs): Promise<Known> {
    const key = objectKey(object);
    return {
      object,
      find: (one) => this.world.get(one),
      made: this.world.ofSource(key).map((made) => ({
        object: made,
        about: this.world.ofSource(objectKey(made)),
        isWanted: this.wanted.get(objectKey(made)) !== undefined,
      })),
      rejected: inputs.whyRejected(object),
      pools: await this.poolsOf(object, inputs),
      lines: this.linesOf(object).flatMap(({ allocations }) => allocations),
      releasing: this.linesOf(object).flatMap(({ releasing }) => releasing),
      pending: this.allocator.pending
        .list(({ claim }) => this.allocator.sourceOf(claim) === key)
        // How many were needed in one decision is nothing that two controllers agree on.
        .map(({ claim, pool, code, message }) => ({
          claim,
          code,
          message: code === "exhausted" ? whyExhausted(pool, inputs.pools.get(pool)?.pool) : message,
        })),
    };
  }

  /** What an object has that is an owner itself. */
  private linesOf(object: Seen): readonly OwnLines[] {
    const key = objectKey(object);
    const owners = this.world.concerns(object).owners;
    const own = owners === "all" ? [] : owners.filter((owner) => this.world.keyOfOwner(owner) === key);
    return own.map((owner) => this.allocator.record.lines.of(owner));
  }

  /** Steps about spec and status are taken in order: none is taken after one that must wait. */
  private async take(steps: readonly Step[]): Promise<void> {
    const taker = new StepTaker(this.writer, this.deps.observer);
    for (const step of steps) if (step.verb === "warn") taker.tell(step);
    const changes = steps.filter(({ verb }) => verb !== "warn");
    const [said, others] = partition(changes, ({ verb }) => verb === "apply" || verb === "status");
    const [last, first] = partition(others, ({ verb }) => verb === "finalizer");
    const takeOne = async (step: Step) => {
      if (step.verb === "apply" && step.needs !== undefined) await this.checkNeeded(step.needs);
      await taker.take(step);
    };
    const inOrder = async () => {
      for (const step of said) if (!taker.isMet(step)) await takeOne(step);
    };
    const each = (some: readonly Step[]) => some.map((step) => () => takeOne(step));
    await takeAll([...each(first), inOrder, ...each(last)]);
  }

  /** Throws `conflict` where the server has an object otherwise than it was seen. */
  private async checkNeeded({ keys }: Needs): Promise<void> {
    for (const key of keys)
      if (await isOutdated(key, this.world.get(key), this.world, this.deps.objects))
        throw new IpamError("conflict", `${key} is otherwise on the server than it was seen`);
  }
}

/** Takes all steps: one that is to be taken later keeps no other one from being taken. Throws that of the first such. */
async function takeAll(steps: readonly (() => Promise<unknown>)[]): Promise<void> {
  let later: Later | undefined;
  for (const step of steps)
    try {
      await step();
    } catch (error) {
      if (!(error instanceof Later)) throw error;
      later ??= error;
    }
  if (later !== undefined) throw later;
}
