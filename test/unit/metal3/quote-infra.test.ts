import { expect, it } from "vitest";
import { quoteInfra } from "../../../integrations/metal3/quote-infra.ts";
import { YamlDocument } from "../../../schema/yaml.ts";
import { exampleText } from "../../support/cli/metal3-infra.ts";

const parse = (text: string) => new YamlDocument({ file: "f", label: "f", text, line: 1, column: 0 });

it("I2, I3: YAML cannot read what the study shows; quoted it can, on the same lines", () => {
  const seed = exampleText("seed.yaml");
  expect(parse(seed).errors).toHaveLength(1);
  const text = quoteInfra(seed);
  expect(parse(text).errors).toEqual([]);
  const [before, after] = [seed.split("\n"), text.split("\n")];
  expect(after).toHaveLength(before.length);
  const changed = after.flatMap((line, i) => (line === before[i] ? [] : [`${i + 1} ${line.trim()}`]));
  expect(changed.slice(0, 4)).toEqual([
    '21 hostSelector: {metal3.io/controller: "true"}',
    `28 ip_netmask: "{{ ip['net0']}}"`,
    `32 next_hop: "{{ config['net0'].gateway}}"`,
    `33 dns_servers: "{{ config['net0'].dnsServers}}"`,
  ]);
  expect(changed).toHaveLength(10);
  expect(quoteInfra(text)).toBe(text);
});

it.each([
  ["- {{ ip['a'] }}", `- "{{ ip['a'] }}"`],
  ['x: {{ ip["a"] }} # why', `x: '{{ ip["a"] }}' # why`],
  ["x: {{ ip['a'] }}\r", `x: "{{ ip['a'] }}"\r`],
  [`x: {{ f('a', "b") }}`, `x: '{{ f(''a'', "b") }}'`],
  ["hostSelector: a.b/c: 'true'", 'hostSelector: {a.b/c: "true"}'],
  ["hostSelector: a: b # c", 'hostSelector: {a: "b"} # c'],
])("quotes %j", (line, expected) => {
  const text = quoteInfra(line);
  expect(text).toBe(expected);
  expect(parse(text).errors).toEqual([]);
});

it.each([
  `x: "{{ ip['a'] }}"`,
  "x: '{{ ip[\"a\"] }}'",
  "x: a {{ ip['a'] }}",
  "# x: {{ ip['a'] }}",
  "x: |\n  y: {{ ip['a'] }}",
  'hostSelector: {a: "true"}',
  "hostSelector:\n  a: b",
  "other: a: b",
])("leaves %j", (text) => {
  expect(quoteInfra(text)).toBe(text);
});
