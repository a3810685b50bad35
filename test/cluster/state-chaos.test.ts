import { expect, it } from "vitest";
import { batchSize, chaos, writers } from "../support/cluster/chaos.ts";
import { clusterOfFile } from "../support/cluster/of-file.ts";
import { type FaultProxy, startFaultProxy } from "../support/cluster/proxy.ts";
import { RecordNamespace } from "../support/cluster/record.ts";
import { recordHistory } from "../support/state/record-history.ts";

/** How many times the proof; without it a small part, for every day. */
const long = Number(process.env.NODEIPPOOL_LONG ?? 0);
let proxy: FaultProxy;
const cluster = clusterOfFile(
  async (started) => {
    proxy = await startFaultProxy(started);
  },
  { fsync: true },
);

/** The proof, on one pool and on ten together: 20,480 allocations, 60 kills, 2,400 faults. */
const scale = long
  ? { rounds: 128 * long, kills: 25 * long, serverKills: 5 * long, faults: 1_200 * long }
  : { rounds: 3, kills: 6, serverKills: 1, faults: 60 };

it.each([1, 10])(
  `${writers} processes on %d pools, killed and cut off: no address twice at any revision, none lost, none left over`,
  async (pools) => {
    const namespace = await RecordNamespace.make(cluster());
    const start = performance.now();
    const { acknowledged, kills, faults } = await chaos(cluster(), proxy, namespace.name, { ...scale, pools });
    const seconds = Math.round((performance.now() - start) / 1000);
    const { revisions, live, wrong } = await recordHistory(cluster(), namespace.name);
    console.log(
      `${pools} pools: ${live.size} allocations, ${kills} writers and ${scale.serverKills} API servers killed, ${faults} faults, ` +
        `${revisions} revisions, ${seconds} s: ${wrong.length} duplicates or moves`,
    );
    expect(wrong).toEqual([]);
    expect([...acknowledged].filter((line) => !live.has(line))).toEqual([]);
    expect(live.size).toBeGreaterThanOrEqual(writers * scale.rounds * batchSize);
    const { allocations, releasing } = await namespace.open().read();
    expect([...allocations, ...releasing], "left over").toEqual([]);
  },
  long ? 7_200_000 * long : 900_000,
);
