import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Address } from "../../../core/address.ts";
import type { Allocation, Snapshot } from "../../../core/allocation.ts";
import { blockAt } from "../../../core/block.ts";
import { claimKey, ownerOfKey } from "../../../core/claim.ts";
import { hostBitsOf } from "../../../core/numbering.ts";
import { isNoop, type Plan, plan } from "../../../core/plan/plan.ts";
import type { Pool } from "../../../core/pool.ts";
import { intersect, minus, normalised } from "../../../core/range.ts";
import { shuffled } from "../../support/core/arbitrary.ts";
import { historyArb, type Visit, walk } from "../../support/core/history.ts";
import { endsOf, freeBlocks, sharing } from "../../support/core/model.ts";
import { bytesOf, plus, shown, textOf } from "../../support/core/text.ts";
import { tries } from "../../support/long.ts";

const everyPlan = (law: (visit: Visit) => void, handOver = false, numRuns = tries(100, 2_000)) =>
  fc.assert(
    fc.property(historyArb({ handOver }), (history) => walk(history, law)),
    { numRuns },
  );

const linesOf = (snapshot: Snapshot): Allocation[] => [...snapshot.allocations, ...snapshot.releasing];
const twice = <T>(items: readonly T[]): T[] => items.filter((item, i) => items.indexOf(item) < i);
const identity = (line: { pool: string; claim: string }) => `${line.pool} ${line.claim}`;

/** What a claim is called in the end. */
function lastName(claim: string, moved: Visit["input"]["moved"] = []): string {
  const next = moved.find(({ from }) => from === claim);
  return next === undefined ? claim : lastName(next.to, moved);
}

/** What is free for whoever does not care, found by walking over the pool: so many, at most. */
function freeIn(pool: Pool, held: readonly Allocation[], most = 1): Address[] {
  return firstOf(freeBlocks(pool, pool.automatic, held), most);
}

function firstOf(free: Generator<Address>, most: number): Address[] {
  return Array.from({ length: most }, () => free.next().value as Address).filter((at) => at !== undefined);
}

/** The first address after the block that an address is in. */
function after(at: Address, { blockLength }: Pool): Address {
  return plus(endsOf(blockAt(at, blockLength)).last, 1);
}

/** Are so many blocks that could be allocated before an address that a plan, which counts them, begins at the lowest one? */
function isBeyondCount(pool: Pool, held: readonly Allocation[], from: Address): boolean {
  const below = intersect(pool.automatic, [{ first: pool.prefix.first, last: plus(from, -1) }]);
  const wide = held.filter((line) => line.length < pool.blockLength).map(endsOf);
  const addresses = minus(below, normalised(wide)).reduce((sum, { first, last }) => sum + last - first + 1n, 0n);
  return addresses >> hostBitsOf(pool) > BigInt(Number.MAX_SAFE_INTEGER);
}

/** So many free addresses, from one on, and around to the lowest one. */
function following(pool: Pool, held: readonly Allocation[], from: Address | undefined, most: number): Address[] {
  const upper =
    from === undefined || from > pool.prefix.last || isBeyondCount(pool, held, from)
      ? []
      : intersect(pool.automatic, [{ first: from, last: pool.prefix.last }]);
  const above = firstOf(freeBlocks(pool, upper, held), most);
  return [...above, ...freeIn(pool, held, most - above.length)];
}

function automaticIn(pool: Pool, { input, made }: Visit): Allocation[] {
  const wanting = new Set(
    input.claims.filter((claim) => claim.wanted !== undefined).map((c) => `${c.pool} ${claimKey(c.owner, c.name)}`),
  );
  const reserved = new Set(pool.reservations.all.map((r) => r.address));
  return made.assign.filter(
    (line) => line.pool === pool.name && !wanting.has(identity(line)) && !reserved.has(line.address),
  );
}

describe("in every history of plans", () => {
  it("no address is held twice, live or releasing", () => {
    everyPlan(({ after }) => {
      expect(sharing(linesOf(after))).toEqual([]);
    });
  });

  it("no address is held twice, though parts of one pool become parts of another", () => {
    everyPlan(({ after }) => {
      expect(sharing(linesOf(after))).toEqual([]);
    }, true);
  });

  it("no claim holds two live addresses of a pool", () => {
    everyPlan(({ after }) => {
      expect(twice(after.allocations.map(identity))).toEqual([]);
    });
  });

  it("a live claim keeps its address, renamed or not, unless moves are allowed", () => {
    everyPlan(({ before, input, after }) => {
      if (input.allowMove) return;
      const now = new Map(after.allocations.map((line) => [identity(line), line.address]));
      // What another set has is not renamed by this one.
      for (const line of before.allocations)
        for (const claim of [line.claim, ...(line.set === input.set ? [lastName(line.claim, input.moved)] : [])])
          expect(now.get(identity({ ...line, claim })) ?? line.address).toBe(line.address);
    });
  });

  it("no live owner loses an address and gets a new one, unless moves are allowed", () => {
    everyPlan(({ input, made }) => {
      if (input.allowMove) return;
      const ownerOf = (line: Allocation) => `${line.pool} ${ownerOfKey(line.claim)}`;
      const losing = made.release.map(({ allocation }) => ownerOf(allocation));
      expect(made.assign.filter((line) => losing.includes(ownerOf(line)))).toEqual([]);
    });
  });

  it("no address goes from one owner to another in one plan, unless the claim is declared as moved", () => {
    everyPlan(({ before, input, made }) => {
      const held = linesOf(before);
      expect(
        made.assign.flatMap((line) => sharing([line, ...held]).filter((pair) => !sharing(held).includes(pair))),
      ).toEqual([]);
      for (const { allocation, was = allocation } of made.keep) {
        expect([was.address, was.length, was.pool, was.set]).toEqual([
          allocation.address,
          allocation.length,
          allocation.pool,
          allocation.set,
        ]);
        expect([was.claim, lastName(was.claim, input.moved)]).toContain(allocation.claim);
      }
    });
  });

  it("lines of other sets stay as they are", () => {
    everyPlan(({ before, input, after }) => {
      const others = (snapshot: Snapshot) =>
        [snapshot.allocations, snapshot.releasing].map((lines) => lines.filter((l) => l.set !== input.set).map(textOf));
      expect(others(after)).toEqual(others(before));
    });
  });

  it("every claim gets one answer, and every line that goes was live in this set", () => {
    everyPlan(({ before, input, made }) => {
      const asked = input.claims.map((claim) => `${claim.pool} ${claimKey(claim.owner, claim.name)}`);
      const answers = [...made.assign, ...made.keep.map((kept) => kept.allocation), ...made.pending].map(identity);
      expect(answers.filter((key) => asked.includes(key)).sort()).toEqual(asked.sort());
      const live = before.allocations.filter((line) => line.set === input.set);
      expect(made.release.filter(({ allocation, to }) => to !== "releasing" || !live.includes(allocation))).toEqual([]);
    });
  });

  it("a claim is refused as exhausted only if nothing is free", () => {
    everyPlan(({ before, input, made }) => {
      for (const pool of input.pools)
        if (made.pending.some((pending) => pending.code === "exhausted" && pending.pool === pool.name))
          expect(freeIn(pool, [...linesOf(before), ...made.assign])).toEqual([]);
    });
  });

  it("the first keys get the lowest free addresses, or free ones that follow each other or the last one", () => {
    everyPlan((visit) => {
      for (const pool of visit.input.pools) {
        const given = automaticIn(pool, visit);
        const byKey = [...given].sort((a, b) => (a.claim < b.claim ? -1 : 1)).map((line) => line.address);
        const others = visit.made.assign.filter((line) => !given.includes(line));
        const held = [...linesOf(visit.before), ...others];
        const { last } = visit.before.pools.find(({ name }) => name === pool.name) ?? {};
        const from = { Lowest: undefined, Hashed: byKey[0], Next: last && after(last, pool) }[pool.allocationOrder];
        expect(byKey).toEqual(following(pool, held, from, given.length));
        expect(given.filter((line) => line.length !== pool.blockLength)).toEqual([]);
      }
    });
  });

  it("a plan after its commit writes nothing", () => {
    everyPlan(({ input, after }) => {
      const again = plan({ ...input, snapshot: after });
      expect(isNoop(again) ? [] : shown(again)).toEqual([]);
    });
  });

  it("the order of pools, claims, renames and lines changes no byte", () => {
    const same = (a: Plan, b: Plan) => expect(bytesOf(b)).toBe(bytesOf(a));
    fc.assert(
      fc.property(historyArb({ handOver: false }), fc.nat(), (history, seed) => {
        walk(history, ({ before, input, made }) => {
          const snapshot = {
            ...before,
            allocations: shuffled(before.allocations, seed),
            releasing: shuffled(before.releasing, seed + 1),
            pools: shuffled(before.pools, seed + 2),
          };
          const claims = shuffled(input.claims, seed + 3);
          same(
            made,
            plan({
              ...input,
              snapshot,
              claims,
              pools: shuffled(input.pools, seed),
              moved: shuffled(input.moved ?? [], seed),
            }),
          );
        });
      }),
      { numRuns: 200 },
    );
  });
});
