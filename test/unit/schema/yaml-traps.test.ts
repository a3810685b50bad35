import { describe, expect, it } from "vitest";
import type { IpamError } from "../../../core/errors.ts";
import { readFolder } from "../../../pipeline/folder.ts";
import { issuesOf, policyText, poolText, read } from "../../support/schema/text.ts";

const pool = (rest: string) => poolText(`  range: {cidr: 10.0.0.0/24}\n${rest}`);
const policy = (desiredState: string) =>
  policyText(`  capture: {x: ippool.p.allocate}\n  desiredState:\n${desiredState}`);
const withGateway = pool("  gateway: 10.0.0.1");
const policyIssues = (desiredState: string) => issuesOf({ "f.yaml": policy(desiredState), "p.yaml": withGateway });

describe("a plain word that kubectl (YAML 1.1) reads otherwise than YAML 1.2 is refused", () => {
  it.each(
    "y Y yes Yes YES n N no No NO on On ON off Off OFF 0644 00 -017 +01 0o17 0O17 0b101 -0b1 0B1 1_000 -1_0 1__0 0_1 0X1F 0x1_F -0x1F 1_0.5".split(
      " ",
    ),
  )("%s", (word) => {
    const issue = `${word} means one thing to YAML 1.2 and another to kubectl`;
    expect(policyIssues(`    a: ${word}`)).toEqual([`7:8 ${issue}`]);
    expect(policyIssues(`    ${word}: a`)).toEqual([`7:5 ${issue}`]);
    expect(policyIssues(`    a: [b, ${word}]`)).toEqual([`7:12 ${issue}`]);
  });

  it.each(
    `true True false null ~ 0 7 -7 +7 10 09 1.5 1e3 0x1F .inf yesterday onoff nope 10.0.0.1 _1 1_x '"on"' "'0644'" '"1_000"' 11:22:33:44:55:10 2001:db8::1 2026-11-21`.match(
      /'[^ ]+'|"[^ ]+"|\S+/g,
    ) ?? [],
  )("but %s is not", (word) => {
    expect(policyIssues(`    a: ${word.replace(/^(['"])((['"]).*\3)\1$/, "$2")}`)).toEqual([]);
  });

  it("nor are words inside a block scalar", () => {
    expect(policyIssues("    a: |\n      on\n    b: >-\n      0644")).toEqual([]);
  });

  it("says what to do", () => {
    const files = [{ path: "f.yaml", text: pool("  allowZeroAnd255: yes") }];
    expect(readFolder(files).issues[0]?.hint).toContain("Quote it, or write true, false or a plain number.");
  });
});

describe("YAML that is more than data is refused in our kinds", () => {
  const rows: [text: string, ...issues: string[]][] = [
    [poolText("  range: &r {cidr: 10.0.0.0/24}\n  other: *r"), "6:10 YAML aliases are not allowed here"],
    [
      poolText("  range: &r {cidr: 10.0.0.0/24}\n  <<: *r"),
      "6:3 the key << is not allowed here",
      "6:7 YAML aliases are not allowed here",
    ],
    [poolText("  range: {cidr: *nowhere}"), expect.stringMatching(/^5:17 /) as unknown as string],
    [poolText("  range: !x {cidr: 10.0.0.0/24}"), "5:13 the YAML tag !x is not allowed here"],
    [poolText("  range: {cidr: !x 10.0.0.0/24}"), "5:20 the YAML tag !x is not allowed here"],
    [poolText("  range: {cidr: !<tag:x,2000:y> 10.0.0.0/24}"), "5:33 the YAML tag tag:x,2000:y is not allowed here"],
    [
      pool("  __proto__: {authority: Cluster}"),
      "6:3 the key __proto__ is not allowed here",
      "6:3 unknown field __proto__",
    ],
    [pool("  ? {a: b}\n  : c"), "6:5 With stringKeys, all keys must be strings"],
    [pool("  gateway: 10.0.0.1\n  gateway: 10.0.0.2"), "7:3 this key stands here a second time"],
    [poolText("\trange: {cidr: 10.0.0.0/24}"), "5:1 Tabs are not allowed as indentation"],
    [
      poolText("  range: {cidr: 10.0.0.0/24"),
      "6:1 Flow map in block collection must be sufficiently indented and end with a }",
    ],
  ];
  it.each(rows)("%j", (text, ...issues) => {
    expect(issuesOf(text)).toEqual(issues);
  });

  it("an anchor that nobody uses is harmless", () => {
    expect(issuesOf(poolText("  range: &r {cidr: &c 10.0.0.0/24}"))).toEqual([]);
  });

  it("a capture is not defined because every object has something of its name", () => {
    for (const name of ["constructor", "toString", "hasOwnProperty", "valueOf", "isPrototypeOf"])
      expect(policyIssues(`    a: "{{ capture.${name}.ip }}"`)).toEqual([
        expect.stringMatching(`^7:8 capture ${name} is not defined`),
      ]);
  });

  it("a key __proto__ sets no prototype", () => {
    const { policies } = read({
      "f.yaml": policy('    "constructor": {"prototype": {"polluted": 1}}'),
      "p.yaml": poolText(),
    });
    expect(policies[0]?.desiredState).toEqual({ constructor: { prototype: { polluted: 1 } } });
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});

describe("two documents without --- between them", () => {
  it("are one issue, at the first key that comes back, with what to do", () => {
    const text = poolText() + poolText("  range: {cidr: 10.0.1.0/24}", "q");
    expect(issuesOf(text)).toEqual(["6:1 this key stands here a second time"]);
    expect(hintsOf(text)).toEqual(["Are these two documents? Put --- between them."]);
  });
});

describe("a template may stand unquoted, as the proposal writes it", () => {
  it.each([
    ["    ip: {{ capture.x.ip }}", { ip: "ip" }],
    ["    ip: {{ capture.x.ip }}   # the first one", { ip: "ip" }],
    [
      "    - ip: {{ capture.x.ip }}\n      prefix-length: {{ capture.x.prefix-length }}",
      [{ ip: "ip", "prefix-length": "prefix-length" }],
    ],
    ["    server:\n    - {{ capture.x.gateway }}", { server: ["gateway"] }],
    ["    server:\n    -   {{ capture.x.gateway }}", { server: ["gateway"] }],
    ["    a:\n      {{ capture.x.ip }}", { a: "ip" }],
    ['    a: "{{ capture.x.ip }}"', { a: "ip" }],
    ["    a: '{{ capture.x.ip }}'", { a: "ip" }],
    ["    a: >-\n      {{ capture.x.ip }}", { a: "ip" }],
  ])("%j", (desiredState, expected) => {
    expect(policyIssues(desiredState)).toEqual([]);
    const [read0] = read({ "f.yaml": policy(desiredState), "p.yaml": withGateway }).policies;
    const fields = JSON.parse(JSON.stringify(read0?.desiredState, (_, value) => value?.field ?? value));
    expect(fields).toEqual(expected);
  });

  it("with issues in their places", () => {
    expect(policyIssues("    ip: {{ capture.y.ip }}\n    b: {{ capture.x.mask }} # c")).toEqual([
      "7:9 capture y is not defined; did you mean x?",
      "8:8 an allocation has the fields ip, prefix-length, gateway, not mask",
    ]);
  });

  it("text in a block scalar stays as it is", () => {
    const note = "write\nip: {{ capture.x.ip }}\n";
    const text = policy("    a: b").replace(
      "{name: a}",
      `\n  name: a\n  annotations:\n    note: |\n${note.replace(/^(?=.)/gm, "      ")}`.trimEnd(),
    );
    const [policy0] = read({ "f.yaml": text, "p.yaml": withGateway }).policies;
    expect(policy0?.annotations).toEqual({ note });
  });
});

function hintsOf(text: string): (string | undefined)[] {
  try {
    read(text);
    return [];
  } catch (error) {
    return (error as IpamError).issues.map(({ hint }) => hint);
  }
}
