import fc from "fast-check";
import { expect, it } from "vitest";
import { IpamError } from "../../../core/errors.ts";
import { plan } from "../../../core/plan/plan.ts";
import { planRelease } from "../../../core/plan/release.ts";
import { kubernetes } from "../../../state/kubernetes/backend.ts";
import { decodePart } from "../../../state/kubernetes/subnet-records.ts";
import { MemoryCluster } from "../../support/cluster/kube-memory.ts";
import { claimOf, poolOf } from "../../support/core/text.ts";
import { tries } from "../../support/long.ts";
import { Turns } from "../../support/sim/turns.ts";
import { duplicates } from "../../support/state/record.ts";

// Writers who know nothing of each other begin pools that cannot both be: of overlapping subnets, or of one name. Each
// makes one request at a time; the order of all requests is the schedule. A writer that gets no turn any more was killed.

const pools = {
  wide: poolOf("wide", "10.0.0.0/16 10.0.0.1 10.0.0.9"),
  narrow: poolOf("narrow", "10.0.0.0/24 10.0.0.1 10.0.0.9"),
  p: poolOf("p", "10.0.0.0/24 10.0.0.1 10.0.0.9"),
  elsewhere: poolOf("p", "10.9.0.0/24"),
  /** Of one subnet with p, and overlapping it: a mistake that nobody sees who looks at one of them. */
  beside: poolOf("beside", "10.0.0.0/24 10.0.0.5 10.0.0.12"),
};
type Wish = readonly [pool: keyof typeof pools, keeps: boolean];

async function play(wishes: readonly Wish[], schedule: readonly number[], before: readonly Wish[], killed?: number) {
  const cluster = new MemoryCluster();
  for (const wish of before) await write(kubernetes(cluster.objects(), "net"), wish, "before");
  const turns = new Turns(wishes.length);
  const writers = wishes.map(async (wish, who) => {
    const objects = cluster.objects((_, run) =>
      turns.step(who, () => {
        const answer = run();
        look(cluster);
        return answer;
      }),
    );
    await write(kubernetes(objects, "net"), wish, `w${who}`).finally(() => turns.end(who));
  });
  for (const who of schedule) await turns.give(who % wishes.length);
  const left = wishes.map((_, who) => who).filter((who) => who !== killed);
  for (const who of left) while (await turns.give(who));
  await Promise.all(left.map((who) => writers[who]));
  // Whoever comes later finds a record that can be read and written.
  await write(kubernetes(cluster.objects(), "net"), ["p", true], "later");
  expect(duplicates(await kubernetes(cluster.objects(), "net").read())).toEqual([]);
}

/** Reads, plans and commits until that succeeds, or somebody else has come first for good. */
async function write(backend: ReturnType<typeof kubernetes>, [name, keeps]: Wish, node: string): Promise<void> {
  for (;;) {
    try {
      const snapshot = await backend.read();
      const made = plan({
        pools: [pools[name]],
        claims: [claimOf(`Node/${node}/a pool=${pools[name].name}`)],
        snapshot,
        set: node,
      });
      const after = await backend.commit(made);
      const mine = after.allocations.filter((line) => line.set === node);
      if (!keeps) await backend.commit(planRelease(after, mine));
      return;
    } catch (error) {
      if (!(error instanceof IpamError)) throw error;
      if (["in-use", "overlap"].includes(error.code)) return;
      expect(error.code, error.message).toBe("conflict");
    }
  }
}

/** After every request: nobody has what somebody else has, whatever an index says. */
function look({ maps }: MemoryCluster): void {
  const parts = [...maps.values()].filter(({ data }) => data?.record !== undefined);
  const records = parts.map(({ data, metadata }) => decodePart({ text: data?.record as string }, metadata.name));
  const all = {
    pools: [...new Set(records.flatMap((record) => record.pools))],
    allocations: records.flatMap((r) => r.allocations),
    releasing: [],
  };
  const names = all.pools.map((pool) => pool.name);
  if (new Set(names).size < names.length) throw new Error(`a pool in two subnets: ${names}`);
  const addresses = all.allocations.map((line) => line.address);
  if (new Set(addresses).size < addresses.length) throw new Error("an address twice");
  for (const a of all.pools)
    for (const b of all.pools)
      if (a.prefix.length !== b.prefix.length && a.prefix.first <= b.prefix.last && b.prefix.first <= a.prefix.last)
        throw new Error(`${a.name} and ${b.name} overlap`);
}

const wishArb = fc.tuple(fc.constantFrom(...(Object.keys(pools) as (keyof typeof pools)[])), fc.boolean());
const gameArb = fc.record({
  wishes: fc.array(wishArb, { minLength: 2, maxLength: 3 }),
  schedule: fc.array(fc.nat({ max: 5 }), { minLength: 6, maxLength: 24 }),
  before: fc.array(wishArb, { maxLength: 2 }),
  killed: fc.option(fc.nat({ max: 2 }), { nil: undefined }),
});

it("writers in any order, some killed: pools that cannot both be never both have addresses, and the record stays whole", async () => {
  const games = fc.sample(gameArb, tries(200, 20_000));
  // Many at once: most of the time of each is waiting after a conflict.
  for (let i = 0; i < games.length; i += 100)
    await Promise.all(
      games.slice(i, i + 100).map((game) =>
        play(game.wishes, game.schedule, game.before, game.killed).catch((error) => {
          throw new Error(`${JSON.stringify(game)}: ${error.message}`, { cause: error });
        }),
      ),
    );
}, 300_000);
