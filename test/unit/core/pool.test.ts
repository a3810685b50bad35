import { describe, expect, it } from "vitest";
import { emptySnapshot } from "../../../core/allocation.ts";
import { unwrap } from "../../../core/errors.ts";
import { parsePool } from "../../../core/parse-pool.ts";
import { plan } from "../../../core/plan/plan.ts";
import type { PoolSpec } from "../../../core/pool-spec.ts";
import { covers, sizeOf } from "../../../core/range.ts";
import { rangeText } from "../../support/core/model.ts";
import { claimOf, poolOf, shown } from "../../support/core/text.ts";

describe("a wide range hands out no address by itself that no host can use", () => {
  it.each([
    { range: "0.0.0.0/0", automatic: "1.0.0.0-126.255.255.255 128.0.0.0-169.253.255.255 169.255.0.0-223.255.255.255" },
    { range: "126.0.0.0/7", automatic: "126.0.0.1-126.255.255.255" },
    { range: "169.254.0.0/15", automatic: "169.255.0.0-169.255.255.254" },
    // ::ffff:0:0/96 is IPv4 in disguise, which parseAddress refuses
    { range: "::/80", automatic: "::2-::fffe:ffff:ffff" },
    {
      range: "fe00::/8",
      automatic: "fe00::1-fe7f:ffff:ffff:ffff:ffff:ffff:ffff:ffff fec0::-feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
    },
    // Who names such a subnet means it.
    { range: "169.254.10.0/24", automatic: "169.254.10.1-169.254.10.254" },
    { range: "240.0.0.0/8", automatic: "240.0.0.1-240.255.255.254" },
  ])("$range", ({ range, automatic }) => {
    const pool = poolOf("p", range);
    expect(rangeText(pool.automatic)).toBe(automatic);
    expect(covers(pool.assignable, pool.automatic)).toBe(true);
  });

  it("one that is asked for is accepted", () => {
    const pool = poolOf("p", "0.0.0.0/0");
    const made = plan({
      pools: [pool],
      claims: [claimOf("Node/n/a wanted=127.0.0.5"), claimOf("Node/m/a")],
      snapshot: emptySnapshot,
    });
    expect(shown(made)).toEqual(["assign 1.0.0.1 Node/m/a", "assign 127.0.0.5 Node/n/a"]);
  });
});

describe("the defaults of start and end leave out what no host may have", () => {
  it.each([
    { cidr: "10.0.0.0/24", range: "10.0.0.1-10.0.0.254" },
    { cidr: "10.0.0.64/30", range: "10.0.0.65-10.0.0.66" },
    { cidr: "10.0.0.64/31", range: "10.0.0.64-10.0.0.65" },
    { cidr: "10.0.0.64/32", range: "10.0.0.64" },
    { cidr: "10.0.0.0/8", range: "10.0.0.1-10.255.255.254" },
    { cidr: "2001:db8::/126", range: "2001:db8::1-2001:db8::3" },
    { cidr: "2001:db8::/127", range: "2001:db8::-2001:db8::1" },
    { cidr: "2001:db8::/128", range: "2001:db8::" },
    { cidr: "2001:db8::/32", range: "2001:db8::1-2001:db8:ffff:ffff:ffff:ffff:ffff:ffff" },
    { cidr: "::2:0:0:0/80", range: "::2:0:0:1-::2:ffff:ffff:ffff" },
  ])("$cidr has $range", ({ cidr, range }) => {
    const pool = poolOf("p", cidr);
    expect(rangeText(pool.range)).toBe(range);
    expect(rangeText(pool.assignable)).toBe(range);
    expect(rangeText(pool.automatic)).toBe(range);
    expect(pool.start).toBe(pool.range[0]?.first);
  });

  it.each<[PoolSpec["range"], string]>([
    [{ cidr: "10.0.0.0/24", start: "10.0.0.200" }, "10.0.0.200-10.0.0.254"],
    [{ cidr: "10.0.0.0/24", end: "10.0.0.9" }, "10.0.0.1-10.0.0.9"],
    [{ cidr: "10.10.11.0/16", start: "10.10.11.4" }, "10.10.11.4-10.10.255.254"], // the proposal's host bits
    [{ cidr: "10.0.0.0/24", start: "10.0.0.7", end: "10.0.0.7" }, "10.0.0.7"],
    [{ cidr: "2001:db8::/64", start: "2001:db8::A" }, "2001:db8::a-2001:db8::ffff:ffff:ffff:ffff"],
  ])("%j has %s", (range, want) => {
    expect(rangeText(unwrap(parsePool("p", { range })).range)).toBe(want);
  });
});

describe("range, assignable, automatic", () => {
  type Rest = Partial<Omit<PoolSpec, "range">> & Partial<PoolSpec["range"]>;
  const of = (rest: Rest, cidr = "10.0.0.0/28") => {
    const { start, end, exclude, ...spec } = rest;
    const range = { cidr, ...(start && { start }), ...(end && { end }), ...(exclude && { exclude }) };
    return unwrap(parsePool("p", { range, ...spec }));
  };
  const rows: { spec: Rest; range?: string; assignable: string; automatic?: string }[] = [
    { spec: { start: "10.0.0.0", end: "10.0.0.15" }, range: "10.0.0.0-10.0.0.15", assignable: "10.0.0.1-10.0.0.14" },
    { spec: { exclude: ["10.0.0.4"] }, assignable: "10.0.0.1-10.0.0.3 10.0.0.5-10.0.0.14" },
    { spec: { exclude: ["10.0.0.4/30", "10.0.0.13"] }, assignable: "10.0.0.1-10.0.0.3 10.0.0.8-10.0.0.12 10.0.0.14" },
    { spec: { exclude: ["10.0.0.0/28"] }, assignable: "" },
    { spec: { gateway: "10.0.0.1" }, assignable: "10.0.0.2-10.0.0.14" },
    { spec: { end: "10.0.0.9", gateway: "10.0.0.14" }, range: "10.0.0.1-10.0.0.9", assignable: "10.0.0.1-10.0.0.9" },
    { spec: { clusterRange: { start: "10.0.0.8", end: "10.0.0.14" } }, assignable: "10.0.0.1-10.0.0.7" },
    {
      spec: {
        end: "10.0.0.3",
        additionalRanges: [
          { start: "10.0.0.12", end: "10.0.0.15" },
          { start: "10.0.0.4", end: "10.0.0.5" },
        ],
      },
      range: "10.0.0.1-10.0.0.5 10.0.0.12-10.0.0.15",
      assignable: "10.0.0.1-10.0.0.5 10.0.0.12-10.0.0.14",
    },
    {
      spec: { reservations: [{ address: "10.0.0.3", owner: "Node/n1" }] },
      assignable: "10.0.0.1-10.0.0.14",
      automatic: "10.0.0.1-10.0.0.2 10.0.0.4-10.0.0.14",
    },
    { spec: { reservations: [{ address: "10.0.0.3" }] }, assignable: "10.0.0.1-10.0.0.2 10.0.0.4-10.0.0.14" },
    {
      spec: { end: "10.0.0.9", reservations: [{ address: "10.0.0.12" }] },
      range: "10.0.0.1-10.0.0.9",
      assignable: "10.0.0.1-10.0.0.9",
    },
  ];

  it.each(rows.map((row) => [JSON.stringify(row.spec), row] as const))("of %s", (_, row) => {
    const pool = of(row.spec);
    expect(rangeText(pool.range)).toBe(row.range ?? "10.0.0.1-10.0.0.14");
    expect(rangeText(pool.assignable)).toBe(row.assignable);
    expect(rangeText(pool.automatic)).toBe(row.automatic ?? row.assignable);
  });

  it.each([
    {
      cidr: "::/0",
      start: "::fffe:ffff:fffe",
      assignable: "::fffe:ffff:fffe-::fffe:ffff:ffff ::1:0:0:0-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
    },
    {
      cidr: "::/64",
      start: "::fffe:ffff:fffe",
      assignable: "::fffe:ffff:fffe-::fffe:ffff:ffff ::1:0:0:0-::ffff:ffff:ffff:ffff",
    },
  ])("of $cidr never hold an address that parseAddress refuses", ({ cidr, start, assignable }) => {
    expect(rangeText(of({ start }, cidr).assignable)).toBe(assignable);
  });

  it("of IPv6 never hold the subnet-router anycast address", () => {
    const pool = of({ start: "2001:db8::", end: "2001:db8::f" }, "2001:db8::/124");
    expect(rangeText(pool.range)).toBe("2001:db8::-2001:db8::f");
    expect(rangeText(pool.assignable)).toBe("2001:db8::1-2001:db8::f");
  });
});

describe("skipsZeroAnd255", () => {
  it.each([
    { cidr: "10.0.0.0/16", allowZeroAnd255: undefined, want: true },
    { cidr: "10.0.0.0/16", allowZeroAnd255: false, want: true },
    { cidr: "10.0.0.0/16", allowZeroAnd255: true, want: false },
    { cidr: "10.0.0.0/30", allowZeroAnd255: undefined, want: true },
    { cidr: "10.0.0.0/31", allowZeroAnd255: undefined, want: false },
    { cidr: "10.0.0.0/32", allowZeroAnd255: undefined, want: false },
    { cidr: "2001:db8::/32", allowZeroAnd255: undefined, want: false },
  ])("of $cidr with allowZeroAnd255 $allowZeroAnd255 is $want", ({ cidr, allowZeroAnd255, want }) => {
    expect(poolOf("p", cidr, allowZeroAnd255 === undefined ? {} : { allowZeroAnd255 }).skipsZeroAnd255).toBe(want);
  });
});

describe("what is said is kept, what is not has a default", () => {
  it("of a pool that says all", () => {
    const pool = poolOf("p", "10.0.0.0/24", {
      network: "red",
      gateway: "10.0.0.254",
      dnsServers: ["10.9.9.9", "2001:db8::53"],
      authority: "Plan",
      reclaimPolicy: "Retain",
      addressReuseGracePeriodSeconds: 600,
      clusterRange: { start: "10.0.0.100", end: "10.0.0.199" },
      reservations: [{ address: "10.0.0.5", owner: "Node/n1", claim: "a", description: "the first" }],
    });
    expect(pool).toMatchObject({ name: "p", network: "red", authority: "Plan" });
    expect(pool.gateway).toBe(pool.prefix.first + 254n);
    expect(rangeText(pool.clusterRange)).toBe("10.0.0.100-10.0.0.199");
    expect(pool.reservations.all).toMatchObject([{ address: pool.prefix.first + 5n, owner: "Node/n1", claim: "a" }]);
  });

  it("of a pool that says nothing", () => {
    expect(poolOf("p", "10.0.0.0/24")).toMatchObject({
      network: "default",
      gateway: undefined,
      authority: undefined,
      clusterRange: [],
      reservations: { all: [] },
    });
  });
});

describe("no size is too large", () => {
  it.each([
    { cidr: "10.0.0.0/8", want: 2n ** 24n - 3n },
    { cidr: "2001:db8::/32", want: 2n ** 96n - 2n },
    { cidr: "2000::/3", want: 2n ** 125n - 2n },
  ])("parsePool($cidr) makes one interval on each side of a hole", ({ cidr, want }) => {
    const whole = poolOf("p", cidr);
    const pool = poolOf("p", cidr, { gateway: cidr.includes(":") ? "2001:db8::9" : "10.0.0.9" });
    expect(pool.assignable).toHaveLength(2);
    expect(sizeOf(pool.assignable)).toBe(want);
    expect(sizeOf(whole.assignable)).toBe(want + 1n);
  });
});
