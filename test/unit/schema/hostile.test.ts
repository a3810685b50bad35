import { describe, expect, it } from "vitest";
import { readEvidence } from "../../../pipeline/evidence.ts";
import { tries } from "../../support/long.ts";
import { documentsOf, issuesIn, issuesOf, nodesOf, policyText, poolText } from "../../support/schema/text.ts";

/** Seconds of CPU: a linear parser takes a fraction of one for any of these texts, a quadratic one many. */
const bound = 3;

function timed<T>(call: () => T): T {
  const start = process.cpuUsage();
  const result = call();
  expect(process.cpuUsage(start).user / 1e6).toBeLessThan(bound);
  return result;
}

const times = (n: number, text: (i: number) => string, between = "\n") =>
  Array.from({ length: n }, (_, i) => text(i)).join(between);
const deep = (n: number, open: string, close: string) => `${open.repeat(n)}1${close.repeat(n)}`;
const bomb = times(30, (i) => `a${i + 1}: &a${i + 1} [${times(9, () => `*a${i}`, ",")}]`);
const pool = (rest: string) => poolText(`  range: {cidr: 10.0.0.0/24}\n${rest}`);
const policy = (rest: string) => documentsOf(poolText(), policyText(`  capture: {x: ippool.p.allocate}\n${rest}`));

describe("readManifests refuses in bounded time", () => {
  const rows: [what: string, text: string][] = [
    ["a bomb of aliases", `kind: NodeIPPool\na0: &a0 [x]\n${bomb}\n`],
    ["10,000 lists deep", poolText(`  range: ${deep(10_000, "[", "]")}`)],
    ["10,000 lists deep, by indentation", `kind: NodeIPPool\nspec:\n  ${"- ".repeat(10_000)}1\n`],
    ["10,000 mappings deep", poolText(`  range: ${deep(10_000, "{a: ", "}")}`)],
    ["10,000 deep, in a policy", policy(`  desiredState: ${deep(10_000, "{a: ", "}")}`)],
    ["10,000 deep, in JSON", `{"kind": "NodeIPPool", "spec": ${deep(10_000, "[", "]")}}`],
    ["20,000 unknown fields", pool(times(20_000, (i) => `  k${i}: 1`))],
    ["20,000 fields in JSON", `{"kind": "NodeIPPool", ${times(20_000, (i) => `"k${i}": 1`, ",")}}`],
    ["20,000 wrong fields of a policy", policy(times(20_000, (i) => `  k${i}: 1`))],
    [
      "200 pools, and 10,000 captures of others",
      documentsOf(
        ...Array.from({ length: 200 }, (_, i) => poolText(undefined, `p${i}`)),
        policyText(`  capture:\n${times(10_000, (i) => `    a${i}: ippool.q${i}.allocate`)}`),
      ),
    ],
    ["many ambiguous words", pool(`  a: [${"on,".repeat(tries(50_000, 140_000))}]`)],
    [
      "4,000 captures, and 4,000 that are none",
      documentsOf(
        poolText(),
        policyText(
          `  capture:\n${times(4000, (i) => `    a${i}: ippool.p.allocate`)}\n  desiredState:\n    x: [${times(4000, (i) => `"{{ capture.b${i}.ip }}"`)}]`,
        ),
      ),
    ],
    ["more than 1 MiB", pool(`  gateway: "${"1".repeat(1 << 20)}"`)],
    ["an address of 900,000 digits", poolText(`  range: {cidr: "${"1".repeat(900_000)}"}`)],
    ["a number of 900,000 digits", poolText(`  range: {cidr: ${"1".repeat(900_000)}}`)],
    ["900,000 underscores", poolText(`  range: {cidr: 1${"_".repeat(30_000)}x}`)],
    ["a name of 900,000 letters", poolText(undefined, "a".repeat(900_000))],
    ["a network of 900,000 letters", pool(`  network: ${"a-".repeat(450_000)}`)],
    [
      "a capture name of 450 letters, which no record takes",
      documentsOf(poolText(), policyText(`  capture: {${"a".repeat(450)}: ippool.p.allocate}`)),
    ],
    [
      "a capture of 400,000 letters",
      documentsOf(poolText(), policyText(`  capture: {x: ippool.${"a.".repeat(200_000)}allocate}`)),
    ],
    ["a template of 600,000 braces", policy(`  desiredState: {a: "${"{{ ".repeat(200_000)}"}`)],
    ["numbers beyond all bounds", poolText("  range: {cidr: 1e400, start: -1e400, end: 99999999999999999999999}")],
    ["NUL", poolText(undefined, '"p\\0"')],
    ["a name with a path in it", poolText(undefined, '"../../etc/passwd"')],
    ["a name with shell in it", poolText(undefined, '"$(reboot); `id`"')],
    ["a name with markup in it", poolText(undefined, '"<script>alert(1)</script>"')],
  ];
  it.each(rows)("%s", (_, text) => {
    const issues = timed(() => issuesOf(text));
    expect(issues.length).toBeGreaterThan(0);
    expect(Math.max(...issues.map((issue) => issue.length))).toBeLessThan(1000);
  });
});

it("readManifests says a hundred issues of a document, and how many there are more", () => {
  const bad = pool(times(250, (i) => `  k${i}: 1`));
  const issues = issuesOf(documentsOf("kind: X\n", bad, poolText("  rang: {}", "q")));
  expect(issues).toHaveLength(103);
  expect(issues.slice(99, 102)).toEqual([
    "107:3 unknown field k99",
    "3:1 and 150 more in this document",
    expect.anything(),
  ]);
});

describe("readManifests reads in bounded time", () => {
  const rows: [what: string, text: string][] = [
    ["2,000 blank lines in a policy", policy(`  desiredState: {}${"\n".repeat(2000)}`)],
    ["a line of 50,000 blanks in a policy", policy(`  desiredState: {}\n${" ".repeat(50_000)}\n`)],
    ["2,000 pools", times(2000, (i) => poolText("  range: {cidr: 10.0.0.0/24}", `p${i}`), "---\n")],
    ["5,000 foreign documents", times(5000, () => "kind: X # Node\n", "---\n")],
    ["a foreign bomb of aliases", `kind: List\na0: &a0 [x]\n${bomb}\n`],
    ["a foreign document, 10,000 deep", `kind: X # Node\na: ${deep(10_000, "[", "]")}\n`],
    ["6,000 foreign fields", `kind: X # Node\n${times(6000, (i) => `k${i}: 1`)}\n`],
    ["a foreign document of 2 MiB", `kind: X # Node\na: ${"b".repeat(2 << 20)}\n`],
    ["30,000 lone carriage returns", "\r".repeat(30_000)],
    ["300,000 separators", "---\n".repeat(300_000)],
    ["600 deep, in a policy", policy(`  desiredState: ${deep(600, "{a: ", "}")}`)],
  ];
  it.each(rows)("%s", (_, text) => {
    expect(timed(() => issuesOf(text))).toEqual([]);
  });
});

it("Lists in Lists, 20,000 deep, are refused", () => {
  const text = `${'{"kind":"List","items":['.repeat(20_000)}{"kind":"NodeNetworkState"}${"]}".repeat(20_000)}`;
  expect(() => readEvidence({ path: "nns.json", text })).toThrow("Lists lie in Lists, more than 100 deep");
});

describe("readNodes, in bounded time,", () => {
  const refused: [what: string, text: string][] = [
    ["a bomb of aliases", `a0: &a0 [x]\n${bomb}\nnodes: *a30\n`],
    ["20,000 lists deep", deep(20_000, "[", "]")],
    ["20,000 mappings deep", deep(20_000, '{"nodes":', "}")],
    ["20,000 lists deep, by indentation", `${"- ".repeat(20_000)}n\n`],
    ["a name of 1,000,000 letters", "a".repeat(1_000_000)],
    ["__proto__ for a name", "__proto__"],
    ["a name with a terminal's commands in it", '["\\u001b[31m"]'],
  ];
  it.each(refused)("refuses %s", (_, text) => {
    expect(timed(() => issuesIn(() => nodesOf(text)))).not.toEqual([]);
  });

  it("says what is wrong with 100,000 brackets", () => {
    expect(issuesIn(() => nodesOf("[".repeat(100_000)))).toEqual([
      expect.stringMatching(/^nodes:1:\d+ this is nested too deep to be read$/),
    ]);
  });

  const taken: [what: string, text: string, count: number][] = [
    ["100,000 lines", times(100_000, (i) => `n${i}`), 100_000],
    ["30,000 blank lines", `n1${"\n".repeat(30_000)}n2\n`, 2],
    ["6,000 labels", `- name: n1\n  labels:\n${times(6000, (i) => `    k${i}: a`)}`, 1],
    ["labels of the names of prototypes", '[{"name": "n1", "labels": {"__proto__": "a", "constructor": "b"}}]', 1],
  ];
  it.each(taken)("reads %s", (_, text, count) => {
    expect(timed(() => nodesOf(text))).toHaveLength(count);
  });

  it("keeps a label __proto__ a label", () => {
    const [node] = nodesOf('[{"name": "n1", "labels": {"__proto__": "a"}}]');
    expect([...(node?.labels ?? [])]).toEqual([["__proto__", "a"]]);
  });
});
