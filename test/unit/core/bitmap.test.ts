import { describe, expect, it } from "vitest";
import { Bitmap } from "../../../core/bitmap.ts";

function bitmapOf(...members: number[]): Bitmap {
  const bitmap = new Bitmap();
  for (const n of members) bitmap.add(n);
  return bitmap;
}

const upTo = (n: number) => [...Array(n).keys()];

describe("lowestAbsent", () => {
  it.each([
    { name: "nothing", members: [], want: 0 },
    { name: "0", members: [0], want: 1 },
    { name: "1", members: [1], want: 0 },
    { name: "0 to 30", members: upTo(31), want: 31 },
    { name: "0 to 31, one full word", members: upTo(32), want: 32 },
    { name: "0 to 31 downwards", members: upTo(32).reverse(), want: 32 },
    { name: "0 to 1022", members: upTo(1023), want: 1023 },
    { name: "0 to 1023, two full levels", members: upTo(1024), want: 1024 },
    { name: "0 to 32767, three full levels", members: upTo(32_768), want: 32_768 },
    { name: "0 to 39999 and one far away", members: [...upTo(40_000), 2 ** 40], want: 40_000 },
    { name: "0 to 31 and, before them, what lies behind", members: [33, 32, 34, 1024, ...upTo(32)], want: 35 },
    {
      name: "0 to 1023, even ones first",
      members: [...upTo(512).map((n) => 2 * n), ...upTo(512).map((n) => 2 * n + 1)],
      want: 1024,
    },
    { name: "far numbers alone", members: [2 ** 31, 2 ** 32, 2 ** 53, 2 ** 60], want: 0 },
  ])("of $name is $want", ({ members, want }) => {
    expect(bitmapOf(...members).lowestAbsent()).toBe(want);
  });

  it.each([0, 31, 32, 1023, 1024, 32_767, 39_999])("of 0 to 39999 without %d is %d", (n) => {
    const bitmap = bitmapOf(...upTo(40_000));
    bitmap.lowestAbsent();
    bitmap.delete(n);
    expect(bitmap.lowestAbsent()).toBe(n);
    expect(bitmap.has(n)).toBe(false);
    bitmap.add(n);
    expect(bitmap.lowestAbsent()).toBe(40_000);
  });
});

describe("lowestAbsentFrom", () => {
  it.each([
    { name: "nothing", members: [], from: 7, want: 7 },
    { name: "0 to 31, one full word", members: upTo(32), from: 3, want: 32 },
    { name: "0 to 1023, two full levels", members: upTo(1024), from: 1023, want: 1024 },
    { name: "0 to 1022", members: upTo(1023), from: 5, want: 1023 },
    { name: "0 to 32767, three full levels", members: upTo(32_768), from: 0, want: 32_768 },
    { name: "a run that reaches beyond the bitmap", members: [30, 31, 32, 33], from: 30, want: 34 },
    { name: "a run beyond the bitmap", members: [2 ** 40, 2 ** 40 + 1], from: 2 ** 40, want: 2 ** 40 + 2 },
    { name: "what is absent below", members: [5, 6, 7], from: 6, want: 8 },
  ])("of $name from $from on is $want", ({ members, from, want }) => {
    expect(bitmapOf(...members).lowestAbsentFrom(from)).toBe(want);
  });

  it.each([33, 1055, 2000, 32_799])("crosses full words and stops at the only hole, %d", (hole) => {
    const bitmap = bitmapOf(...upTo(40_000).filter((n) => n !== hole));
    expect([0, 32, hole].map((n) => bitmap.lowestAbsentFrom(n))).toEqual([hole, hole, hole]);
    expect(bitmap.lowestAbsentFrom(hole + 1)).toBe(40_000);
  });
});

describe("numbers beyond the bitmap's size", () => {
  it.each([32, 1023, 2 ** 31, 2 ** 32, 2 ** 32 + 1, 2 ** 53])(
    "%d is held, given back, and no other is touched",
    (n) => {
      const bitmap = bitmapOf(5, n);
      expect([bitmap.has(n), bitmap.has(n % 32), bitmap.has(n - 1)]).toEqual([true, n % 32 === 5, false]);
      bitmap.delete(n);
      expect([bitmap.has(n), bitmap.has(5)]).toEqual([false, true]);
    },
  );

  it("is found absent again after it was deleted before the bitmap reached it", () => {
    const bitmap = bitmapOf(33, 34);
    bitmap.delete(33);
    for (const n of upTo(33)) bitmap.add(n);
    expect(bitmap.lowestAbsent()).toBe(33);
    bitmap.add(33);
    expect(bitmap.lowestAbsent()).toBe(35);
  });
});
