import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { detect } from "../../../detect/detect.ts";
import { blocks, formatDetection } from "../../../detect/detection.ts";
import type { Attempt, Check } from "../../../detect/next-step.ts";

const mine = "02:00:00:00:00:01";
const other = "02:00:00:00:00:02";

/** What happens to the sender whenever it asks: sending fails, or who answers after how many milliseconds. */
type Event = "failure" | Map<string, number>;

const silence: Event = new Map();
const answer = (mac: string, after: number): Event => new Map([[mac, after]]);
const on = (kind: Check["kind"], address: string, more = {}): Check => ({
  kind,
  address,
  nic: "net1",
  ...more,
});
const four = on("conflict", "10.30.0.10");
const six = on("conflict", "2001:db8:30::10");
const gateway = on("gateway", "10.30.0.1");

/** Runs the checks in a network where each try of an address meets the next of its events, and the last one for ever. */
async function run(checks: readonly Check[], events: Readonly<Record<string, readonly Event[]>>) {
  const asked: string[] = [];
  let now = 0;
  const detections = await detect(checks, new Set([mine]), {
    async ask({ address }, within): Promise<Attempt> {
      const all = events[address] ?? [silence];
      const event = all[Math.min(asked.filter((one) => one === address).length, all.length - 1)] ?? silence;
      asked.push(address);
      if (event === "failure") return { failed: "network is down" };
      return { answers: [...event].filter(([, after]) => after <= within).map(([mac]) => mac) };
    },
    async sleep(milliseconds) {
      now += milliseconds;
    },
  });
  return { lines: detections.map((one) => formatDetection(one).replace(/ \(.*/, "")), detections, asked, now };
}

const anyEvent = fc.oneof(
  fc.constant("failure" as const),
  fc
    .dictionary(fc.constantFrom(mine, other, "02:00:00:00:00:03"), fc.nat({ max: 200 }), { maxKeys: 3 })
    .map((one) => new Map(Object.entries(one))),
);
const anyEvents = fc.array(anyEvent, { minLength: 1, maxLength: 5 });

/** What the three tries meet. */
const metBy = (events: readonly Event[]) => [0, 1, 2].map((i) => events[Math.min(i, events.length - 1)] ?? "failure");
const othersIn = (event: Map<string, number>) =>
  [...event].flatMap(([mac, after]) => (mac !== mine && after <= 100 ? mac : []));

describe.each([four, six])("conflict of $address", (check) => {
  const { address } = check;

  it("S46 an answer within 100 ms is a conflict, and names who answers", async () => {
    expect((await run([check], { [address]: [answer(other, 100)] })).lines).toEqual([
      `conflict ${address} net1 ${other}`,
    ]);
  });

  it("S46 an answer of the pod's own NICs is none, and hides nobody", async () => {
    const own = new Map([[mine, 1]]);
    expect((await run([check], { [address]: [own] })).lines).toEqual([`not-detected ${address} net1`]);
    const both = new Map([...own, [other, 2]]);
    expect((await run([check], { [address]: [both] })).lines).toEqual([`conflict ${address} net1 ${other}`]);
  });

  it("S46 what the kernel has heard is a conflict, also where nobody answers any more", async () => {
    expect((await run([{ ...check, dadFailed: true }], {})).lines).toEqual([`conflict ${address} net1 unknown`]);
    const heard = await run([{ ...check, dadFailed: true }], { [address]: [answer(other, 1)] });
    expect(heard.lines).toEqual([`conflict ${address} net1 ${other}`]);
  });

  it("S47 three failures to send, a second apart, are an error", async () => {
    const { detections, asked, now } = await run([check], { [address]: ["failure"] });
    expect(detections).toEqual([{ kind: "failed", address, nic: "net1", reason: "network is down" }]);
    expect([asked.length, now]).toEqual([3, 2000]);
  });

  it("S48, S49, I12 silence, or an answer after 101 ms, is not detected, which is not free, with three probes", async () => {
    for (const event of [silence, answer(other, 101)]) {
      const { lines, detections, asked } = await run([check], { [address]: [event] });
      expect(lines).toEqual([`not-detected ${address} net1`]);
      expect(detections.map(formatDetection).join()).toContain("a host that is silent may have it");
      expect(asked).toEqual([address, address, address]);
    }
  });

  it.each([
    ["a frame got lost", silence],
    ["the other host is busy", answer(other, 101)],
    ["nobody could be asked", "failure"],
  ] as const)("S46 an answer to the third probe is a conflict: %s", async (_, event) => {
    const { lines } = await run([check], { [address]: [event, event, answer(other, 1)] });
    expect(lines).toEqual([`conflict ${address} net1 ${other}`]);
  });

  it("S46..S49 whatever happens: the first answer of another host decides, or the third probe", async () => {
    await fc.assert(
      fc.asyncProperty(anyEvents, async (events) => {
        const { lines, asked } = await run([check], { [address]: events });
        const macs = metBy(events).map((event) => (event === "failure" ? undefined : othersIn(event)[0]));
        const [mac] = macs.filter((one) => one !== undefined);
        const kind = mac !== undefined ? "conflict" : metBy(events)[2] === "failure" ? "failed" : "not-detected";
        expect(lines).toEqual([[kind, address, "net1", ...(mac === undefined ? [] : [mac])].join(" ")]);
        expect(asked.length).toBe(mac === undefined ? 3 : macs.indexOf(mac) + 1);
      }),
    );
  });
});

describe("S50 the gateway", () => {
  it.each([
    ["answers", [answer(other, 100)], `reachable 10.30.0.1 net1 ${other}`, 1],
    ["answers the third probe", [silence, "failure", answer(other, 1)], `reachable 10.30.0.1 net1 ${other}`, 3],
    ["is silent three times", [silence], "unreachable 10.30.0.1 net1", 3],
    ["answers too late", [answer(other, 101)], "unreachable 10.30.0.1 net1", 3],
    ["is answered for by the pod itself", [answer(mine, 1)], "unreachable 10.30.0.1 net1", 3],
    ["cannot be asked", ["failure"], "failed 10.30.0.1 net1", 3],
  ] as const)("%s", async (_, events, line, probes) => {
    const { lines, asked } = await run([gateway], { [gateway.address]: events });
    expect(lines).toEqual([line]);
    expect(asked.length).toBe(probes);
  });
});

describe("S51 both checks", () => {
  const found = { [four.address]: [answer(other, 1)] };

  it("are independent: each alone asks nothing else", async () => {
    expect(new Set((await run([four], {})).asked)).toEqual(new Set([four.address]));
    const { lines, asked } = await run([gateway], { ...found, [gateway.address]: [answer(other, 1)] });
    expect(lines).toEqual([`reachable 10.30.0.1 net1 ${other}`]);
    expect(asked).toEqual([gateway.address]);
  });

  it("ask for conflicts first, in whatever order they are given", async () => {
    const { asked } = await run([gateway, six, four], { [gateway.address]: [answer(other, 1)] });
    expect([...new Set(asked)]).toEqual([six.address, four.address, gateway.address]);
  });

  it("leave gateways alone where an address is in conflict, or nobody could be asked; all addresses are checked", async () => {
    for (const event of [answer(other, 1), "failure"] as const) {
      const { asked, lines } = await run([gateway, four, six], { [four.address]: [event] });
      expect(asked).not.toContain(gateway.address);
      expect(lines).toHaveLength(2);
    }
  });

  it("whatever happens: a gateway is asked if, and only if, nothing stands against the addresses", async () => {
    await fc.assert(
      fc.asyncProperty(fc.record({ [four.address]: anyEvents, [gateway.address]: anyEvents }), async (events) => {
        const { asked, detections } = await run([four, gateway], events);
        const [first] = detections;
        expect(asked.includes(gateway.address)).toBe(first?.kind === "not-detected");
        expect(detections.some(blocks)).toBe(detections.some(({ kind }) => !/^(not-detected|reachable)$/.test(kind)));
      }),
    );
  });
});
