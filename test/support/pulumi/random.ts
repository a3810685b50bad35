import fc from "fast-check";
import type { SetSpec } from "./sets.ts";

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
  wishes: fc.nat({ max: 7 }).map((n) => n === 0),
});

/** One program after the other on one stack: claims come, go, wish and are released; sets and claims stand in any order. */
export interface Step {
  readonly claims: readonly (typeof claimArb extends fc.Arbitrary<infer T> ? T : never)[];
  /** Pools by set: which set has each pool. */
  readonly home: Readonly<Record<PoolName, number>>;
  readonly release: readonly string[];
  readonly reversed: boolean;
}

function homeArb(usual: 0 | 1): fc.Arbitrary<number> {
  return fc.nat({ max: 7 }).map((n) => (n === 0 ? 1 - usual : usual));
}

const stepArb: fc.Arbitrary<Step> = fc.record({
  claims: fc.uniqueArray(claimArb, { maxLength: 9, selector: ({ pool, node, second }) => `${pool} ${node} ${second}` }),
  // A pool that has addresses stays in its set: most programs leave it there.
  home: fc.record({ lan: homeArb(0), wan: homeArb(1), six: homeArb(1) }),
  release: fc.oneof(
    { weight: 3, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: fc.uniqueArray(fc.constantFrom("Node/a", "Node/b", "Node/Z"), { minLength: 1 }) },
  ),
  reversed: fc.boolean(),
});

/** Steps without end, the same ones for the same seed. */
export function* stepsOf(seed: number): Generator<Step> {
  for (let block = 0; ; block++) yield* fc.sample(stepArb, { numRuns: 100, seed: seed + block * 1_000_003 });
}

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
      confirmRelease: true,
    };
  });
  return reversed ? sets.reverse() : sets;
}

export type Sets = Readonly<Record<string, Readonly<Record<string, unknown>>>>;
type Claims = Readonly<Record<string, string>>;

/** What the updates of a stack came to, by pool: as the set says that was updated with it last, whatever others say. */
export type Ledger = Readonly<
  Record<string, { readonly set: string; readonly live: Claims; readonly releasing: Claims }>
>;

/** The ledger after an update of these sets, which may not be all of the program. */
export function entered(before: Ledger, program: readonly Pick<SetSpec, "name" | "pools">[], updated: Sets): Ledger {
  const after = { ...before };
  const state = (set: string, field: "addresses" | "releasing", pool: string) =>
    (updated[set]?.[field] as Record<string, Claims> | undefined)?.[pool] ?? {};
  for (const [pool, { set }] of Object.entries(before))
    if (set in updated) after[pool] = { set, live: {}, releasing: state(set, "releasing", pool) };
  for (const { name: set, pools } of program.filter(({ name }) => name in updated))
    for (const pool of Object.keys(pools))
      after[pool] = { set, live: state(set, "addresses", pool), releasing: state(set, "releasing", pool) };
  return after;
}

/**
 * What must hold from one update to the next: no address twice, nobody who still claims one moved, no address that
 * was held or is to be released given away, and none forgotten but what `release` named. The first thing that does not, as text.
 */
export function broken(before: Ledger, after: Ledger, release: readonly string[]): string | undefined {
  for (const [pool, { live, releasing }] of Object.entries(after)) {
    const held = [live, releasing].flatMap(pairsOf).map(([, address]) => address);
    const twice = held.find((address, i) => held.indexOf(address) !== i);
    if (twice !== undefined) return `${twice} of ${pool} is held twice`;
    const was = before[pool];
    if (was === undefined) continue;
    const owner = new Map([was.live, was.releasing].flatMap(pairsOf).map(([c, a]) => [a, c]));
    for (const [claim, address] of Object.entries(live)) {
      const had = was.live[claim];
      if (had !== undefined && had !== address) return `${claim} moved in ${pool} from ${had} to ${address}`;
      const other = owner.get(address) ?? claim;
      if (other !== claim) return `${address} of ${pool}, which ${other} had, was given to ${claim}`;
    }
    const gone = pairsOf(was.releasing).filter(([claim]) => !release.some((owner) => claim.startsWith(`${owner}/`)));
    const lost = [...pairsOf(was.live), ...gone].find(([, address]) => !held.includes(address));
    if (lost !== undefined) return `${lost[1]} of ${pool}, which ${lost[0]} had, was given up without a word`;
  }
  return undefined;
}

/** Claims and addresses: one that gave up several has all of them in one text. */
function pairsOf(claims: Claims): [claim: string, address: string][] {
  return Object.entries(claims).flatMap(([claim, text]) =>
    text.split(", ").map((address): [string, string] => [claim, address]),
  );
}
