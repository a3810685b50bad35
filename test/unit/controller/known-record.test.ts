import { expect, it } from "vitest";
import { KnownRecord } from "../../../controller/record/known-record.ts";
import { noChange } from "../../../controller/record/record-change.ts";
import { timing } from "../../../controller/timing.ts";
import { emptySnapshot, IpamError, type Plan, type Snapshot } from "../../../core/index.ts";
import { poolOf, recordOf } from "../../support/core/text.ts";
import { VirtualClock } from "../../support/sim/virtual-clock.ts";

const releasing = { ...recordOf(["10.0.0.1 Node/n/a releasing"], []), base: new Map([["p", "1"]]) };

it("a reading that began before a commit and is answered after it is not taken for what is", async () => {
  const clock = new VirtualClock();
  let held: Snapshot = releasing;
  const never = new AbortController().signal;
  const state = {
    name: "slow",
    async read() {
      const read = held;
      await clock.sleep(50, never);
      return read;
    },
    async commit() {
      await clock.sleep(20, never);
      held = emptySnapshot;
      return held;
    },
  };
  const record = new KnownRecord({ state, clock, timing } as never);
  const commit = record.commit({} as Plan, noChange);
  const reading = record.get();
  await clock.pass(1_000);
  await Promise.all([commit, reading]);
  expect(record.latest?.releasing).toEqual([]);
  expect((await record.get()).releasing).toEqual([]);
});

it("what was known before a reading that finds the record damaged is not handed out after it", async () => {
  const clock = new VirtualClock();
  let isDamaged = false;
  const state = {
    async read() {
      if (isDamaged) throw new IpamError("corrupt", "it cannot be read");
      return releasing;
    },
  };
  const record = new KnownRecord({ state, clock, timing } as never);
  expect(await record.get()).toBe(releasing);
  isDamaged = true;
  await clock.pass(timing.fresh + 1);
  await expect(record.fresh()).rejects.toThrow("it cannot be read");
  await expect(record.get()).rejects.toThrow("it cannot be read");
  isDamaged = false;
  expect(await record.get()).toBe(releasing);
});

it("an address that could not be read for a while is held back from anew", async () => {
  const clock = new VirtualClock();
  let unreadable: Snapshot["unreadable"];
  const state = { read: async () => ({ ...releasing, ...(unreadable && { unreadable }) }) };
  const record = new KnownRecord({ state, clock, timing } as never);
  const passAll = async (ms: number) => {
    for (let left = ms; left > 0; left -= timing.fresh) {
      await clock.pass(timing.fresh + 1);
      await record.fresh();
    }
  };
  const [line] = releasing.releasing;
  const isLongEnough = () => record.hold.isLongEnough(line as never, record.readAt);
  await record.fresh();
  await passAll(timing.hold);
  expect(isLongEnough()).toBe(true);
  unreadable = [{ pools: [poolOf("p", "10.0.0.0/24")], why: "it is damaged" }];
  await passAll(timing.fresh);
  unreadable = undefined;
  await passAll(timing.fresh);
  expect(isLongEnough()).toBe(false);
  await passAll(timing.hold);
  expect(isLongEnough()).toBe(true);
});
