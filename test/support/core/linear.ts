import { expect } from "vitest";

const parts = 16;

/**
 * Fails where work grows faster than its input: one large input costs what the same amount in 16 parts costs, and 16
 * times that where the work is quadratic. CPU time, both in one run and one behind the other; noise would have to
 * quadruple the larger in every one of five trials.
 */
export function expectLinear(
  inputOf: (size: number) => string,
  work: (input: string) => unknown,
  size = 1 << 17,
): void {
  const [large, small] = [inputOf(size), inputOf(size / parts)];
  const costOf = (run: () => void) => {
    const start = process.cpuUsage();
    run();
    return process.cpuUsage(start).user;
  };
  let ratio = Number.POSITIVE_INFINITY;
  for (let trial = 0; trial < 5 && ratio > 4; trial++) {
    const inParts = costOf(() => {
      for (let i = 0; i < parts; i++) work(small);
    });
    // A clock that ticks in milliseconds says nothing of less.
    ratio = costOf(() => work(large)) / Math.max(inParts, 2_000);
  }
  expect(ratio, `cost of ${JSON.stringify(large.slice(0, 20))}..., to that of its parts`).toBeLessThan(4);
}
