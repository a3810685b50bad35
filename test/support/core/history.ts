import fc from "fast-check";
import { type Address, formatAddress } from "../../../core/address.ts";
import { type Allocation, emptySnapshot, type Snapshot } from "../../../core/allocation.ts";
import { type Claim, claimKey } from "../../../core/claim.ts";
import { IpamError } from "../../../core/errors.ts";
import type { Moved } from "../../../core/plan/moved.ts";
import { type Plan, type PlanInput, plan } from "../../../core/plan/plan.ts";
import type { Pool } from "../../../core/pool.ts";
import type { AllocationOrder } from "../../../core/pool-spec.ts";
import { apply, freed } from "./apply.ts";
import { plus, poolOf } from "./text.ts";

/** Sixteen addresses around a last octet of 255, or blocks, in either family; two pools share them. */
interface Universe {
  readonly cidr: string;
  readonly base: string;
  /** Block lengths that a pool may have, one after the other; the first one is that of a spot. */
  readonly lengths: readonly number[];
}
const universes: Universe[] = [
  { cidr: "10.0.0.0/22", base: "10.0.0.248", lengths: [32] },
  { cidr: "2001:db8::/64", base: "2001:db8::f8", lengths: [128] },
  { cidr: "10.0.0.0/8", base: "10.255.192.0", lengths: [22] },
  { cidr: "10.0.0.0/8", base: "10.255.192.0", lengths: [22, 21, 23, 32] },
  { cidr: "2001:db8::/48", base: "2001:db8:0:fff0::", lengths: [64, 63, 65, 128] },
];

const orderArb = fc.constantFrom<AllocationOrder>("Lowest", "Hashed", "Next");
const spotArb = fc.nat({ max: 15 });
const ownerArb = fc.constantFrom(
  { kind: "Node", name: "n1" },
  { kind: "Node", name: "n2" },
  { kind: "Node", name: "N2" },
  { kind: "VM", namespace: "ns", name: "v" },
);
const wishArb = fc.record({
  owner: ownerArb,
  name: fc.constantFrom("a", "b", "Z"),
  pool: fc.constantFrom("p", "p", "q"),
  wanted: fc.option(spotArb, { nil: undefined, freq: 4 }),
  uid: fc.option(fc.constantFrom("1", "2"), { nil: undefined }),
  interface: fc.option(fc.constantFrom("eth0", "eth1"), { nil: undefined }),
});
const stepArb = fc.record({
  end: fc.integer({ min: 1, max: 9 }),
  nextStart: fc.integer({ min: 2, max: 10 }),
  exclude: fc.array(spotArb, { maxLength: 2 }),
  reserved: fc.option(fc.record({ spot: spotArb, owner: fc.constantFrom("Node/n1", "VM/ns:v", undefined) }), {
    freq: 3,
  }),
  wishes: fc.uniqueArray(wishArb, {
    maxLength: 12,
    selector: ({ pool, owner, name }) => `${pool} ${claimKey(owner, name)}`,
  }),
  set: fc.constantFrom("default", "default", "default", "other"),
  allowMove: fc.constantFrom(false, false, false, true),
  renames: fc.nat({ max: 3 }),
  freed: fc.nat({ max: 0xffff }),
  length: fc.nat({ max: 3 }),
  orders: fc.tuple(orderArb, orderArb),
});
type Step = typeof stepArb extends fc.Arbitrary<infer T> ? T : never;

/** What people do to two pools, one after the other. With `handOver`, a part of one pool may become a part of the other. */
export function historyArb({ handOver }: { handOver: boolean }): fc.Arbitrary<History> {
  return fc
    .record({ universe: fc.constantFrom(...universes), steps: fc.array(stepArb, { minLength: 1, maxLength: 6 }) })
    .map(({ universe, steps }) => ({ universe, steps, handOver }));
}

interface History {
  readonly universe: Universe;
  readonly steps: readonly Step[];
  readonly handOver: boolean;
}

/** One plan of a history, with the record before it and after it. */
export interface Visit {
  readonly before: Snapshot;
  readonly input: PlanInput;
  readonly made: Plan;
  readonly after: Snapshot;
}

/** Plans and applies step by step; a step that is refused changes nothing. Shows each plan that was made. */
export function walk({ universe, steps, handOver }: History, visit: (visit: Visit) => void): void {
  let before: Snapshot = emptySnapshot;
  for (const step of steps) {
    const pools = poolsOf(step, universe, handOver);
    const claims = step.wishes.map((wish) => claimOf(wish, universe));
    const moved = renamesOf(before, claims, step);
    const input = { pools, claims, moved, snapshot: before, set: step.set, allowMove: step.allowMove };
    const made = attempt(input);
    if (made === undefined) continue;
    const after = apply(made, before);
    visit({ before, input, made, after });
    before = freed(after, (_, i) => ((step.freed >> i) & 1) === 1);
  }
}

function attempt(input: PlanInput): Plan | undefined {
  try {
    return plan(input);
  } catch (error) {
    if (error instanceof IpamError) return undefined;
    throw error;
  }
}

function poolsOf(step: Step, universe: Universe, handOver: boolean): Pool[] {
  const at = (spot: number) => formatAddress(addressOf(spot, universe));
  const blockLength = universe.lengths[step.length % universe.lengths.length] as number;
  const nextStart = handOver ? Math.max(step.nextStart, step.end + 1) : 10;
  const { exclude, reserved } = step;
  const isIn = (from: number, to: number) => (spot: number) => from <= spot && spot <= to && spot !== reserved?.spot;
  const part = (name: string, from: number, to: number, allocationOrder: AllocationOrder) =>
    poolOf(name, `${universe.cidr} ${at(from)} ${formatAddress(plus(addressOf(to + 1, universe), -1))}`, {
      allocationOrder,
      blockLength,
      exclude: exclude.filter(isIn(from, to)).map(at),
      reservations:
        // A block of several spots may reach out of the part, or into what is excluded.
        reserved === null || reserved.spot < from || reserved.spot > to || blockLength < (universe.lengths[0] as number)
          ? []
          : [{ address: at(reserved.spot), ...(reserved.owner === undefined ? {} : { owner: reserved.owner }) }],
    });
  return [part("p", 0, step.end, step.orders[0]), part("q", nextStart, 15, step.orders[1])];
}

function addressOf(spot: number, { base, cidr, lengths }: Universe): Address {
  return plus(base, BigInt(spot) * 2n ** BigInt((cidr.includes(":") ? 128 : 32) - (lengths[0] as number)));
}

function claimOf({ wanted, uid, interface: nic, ...claim }: Step["wishes"][number], universe: Universe): Claim {
  return {
    ...claim,
    ...(wanted === undefined ? {} : { wanted: addressOf(wanted, universe) }),
    ...(uid === undefined ? {} : { uid }),
    ...(nic === undefined ? {} : { interface: nic }),
  };
}

/** Renames of claims that are gone to claims that are new, each name once, every second one by way of another name. */
function renamesOf(before: Snapshot, claims: readonly Claim[], step: Step): Moved[] {
  const keys = new Set(claims.map(({ owner, name }) => claimKey(owner, name)));
  const lines: readonly Allocation[] = [...before.allocations, ...before.releasing];
  const held = new Set(before.allocations.map((line) => line.claim));
  const gone = [...new Set(lines.map((line) => line.claim))].filter((key) => !keys.has(key));
  const fresh = [...keys].filter((key) => !held.has(key));
  return gone.slice(0, step.renames).flatMap((from, i) => {
    const to = fresh[i];
    if (to === undefined) return [];
    const between = `Node/between/n${i}`;
    return i % 2 === 0
      ? [{ from, to }]
      : [
          { from: between, to },
          { from, to: between },
        ];
  });
}
