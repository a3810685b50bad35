import { expect, it } from "vitest";
import { tries } from "../../support/long.ts";
import { playWorkloads } from "../../support/sim/histories.ts";

const first = Number(process.env.SEED ?? 1);
const count = Number(process.env.COUNT ?? tries(3, 2000));

it("no two pods have one address, whoever comes and goes; pods that stay keep theirs, and nothing is left", {
  timeout: 60_000 + count * 15_000,
}, async () => {
  const total = { faults: 0, kills: 0, conflicts: 0, running: 0, handed: 0, frozen: 0, lost: 0, freed: 0 };
  for (const seed of Array.from({ length: count }, (_, i) => first + i)) {
    const { faults, kills, seen } = await playWorkloads(seed).catch((error) => {
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
