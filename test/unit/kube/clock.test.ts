import { expect, it, onTestFinished } from "vitest";
import { realClock } from "../../../kube/clock.ts";

it("sleeps as long as it is to, or until the signal", async () => {
  const start = realClock.now();
  await realClock.sleep(60);
  expect(realClock.now() - start).toBeGreaterThanOrEqual(59);

  const stop = new AbortController();
  const sleeping = realClock.sleep(600_000, stop.signal);
  stop.abort();
  await sleeping;
  await realClock.sleep(600_000, stop.signal);
  await realClock.sleep(-1);
});

it("sleeps for months, though a timer of Node cannot", async () => {
  const warnings: Error[] = [];
  const keep = (warning: Error) => warnings.push(warning);
  process.on("warning", keep);
  onTestFinished(() => void process.off("warning", keep));
  const stop = new AbortController();
  let isAwake = false;
  const sleeping = realClock.sleep(1e10, stop.signal).then(() => {
    isAwake = true;
  });
  await realClock.sleep(30);
  expect([isAwake, warnings]).toEqual([false, []]);
  stop.abort();
  await sleeping;
});
