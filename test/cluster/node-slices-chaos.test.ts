import { expect, it } from "vitest";
import { installNodeIPPool, installWhereabouts } from "../support/cluster/kinds.ts";
import { clusterOfFile } from "../support/cluster/of-file.ts";
import { slicesChaos, slicesHistory } from "../support/controller/slices-chaos.ts";
import { tries } from "../support/long.ts";
import { recordHistory } from "../support/state/record-history.ts";

const cluster = clusterOfFile(async (started) => {
  await installNodeIPPool(started);
  await installWhereabouts(started);
});
const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 32));
const changes = tries(60, 500);

it("controllers are killed, and their watches freeze, while nodes, pods and networks come and go: at no revision two nodes have a slice, none moves, none in use is lost or given on", {
  timeout: tries(300_000, 3_600_000),
}, async () => {
  console.log(`seed ${seed}`);
  const start = Date.now();
  const { kills, frozen, pods } = await slicesChaos(cluster(), "chaos", { seed, changes });
  const record = await recordHistory(cluster(), "chaos", { mayReturn: true });
  const { wrong, ...seen } = await slicesHistory(cluster());
  const seconds = Math.round((Date.now() - start) / 1000);
  console.log(
    `${changes} joins and leaves, ${kills} kills, ${frozen} frozen watches, ${pods} pods, ${JSON.stringify(seen)}, ${seconds} s`,
  );
  expect([...record.wrong, ...wrong]).toEqual([]);
  // Or nothing would have been tried. While a watch is frozen, nobody gets what is free: in a short run that may be all the time.
  for (const count of [pods, seen.given]) expect(count).toBeGreaterThan(changes / 30);
  expect(kills).toBeGreaterThan(tries(1, changes / 30));
  expect(frozen).toBeGreaterThanOrEqual(tries(0, changes / 100));
  expect(seen.handed).toBeGreaterThanOrEqual(tries(0, changes / 30));
});
