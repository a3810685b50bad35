import { describe, expect, it } from "vitest";
import { address, formatAddress } from "../../../core/address.ts";
import { FreeSpace } from "../../../core/free-space.ts";
import { rangeOf } from "../../../core/range.ts";
import { intervals } from "../../support/core/model.ts";
import { plus } from "../../support/core/text.ts";

const skips = true;

function spaceOf(range: string, skipping = false): FreeSpace {
  return new FreeSpace(rangeOf(...intervals(range)), skipping);
}

/** The next n lowest free addresses as text; `-` where there is none. */
function lowest(space: FreeSpace, n: number): string {
  return Array.from({ length: n }, () => space.takeLowest())
    .map((at) => (at === undefined ? "-" : formatAddress(at)))
    .join(" ");
}

describe("takeLowest", () => {
  it.each([
    { range: "", taken: "", want: "- -" },
    { range: "10.0.0.7", taken: "", want: "10.0.0.7 - -" },
    { range: "10.0.0.1-10.0.0.3 10.0.0.9", taken: "", want: "10.0.0.1 10.0.0.2 10.0.0.3 10.0.0.9 - -" },
    { range: "10.0.0.1-10.0.0.3 10.0.0.9", taken: "10.0.0.2 10.0.0.1", want: "10.0.0.3 10.0.0.9 -" },
    { range: "10.0.0.1-10.0.0.3", taken: "10.0.0.9 11.0.0.1 ::1", want: "10.0.0.1 10.0.0.2 10.0.0.3 -" },
    { range: "10.0.0.254-10.0.1.1", taken: "", want: "10.0.0.254 10.0.0.255 10.0.1.0 10.0.1.1 -" },
    { range: "::fe-::101", taken: "::ff", want: "::fe ::100 ::101 -" },
  ])("of $range without $taken gives $want", ({ range, taken, want }) => {
    const space = spaceOf(range);
    for (const { first } of intervals(taken)) space.take(first);
    expect(lowest(space, want.split(" ").length)).toBe(want);
    expect(space.free).toBe(0n);
  });

  it.each([
    { range: "10.0.0.254-10.0.1.2", want: "10.0.0.254 10.0.1.1 10.0.1.2 -", capacity: 3n },
    { range: "10.0.0.255-10.0.1.0 10.0.1.9", want: "10.0.1.9 -", capacity: 1n },
    { range: "10.0.0.0 10.0.0.255 10.0.1.0", want: "-", capacity: 0n },
    { range: "10.0.0.7 10.0.0.255 10.0.1.255", want: "10.0.0.7 -", capacity: 1n },
    { range: "255.255.255.253-255.255.255.255", want: "255.255.255.253 255.255.255.254 -", capacity: 2n },
  ])("of $range, passing over .0 and .255, gives $want", ({ range, want, capacity }) => {
    const space = spaceOf(range, skips);
    expect(space.capacity).toBe(capacity);
    space.take(address("10.0.0.255"));
    space.take(address("10.0.1.0"));
    expect(space.free).toBe(capacity);
    expect(lowest(space, want.split(" ").length)).toBe(want);
  });
});

describe("release", () => {
  it("gives back what was taken, once", () => {
    const space = spaceOf("10.0.0.1-10.0.0.3");
    lowest(space, 3);
    for (const at of ["10.0.0.2", "10.0.0.2", "10.0.0.9"]) space.release(address(at));
    expect(space.free).toBe(1n);
    expect(lowest(space, 2)).toBe("10.0.0.2 -");
  });

  it("of a free address changes nothing", () => {
    const space = spaceOf("10.0.0.1-10.0.0.3");
    space.release(address("10.0.0.1"));
    expect(space.free).toBe(3n);
  });
});

describe("spaces too large to walk", () => {
  it.each([
    {
      range: "10.0.0.1-10.255.255.254",
      skipping: true,
      capacity: 254n * 2n ** 16n,
      first: "10.0.0.1",
      last: "10.255.255.254",
    },
    {
      range: "0.0.0.0-255.255.255.255",
      skipping: false,
      capacity: 2n ** 32n,
      first: "0.0.0.0",
      last: "255.255.255.255",
    },
    {
      range: "2001:db8::1-2001:db8:ffff:ffff:ffff:ffff:ffff:ffff",
      skipping: false,
      capacity: 2n ** 96n - 1n,
      first: "2001:db8::1",
      last: "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff",
    },
    {
      range: "::-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
      skipping: false,
      capacity: 2n ** 128n,
      first: "::",
      last: "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
    },
  ])("$range has its lowest address, and keeps its last one taken", ({ range, skipping, capacity, first, last }) => {
    const space = spaceOf(range, skipping);
    expect(space.capacity).toBe(capacity);
    space.take(address(last));
    expect(lowest(space, 1)).toBe(first);
    expect(space.free).toBe(capacity - 2n);
  });

  it.each([2n ** 31n, 2n ** 32n, 2n ** 33n + 7n, 2n ** 53n - 1n])(
    "an address taken %d behind the first one leaves the others",
    (n) => {
      const space = spaceOf("2001:db8::-2001:db8:ffff:ffff:ffff:ffff:ffff:ffff");
      space.take(plus("2001:db8::", n));
      expect(lowest(space, 3)).toBe("2001:db8:: 2001:db8::1 2001:db8::2");
      expect(space.free).toBe(2n ** 96n - 4n);
      space.release(plus("2001:db8::", n));
      expect(space.free).toBe(2n ** 96n - 3n);
    },
  );

  it("two addresses more than 2^53 behind the first one are two", () => {
    const space = spaceOf("2001:db8::-2001:db8:ffff:ffff:ffff:ffff:ffff:ffff");
    space.take(address("2001:db8:ffff::1"));
    space.take(address("2001:db8:ffff::2"));
    expect(space.free).toBe(space.capacity - 2n);
    space.release(address("2001:db8:ffff::1"));
    space.release(address("2001:db8:ffff::1"));
    expect(space.free).toBe(space.capacity - 1n);
  });

  it("the 70,000 lowest of a /8 are 70,000 different addresses in order", () => {
    const space = spaceOf("10.0.0.1-10.255.255.254", skips);
    let before = space.takeLowest();
    for (let n = 1; n < 70_000; n++) {
      const next = space.takeLowest();
      if (before === undefined || next === undefined || next <= before)
        return expect(next).toBe("above the one before");
      before = next;
    }
    expect(before).toBe(address("10.1.19.150"));
  });
});
