import { describe, expect, it } from "vitest";
import { address, formatAddress } from "../../../core/address.ts";
import { addressAt, offsetOf } from "../../../core/numbering.ts";
import { contains } from "../../../core/range.ts";
import { poolOf } from "../../support/core/text.ts";

// The proposal's three tables, with `10.10.10.11.10` read as 10.10.11.10 and so on.
const tables = [
  {
    pool: poolOf("table-1", "10.10.11.0/24 10.10.11.4 10.10.11.10", { exclude: ["10.10.11.5", "10.10.11.7"] }),
    rows: [
      { offset: 0n, at: "10.10.11.4", excluded: false },
      { offset: 1n, at: "10.10.11.5", excluded: true },
      { offset: 2n, at: "10.10.11.6", excluded: false },
      { offset: 3n, at: "10.10.11.7", excluded: true },
      { offset: 4n, at: "10.10.11.8", excluded: false },
      { offset: 5n, at: "10.10.11.9", excluded: false },
      { offset: 6n, at: "10.10.11.10", excluded: false },
    ],
  },
  {
    pool: poolOf("table-2", "10.10.11.0/16 10.10.11.4 10.10.12.10", { exclude: ["10.10.11.5", "10.10.12.7"] }),
    rows: [
      { offset: 0n, at: "10.10.11.4", excluded: false },
      { offset: 1n, at: "10.10.11.5", excluded: true },
      { offset: 250n, at: "10.10.11.254", excluded: false },
      { offset: 251n, at: "10.10.12.1", excluded: false },
      { offset: 252n, at: "10.10.12.2", excluded: false },
      { offset: 257n, at: "10.10.12.7", excluded: true },
      { offset: 258n, at: "10.10.12.8", excluded: false },
      { offset: 259n, at: "10.10.12.9", excluded: false },
      { offset: 260n, at: "10.10.12.10", excluded: false },
    ],
  },
  {
    pool: poolOf("table-3", "2001:4860:4860::/116 2001:4860:4860::000F 2001:4860:4860::00FF", {
      exclude: ["2001:4860:4860::0010", "2001:4860:4860::001F"],
    }),
    rows: [
      { offset: 0n, at: "2001:4860:4860::f", excluded: false },
      { offset: 1n, at: "2001:4860:4860::10", excluded: true },
      { offset: 16n, at: "2001:4860:4860::1f", excluded: true, seed: 17n },
      { offset: 17n, at: "2001:4860:4860::20", excluded: false, seed: 18n },
      { offset: 240n, at: "2001:4860:4860::ff", excluded: false, seed: 239n },
    ],
  },
];

describe.each(tables)("the proposal's $pool.name", ({ pool, rows }) => {
  it.each(rows)("offset $offset is $at, excluded: $excluded", ({ offset, at, excluded }) => {
    expect(offsetOf(pool, address(at))).toBe(offset);
    expect(formatAddress(addressAt(pool, offset) ?? (0n as never))).toBe(at);
    expect(contains(pool.range, address(at))).toBe(true);
    expect(contains(pool.assignable, address(at))).toBe(!excluded);
  });
});

describe("the proposal's IPv6 table is in error", () => {
  const { pool, rows } = tables[2] as (typeof tables)[2];
  it.each(rows.filter((row) => "seed" in row))("$at has offset $offset, not $seed", (row) => {
    expect(offsetOf(pool, address(row.at))).not.toBe((row as { seed: bigint }).seed);
  });
});

describe("the proposal's status", () => {
  it.each([
    { pool: "traffic-1", net: "10.10.10", want: [".1", ".2", ".3", ".5", ".6", ".8"] },
    { pool: "traffic-2", net: "10.10.11", want: [".1", ".2", ".3", ".5", ".6", ".8"] },
  ])("allocated-offsets [0,1,2,4,5,7] of $pool are $want, none of them excluded", ({ pool, net, want }) => {
    const it = poolOf(pool, `${net}.0/24 ${net}.1 ${net}.10`, { exclude: [`${net}.4`, `${net}.7`] });
    const found = [0n, 1n, 2n, 4n, 5n, 7n].map((offset) => addressAt(it, offset));
    expect(found).toEqual(want.map((last) => address(net + last)));
    expect(found.every((at) => at !== undefined && contains(it.assignable, at))).toBe(true);
  });

  it("traffic-2 lacks offset 8, the 10.10.11.9 that the enactment holds", () => {
    expect(offsetOf(poolOf("traffic-2", "10.10.11.0/24 10.10.11.1 10.10.11.10"), address("10.10.11.9"))).toBe(8n);
  });
});

describe("offsetOf", () => {
  const v4 = poolOf("v4", "10.0.0.0/16 10.0.5.0 10.0.9.9");
  const all = poolOf("all", "10.0.0.0/16 10.0.5.0 10.0.9.9", { allowZeroAnd255: true });
  const pair = poolOf("pair", "10.0.0.254/31");
  const v6 = poolOf("v6", "2001:db8::/32");
  it.each([
    { pool: v4, at: "10.0.5.0", want: undefined },
    { pool: v4, at: "10.0.5.1", want: 0n },
    { pool: v4, at: "10.0.5.255", want: undefined },
    { pool: v4, at: "10.0.6.0", want: undefined },
    { pool: v4, at: "10.0.6.1", want: 254n },
    { pool: v4, at: "10.0.4.254", want: undefined },
    { pool: v4, at: "10.0.255.254", want: 250n * 254n + 253n }, // behind `end`, so that a growing end renumbers nothing
    { pool: v4, at: "10.1.0.1", want: undefined },
    { pool: v4, at: "2001:db8::1", want: undefined },
    { pool: all, at: "10.0.5.0", want: 0n },
    { pool: all, at: "10.0.5.255", want: 255n },
    { pool: all, at: "10.0.6.0", want: 256n },
    { pool: pair, at: "10.0.0.254", want: 0n },
    { pool: pair, at: "10.0.0.255", want: 1n },
    { pool: v6, at: "2001:db8::", want: undefined },
    { pool: v6, at: "2001:db8::1", want: 0n },
    { pool: v6, at: "2001:db8::100", want: 255n },
    { pool: v6, at: "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", want: 2n ** 96n - 2n },
    { pool: v6, at: "10.0.5.1", want: undefined },
  ])("offsetOf($pool.name, $at) is $want", ({ pool, at, want }) => {
    expect(offsetOf(pool, address(at))).toBe(want);
    if (want !== undefined) expect(addressAt(pool, want)).toBe(address(at));
  });
});

describe("addressAt", () => {
  const small = poolOf("small", "10.0.0.0/24 10.0.0.1 10.0.0.9");
  const top = poolOf("top", "255.255.255.0/24");
  const v6 = poolOf("v6", "2001:db8::/112");
  it.each([
    { pool: small, offset: -1n },
    { pool: small, offset: 254n },
    { pool: small, offset: 2n ** 64n },
    { pool: small, offset: 2n ** 2048n },
    { pool: top, offset: 254n },
    { pool: v6, offset: -1n },
    { pool: v6, offset: 2n ** 16n - 1n },
    { pool: v6, offset: 2n ** 2048n },
  ])("addressAt($pool.name, an offset that it does not reach)", ({ pool, offset }) => {
    expect(addressAt(pool, offset)).toBeUndefined();
  });
});
