import { describe, expect, it } from "vitest";
import { issuesOf, poolText } from "../../support/schema/text.ts";

const cidr = "10.0.0.0/24";

describe("readManifests places every issue of a pool's spec", () => {
  // The spec starts on line 5.
  const rows: [spec: string, ...issues: string[]][] = [
    ["  range: {}", "5:10 range needs the field cidr"],
    ["  range:", "5:9 range must be a mapping, but is empty"],
    ["  range: []", "5:10 range must be a mapping, but is a list"],
    ["  range: 10.0.0.0/24", "5:10 range must be a mapping, but is text"],
    [`  rang: {cidr: ${cidr}}`, "5:3 spec needs the field range", "5:3 unknown field rang; did you mean range?"],
    ["  range: {cidr: 24}", "5:17 cidr must be text, but is the number 24"],
    ["  range: {cidr: [1]}", "5:17 cidr must be text, but is a list"],
    ["  range: {cidr: ~}", "5:17 cidr must be text, but is empty"],
    ["  range: {cidr: true}", "5:17 cidr must be text, but is true or false"],
    ["  range: {cidr: ''}", '5:17 "" has no prefix length; write for example 10.0.0.0/24'],
    [`  range: {cidr: ${"1".repeat(44)}/8}`, "5:17 cidr must NOT have more than 43 characters"],
    [`  range: {cidr: ${cidr}, strat: 10.0.0.1}`, "5:30 unknown field strat; did you mean start?"],
    [`  range: {cidr: ${cidr}, zzzzzzzzz: 1}`, "5:30 unknown field zzzzzzzzz"],
    [`  range: {cidr: ${cidr}}\n  exclude: [10.0.0.1]`, "6:3 unknown field exclude; it belongs under range"],
    [`  cidr: ${cidr}`, "5:3 spec needs the field range", "5:3 unknown field cidr; it belongs under range"],
    [`  range: {cidr: ${cidr}, exclude: 10.0.0.1}`, "5:39 exclude must be a list, but is text"],
    [
      `  range: {cidr: ${cidr}, start: 10.0.0.256, end: 10.0.1.1}`,
      '5:37 "10.0.0.256" has an octet above 255',
      "5:54 10.0.1.1 is not in 10.0.0.0/24",
    ],
    [
      `  range: {cidr: ${cidr}, start: 10.0.0.9, end: 10.0.0.8}`,
      "5:52 the range ends (10.0.0.8) before it starts (10.0.0.9)",
    ],
    [
      `  range:\n    cidr: ${cidr}\n    exclude:\n    - 10.0.0.4\n    - 10.0.0\n    - 10.1.0.0/24`,
      '9:7 "10.0.0" has 3 octets; an IPv4 address has 4',
      "10:7 10.1.0.0/24 is not in 10.0.0.0/24",
    ],
    [`  range: {cidr: ${cidr}}\n  gateway: 10.0.1.1`, "6:12 10.0.1.1 is not in 10.0.0.0/24"],
    [`  range: {cidr: ${cidr}}\n  dnsServers: [8.8.8.8, dns]`, '6:25 "dns" is not an IP address'],
    [
      `  range: {cidr: ${cidr}}\n  network: Blue_1`,
      '6:12 network must match pattern "^[a-z0-9]([a-z0-9-]*[a-z0-9])?$"',
    ],
    [`  range: {cidr: ${cidr}}\n  authority: Nobody`, "6:14 authority must be one of Plan, Cluster"],
    [`  range: {cidr: ${cidr}}\n  allocationOrder: Random`, "6:20 allocationOrder must be one of Lowest, Hashed, Next"],
    [`  range: {cidr: ${cidr}}\n  reclaimPolicy: retain`, "6:18 reclaimPolicy must be one of Delete, Retain"],
    [`  range: {cidr: ${cidr}}\n  allowZeroAnd255: "true"`, "6:20 allowZeroAnd255 must be true or false, but is text"],
    [`  range: {cidr: ${cidr}}\n  clusterRange: {start: 10.0.0.1}`, "6:17 clusterRange needs the field end"],
    [
      `  range: {cidr: ${cidr}, end: 10.0.0.9}\n  clusterRange: {start: 10.0.0.9, end: 10.0.0.10}`,
      "6:17 clusterRange is not inside start to end",
    ],
    [
      `  range: {cidr: ${cidr}}\n  additionalRanges:\n  - {start: 10.0.0.9, end: 10.0.0.8}`,
      "7:28 the range ends (10.0.0.8) before it starts (10.0.0.9)",
    ],
    [
      `  range: {cidr: ${cidr}}\n  reservations:\n  - address: 10.0.0.5\n  - address: 10.0.0.5`,
      "8:14 10.0.0.5 is reserved twice",
    ],
    [
      `  range: {cidr: ${cidr}}\n  reservations:\n  - {address: 10.0.0.5, ownr: Node/n}`,
      "7:25 unknown field ownr; did you mean owner?",
    ],
  ];
  it.each(rows)("%j", (spec, ...issues) => {
    expect(issuesOf(poolText(spec))).toEqual(issues);
  });
});

describe("readManifests names the list an item is of", () => {
  const rows: [spec: string, place: string, word: string][] = [
    [`  range: {cidr: ${cidr}, exclude: [10.0.0.1, 5]}`, "5:50", "exclude"],
    [`  range: {cidr: ${cidr}}\n  additionalRanges:\n  - start: 10.0.0.1`, "7:5", "additionalRanges"],
    [`  range: {cidr: ${cidr}}\n  reservations:\n  - owner: Node/n`, "7:5", "reservations"],
  ];
  it.each(rows)("%j", (spec, place, word) => {
    expect(issuesOf(poolText(spec))).toEqual([expect.stringMatching(`^${place} .*\\b${word}\\b`)]);
  });
});

describe("readManifests places every issue of a pool as an object", () => {
  const spec = `spec: {range: {cidr: ${cidr}}}\n`;
  const head = "apiVersion: nmstate.io/v1\nkind: NodeIPPool\n";
  const rows: [text: string, ...issues: string[]][] = [
    [`${head}${spec}`, "1:1 the document needs the field metadata"],
    [`${head}metadata:\n${spec}`, "3:10 metadata must be a mapping, but is empty"],
    [`${head}metadata: {}\n${spec}`, "3:11 metadata.name is missing"],
    [
      `${head}metadata: {name: A_b}\n${spec}`,
      '3:18 metadata.name "A_b" is no name: lower case letters, digits, - and . only',
    ],
    [`${head}metadata: {name: ${"a".repeat(254)}}\n${spec}`, "3:18 metadata.name is longer than 253 characters"],
    [`kind: NodeIPPool\nmetadata: {name: p}\n${spec}`, "1:1 the document needs the field apiVersion"],
    [
      `apiVersion: nmstate.io/v1beta1\nkind: NodeIPPool\nmetadata: {name: p}\n${spec}`,
      "1:13 apiVersion must be nmstate.io/v1",
    ],
    [`${head}metadata: {name: p}\n`, "1:1 the document needs the field spec"],
    [`${head}metadata: {name: p}\n${spec}staus: {}\n`, "5:1 unknown field staus; did you mean status?"],
    [`${head}metadata: {name: p}\n${spec}gateway: 10.0.0.1\n`, "5:1 unknown field gateway; it belongs under spec"],
    [`apiVersion: nmstate.io/v1\nKind: NodeIPPool\n`, "1:1 an object of nmstate.io/v1 must have a kind"],
    [
      `apiVersion: v1\nkind: List\nitems:\n- kind: ConfigMap\n- apiVersion: nmstate.io/v1\n`,
      "5:3 an object of nmstate.io/v1 must have a kind",
    ],
    [
      `apiVersion: nmstate.io/v1\nkind: NodeIPool\nmetadata: {name: p}\n${spec}`,
      "2:7 unknown kind NodeIPool; did you mean NodeIPPool?",
    ],
    [
      `apiVersion: nmstate.io/v1\nkind: nodeippool\nmetadata: {name: p}\n${spec}`,
      "2:7 unknown kind nodeippool; did you mean NodeIPPool?",
    ],
  ];
  it.each(rows)("%j", (text, ...issues) => {
    expect(issuesOf(text)).toEqual(issues);
  });

  it("a name that is a number is there, but is no text", () => {
    expect(issuesOf(`${head}metadata: {name: 5}\n${spec}`)).toEqual([
      expect.stringMatching(/^3:18 metadata\.name must be text/),
    ]);
  });
});

describe("readManifests reads what looks odd and is right", () => {
  it.each([
    `  range: {cidr: ${cidr}}\nstatus: {allocated-offsets: [0, 1], anything: else}`,
    // the proposal's status, whose True no API server takes
    `  range: {cidr: ${cidr}}\nstatus:\n  conditions:\n  - type: Available\n    status: True\n    reason: ReconciledPool`,
    `  range: {cidr: ${cidr}, exclude: []}\n  additionalRanges: []\n  reservations: []`,
    `  range: {cidr: ${cidr}}\n  reservations: [{address: 10.0.0.255}]`,
    `  "range": {"cidr": "${cidr}"}`,
    "  range: {cidr: 2001:DB8::/64, start: 2001:DB8:0::000F}",
  ])("%j", (spec) => {
    expect(issuesOf(poolText(spec))).toEqual([]);
  });
});
