import { expect, it } from "vitest";
import { IpamError } from "../../../core/index.ts";
import { Queue } from "../../../kube/queue.ts";
import { Refusal } from "../../../kube/refusal.ts";
import { VirtualClock } from "../../support/sim/virtual-clock.ts";

/** A queue in virtual time whose runs take as long as `work` takes; `log` says what happened when. */
function started(work: (key: string, clock: VirtualClock) => Promise<number | undefined>, parallel = 1) {
  const clock = new VirtualClock();
  const log: string[] = [];
  const run = async (key: string) => {
    log.push(`${clock.now()} ${key}`);
    return work(key, clock);
  };
  const failed = (key: string, error: unknown, pause: number) =>
    log.push(`${clock.now()} ${key} failed: ${(error as Error).message}, again in ${pause}`);
  const isLast = (key: string) => key.startsWith("last");
  return { clock, log, queue: new Queue(run, { parallel, isLast, clock, random: () => 1, failed }) };
}

const takes = (ms: number) => async (_: string, clock: VirtualClock) => {
  await clock.sleep(ms);
  return undefined;
};

it("runs keys in their order, as many at once as it may", async () => {
  const { clock, log, queue } = started(takes(10), 2);
  for (const key of ["a", "b", "c", "d", "e"]) queue.add(key);
  await clock.pass(100);
  expect(log).toEqual(["0 a", "0 b", "10 c", "10 d", "20 e"]);
});

it("runs keys that may wait after all others, and counts them among those that wait", async () => {
  const { clock, log, queue } = started(takes(10));
  for (const key of ["last 1", "a", "last 2"]) queue.add(key);
  await clock.pass(5);
  queue.add("b");
  expect([queue.length(), queue.oldest()]).toEqual([3, 5]);
  await clock.pass(100);
  expect(log).toEqual(["0 a", "10 b", "20 last 1", "30 last 2"]);
});

it("runs a key once that is added many times, and once more if it is added while it runs", async () => {
  const { clock, log, queue } = started(takes(10), 5);
  for (let n = 0; n < 5; n++) queue.add("a");
  await clock.pass(5);
  for (let n = 0; n < 5; n++) queue.add("a");
  await clock.pass(100);
  expect(log).toEqual(["0 a", "10 a"]);
});

it("lets a key that waits for its own run hold up no other", async () => {
  const { clock, log, queue } = started(async (key, time) => {
    await time.sleep(key === "slow" ? 100 : 1);
    return undefined;
  }, 2);
  queue.add("slow");
  await clock.pass(1);
  queue.add("slow");
  queue.add("b");
  await clock.pass(200);
  expect(log).toEqual(["0 slow", "1 b", "100 slow"]);
});

it("runs a key later, at the earliest of the times asked for", async () => {
  const { clock, log, queue } = started(takes(0));
  queue.addAfter("a", 50);
  queue.addAfter("a", 20);
  queue.addAfter("a", 30);
  queue.addAfter("b", 0);
  await clock.pass(100);
  expect(log).toEqual(["0 b", "20 a"]);
});

it("runs a key again when it says so", async () => {
  const pauses = [10, 20];
  const { clock, log, queue } = started(async () => pauses.shift());
  queue.add("a");
  await clock.pass(1_000);
  expect(log).toEqual(["0 a", "10 a", "30 a"]);
});

it("tries a failed run again, each pause at most twice the one before; a success begins anew", async () => {
  const errors = ["1", "2", "3", undefined, "4"];
  const { clock, log, queue } = started(async () => {
    const error = errors.shift();
    if (error) throw new Error(error);
    return undefined;
  });
  queue.add("a");
  await clock.pass(100);
  queue.add("a");
  await clock.pass(100);
  expect(log).toEqual([
    "0 a",
    "0 a failed: 1, again in 5",
    "5 a",
    "5 a failed: 2, again in 10",
    "15 a",
    "15 a failed: 3, again in 20",
    "35 a",
    "100 a",
    "100 a failed: 4, again in 5",
    "105 a",
  ]);
});

it("waits a minute at most between two tries of a key, however often it failed", async () => {
  const { clock, log, queue } = started(async () => {
    throw new Error("no");
  });
  queue.add("a");
  await clock.pass(24 * 3_600_000);
  expect(log.at(-1)).toMatch(/again in 60000$/);
});

it("leaves a server alone as long as it asks for, and tries other keys in the meantime", async () => {
  const body = JSON.stringify({ kind: "Status", message: "too many" });
  const busy = new Refusal({ status: 429, headers: { "retry-after": "7" }, body });
  const errors: Error[] = [new IpamError("unavailable", "busy", { cause: busy })];
  const { clock, log, queue } = started(async () => {
    const error = errors.shift();
    if (error) throw error;
    return undefined;
  });
  queue.add("a");
  queue.add("b");
  await clock.pass(10_000);
  expect(log).toEqual(["0 a", "0 a failed: busy, again in 7005", "0 b", "7005 a"]);
});

it("tells of work that throws before it promises anything", async () => {
  const { clock, log, queue } = started(() => {
    throw new Error("at once");
  });
  queue.add("a");
  await clock.pass(4);
  expect(log).toEqual(["0 a", "0 a failed: at once, again in 5"]);
});

it("says how long the oldest key has waited", async () => {
  const { clock, queue } = started(takes(100));
  queue.add("a");
  await clock.pass(10);
  expect(queue.oldest()).toBe(0);
  queue.add("a");
  await clock.pass(10);
  queue.add("b");
  await clock.pass(30);
  expect(queue.oldest()).toBe(40);
  await clock.pass(1_000);
  expect(queue.oldest()).toBe(0);
});

it("is stuck while its own run does not end, and not while it waits behind others", async () => {
  const { clock, queue } = started(takes(100));
  for (const key of ["a", "b", "c", "d", "e", "f", "g"]) queue.add(key);
  await clock.pass(250);
  expect([queue.length() > 0, queue.oldest(), queue.stuckFor() <= 100]).toEqual([true, 250, true]);
  await clock.pass(2_000);
  expect(queue.stuckFor()).toBe(0);
  queue.add("a");
  await clock.pass(10);
  queue.add("a");
  await clock.pass(50);
  expect(queue.stuckFor()).toBe(50);
});

it("is idle when nothing waits or runs", async () => {
  const { clock, queue } = started(takes(10));
  await queue.idle();
  queue.addAfter("later", 1_000);
  await queue.idle();
  queue.add("a");
  queue.add("b");
  let idleAt: number | undefined;
  queue.idle().then(() => {
    idleAt = clock.now();
  });
  await clock.pass(500);
  expect(idleAt).toBe(20);
});

it("closes when what runs has ended, and starts nothing more", async () => {
  const { clock, log, queue } = started(async (_, time) => {
    await time.sleep(10);
    throw new Error("late");
  });
  for (const key of ["a", "b"]) queue.add(key);
  queue.addAfter("c", 5);
  await clock.pass(1);
  const ended: string[] = [];
  queue.close().then(() => ended.push(`closed at ${clock.now()}`));
  queue.idle().then(() => ended.push(`idle at ${clock.now()}`));
  queue.add("d");
  queue.addAfter("e", 1);
  await clock.pass(1_000);
  expect(log).toEqual(["0 a", "10 a failed: late, again in 5"]);
  expect(ended.sort()).toEqual(["closed at 10", "idle at 10"]);
  await queue.close();
  await queue.idle();
});
