import { expect, it } from "vitest";
import { tries } from "../../support/long.ts";
import { SlicesPlay } from "../../support/sim-slices.ts";

/** Plays a history, lets it come to rest, and looks at what came of it. The seed is all it takes to play it again. */
async function play(seed: number): Promise<SlicesPlay> {
  const game = new SlicesPlay(seed, { fault: 3, kill: 0.3, change: 4 });
  for (let i = 0; i < 5; i++) game.addNode(`m${i}`);
  if (seed % 3 === 0) game.addStock();
  if (seed % 3 === 1) game.addLeftovers();
  for (const network of ["net", "red", "six"]) game.toggleDefinition(network, "a");
  game.start();
  while (game.steps < 2000) await game.step();
  await game.calm();
  game.checkRest();
  return game;
}

const first = Number(process.env.SEED ?? 1);
const count = Number(process.env.COUNT ?? tries(1, 1500));

it("no slice is two nodes', moves, is lost, or is given on while pods have addresses of it", {
  timeout: 120_000 + count * 15_000,
}, async () => {
  const total = { faults: 0, kills: 0, pods: 0, handed: 0, frozen: 0, revisions: 0 };
  // Seeds by which these came to light:
  // 12: slices stay for ever where their node and their network went together.
  // 13: what is listed is of another moment than what was decided: slices outside of the range that is written.
  for (const seed of [12, 13, ...Array.from({ length: count }, (_, i) => first + i)]) {
    const { faults, kills, seen } = await play(seed).catch((error) => {
      throw new Error(`seed ${seed}: ${error.message}`);
    });
    for (const [what, number] of Object.entries({ faults, kills, ...seen }))
      total[what as keyof typeof total] += number;
  }
  console.log(`${count} histories from seed ${first}: ${JSON.stringify(total)}`);
  // Or nothing would have been tried.
  for (const number of Object.values(total)) expect(number).toBeGreaterThan(count);
});
