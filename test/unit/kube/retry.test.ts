import { expect, it } from "vitest";
import { retry } from "../../../kube/index.ts";
import { VirtualClock } from "../../support/sim/virtual-clock.ts";

/** How many attempts there are until one throws for good, and after how many milliseconds. */
async function attempts(pause: number | undefined, budget: number, succeedsAt = Number.POSITIVE_INFINITY, first = 10) {
  const clock = new VirtualClock();
  let count = 0;
  const attempt = async () => {
    if (++count < succeedsAt) throw new Error("not yet");
  };
  const options = { budget, first, longest: 4 * first, clock, random: () => 1 };
  const outcome = retry(attempt, () => pause, options).then(
    () => ({ count, outcome: "done", time: clock.now() }),
    ({ message }) => ({ count, outcome: message, time: clock.now() }),
  );
  await clock.pass(100_000);
  return outcome;
}

it("tries again, each pause at most twice the one before, until it succeeds", async () => {
  expect(await attempts(0, 10_000, 5)).toEqual({ count: 5, outcome: "done", time: 10 + 20 + 40 + 40 });
});

it("throws the last error when the next pause would outlast the budget", async () => {
  const outcome = await attempts(0, 1_000, Number.POSITIVE_INFINITY, 200);
  expect(outcome).toEqual({ count: 3, outcome: "not yet", time: 600 });
});

it("throws at once where another attempt cannot help, or is wanted too late", async () => {
  expect(await attempts(undefined, 10_000)).toEqual({ count: 1, outcome: "not yet", time: 0 });
  expect(await attempts(20_000, 10_000)).toEqual({ count: 1, outcome: "not yet", time: 0 });
});

it("waits as long as the other side wants, and a little more", async () => {
  expect(await attempts(600, 1_000)).toEqual({ count: 2, outcome: "not yet", time: 610 });
});
