import { describe, expect, it } from "vitest";
import { parsePool } from "../../../core/parse-pool.ts";
import type { PoolSpec } from "../../../core/pool-spec.ts";

const cidr = "10.0.0.0/24";
const pathsOf = (spec: PoolSpec) => parsePool("p", spec).issues?.map(({ path }) => path?.join("."));

describe("parsePool says what to write instead of", () => {
  const hintOf = (spec: PoolSpec) => parsePool("p", spec).issues?.map(({ path, hint }) => [path?.join("."), hint]);

  it.each([
    ["Node/n", "Node/n/a/b", "a/b"],
    ["Node/n", "Node/m/a/b", "a/b"],
    ["Printer/p", "Printer/p/lan", "lan"],
  ])("a claim of %s with its owner, %s", (owner, claim, name) => {
    expect(hintOf({ range: { cidr }, reservations: [{ address: "10.0.0.5", owner, claim }] })).toEqual([
      ["reservations.0.claim", `Write its name alone: ${name}`],
    ]);
  });

  it("an address of another family", () => {
    const hint = "A pool is of one family: make a pool of its own for the other one.";
    expect(hintOf({ range: { cidr, end: "2001:db8::9" } })).toEqual([["range.end", hint]]);
    expect(hintOf({ range: { cidr: "2001:db8::/64" }, gateway: "10.0.0.1" })).toEqual([["gateway", hint]]);
  });

  it("and takes the name alone", () => {
    const reservations = [{ address: "10.0.0.5", owner: "Node/n", claim: "a/b" }];
    expect(hintOf({ range: { cidr }, reservations })).toBeUndefined();
  });
});

describe("parsePool refuses", () => {
  const rows: { spec: PoolSpec; path: string; why: string }[] = [
    { spec: { range: { cidr: "10.0.0.0" } }, path: "range.cidr", why: "has no prefix length" },
    { spec: { range: { cidr: "10.0.0/24" } }, path: "range.cidr", why: "has 3 octets" },
    // the proposal's typing errors
    { spec: { range: { cidr: "10.10.11.0/24", end: "10.10.10.11.10" } }, path: "range.end", why: "has 5 octets" },
    {
      spec: { range: { cidr: "10.10.11.0/16", start: "10.10.11.4", end: "10.10.10.12.10" } },
      path: "range.end",
      why: "has 5 octets",
    },
    { spec: { range: { cidr: "10.10.11.0/16" } }, path: "range.cidr", why: "is the subnet 10.10.0.0/16" },
    { spec: { range: { cidr }, gateway: "10.0.0.0" }, path: "gateway", why: "is the network address of 10.0.0.0/24" },
    { spec: { range: { cidr }, gateway: "10.0.0.255" }, path: "gateway", why: "is the broadcast address" },
    { spec: { range: { cidr }, dnsServers: ["10.0.0.255"] }, path: "dnsServers.0", why: "which no host can have" },
    { spec: { range: { cidr, start: "10.0.0.01" } }, path: "range.start", why: "has a leading zero" },
    { spec: { range: { cidr, start: "10.0.1.1" } }, path: "range.start", why: "is not in 10.0.0.0/24" },
    { spec: { range: { cidr, end: "9.255.255.255" } }, path: "range.end", why: "is not in 10.0.0.0/24" },
    {
      spec: { range: { cidr, start: "10.0.0.9", end: "10.0.0.8" } },
      path: "range.end",
      why: "ends (10.0.0.8) before it starts (10.0.0.9)",
    },
    { spec: { range: { cidr, start: "10.0.0.255" } }, path: "range.end", why: "before it starts" },
    { spec: { range: { cidr, start: "2001:db8::1" } }, path: "range.start", why: "is not in 10.0.0.0/24" },
    { spec: { range: { cidr, end: "2001:db8::1" } }, path: "range.end", why: "is not in 10.0.0.0/24" },
    {
      spec: { range: { cidr: "2001:db8::/64", start: "10.0.0.1" } },
      path: "range.start",
      why: "is not in 2001:db8::/64",
    },
    {
      spec: { range: { cidr, exclude: ["10.0.0.1", "10.0.1.1"] } },
      path: "range.exclude.1",
      why: "is not in 10.0.0.0/24",
    },
    { spec: { range: { cidr, exclude: ["10.0.0.0/23"] } }, path: "range.exclude.0", why: "is not in 10.0.0.0/24" },
    {
      spec: { range: { cidr, exclude: ["10.0.0.0/33"] } },
      path: "range.exclude.0",
      why: "is not a number from 0 to 32",
    },
    { spec: { range: { cidr, exclude: ["10.0.0.1-10.0.0.9"] } }, path: "range.exclude.0", why: "is not an IP address" },
    {
      spec: { range: { cidr, exclude: ["10.0.0.7/30"] } },
      path: "range.exclude.0",
      why: "10.0.0.7/30 is the prefix 10.0.0.4/30",
    },
    { spec: { range: { cidr, exclude: ["::/64"] } }, path: "range.exclude.0", why: "is not in 10.0.0.0/24" },
    { spec: { range: { cidr }, gateway: "10.0.1.1" }, path: "gateway", why: "is not in 10.0.0.0/24" },
    { spec: { range: { cidr }, gateway: "fe80::1" }, path: "gateway", why: "is not in 10.0.0.0/24" },
    {
      spec: { range: { cidr }, dnsServers: ["10.9.9.9", "dns.example"] },
      path: "dnsServers.1",
      why: "is not an IP address",
    },
    {
      spec: { range: { cidr }, additionalRanges: [{ start: "10.0.0.9", end: "10.0.0.8" }] },
      path: "additionalRanges.0.end",
      why: "before it starts",
    },
    {
      spec: { range: { cidr }, additionalRanges: [{ start: "10.0.0.9", end: "10.0.1.9" }] },
      path: "additionalRanges.0.end",
      why: "is not in 10.0.0.0/24",
    },
    {
      spec: { range: { cidr }, clusterRange: { start: "10.0.0.9", end: "10.0.0" } },
      path: "clusterRange.end",
      why: "has 3 octets",
    },
    {
      spec: { range: { cidr, end: "10.0.0.50" }, clusterRange: { start: "10.0.0.40", end: "10.0.0.51" } },
      path: "clusterRange",
      why: "is not inside start to end",
    },
    {
      spec: { range: { cidr }, authority: "Cluster", clusterRange: { start: "10.0.0.40", end: "10.0.0.51" } },
      path: "clusterRange",
      why: "divides a pool of authority Plan",
    },
    {
      spec: { range: { cidr }, reservations: [{ address: "10.0.1.1" }] },
      path: "reservations.0.address",
      why: "is not in 10.0.0.0/24",
    },
    {
      spec: { range: { cidr }, reservations: [{ address: "10.0.0.9" }, { address: "10.0.0.9", owner: "Node/n1" }] },
      path: "reservations.1.address",
      why: "is reserved twice",
    },
    {
      spec: { range: { cidr, end: "10.0.0.8" }, reservations: [{ address: "10.0.0.9", owner: "Node/n1" }] },
      path: "reservations.0.address",
      why: "is outside start to end",
    },
    {
      spec: { range: { cidr, exclude: ["10.0.0.9"] }, reservations: [{ address: "10.0.0.9", owner: "Node/n1" }] },
      path: "reservations.0.address",
      why: "excluded",
    },
    {
      spec: { range: { cidr }, reservations: [{ address: "10.0.0.0", owner: "Node/n1" }] },
      path: "reservations.0.address",
      why: "reserved for the network",
    },
    {
      spec: { range: { cidr }, gateway: "10.0.0.9", reservations: [{ address: "10.0.0.9", owner: "Node/n1" }] },
      path: "reservations.0.address",
      why: "reserved for the network",
    },
    // an owner that is none would leave the address to nobody, without a word
    {
      spec: { range: { cidr }, reservations: [{ address: "10.0.0.9", owner: "node05" }] },
      path: "reservations.0.owner",
      why: "is not an owner",
    },
    // kubectl's name of a node is another kind: the node would get another address
    {
      spec: { range: { cidr }, reservations: [{ address: "10.0.0.9", owner: "node/node05" }] },
      path: "reservations.0.owner",
      why: "is not an owner",
    },
  ];

  it.each(rows.map((row) => [JSON.stringify(row.spec), row] as const))("%s", (_, { spec, path, why }) => {
    const { issues, value } = parsePool("p", spec);
    expect(value).toBeUndefined();
    expect(issues?.map((issue) => issue.path?.join("."))).toEqual([path]);
    expect(issues?.[0]?.message).toContain(why);
  });
});

describe("parsePool names all issues at once", () => {
  it("of every field", () => {
    const spec: PoolSpec = {
      range: { cidr, start: "10.0.0.256", end: "10.0.0.10.1", exclude: ["10.0.0.4", "10.0.0.300", "10.1.0.0/24"] },
      additionalRanges: [
        { start: "10.0.0.9", end: "10.0.0.8" },
        { start: "x", end: "10.0.2.2" },
      ],
      gateway: "10.0.0",
      dnsServers: ["8.8.8.8", ""],
      clusterRange: { start: "10.0.0.1", end: "::1" },
      reservations: [{ address: "10.0.0.5" }, { address: "10.0.0.05", owner: "Node/n1" }],
    };
    expect(pathsOf(spec)).toEqual([
      "range.start",
      "range.end",
      "additionalRanges.0.end",
      "additionalRanges.1.start",
      "additionalRanges.1.end",
      "range.exclude.1",
      "range.exclude.2",
      "gateway",
      "dnsServers.1",
      "clusterRange.end",
      "reservations.1.address",
    ]);
  });

  it("of the rules between fields", () => {
    const spec: PoolSpec = {
      range: { cidr, end: "10.0.0.50", exclude: ["10.0.0.7"] },
      clusterRange: { start: "10.0.0.40", end: "10.0.0.60" },
      reservations: [
        { address: "10.0.0.7", owner: "Node/n1" },
        { address: "10.0.0.9", owner: "Node/n1" },
        { address: "10.0.0.9", owner: "Node/n2" },
        { address: "10.0.0.45", owner: "Node/n3" },
      ],
    };
    expect(pathsOf(spec)).toEqual([
      "reservations.0.address",
      "reservations.2.address",
      "reservations.3.address",
      "clusterRange",
    ]);
  });

  it("even where the cidr is one of them", () => {
    const spec: PoolSpec = { range: { cidr: "10.0.0.0/33", end: "10.0.0.10.1" }, gateway: "x", dnsServers: ["y"] };
    expect(pathsOf(spec)).toEqual(["range.cidr", "range.end", "gateway", "dnsServers.0"]);
  });
});
