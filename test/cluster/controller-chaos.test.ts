import { expect, it } from "vitest";
import { installAll } from "../support/cluster/kinds.ts";
import { chaos } from "../support/controller/chaos.ts";
import { stageOfFile } from "../support/controller/stage-of-file.ts";
import { tries } from "../support/long.ts";

const { cluster, stage } = stageOfFile(installAll);
const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 32));
const allocations = tries(120, 5_000);
const kills = { controllers: tries(4, 55), writers: tries(2, 40), servers: tries(1, 10) };

it(`controllers, writers and the API server are killed: no address is twice at any revision, none moves, none is left over`, {
  timeout: tries(300_000, 7_200_000),
}, async () => {
  console.log(`seed ${seed}`);
  const start = Date.now();
  await chaos(cluster(), stage(), { seed, allocations, kills });
  const given = await stage().checkHistory();
  console.log(`${given} allocations, kills: ${JSON.stringify(kills)}, ${Math.round((Date.now() - start) / 1000)} s`);
  expect(given).toBeGreaterThanOrEqual(allocations);
});
