import fc from "fast-check";
import { expect, it } from "vitest";
import { Queue } from "../../../kube/queue.ts";
import { VirtualClock } from "../../support/sim/virtual-clock.ts";

const key = fc.constantFrom("a", "b", "c", "d", "e", "f");
const step = fc.oneof(
  fc.record({ add: key }),
  fc.record({ add: key, after: fc.nat(50) }),
  fc.record({ pass: fc.nat(30) }),
);
/** How runs go, one after the other: how long one takes, and whether it throws or wants another run. */
const run = fc.record({
  takes: fc.oneof(fc.constant(0), fc.nat(40)),
  ends: fc.oneof(fc.constant("well" as const), fc.constant("badly" as const), fc.nat(60)),
});

interface Run {
  readonly key: string;
  readonly from: number;
  to: number;
}

it("loses no key, runs none twice at once, and never more than it may", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 60 }),
      fc.array(run, { maxLength: 30 }),
      fc.integer({ min: 1, max: 4 }),
      fc.array(fc.integer({ min: 0, max: 7 }), { maxLength: 30 }),
      async (steps, endings, parallel, eighths) => {
        const numbers = eighths.values();
        const outcomes = endings.values();
        const clock = new VirtualClock();
        const runs: Run[] = [];
        /** Promises to keep: a run of the key that begins not before `from`, and may be as late as `to`. */
        const wanted: { readonly key: string; readonly from: number; readonly to: number }[] = [];
        const active = new Set<string>();
        const wrong: string[] = [];
        const work = async (one: string) => {
          if (active.has(one)) wrong.push(`${one} runs twice at once`);
          active.add(one);
          if (active.size > parallel) wrong.push(`${active.size} run at once`);
          const current: Run = { key: one, from: clock.now(), to: Number.POSITIVE_INFINITY };
          runs.push(current);
          const { takes, ends } = outcomes.next().value ?? { takes: 0, ends: "well" };
          await clock.sleep(takes);
          active.delete(one);
          current.to = clock.now();
          if (ends === "badly") throw new Error("badly");
          if (ends === "well") return undefined;
          wanted.push({ key: one, from: current.to, to: current.to + ends });
          return ends;
        };
        const failed = (one: string, _: unknown, pause: number) =>
          wanted.push({ key: one, from: clock.now(), to: clock.now() + pause });
        const queue = new Queue(work, { parallel, clock, random: () => (numbers.next().value ?? 8) / 8, failed });

        for (const one of steps) {
          if ("pass" in one) await clock.pass(one.pass);
          else {
            const after = "after" in one ? (one.after as number) : undefined;
            wanted.push({ key: one.add, from: clock.now(), to: clock.now() + (after ?? 0) });
            if (after === undefined) queue.add(one.add);
            else queue.addAfter(one.add, after);
          }
        }
        await clock.pass(0);
        for (let next = clock.untilNext(); next !== undefined; next = clock.untilNext()) await clock.pass(next);
        await queue.idle();
        expect(wrong).toEqual([]);

        // Time that passes while no place is free is nobody's fault: all places were taken throughout.
        for (const { key: one, from, to } of wanted) {
          const kept = runs.find((candidate) => candidate.key === one && candidate.from >= from);
          expect(kept, `${one} wanted from ${from} to ${to}`).toBeDefined();
          // A timer counts whole milliseconds.
          const waited = { from: Math.ceil(to), to: (kept as Run).from };
          if (waited.to > waited.from) expect(isBusy(runs, waited, one, parallel)).toBe(true);
        }
        // Coalescing: no run without a reason of its own.
        expect(runs.length).toBeLessThanOrEqual(wanted.length);
      },
    ),
    { numRuns: 500 },
  );
});

/** Whether at each moment of a span all places were taken, or the key itself was running. */
function isBusy(runs: readonly Run[], span: { from: number; to: number }, key: string, parallel: number): boolean {
  const moments = [span.from, ...runs.flatMap(({ from, to }) => [from, to])].filter(
    (moment) => moment >= span.from && moment < span.to,
  );
  return moments.every((moment) => {
    const active = runs.filter(({ from, to }) => from <= moment && moment < to);
    return active.length >= parallel || active.some((run) => run.key === key);
  });
}
