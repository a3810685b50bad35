import { type Allocation, ownerOfKey, type Plan } from "../../core/index.ts";
import type { Facts } from "../../integrations/contract/integration.ts";
import { isManaged } from "../../integrations/contract/managed-by.ts";
import { kindOf, nameOfKind, objectKey } from "../../integrations/contract/object-key.ts";
import type { Recording } from "../../integrations/contract/recording.ts";
import { poolKind } from "../cache/kinds.ts";
import { fetched, inParallel, isOutdated } from "../cache/refresh.ts";
import type { Seen } from "../cache/seen.ts";
import type { World } from "../cache/world.ts";
import type { Dependencies } from "../dependencies.ts";
import type { LinesByOwner } from "../record/lines-by-owner.ts";
import type { ReleaseHold } from "../record/release-hold.ts";
import { integrationOf } from "./asking.ts";
import { factsOf, type Inputs } from "./inputs.ts";
import type { SourceOf } from "./reset.ts";
import type { Resets } from "./resets.ts";

interface Proven {
  readonly gone: readonly Allocation[];
  /** Owners of others, whom the server has otherwise than the watch: what is seen of them next may be no reason to look again. */
  readonly doubtful: ReadonlySet<string>;
}

/** What the cluster shows of addresses that nobody claims. */
export class Proof {
  private readonly deps: Dependencies;
  private readonly world: World;
  private readonly hold: ReleaseHold;
  private readonly resets: Resets;
  private readonly sourceOf: SourceOf;

  constructor(deps: Dependencies, world: World, hold: ReleaseHold, resets: Resets, sourceOf: SourceOf) {
    this.deps = deps;
    this.world = world;
    this.hold = hold;
    this.resets = resets;
    this.sourceOf = sourceOf;
  }

  /** The releasing lines that may be free: by evidence or in a reset, held long enough, and as the server has it at this moment. */
  async gone(releasing: readonly Allocation[], inputsNow: () => Promise<Inputs>, readAt: number): Promise<Proven> {
    const held = releasing.filter((line) => this.hold.isLongEnough(line, readAt) && !this.isBlind(line));
    const inReset = held.filter((line) => this.resets.isAbout(line));
    const provenIn = (inputs: Inputs) =>
      new Set([...this.proven(held, inputs, false), ...this.proven(inReset, inputs, true)]);
    const gone = provenIn(await inputsNow());
    const doubtful = new Set<string>();
    // As it was seen when this was proven, before anything is asked.
    const evidence = new Map([...gone].map((line) => [line, this.evidenceOf(line)]));
    await this.askForAny([...gone]);
    const changed = await this.changedIn(new Map([...evidence.values()].flat()));
    // The answers may have changed the inputs: a definition that the watch does not show yet contradicts another one.
    const still = provenIn(await inputsNow());
    const isShownOtherwise = (line: Allocation) => evidence.get(line)?.some(([key]) => changed.has(key)) === true;
    await inParallel([...Map.groupBy(gone, ({ claim }) => ownerOfKey(claim))], async ([owner, lines]) => {
      const isDoubtful =
        !lines.every((line) => still.has(line)) || lines.some(isShownOtherwise) || (await this.isMadeAnew(owner));
      if (isDoubtful) doubtful.add(owner);
    });
    return { gone: [...gone].filter(({ claim }) => !doubtful.has(ownerOfKey(claim))), doubtful };
  }

  /** The releasing lines that are off their owners, however short a time that is so. */
  off(releasing: readonly Allocation[], inputs: Inputs): Allocation[] {
    return this.proven(
      releasing.filter((line) => !this.isBlind(line)),
      inputs,
      false,
    );
  }

  /** The releasing lines for which nothing is to be made: they are off their owners, and nothing was made of them. */
  idle(owners: ReadonlySet<string>, lines: LinesByOwner, inputs: Inputs): ReadonlySet<Allocation> {
    const releasing = [...owners].flatMap((owner) => lines.of(owner).releasing);
    const isMade = ({ claim }: Allocation) =>
      this.world
        .ofOwner(ownerOfKey(claim))
        .some((one) => isManaged(one) && this.world.concerns(one).sources.includes(`${this.sourceOf(claim)}`));
    return new Set(this.off(releasing, inputs).filter((line) => !isMade(line)));
  }

  /** Those that integrations say to be off their owners. */
  proven(lines: readonly Allocation[], inputs: Inputs, isReset: boolean): Allocation[] {
    if (lines.length === 0) return [];
    const facts = factsOf(this.world, inputs);
    return this.deps.integrations.flatMap(({ recording, isClaim }) => {
      const own = lines.filter(({ claim }) => isClaim(claim));
      return own.length === 0 ? [] : this.provenBy(recording, own, facts, isReset);
    });
  }

  /** Those that one integration says to be off their owners. An owner whose objects it cannot read keeps its lines, and holds up no other. */
  private provenBy(recording: Recording, lines: readonly Allocation[], facts: Facts, isReset: boolean): Allocation[] {
    // What was made for an owner alone, and what lists it with others.
    const owners = new Set(lines.flatMap(({ claim }) => [ownerOfKey(claim), this.sourceOf(claim) ?? ""]));
    const objects = [...owners].flatMap((owner) => this.world.ofOwner(owner));
    try {
      return [...recording.gone(objects, facts, lines, isReset, (key) => this.world.get(key))];
    } catch (error) {
      const byOwner = [...Map.groupBy(lines, ({ claim }) => ownerOfKey(claim))];
      if (byOwner.length > 1) return byOwner.flatMap(([, some]) => this.provenBy(recording, some, facts, isReset));
      const message = "the controller cannot read what shows whether this owner has its addresses: they stay its own";
      this.deps.log({ level: "error", message, owner: byOwner[0]?.[0], error });
      return [];
    }
  }

  /** Asks the server for all objects of a kind, where any of them may have one of these addresses. */
  private async askForAny(lines: readonly Allocation[]): Promise<void> {
    const kinds = new Set(
      lines.flatMap(({ claim }) => this.partOf(claim)?.kinds ?? []).filter((one) => one.mayHaveAny),
    );
    for (const { apiVersion, kind, where } of kinds) {
      const known = this.world.kindFor({ apiVersion, kind });
      for (const one of await this.deps.objects.list(known, where)) this.world.take(known, one);
    }
  }

  /** Returns whether a kind that may show a line was never listed. A missing object proves nothing then. */
  isBlind({ claim }: Allocation): boolean {
    const part = this.partOf(claim);
    return part === undefined || !part.kinds.every((kind) => this.world.isListed(nameOfKind(kind)));
  }

  /** Returns whether the server has an owner that the watch does not show. What the watch does not show proves nothing. */
  async isBack(owner: string): Promise<boolean> {
    const key = this.world.keyOfOwner(owner);
    if (key === undefined || !this.world.isGone(owner)) return false;
    return (await fetched(key, this.world, this.deps.objects)) !== undefined;
  }

  /**
   * The objects that prove a line free, as the watch shows them: those of others, its owner, and the object that asked for it, which may
   * ask again. The watch may show the end of a pod before it shows that its StatefulSet was scaled up again.
   */
  private evidenceOf(line: Allocation): (readonly [string, Seen | undefined])[] {
    const others = this.partOf(line.claim)?.evidenceOf?.(line) ?? [];
    return [...new Set([...others, ...this.askingFor(line)])].map((key) => [key, this.world.get(key)]);
  }

  /** The keys of what asks for a line, and of its owner, where their kinds are known. */
  private askingFor({ claim }: Allocation): string[] {
    return this.known([this.sourceOf(claim), this.world.keyOfOwner(ownerOfKey(claim))]);
  }

  /** Those of these keys whose kinds are watched. */
  private known(keys: readonly (string | undefined)[]): string[] {
    return keys.filter((key) => key !== undefined).filter((key) => this.world.hasKind(kindOf(key)));
  }

  /** The keys of those that the server has otherwise than they were seen. */
  private async changedIn(seen: ReadonlyMap<string, Seen | undefined>): Promise<ReadonlySet<string>> {
    const answers = await inParallel([...seen], async ([key, one]) =>
      (await isOutdated(key, one, this.world, this.deps.objects)) ? [key] : [],
    );
    return new Set(answers.flat());
  }

  private partOf(claim: string): Recording | undefined {
    return integrationOf(claim, this.deps.integrations)?.recording;
  }

  /** Returns whether another controller changed an owner's object, and the watch does not show it yet. */
  private async isMadeAnew(owner: string): Promise<boolean> {
    for (const made of this.world.ofOwner(owner).filter(isManaged))
      if (await isOutdated(objectKey(made), made, this.world, this.deps.objects)) return true;
    return false;
  }

  /**
   * Is what asks for the lines that a plan turns, or their owner, or their pool, otherwise on the server than the watches show? Who does not see
   * a policy yet would take from nodes what another controller gave them by it; and a policy that is deleted when its pool is left to a plan
   * leaves nodes what they have. Owners that `wereGone` before the plan was made were asked for then; the watch may show the end of others since.
   */
  async isAskedOtherwise(plan: Plan, wereGone: ReadonlySet<string>): Promise<boolean> {
    const lines = turned(plan);
    const sources = lines.map(({ claim }) => this.sourceOf(claim));
    const unasked = lines.map(({ claim }) => ownerOfKey(claim)).filter((owner) => !wereGone.has(owner));
    const owners = unasked.map((owner) => this.world.keyOfOwner(owner));
    const pools = lines.map(({ pool }) => `${poolKind}/${pool}`);
    // As they are seen now, before anything is asked.
    const seen = this.known([...sources, ...owners, ...pools]).map((key) => [key, this.world.get(key)] as const);
    return (await this.changedIn(new Map(seen))).size > 0;
  }
}

/** The lines that a plan takes from their owners, or gives back to them. */
function turned({ release, keep }: Plan): Allocation[] {
  const taken = release.filter(({ to }) => to === "releasing").map(({ allocation }) => allocation);
  return [...taken, ...keep.flatMap(({ was }) => was ?? [])];
}
