import { App, Chart, Testing } from "cdk8s";
import fc from "fast-check";
import { expect, it } from "vitest";
import { AddressPlan, NodeIPPool, NodeNetworkPolicy, Nodes } from "../../../constructs/index.ts";
import { IpamError, type Snapshot } from "../../../core/index.ts";
import { memory } from "../../../state/index.ts";
import { lockOf } from "../../support/cli/constructs-app.ts";

/** What an app says, in no order. */
interface World {
  readonly pools: readonly { readonly chart: number; readonly clusterRange: boolean }[];
  readonly policies: readonly {
    readonly chart: number;
    readonly pools: readonly number[];
    readonly nodes: readonly number[];
    readonly workersOnly: boolean;
    readonly waves: boolean;
  }[];
}

const some = <T>(arb: fc.Arbitrary<T>, minLength: number, maxLength: number) => fc.array(arb, { minLength, maxLength });
const numbers = (max: number) => fc.uniqueArray(fc.nat(max), { minLength: 1, maxLength: 3 });
const worldArb: fc.Arbitrary<World> = fc.record({
  pools: some(fc.record({ chart: fc.nat(2), clusterRange: fc.boolean() }), 3, 3),
  policies: some(
    fc.record({
      chart: fc.nat(2),
      pools: numbers(2),
      nodes: numbers(4),
      workersOnly: fc.boolean(),
      waves: fc.boolean(),
    }),
    1,
    4,
  ),
});

/** Makes the world's constructs in the order of `ranks`; but a policy's pools are there before it. */
function appOf({ pools, policies }: World, ranks: readonly number[], snapshot: Snapshot): App {
  const app = new App();
  const configure = () => AddressPlan.configure(app, { state: { name: "memory", snapshot }, allowMove: true });
  const memo = <T>(make: (i: number) => T) => {
    const made = new Map<number, T>();
    return (i: number) => {
      if (!made.has(i)) made.set(i, make(i));
      return made.get(i) as T;
    };
  };
  const chart = memo((i) => new Chart(app, `chart-${i}`));
  const pool = memo((i) => {
    const { chart: home, clusterRange } = pools[i] as World["pools"][number];
    const range = { cidr: `10.${i}.0.0/24` };
    const later = clusterRange ? { clusterRange: { start: `10.${i}.0.200`, end: `10.${i}.0.250` } } : {};
    return new NodeIPPool(chart(home), `pool-${i}`, { range, ...later });
  });
  const policy = memo((i) => {
    const { chart: home, nodes, workersOnly, waves, ...given } = policies[i] as World["policies"][number];
    const address = given.pools.map((at) => pool(at).claim(`from-${at}`));
    return new NodeNetworkPolicy(chart(home), `policy-${i}`, {
      nodes: Nodes.of(...byRank(nodes, ranks).map(labelled)),
      ...(workersOnly ? { nodeSelector: { role: "worker" } } : {}),
      ...(waves ? { nodesPerSyncWave: 2 } : {}),
      desiredState: { interfaces: [{ name: `eth${i}`, ipv4: { enabled: true, address } }] },
    });
  });
  const steps = [
    configure,
    ...[0, 1, 2].map((i) => () => chart(i)),
    ...pools.map((_, i) => () => pool(i)),
    ...policies.map((_, i) => () => policy(i)),
  ];
  for (const step of byRank(steps, ranks)) step();
  return app;
}

function labelled(i: number) {
  const role = i % 2 === 0 ? { role: "worker" } : {};
  return { name: `n${i}`, labels: { "kubernetes.io/hostname": `n${i}.lan`, ...role } };
}

function byRank<T>(items: readonly T[], ranks: readonly number[]): T[] {
  return [...items.entries()].sort(([a], [b]) => (ranks[a] ?? 0) - (ranks[b] ?? 0)).map(([, item]) => item);
}

/** The lock after both worlds, one after the other, and the objects of the second by chart; or why it is refused. */
async function outcome(worlds: readonly World[], ranks: readonly number[]): Promise<unknown> {
  const backend = memory();
  try {
    for (const world of worlds)
      await backend.commit(AddressPlan.of(appOf(world, ranks, await backend.read())).plan({ confirmRelease: true }));
    const record = await backend.read();
    const { charts } = appOf(worlds.at(-1) as World, ranks, record);
    const objects = charts.map((chart) => [
      chart.node.id,
      Testing.synth(chart)
        .map((one) => JSON.stringify(one))
        .sort(),
    ]);
    return { lock: lockOf(record), objects: Object.fromEntries(objects) };
  } catch (error) {
    if (error instanceof IpamError) return error.message;
    throw error;
  }
}

it("any order of charts, pools, policies and nodes gives the same lock and the same objects", async () => {
  let refused = 0;
  let releasing = 0;
  await fc.assert(
    fc.asyncProperty(worldArb, worldArb, fc.array(fc.nat(), { minLength: 11, maxLength: 11 }), async (a, b, ranks) => {
      const inOrder = await outcome([a, b], []);
      expect(await outcome([a, b], ranks)).toEqual(inOrder);
      if (typeof inOrder === "string") refused++;
      else if (JSON.stringify(inOrder).includes('\\"releasing\\":true')) releasing++;
    }),
    { numRuns: 100 },
  );
  expect(releasing).toBeGreaterThan(20);
  expect(refused).toBeLessThan(30);
});
