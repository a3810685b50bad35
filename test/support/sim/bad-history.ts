import { asBag } from "../../../schema/objects.ts";
import { type BadObject, fullPool } from "../objects/bad-object.ts";
import { badObjects } from "../objects/bad-objects.ts";
import { oddObjects } from "../objects/odd-objects.ts";
import { seeded } from "../seeded.ts";
import { everyFlag, type Flag, type Flags } from "./every-system.ts";
import { failing } from "./failing-integration.ts";
import { mutated } from "./mutated.ts";
import { SimTogether } from "./together.ts";

/** What happens in one world, all of it chosen before it begins: the same is played with and without what is bad. */
export interface History {
  readonly flags: Flags;
  /** How long it is after each time that somebody asks, in milliseconds. */
  readonly pauses: readonly number[];
  readonly bad: readonly BadObject[];
  /** After which of these it is thrown in, and how many milliseconds after that. */
  readonly at: number;
  readonly after: number;
  /** Is it taken away in the end? */
  readonly isMended: boolean;
}

export interface Outcome {
  /** How long each owner waited, in milliseconds. */
  readonly took: ReadonlyMap<string, number>;
  /** Owners that wait for ever, addresses that two have, and bad objects of which nothing says why they wait. */
  readonly wrong: readonly string[];
}

/** Any flags, or all of them, and one to three bad objects, or odd ones, at some moment. */
export function historyOf(seed: number): History {
  const random = seeded(seed);
  const pick = (below: number) => Math.floor(random() * below);
  const names = Object.keys(everyFlag) as Flag[];
  const chosen = pick(2) === 0 ? names : names.filter(() => pick(3) > 0);
  const flags: Flags = Object.fromEntries(chosen.map((name) => [name, everyFlag[name]]));
  const pauses = Array.from({ length: 3 }, () => 100 * (5 + pick(40)));
  const at = pick(pauses.length - 1);
  const known = badIn(flags);
  const one = () => (pick(3) === 0 ? odd(pick) : (known[pick(known.length)] as BadObject));
  const bad = new Map(Array.from({ length: 1 + pick(3) }, one).map((each) => [each.what, each]));
  return {
    ...{ flags, pauses, at, after: 300 + 100 * pick((pauses[at] ?? 0) / 100 - 3), isMended: pick(2) === 0 },
    bad: togetherIn([...bad.values()]),
  };
}

/** The bad objects that somebody looks at with these flags. */
export function badIn(flags: Flags): readonly BadObject[] {
  return badObjects.filter((one) => (one.flags ?? []).every((flag) => flags[flag] !== undefined));
}

/** Beside one that others need, what is wrong with these is told otherwise. */
function togetherIn(bad: readonly BadObject[]): readonly BadObject[] {
  const [needed] = bad.filter(({ stops }) => stops !== undefined);
  return needed === undefined ? bad : [needed];
}

/** One with a field of another shape; it may be being deleted. */
function odd(pick: (below: number) => number): BadObject {
  const whole = mutated(oddObjects[pick(oddObjects.length)] as BadObject["objects"][number], pick);
  const metadata = { ...asBag(whole.metadata), finalizers: ["example.com/keep"] };
  const object = pick(4) === 0 ? { ...whole, metadata } : whole;
  return { what: `odd ${object.kind}`, objects: [object] };
}

export async function play({ flags, pauses, bad, at, after, isMended }: History): Promise<Outcome> {
  const world = new SimTogether(flags, failing);
  await world.systems.begin();
  for (const object of flags.workloadAddresses ? fullPool : fullPool.slice(0, 1))
    await world.systems.throwIn({ objects: [object] });
  await world.pass(2000);
  for (const [i, pause] of pauses.entries()) {
    await world.ask();
    await world.pass(i === at ? after : pause);
    if (i !== at) continue;
    for (const one of bad) await world.throwIn(one);
    await world.pass(pause - after);
  }
  await world.pass(61_000);
  const silent = bad.filter(({ about = "", word = /^/ }) => !word.test(world.wordsAbout(about).join("\n")));
  const wrong = silent.map(
    ({ what, about = "" }) => `${what}: ${world.wordsAbout(about).join("; ") || "nothing is said"}`,
  );
  if (isMended) {
    for (const one of bad) await world.takeAway(one);
    await world.ask();
    // The record is read anew every ten seconds.
    await world.pass(15_000);
  }
  const isStopped = (who: string) => !isMended && bad.some(({ stops }) => stops?.test(who));
  const waiting = world.unserved.filter((who) => !isStopped(who)).map((who) => `${who} waits`);
  return { took: world.took, wrong: [...wrong, ...waiting, ...world.shared] };
}

/** Those that wait more than twice as long beside what is bad, though they need nothing of it. */
export function slower({ bad }: History, beside: Outcome, without: Outcome): string[] {
  return [...without.took].flatMap(([who, ms]) => {
    const now = beside.took.get(who) ?? Number.POSITIVE_INFINITY;
    if (now <= 2 * ms || bad.some(({ stops }) => stops?.test(who))) return [];
    return [`${who} waited ${now} ms, and ${ms} ms without what is bad`];
  });
}
