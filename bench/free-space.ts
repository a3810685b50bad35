import type { Address, FreeSpace, Pool } from "../core/index.ts";
import { firstAddresses, poolOf, random, spaceOf } from "./data.ts";
import {
  batchSize,
  type Effort,
  effort,
  figures,
  inTurn,
  once,
  perOperation,
  type Result,
  ratio,
  type Sample,
  tailOf,
} from "./measure.ts";
import { LinearScan, type Naive, SetProbing } from "./naive.ts";

interface Case {
  readonly name: string;
  readonly pool: Pool;
  readonly held: number;
  /** The addresses that are released, one after the other, each right before the lowest free one is taken. */
  readonly released: (held: readonly Address[]) => Address[];
  readonly rivals: Readonly<Record<string, new (pool: Pool) => Naive>>;
}

const rivals = { "linear scan": LinearScan, "Set probing": SetProbing };

/** Release one address and take the lowest free one: a pool stays as full as it is. */
export function run(short: boolean): Result[] {
  const spent = effort(short, 7);
  const ipv6: Case = {
    name: "IPv6 /64 60,000 held",
    pool: poolOf("pool", "2001:db8::/64"),
    held: 60_000,
    released: scattered,
    rivals: { "Set probing": SetProbing },
  };
  const cases = [...full("10.0.0.0/16"), ...(short ? [] : full("10.0.0.0/12")), ipv6];
  return [...rebuilds(spent, short), ...cases.flatMap((one) => churn(one, spent)), clock(spent)];
}

function full(cidr: string): Case[] {
  const pool = poolOf("pool", cidr);
  const size = Number(spaceOf(pool).capacity);
  const slash = cidr.slice(cidr.indexOf("/"));
  return [
    { name: `${slash} 99 % full`, pool, held: Math.floor(size * 0.99), released: scattered, rivals },
    { name: `${slash} last address`, pool, held: size, released: (held) => held.slice(-1), rivals },
  ];
}

function scattered(held: readonly Address[]): Address[] {
  const pick = random(1);
  return Array.from({ length: 4096 }, () => held[pick(held.length)] as Address);
}

function churn(one: Case, spent: Effort): Result[] {
  const held = firstAddresses(one.pool, one.held);
  const released = one.released(held);
  const space = filled(spaceOf(one.pool), held);
  const samples: Record<string, Sample> = { ours: perOperation((count) => loop(space, released, count)) };
  for (const [name, Rival] of Object.entries(one.rivals)) {
    const rival = filled(new Rival(one.pool), held);
    expectSame(name, rival, released);
    samples[name] = perOperation((count) => rivalLoop(rival, released, count));
  }
  const orders = Object.entries(inOrder).map(([name, take]) => {
    const row = filled(spaceOf(one.pool), held);
    samples[name] = perOperation((count) => loop(row, released, count, take));
    return name;
  });
  const taken = inTurn(spent, samples);
  const ours = taken.ours as number[];
  const tail = tailOf(spent.rounds, (i) => {
    space.release(released[i % released.length] as Address);
    return space.takeLowest();
  });
  return [
    {
      name: `${one.name}: release + allocate, mean`,
      ...figures(ours),
      unit: "ns",
      goal: 100,
      ratios: Object.keys(one.rivals).map((name) => ratio(name, ours, taken[name] as number[])),
    },
    { name: `${one.name}: the same, 99.9th percentile`, ...figures(tail), unit: "ns", goal: 1000 },
    ...orders.map((order): Result => {
      const sample = taken[order] as number[];
      return {
        name: `${one.name}: in the order ${order}`,
        ...figures(sample),
        unit: "ns",
        ratios: [ratio("Lowest", sample, ours)],
      };
    }),
  ];
}

function filled<T extends Naive | FreeSpace>(space: T, held: readonly Address[]): T {
  for (const address of held) space.take(address);
  return space;
}

/** A rival that gives another address would be measured in vain. */
function expectSame(name: string, rival: Naive, released: readonly Address[]): void {
  for (const address of released.slice(0, 3)) {
    rival.release(address);
    if (rival.takeLowest() !== address) throw new Error(`${name} gives another address`);
  }
}

function loop(space: FreeSpace, released: readonly Address[], count: number, take: Take = takeLowest): unknown {
  let last: Address | undefined;
  for (let i = 0; i < count; i++) {
    space.release(released[i % released.length] as Address);
    last = take(space, i);
  }
  return last;
}

type Take = (space: FreeSpace, i: number) => Address | undefined;

function takeLowest(space: FreeSpace): Address | undefined {
  return space.takeLowest();
}

/** How an address is taken in the other orders. Of Hashed with a hash for each, as plans for one node at a time do, and given back: else the pool would fill up. */
const inOrder: Readonly<Record<string, Take>> = {
  Next: (space) => space.takeNext(),
  Hashed: (space, i) => {
    space.beginAtHashOf(`Node/node${i}`);
    const taken = space.takeNext();
    if (taken !== undefined) space.release(taken);
    return taken;
  },
};

/** The same again: a call that has met one class only is compiled better, as it is in the program. */
function rivalLoop(rival: Naive, released: readonly Address[], count: number): unknown {
  let last: Address | undefined;
  for (let i = 0; i < count; i++) {
    rival.release(released[i % released.length] as Address);
    last = rival.takeLowest();
  }
  return last;
}

/** What a 99.9th percentile is of nothing at all: the noise of clock and machine. */
function clock({ rounds }: Effort): Result {
  return {
    name: `batches of ${batchSize} times nothing, 99.9th percentile`,
    ...figures(tailOf(rounds, (i) => i)),
    unit: "ns",
  };
}

function rebuilds(spent: Effort, short: boolean): Result[] {
  const pool = poolOf("pool", "10.0.0.0/12");
  const sizes = [
    { count: 10_000, goal: 5 },
    { count: 1_000_000, goal: 300 },
  ];
  return sizes.slice(0, short ? 1 : 2).map(({ count, goal }): Result => {
    const addresses = firstAddresses(pool, count);
    const { ours, set } = inTurn(spent, {
      ours: once(() => filled(spaceOf(pool), addresses).takeLowest()),
      set: once(() => new Set(addresses)),
    });
    return {
      name: `rebuild from ${count.toLocaleString("en")} addresses, allocate one`,
      ...figures(ours),
      unit: "ms",
      goal,
      ratios: [ratio("new Set(addresses)", ours, set)],
    };
  });
}
