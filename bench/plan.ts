import { plan } from "../core/index.ts";
import { claimsOn, linesOf, poolOf, snapshotOf } from "./data.ts";
import { type Effort, effort, figures, inTurn, once, type Result, ratio, type Sample } from "./measure.ts";
import { planByScan } from "./naive.ts";

export function run(short: boolean): Result[] {
  return [
    { ...against("10.0.0.0/16", 0, 5_000, effort(short, 25)), goal: 50 },
    short
      ? against("10.0.0.0/15", 20_000, 2_000, effort(short, 5))
      : { ...against("10.0.0.0/15", 100_000, 10_000, effort(short, 5)), goal: 250 },
    ...growth(short ? [10_000, 100_000] : [10_000, 100_000, 300_000, 1_000_000], effort(short, 3)),
  ];
}

function against(cidr: string, held: number, fresh: number, spent: Effort): Result {
  const pool = poolOf("traffic-1", cidr);
  const claims = claimsOn(pool.name, held + fresh);
  const lines = linesOf(pool, claims.slice(0, held));
  const snapshot = snapshotOf([pool], lines);
  const { ours, scan } = inTurn(spent, {
    ours: once(() => plan({ pools: [pool], claims, snapshot })),
    scan: once(() => planByScan(pool, claims, lines)),
  });
  const last = plan({ pools: [pool], claims, snapshot }).assign.at(-1)?.address;
  if (last !== planByScan(pool, claims, lines).at(-1)?.address) throw new Error("the two plans are not the same");
  return {
    name: nameOf(held, fresh),
    ...figures(ours),
    unit: "ms",
    ratios: [ratio("a linear scan per claim", ours, scan)],
  };
}

function nameOf(held: number, fresh: number): string {
  const where = held === 0 ? "in an empty /16" : `over ${held.toLocaleString("en")} held`;
  return `plan ${fresh.toLocaleString("en")} new claims ${where}`;
}

/** All held lines are claimed again, and one new claim comes to every hundred. */
function growth(sizes: readonly number[], spent: Effort): Result[] {
  const pool = poolOf("traffic-1", "10.0.0.0/11");
  const samples = Object.fromEntries(
    sizes.map((held): [number, Sample] => {
      const claims = claimsOn(pool.name, held + held / 100);
      const snapshot = snapshotOf([pool], linesOf(pool, claims.slice(0, held)));
      return [held, once(() => plan({ pools: [pool], claims, snapshot }))];
    }),
  );
  const taken = inTurn(spent, samples);
  const [smallest = 0] = sizes;
  const perLine = (held: number) => (taken[held] as number[]).map((ms) => ms / held);
  return sizes.map((held) => ({
    name: nameOf(held, held / 100),
    ...figures(taken[held] as number[]),
    unit: "ms",
    ratios:
      held === smallest
        ? []
        : [ratio(`time per line at ${smallest.toLocaleString("en")}`, perLine(held), perLine(smallest))],
  }));
}
