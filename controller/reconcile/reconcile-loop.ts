import { IpamError } from "../../core/index.ts";
import { objectKey } from "../../integrations/contract/object-key.ts";
import { uidOf } from "../../integrations/contract/object-metadata.ts";
import type { Reconciler } from "../../integrations/contract/reconciler.ts";
import type { Needs, Step } from "../../integrations/contract/step.ts";
import { Later, Queue } from "../../kube/index.ts";
import type { Bag } from "../../schema/objects.ts";
import { kindsOfReconciler } from "../cache/kinds.ts";
import { inParallel, refresh } from "../cache/refresh.ts";
import { World } from "../cache/world.ts";
import type { Dependencies, Observer } from "../dependencies.ts";
import { retryLevel } from "../log.ts";
import { Debounce } from "../write/debounce.ts";
import { StepTaker } from "../write/step-taker.ts";
import { Writer } from "../write/writer.ts";

/** How many requests are in flight at once. */
const maxInFlight = 16;

/** What the loop is built with. */
type LoopDependencies = Pick<Dependencies, "cache" | "objects" | "clock" | "random" | "log" | "timing" | "today"> & {
  readonly observer?: Observer;
};

/**
 * Runs one reconciler. Keyed by the parent: a change to the parent or to a dependent requeues the parent, and each run is decided by the
 * cache alone. It reads no record and never allocates.
 */
export class ReconcileLoop {
  readonly world: World;
  readonly queue: Queue;
  private readonly reconciler: Reconciler;
  private readonly deps: LoopDependencies;
  private readonly writer: Writer;
  private readonly debounce = new Debounce();
  private isOpen = false;

  constructor(deps: LoopDependencies, reconciler: Reconciler) {
    const { cache, clock, random, log, observer } = deps;
    this.deps = deps;
    this.reconciler = reconciler;
    this.world = new World(cache, kindsOfReconciler(reconciler), ({ owners }) => this.changed(owners));
    this.writer = new Writer(deps, this.world);
    this.queue = new Queue((name) => this.reconcile(name), {
      parallel: maxInFlight,
      clock,
      random,
      failed: (key, error, pause) =>
        log({ level: retryLevel(error, pause), message: "will try again", key, error, pause }),
      ran: (key, ms, error) => observer?.ran(`reconcile ${key}`, ms, error),
    });
  }

  /** The world is known: from now on it is acted upon. */
  open(): void {
    if (this.isOpen) return;
    this.isOpen = true;
    this.resync();
  }

  /** Looks at everything again. */
  resync(): void {
    this.changed("all");
  }

  private changed(names: readonly string[] | "all"): void {
    if (!this.isOpen) return;
    for (const name of names === "all" ? this.world.owners() : names) this.queue.add(name);
  }

  private async reconcile(name: string): Promise<number | undefined> {
    const failures: unknown[] = [];
    const taker = new StepTaker(this.writer, this.deps.observer);
    const due = this.debounce.due(name, this.stepsOf(name), this.deps.clock.now());
    for (const steps of together(due.steps)) {
      const failed = await this.takeAll(name, steps, taker);
      // By what was seen otherwise, nothing more is done; a step that is refused keeps no other one from being taken.
      const conflict = failed.find((error) => error instanceof IpamError && error.code === "conflict");
      if (conflict !== undefined) throw conflict;
      failures.push(...failed);
    }
    const later = failures.filter((error) => error instanceof Later);
    if (failures.length > later.length) throw failures.find((error) => !(error instanceof Later));
    const pauses = [...later.map(({ pause }) => pause), ...(due.again === undefined ? [] : [due.again])];
    return pauses.length === 0 ? undefined : Math.min(...pauses);
  }

  private stepsOf(name: string): readonly Step[] {
    return this.reconciler.steps(name, this.world.ofOwner(name), (key) => this.world.get(key));
  }

  /**
   * What they need is asked for once for all of them, and only those are taken that are right by the answer, too: whatever has changed
   * is looked at again. Returns how the API server refuses: it is tried again, with what is seen by then.
   */
  private async takeAll(name: string, steps: readonly Step[], taker: StepTaker): Promise<unknown[]> {
    const needs = steps[0] && needsOf(steps[0]);
    const failures: unknown[] = [];
    const fails = (error: unknown) => void failures.push(error);
    const asked = this.deps.clock.now();
    if (needs !== undefined) await this.refresh(needs).catch(fails);
    if (failures.length > 0) return failures;
    const right = needs === undefined ? steps : inBoth(steps, this.stepsOf(name));
    if (right.length < steps.length) fails(outdated);
    await inParallel(right, async (step) => {
      // An address that was somebody's when that was asked may be another one's later.
      const isLate = needs !== undefined && this.writer.isTooOld(asked);
      await (isLate ? Promise.reject(tooLate) : taker.take(step)).catch(fails);
    });
    return failures;
  }

  /** From now on all of it is seen as the server has it. */
  private async refresh({ keys, all }: Needs): Promise<void> {
    const { objects } = this.deps;
    for (const key of keys) await refresh(key, this.world, objects);
    const kind = all && this.world.kind(all.kind);
    const listed = kind ? await objects.list(kind, { ...kind.where, namespace: all.namespace }) : [];
    for (const one of listed) if (kind) this.world.take(kind, one);
  }
}

/** The steps of one look that another one has, too, as that has them. */
function inBoth(steps: readonly Step[], others: readonly Step[]): Step[] {
  const found = new Map(others.map((step) => [textOf(step), step]));
  return steps.flatMap((step) => found.get(textOf(step)) ?? []);
}

function textOf(step: Step): string {
  if (step.verb === "warn") return JSON.stringify(step);
  const does = { ...step, object: undefined, needs: undefined, after: undefined };
  return JSON.stringify([does, objectKey(step.object as never), uidOf(step.object as Bag)]);
}

const outdated = new IpamError("conflict", "what it is right by is otherwise on the server than it was seen");
const tooLate = new IpamError("conflict", "what it is right by was asked too long ago");

/** How many steps are taken by one look at what they need. */
const maxTogether = 100;

/** Steps one by one; those that share what they need may be taken at the same time. */
function together(steps: readonly Step[]): Step[][] {
  const groups: Step[][] = [];
  for (const step of steps) {
    const last = groups.at(-1);
    const needs = needsOf(step);
    const isAlike =
      needs !== undefined && last?.[0] !== undefined && needsOf(last[0]) === needs && last.length < maxTogether;
    if (isAlike) last.push(step);
    else groups.push([step]);
  }
  return groups;
}

function needsOf(step: Step): Needs | undefined {
  return "needs" in step ? step.needs : undefined;
}
