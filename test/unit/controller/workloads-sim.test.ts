import { expect, it } from "vitest";
import { tries } from "../../support/long.ts";
import { WorkloadsPlay } from "../../support/sim-workloads.ts";

/** Plays a history, lets it come to rest, and looks at what came of it. The seed is all it takes to play it again. */
async function play(seed: number): Promise<WorkloadsPlay> {
  const game = new WorkloadsPlay(seed, { fault: 3, kill: 0.3, change: 5 });
  game.start();
  game.start();
  while (game.steps < 2000) await game.step();
  await game.calm();
  game.checkRest();
  await game.finish();
  game.checkEnd();
  return game;
}

const first = Number(process.env.SEED ?? 1);
const count = Number(process.env.COUNT ?? tries(3, 2000));

it("no two pods have one address, whoever comes and goes; pods that stay keep theirs, and nothing is left", {
  timeout: 60_000 + count * 15_000,
}, async () => {
  const total = { faults: 0, kills: 0, conflicts: 0, running: 0, handed: 0, frozen: 0, lost: 0, freed: 0 };
  for (const seed of Array.from({ length: count }, (_, i) => first + i)) {
    const { faults, kills, seen } = await play(seed).catch((error) => {
      throw new Error(`seed ${seed}: ${error.message}`);
    });
    for (const [what, number] of Object.entries({ faults, kills, ...seen }))
      total[what as keyof typeof total] += number;
  }
  console.log(`${count} histories from seed ${first}: ${JSON.stringify(total)}`);
  // Or nothing would have been tried. In a few histories, what is rare may not come.
  const { lost: _, freed: __, ...usual } = total;
  for (const number of Object.values(count < 20 ? usual : total)) expect(number).toBeGreaterThan(0);
});
