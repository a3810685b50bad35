import { IpamError } from "../core/index.ts";
import { objectKey } from "../integrations/object-key.ts";
import type { Needs, Tending, TendStep } from "../integrations/tending.ts";
import { Queue, type Stored } from "../kube/index.ts";
import type { Bag } from "../schema/objects.ts";
import type { Ground, Observer } from "./ground.ts";
import { mergedKinds } from "./kinds.ts";
import { edit } from "./metadata.ts";
import { Patience } from "./patience.ts";
import { inParallel, isOutdated } from "./refresh.ts";
import type { Seen } from "./seen.ts";
import { World } from "./world.ts";

/** How many requests are in flight at once. */
const parallel = 16;

/** What the tender stands on. */
type TenderGround = Pick<Ground, "objects" | "clock" | "random" | "log" | "timing"> & { readonly observer?: Observer };

/**
 * Sees to objects that follow others. A key of its queue is the name of what others belong to; whatever changes in one of them is a
 * reason to look at that name, and each look is taken from what there is. It knows no record, and gives no addresses.
 */
export class Tender {
  readonly world: World;
  readonly queue: Queue;
  private readonly tending: Tending;
  private readonly ground: TenderGround;
  private readonly patience = new Patience();
  private isOpen = false;

  constructor(ground: TenderGround, tending: Tending) {
    const { clock, random, log, observer } = ground;
    this.ground = ground;
    this.tending = tending;
    const kinds = tending.kinds.map((kind) => ({
      ...kind,
      concerns: (object: Bag) => ({ owners: tending.belongsTo(object), sources: [] }),
    }));
    this.world = new World(mergedKinds(kinds), ({ owners }) => this.changed(owners));
    this.queue = new Queue((name) => this.tend(name), {
      parallel,
      clock,
      random,
      failed: (key, error, pause) => log({ level: "warn", message: "will try again", key, error, pause }),
      ran: (key, ms, error) => observer?.ran(`tend ${key}`, ms, error),
    });
  }

  /** The world is known: from now on it is acted upon. */
  open(): void {
    if (this.isOpen) return;
    this.isOpen = true;
    this.lookAgain();
  }

  /** Looks at everything again. */
  lookAgain(): void {
    this.changed("all");
  }

  private changed(names: readonly string[] | "all"): void {
    if (!this.isOpen) return;
    for (const name of names === "all" ? this.world.owners() : names) this.queue.add(name);
  }

  private async tend(name: string): Promise<number | undefined> {
    const find = (key: string) => this.world.get(key);
    const failures: unknown[] = [];
    const asked = this.tending.steps(name, this.world.ofOwner(name), find);
    const due = this.patience.due(name, asked, this.ground.clock.now());
    for (const steps of together(due.steps)) {
      const failed = await this.takeAll(steps);
      // By what was seen otherwise, nothing more is done; a step that is refused keeps no other one from being taken.
      const outdated = failed.find((error) => error instanceof IpamError && error.code === "conflict");
      if (outdated !== undefined) throw outdated;
      failures.push(...failed);
    }
    if (failures.length > 0) throw failures[0];
    return due.again;
  }

  /** What they need is looked at once for all of them. Returns how the API server refuses: it is tried again, with what is seen by then. */
  private async takeAll(steps: readonly TendStep[]): Promise<unknown[]> {
    const needs = steps[0] && needsOf(steps[0]);
    const failures: unknown[] = [];
    const fails = (error: unknown) => void failures.push(error);
    const { clock, timing } = this.ground;
    const asked = clock.now();
    if (needs !== undefined) await this.check(needs).catch(fails);
    if (failures.length > 0) return failures;
    await inParallel(steps, async (step) => {
      // An address that was somebody's when that was asked may be another one's later.
      const isLate = needs !== undefined && clock.now() - asked > timing.send;
      await (isLate ? Promise.reject(tooLate) : this.take(step)).catch(fails);
    });
    return failures;
  }

  private async take(step: TendStep): Promise<void> {
    if (step.verb === "warn") return this.ground.observer?.wrong(step.about, step.problem ?? "Refused", step.message);
    const { objects } = this.ground;
    const object = step.object as Seen;
    const kind = this.world.kindFor(object);
    if (step.verb === "create") this.world.take(kind, await objects.create(kind, step.object));
    else if (step.verb === "change") await edit(object, step.fields, this.world, objects);
    else await objects.delete(kind, object as unknown as Stored);
  }

  /** Throws `conflict` where the server has something otherwise than it was seen; from now on it is seen so. */
  private async check({ keys, all }: Needs): Promise<void> {
    const { objects } = this.ground;
    const outdated: string[] = [];
    for (const key of keys) if (await isOutdated(key, this.world.get(key), this.world, objects)) outdated.push(key);
    const kind = all && this.world.kind(all.kind);
    const listed = kind ? await objects.list(kind, { ...kind.where, namespace: all.namespace }) : [];
    for (const one of listed) {
      const key = objectKey({ ...one, apiVersion: `${kind?.apiVersion}`, kind: `${kind?.kind}` });
      const before = this.world.get(key);
      if (kind && this.world.isChanged(before, this.world.take(kind, one))) outdated.push(key);
    }
    if (outdated.length > 0)
      throw new IpamError("conflict", `${outdated[0]} is otherwise on the server than it was seen`);
  }
}

const tooLate = new IpamError("conflict", "what it is right by was asked too long ago");

/** How many steps are taken by one look at what they need. */
const most = 100;

/** Steps one by one; those that share what they need may be taken at the same time. */
function together(steps: readonly TendStep[]): TendStep[][] {
  const groups: TendStep[][] = [];
  for (const step of steps) {
    const last = groups.at(-1);
    const needs = needsOf(step);
    const isAlike = needs !== undefined && last?.[0] !== undefined && needsOf(last[0]) === needs && last.length < most;
    if (isAlike) last.push(step);
    else groups.push([step]);
  }
  return groups;
}

function needsOf(step: TendStep): Needs | undefined {
  return "needs" in step ? step.needs : undefined;
}
