import fc from "fast-check";
import type { SetSpec } from "./pulumi-sets.ts";

const pools = {
  lan: { range: { cidr: "10.0.0.0/24", end: "10.0.0.14", exclude: ["10.0.0.3"] } },
  wan: { range: { cidr: "10.1.0.0/16" } },
  six: { range: { cidr: "fd00::/64", end: "fd00::c" } },
};
type PoolName = keyof typeof pools;
const wanted: Record<PoolName, string> = { lan: "10.0.0.9", wan: "10.1.7.7", six: "fd00::5" };
const rarelyArb = fc.nat({ max: 30 }).map((n) => n === 0);

const poolArb = fc.constantFrom<PoolName>("lan", "lan", "lan", "wan", "six");
const claimArb = fc.record({
  pool: poolArb,
  node: fc.constantFrom("a", "b", "c", "d", "e", "f", "node10", "node9", "Z"),
  second: rarelyArb,
  wishes: rarelyArb,
});

/** One program after the other on one stack: claims come, go, wish and are released; sets and claims stand in any order. */
export interface Step {
  readonly claims: readonly (typeof claimArb extends fc.Arbitrary<infer T> ? T : never)[];
  /** Pools by set: which set has each pool. */
  readonly home: Readonly<Record<PoolName, number>>;
  readonly release: readonly string[];
  readonly reversed: boolean;
}

export const stepArb: fc.Arbitrary<Step> = fc.record({
  claims: fc.uniqueArray(claimArb, { maxLength: 9, selector: ({ pool, node, second }) => `${pool} ${node} ${second}` }),
  home: fc.record({ lan: fc.constantFrom(0, 0, 0, 1), wan: fc.constantFrom(0, 1), six: fc.constantFrom(1, 1, 1, 0) }),
  release: fc.oneof(
    { weight: 3, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: fc.uniqueArray(fc.constantFrom("Node/a", "Node/b", "Node/Z"), { minLength: 1 }) },
  ),
  reversed: fc.boolean(),
});

/** The program of a step. */
export function setsOf({ claims, home, release, reversed }: Step): SetSpec[] {
  const sets = [0, 1].map((set): SetSpec => {
    const mine = Object.entries(pools).filter(([name]) => home[name as PoolName] === set);
    return {
      name: `set${set}`,
      pools: Object.fromEntries(mine),
      claims: claims
        .filter(({ pool }) => home[pool] === set)
        .map(({ pool, node, second, wishes }) => ({
          owner: { kind: "Node", name: node },
          name: second ? "storage/v4" : "eth1",
          pool,
          // One node always wants the same address; others seldom do, which is refused if they have another one.
          ...(wishes || node === "Z" ? { address: wanted[pool] } : {}),
        })),
      release,
    };
  });
  return reversed ? sets.reverse() : sets;
}

/** The addresses of some sets, as lines `pool address claim`, sorted. Of a pool that two sets speak of, those of the later one. */
export function linesOf(sets: Sets, field: "addresses" | "releasing"): string[] {
  const turnOf = (set: Sets[string], pool: string) => (set.turn as Record<string, number> | undefined)?.[pool] ?? 0;
  const last = (pool: string) =>
    Math.max(...Object.values(sets).flatMap((set) => (pool in (set.addresses as object) ? turnOf(set, pool) : [])));
  const held = Object.values(sets).flatMap((set) =>
    Object.entries((set[field] ?? {}) as Record<string, object>).filter(([pool]) => turnOf(set, pool) >= last(pool)),
  );
  return held
    .flatMap(([pool, claims]) => Object.entries(claims).map(([claim, address]) => `${pool} ${address} ${claim}`))
    .sort();
}

/**
 * What must hold from one state of a stack to the next: no address twice, nobody who still claims one moved, and no
 * address that was given up given away. The first thing that does not, as text.
 */
export function broken(before: Sets, after: Sets, kept: (claim: string) => boolean = () => true): string | undefined {
  const live = linesOf(after, "addresses");
  const places = live.map((line) => line.split(" ").slice(0, 2).join(" "));
  const twice = places.find((place, i) => places.indexOf(place) !== i);
  if (twice !== undefined) return `${twice} is held twice`;
  const holder = new Map(
    live.map((line) => line.split(" ")).map(([pool, address, claim]) => [`${pool} ${claim}`, address]),
  );
  const owner = new Map(
    live.map((line) => line.split(" ")).map(([pool, address, claim]) => [`${pool} ${address}`, claim]),
  );
  for (const line of linesOf(before, "addresses")) {
    const [pool, address, claim] = line.split(" ") as [string, string, string];
    const now = holder.get(`${pool} ${claim}`);
    if (kept(claim) && now !== undefined && now !== address)
      return `${claim} moved in ${pool} from ${address} to ${now}`;
    const other = owner.get(`${pool} ${address}`);
    if (other !== undefined && other !== claim) return `${address} of ${claim} was given to ${other}`;
  }
  for (const line of linesOf(before, "releasing")) {
    const [pool, address, claim] = line.split(" ") as [string, string, string];
    const other = owner.get(`${pool} ${address}`);
    if (other !== undefined && other !== claim)
      return `${address}, which ${claim} has to release, was given to ${other}`;
  }
  return undefined;
}

export type Sets = Readonly<Record<string, Readonly<Record<string, unknown>>>>;
