import { expect, it } from "vitest";
import type { Dependencies } from "../../../controller/dependencies.ts";
import { KnownRecord } from "../../../controller/record/known-record.ts";
import { ReleaseHold } from "../../../controller/record/release-hold.ts";
import { timing } from "../../../controller/timing.ts";
import { emptySnapshot } from "../../../core/index.ts";
import { lineOf } from "../../support/core/text.ts";
import { VirtualClock } from "../../support/sim/virtual-clock.ts";

const a = lineOf("10.0.0.1 Node/a/x");
const a2 = lineOf("10.0.0.2 Node/a/y");
const b = lineOf("10.0.0.3 Node/b/x");

it("counts from when a line was first seen, by line; one that was live in between begins anew", async () => {
  const clock = new VirtualClock();
  const hold = new ReleaseHold(clock, timing.hold);
  hold.see([a]);
  expect([hold.hasOwner("Node/a"), hold.hasOwner("Node/b")]).toEqual([true, false]);
  await clock.pass(timing.hold - 1);
  hold.see([a, b]);
  expect([hold.isLongEnough(a, clock.now()), hold.isLongEnough(b, clock.now())]).toEqual([false, false]);
  await clock.pass(1);
  expect([hold.isLongEnough(a, clock.now()), hold.isLongEnough(b, clock.now())]).toEqual([true, false]);
  hold.see([b]);
  hold.see([a, b]);
  expect([hold.isLongEnough(a, clock.now()), hold.isLongEnough(b, clock.now())]).toEqual([false, false]);
  await clock.pass(timing.hold - 1);
  expect([hold.isLongEnough(a, clock.now()), hold.isLongEnough(b, clock.now())]).toEqual([false, true]);
});

it("a line that it has not seen is not held long enough", () => {
  expect(new ReleaseHold(new VirtualClock(), timing.hold).isLongEnough(a, 0)).toBe(false);
});

it("says when the first line of an owner is long enough", async () => {
  const clock = new VirtualClock();
  const hold = new ReleaseHold(clock, timing.hold);
  hold.see([a]);
  await clock.pass(1000);
  hold.see([a, a2]);
  expect([...hold.later([a, a2], clock.now())]).toEqual([["Node/a", timing.hold - 1000]]);
  expect([...hold.later([a2], clock.now())]).toEqual([["Node/a", timing.hold]]);
  await clock.pass(timing.hold);
  expect([...hold.later([a, a2], clock.now())]).toEqual([]);
  // Who decided a moment ago found them not long enough, and looks again.
  expect([...hold.later([a, a2], clock.now() - 1)]).toEqual([["Node/a", 1]]);
});

it("a grace period is counted from the first look, and only its end is looked at all the time", async () => {
  const clock = new VirtualClock();
  const hour = 3_600_000;
  const hold = new ReleaseHold(clock, timing.hold, () => hour);
  const isFree = () => hold.isLongEnough(a, clock.now());
  hold.see([a]);
  expect([hold.isRunning(), ...hold.later([a], clock.now())]).toEqual([false, ["Node/a", hour - timing.hold]]);
  await clock.pass(hour - timing.hold);
  hold.beginAnew();
  hold.see([a]);
  expect([hold.isRunning(), ...hold.later([a], clock.now())]).toEqual([true, ["Node/a", timing.hold]]);
  await clock.pass(timing.hold - 1);
  expect(isFree()).toBe(false);
  await clock.pass(1);
  expect([isFree(), hold.isRunning(), ...hold.later([a], clock.now())]).toEqual([true, false]);
  hold.beginAnew();
  expect([isFree(), hold.isRunning()]).toEqual([false, true]);
});

it("what is written of an older record is done before an address is free", () => {
  expect(timing.fresh + timing.send + timing.request + timing.see).toBeLessThan(timing.hold);
});

it("begins anew for every line where the record was not read for too long: it may have been live in between", async () => {
  const clock = new VirtualClock();
  const snapshot = { ...emptySnapshot, releasing: [a] };
  const state = { name: "memory", read: async () => snapshot, commit: async () => snapshot };
  const record = new KnownRecord({ clock, timing, state } as unknown as Dependencies);
  const readAfter = async (ms: number) => {
    await clock.pass(ms);
    await record.fresh();
  };
  for (let passed = 0; passed < timing.hold; passed += timing.see) await readAfter(timing.see);
  expect(record.hold.isLongEnough(a, clock.now())).toBe(false);
  await readAfter(timing.see);
  expect(record.hold.isLongEnough(a, clock.now())).toBe(true);
  await readAfter(timing.see + 1);
  expect(record.hold.isLongEnough(a, clock.now())).toBe(false);
});
