import { plan } from "../src/core/index.ts";
import { claimsOn, linesOf, poolOf, snapshotOf } from "./data.ts";
import { figures, inTurn, once, type Result, ratio, type Sample } from "./measure.ts";
import { planByScan } from "./naive.ts";

export function run(short: boolean): Result[] {
  const rounds = short ? 3 : 5;
  return [
    against("plan 5,000 new claims, empty /16", "10.0.0.0/16", 0, 5_000, 50, 5 * rounds),
    against("plan 10,000 new claims over 100,000 held", "10.0.0.0/15", 100_000, 10_000, 250, rounds),
    ...growth(short ? [10_000, 100_000] : [10_000, 100_000, 300_000, 1_000_000], rounds),
  ];
}

function against(name: string, cidr: string, held: number, fresh: number, goal: number, rounds: number): Result {
  const pool = poolOf("traffic-1", cidr);
  const claims = claimsOn(pool.name, held + fresh);
  const lines = linesOf(pool, claims.slice(0, held));
  const snapshot = snapshotOf([pool], lines);
  const { ours, scan } = inTurn(rounds, {
    ours: once(() => plan({ pools: [pool], claims, snapshot })),
    scan: once(() => planByScan(pool, claims, lines)),
  });
  const last = plan({ pools: [pool], claims, snapshot }).assign.at(-1)?.address;
  if (last !== planByScan(pool, claims, lines).at(-1)?.address) throw new Error("the two plans are not the same");
  return { name, ...figures(ours), unit: "ms", goal, ratios: [ratio("a linear scan per claim", ours, scan)] };
}

/** All held lines are claimed again, and one new claim comes to every hundred. */
function growth(sizes: readonly number[], rounds: number): Result[] {
  const pool = poolOf("traffic-1", "10.0.0.0/11");
  const samples = Object.fromEntries(
    sizes.map((held): [number, Sample] => {
      const claims = claimsOn(pool.name, held + held / 100);
      const snapshot = snapshotOf([pool], linesOf(pool, claims.slice(0, held)));
      return [held, once(() => plan({ pools: [pool], claims, snapshot }))];
    }),
  );
  const taken = inTurn(rounds, samples);
  const [smallest = 0] = sizes;
  const perLine = (held: number) => (taken[held] as number[]).map((ms) => ms / held);
  return sizes.map((held) => ({
    name: `plan ${(held / 100).toLocaleString("en")} new claims over ${held.toLocaleString("en")} held`,
    ...figures(taken[held] as number[]),
    unit: "ms",
    ratios:
      held === smallest
        ? []
        : [ratio(`time per line at ${smallest.toLocaleString("en")}`, perLine(held), perLine(smallest))],
  }));
}
