import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { retry } from "../../../kube/index.ts";

beforeEach(() => void vi.spyOn(Math, "random").mockReturnValue(1));
afterEach(() => void vi.restoreAllMocks());

/** How many attempts there are until one throws for good, and after how many milliseconds. */
async function attempts(pause: number | undefined, budget: number, succeedsAt = Number.POSITIVE_INFINITY, first = 10) {
  let count = 0;
  const start = performance.now();
  const attempt = async () => {
    if (++count < succeedsAt) throw new Error("not yet");
  };
  const outcome = await retry(attempt, () => pause, { budget, first, longest: 4 * first }).then(
    () => "done",
    ({ message }) => message,
  );
  return { count, outcome, time: performance.now() - start };
}

it("tries again, each pause at most twice the one before, until it succeeds", async () => {
  const { count, outcome, time } = await attempts(0, 10_000, 5);
  expect([count, outcome]).toEqual([5, "done"]);
  expect(time).toBeGreaterThanOrEqual(10 + 20 + 40 + 40 - 5);
});

it("throws the last error when the next pause would outlast the budget", async () => {
  const { count, outcome } = await attempts(0, 1_000, Number.POSITIVE_INFINITY, 200);
  expect({ count, outcome }).toEqual({ count: 3, outcome: "not yet" });
});

it("throws at once where another attempt cannot help, or is wanted too late", async () => {
  expect(await attempts(undefined, 10_000)).toMatchObject({ count: 1, outcome: "not yet" });
  const late = await attempts(20_000, 10_000);
  expect(late).toMatchObject({ count: 1, outcome: "not yet" });
  expect(late.time).toBeLessThan(1_000);
});

it("waits as long as the other side wants, and a little more", async () => {
  const { count, time } = await attempts(600, 1_000);
  expect(count).toBe(2);
  expect(time).toBeGreaterThanOrEqual(610 - 5);
});
