import { describe, expect, it } from "vitest";
import { issuesOf, poolText } from "../../support/schema/text.ts";

/** What some program somewhere reads as an address: KEP-4858, the CVEs of ip, netmask, Go, Python and Perl, WPT. */
const notAddresses = [
  ..."127.1 10.1 1 2130706433 0x7f000001 0x7f.0.0.1 0177.0.0.1 01200034567 012.1.2.3 10.0.0.01 10.0.0.00 10.0.0.1e1 1e1.0.0.1".split(
    " ",
  ),
  ..."10.0.0.256 10.0.0.-1 +10.0.0.1 10.0.0.1.10 10..0.1 10.0.0. .10.0.0.1 10.0.0.1. 10.0.0.1:80 10.0.0.1%eth0 10.0.0.1-10.0.0.9 10.0.0.1,10.0.0.2".split(
    " ",
  ),
  ..."::ffff:10.0.0.1 ::fFFf:a00:1 ::10.0.0.1 64:ff9b::10.0.0.1 [::1] fe80::1%eth0 fe80::1%25eth0 ::1::2 ::: : 1:2:3:4:5:6:7 1:2:3:4:5:6:7:8:9 12345::".split(
    " ",
  ),
  ..."g:: 2001:db8::/64/64 localhost example.net $(id) <b>10.0.0.1</b> ../10.0.0.1 %31%30.0.0.1 １０.0.0.1 ٣.0.0.1 10。0。0。1 10.0.0.l ∞ null NaN".split(
    " ",
  ),
  "",
  " ",
  " 10.0.0.1",
  "10.0.0.1 ",
  "10.0.0.1\n",
  "10.0.0.1\u0000",
  "10.0.0.1\u200b",
  "\ufeff10.0.0.1",
];

const range = (more = "") => `  range: {cidr: 10.0.0.0/24${more}}\n`;

/** Every place of a pool that holds an address; X is where it stands. */
const places: [place: string, spec: string][] = [
  ["range.start", range(", start: X")],
  ["range.end", range(", end: X")],
  ["range.exclude", range(", exclude: [10.0.0.200, X]")],
  ["additionalRanges.start", `${range(", end: 10.0.0.9")}  additionalRanges: [{start: X, end: 10.0.0.99}]`],
  ["additionalRanges.end", `${range(", end: 10.0.0.9")}  additionalRanges: [{start: 10.0.0.10, end: X}]`],
  ["gateway", `${range()}  gateway: X`],
  ["dnsServers", `${range()}  dnsServers: [10.0.0.53, X]`],
  ["clusterRange.start", `${range()}  clusterRange: {start: X, end: 10.0.0.99}`],
  ["clusterRange.end", `${range()}  clusterRange: {start: 10.0.0.10, end: X}`],
  ["reservations.address", `${range()}  reservations: [{address: 10.0.0.7}, {address: X}]`],
];

const placeOf = (spec: string, mark: string) => {
  const lines = spec.slice(0, spec.indexOf(mark)).split("\n");
  return `${4 + lines.length}:${(lines.at(-1) as string).length + 1}`;
};

describe.each(places)("%s", (_, spec) => {
  const place = placeOf(spec, "X");
  const issues = (text: string) => issuesOf(poolText(spec.replace("X", () => JSON.stringify(text))));

  it("takes an address", () => {
    expect(issues("10.0.0.50")).toEqual([]);
  });

  it.each(notAddresses)("does not take %j", (text) => {
    expect(issues(text)).toEqual([expect.stringMatching(new RegExp(`^${place} .`))]);
  });
});

describe("range.cidr", () => {
  const issues = (text: string) => issuesOf(poolText(`  range: {cidr: ${JSON.stringify(text)}}`));

  it.each(["10.0.0.0/24", "0.0.0.0/0", "10.0.0.0/30", "2001:DB8:0:0::/64", "::/0", "2001:db8::/126"])(
    "takes %s",
    (text) => {
      expect(issues(text)).toEqual([]);
    },
  );

  it("takes host bits where it is said where the addresses begin", () => {
    expect(issuesOf(poolText("  range: {cidr: 10.0.0.77/24, start: 10.0.0.78}"))).toEqual([]);
    expect(issues("10.0.0.77/24")).toEqual(["5:17 10.0.0.77/24 is the subnet 10.0.0.0/24"]);
    expect(issues("2001:db8::77/64")).toEqual(["5:17 2001:db8::77/64 is the subnet 2001:db8::/64"]);
  });

  const lengths = [
    "",
    "/",
    "/+24",
    "/-1",
    "/024",
    "/24 ",
    "/ 24",
    "/33",
    "/24.0",
    "/0x18",
    "/2e1",
    "/255.255.255.0",
    "/24/24",
    "/２４",
    "%2F24",
  ];
  it.each([
    ...notAddresses.filter((text) => text !== "2001:db8::/64/64").map((text) => `${text}/24`),
    ...lengths.map((length) => `10.0.0.0${length}`),
    "2001:db8::/129",
    "2001:db8::/064",
  ])("does not take %j", (text) => {
    expect(issues(text)).toEqual([expect.stringMatching(/^5:17 ./)]);
  });
});

describe("range.exclude takes prefixes too", () => {
  const issues = (text: string) => issuesOf(poolText(range(`, exclude: [${JSON.stringify(text)}]`)));

  it.each(["10.0.0.64/26", "10.0.0.65/32"])("%s", (text) => {
    expect(issues(text)).toEqual([]);
  });

  it.each([
    "10.0.0.65/26",
    "10.0.0.0/23",
    "10.0.1.0/24",
    "::/64",
    "10.0.0.0/33",
    "10.0.0.0/",
    "/24",
    "10.0.0.0/255.255.255.0",
  ])("but not %s", (text) => {
    expect(issues(text)).toEqual([expect.stringMatching(/^5:40 ./)]);
  });
});
