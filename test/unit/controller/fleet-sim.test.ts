import { expect, it } from "vitest";
import { tries } from "../../support/long.ts";
import { newFleetGame, playNodes } from "../../support/sim/histories.ts";

const first = Number(process.env.SEED ?? 1);
const count = Number(process.env.COUNT ?? tries(5, 5000));

it("in the fleet form no address is on two nodes, none moves, none is lost, whatever handlers write over, and whether controllers know it", {
  timeout: 60_000 + count * 5000,
}, async () => {
  const total = { faults: 0, kills: 0, edits: 0, failed: 0, switches: 0 };
  for (const seed of Array.from({ length: count }, (_, i) => first + i)) {
    const game = await playNodes(newFleetGame(seed), seed).catch((error) => {
      throw new Error(`seed ${seed}: ${error.message}`);
    });
    total.faults += game.faults;
    total.kills += game.kills;
    total.edits += game.edits;
    total.failed += game.failed;
    total.switches += game.switches;
  }
  // Or nothing would have been tried.
  expect(total.faults).toBeGreaterThan(count * 10);
  expect(total.kills).toBeGreaterThan(count);
  for (const happened of [total.edits, total.failed, total.switches]) expect(happened).toBeGreaterThan(0);
});
