import { expect, it } from "vitest";
import { tries } from "../../support/long.ts";
import { VmsPlay } from "../../support/sim-vms.ts";

/** Plays a history, lets it come to rest, and looks at what came of it. The seed is all it takes to play it again. */
async function play(seed: number, isMoving: boolean): Promise<VmsPlay> {
  const game = new VmsPlay(seed, { fault: 3, kill: 0.3, change: 5 }, isMoving);
  game.start();
  game.start();
  while (game.steps < 2000) await game.step();
  await game.calm();
  game.checkRest();
  await game.end();
  game.checkEnd();
  return game;
}

const first = Number(process.env.SEED ?? 1);
const count = Number(process.env.COUNT ?? tries(1, 2000));

// Seeds by which these came to light:
// 87: a claim waits for minutes to be told the address that a controller gave it which was killed before it could say so.
// 34007: a pod that runs on without an unplugged network keeps the address of that from being free.
it.each([
  ["", [87], false],
  [", whatever pools networks name, and VMs ask for", [102, 34007], true],
])(
  "no VM runs without its addresses, or with those of another one; what is deleted goes, and its addresses with it%s",
  {
    timeout: 60_000 + count * 15_000,
  },
  async (_, known, isMoving) => {
    const total = { faults: 0, kills: 0, running: 0, handed: 0, frozen: 0 };
    for (const seed of [...known, ...Array.from({ length: count }, (_, i) => first + i)]) {
      const { faults, kills, seen } = await play(seed, isMoving).catch((error) => {
        throw new Error(`seed ${seed}: ${error.message}`);
      });
      for (const [what, number] of Object.entries({ faults, kills, ...seen }))
        total[what as keyof typeof total] += number;
    }
    console.log(`${count} histories from seed ${first}: ${JSON.stringify(total)}`);
    // Or nothing would have been tried.
    for (const number of Object.values(total)) expect(number).toBeGreaterThan(count);
  },
);
