import { rmSync } from "node:fs";
import fc from "fast-check";
import { afterAll, expect, it } from "vitest";
import type { Around } from "../../support/cluster/kube-memory.ts";
import { tries } from "../../support/long.ts";
import { Turns } from "../../support/sim/turns.ts";
import { scratchFolder } from "../../support/state/folder.ts";
import { type Move, type PlaceName, Places, placeNames } from "../../support/state/places.ts";

// Several moves at once between two lockfiles and two clusters, each one request or file call at a time; some are killed.
// Afterwards all of them are made again, one after the other, as their error texts say.

const root = scratchFolder();
afterAll(() => rmSync(root, { recursive: true, force: true }));

interface Game {
  readonly sets: Readonly<Record<PlaceName, string | undefined>>;
  readonly moves: readonly Move[];
  readonly schedule: readonly (readonly [who: number, steps: number])[];
  readonly killed: readonly boolean[];
}

async function play({ sets, moves, schedule, killed }: Game): Promise<void> {
  const places = new Places(root);
  for (const name of placeNames) if (sets[name] !== undefined) await places.allocate(name, sets[name]);
  const usable = () => placeNames.flatMap((name) => places.usable(name)).sort();
  const before = usable();
  const turns = new Turns(moves.length);
  const movers = moves.map((move, who) => {
    const around: Around = (_, run) =>
      turns.step(who, () => {
        const answer = run();
        places.checkOnce();
        return answer;
      });
    return places.move(move, around).finally(() => turns.end(who));
  });
  for (const [who, steps] of schedule) for (let i = 0; i < steps; i++) await turns.give(who % moves.length);
  const left = moves.map((_, who) => who).filter((who) => !killed[who]);
  for (const who of left) while (await turns.give(who));
  await Promise.all(left.map((who) => movers[who]));
  for (let round = 0; round < 3; round++)
    for (const move of moves) {
      await places.move(move);
      await places.giveUp(move);
      places.checkOnce();
    }
  expect(usable(), "every line can be used").toEqual(before);
  for (const name of placeNames) {
    const ofDefault = places.usable(name).filter((text) => !text.includes("set="));
    expect(ofDefault.length, `set default of two places is one in ${name}`).toBeLessThan(2);
  }
}

const moveArb = fc
  .tuple(fc.constantFrom("file1", "file2"), fc.constantFrom("cluster1", "cluster2"), fc.boolean())
  .map(([file, cluster, isThere]) => (isThere ? [file, cluster] : [cluster, file]) as unknown as Move);
const gameArb: fc.Arbitrary<Game> = fc.record({
  sets: fc
    .tuple(...placeNames.map((name) => fc.constantFrom(undefined, "default", name)))
    .map((sets) => Object.fromEntries(sets.map((set, i) => [placeNames[i], set])) as Game["sets"]),
  moves: fc.array(moveArb, { minLength: 2, maxLength: 3 }),
  schedule: fc.array(fc.tuple(fc.nat({ max: 5 }), fc.integer({ min: 1, max: 12 })), { minLength: 2, maxLength: 8 }),
  killed: fc.array(fc.boolean(), { minLength: 3, maxLength: 3 }),
});

it("moves at once, some killed: no line is ever in two places, and moving again ends it", async () => {
  await fc.assert(fc.asyncProperty(gameArb, play), { numRuns: tries(150, 20_000) });
}, 3_600_000);
