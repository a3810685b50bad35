import { expect, it } from "vitest";
import { emptySnapshot } from "../../../core/allocation.ts";
import { unwrap } from "../../../core/errors.ts";
import { nmstate } from "../../../integrations/nmstate/plan.ts";
import { readFolder } from "../../../pipeline/folder.ts";
import { documentsOf, nicPolicyText, nodesOf, policyText, poolText, sourcesOf } from "../../support/schema/text.ts";

const dns = (config: string) => `\n    dns-resolver: {config: ${config}}\n`;
const own = (name: string, nic: string, config: string, selector = "") =>
  nicPolicyText(name, ["p"], nic, selector).trimEnd() + dns(config);
const other = (name: string, config: string) => policyText(`  desiredState:${dns(config)}`, name);

const pool = poolText("  range: {cidr: 10.0.0.0/24}\n  gateway: 10.0.0.254");
const why = "a node has one resolver, and the policy applied last wins";
const servers = `policies a (10.0.0.53, 10.0.0.54) and b (10.0.0.55) set different DNS servers on Node/n1; ${why}`;

it.each<[string, readonly string[], string | undefined]>([
  [
    "two policies with other servers",
    [own("a", "eth1", "{server: [10.0.0.53, 10.0.0.54]}"), own("b", "eth2", "{server: [10.0.0.55]}")],
    servers,
  ],
  [
    "the same servers",
    [own("a", "eth1", "{server: [10.0.0.53]}"), own("b", "eth2", "{server: [10.0.0.53]}")],
    undefined,
  ],
  [
    "other search domains",
    [own("a", "eth1", "{search: [a.example]}"), own("b", "eth2", "{search: [b.example]}")],
    `policies a (a.example) and b (b.example) set different DNS search domains on Node/n1; ${why}`,
  ],
  [
    "servers of one, and search domains of the other",
    [own("a", "eth1", "{server: [10.0.0.53]}"), own("b", "eth2", "{search: [b.example]}")],
    undefined,
  ],
  [
    "servers that one removes",
    [own("a", "eth1", "{server: [10.0.0.53]}"), own("b", "eth2", "{}")],
    `policies a (10.0.0.53) and b (none) set different DNS servers on Node/n1; ${why}`,
  ],
  [
    "a policy with pools, and one without",
    [own("b", "eth1", "{server: [10.0.0.55]}"), other("a", "{server: [10.0.0.53, 10.0.0.54]}")],
    servers,
  ],
  ["two policies without pools", [other("a", "{server: [10.0.0.53]}"), other("b", "{server: [10.0.0.55]}")], undefined],
  [
    "servers that a capture gives",
    [own("a", "eth1", '{server: ["{{ capture.p.gateway }}"]}'), other("b", "{server: [10.0.0.55]}")],
    undefined,
  ],
  [
    "policies of other nodes",
    [
      own("a", "eth1", "{server: [10.0.0.53]}", "  nodeSelector: {kubernetes.io/hostname: n1}\n"),
      own("b", "eth1", "{server: [10.0.0.55]}", "  nodeSelector: {kubernetes.io/hostname: n2}\n"),
    ],
    undefined,
  ],
])("the resolver of a node has %s", (_, policies, expected) => {
  const manifests = readFolder(sourcesOf(documentsOf(pool, ...policies)));
  const facts = { nodes: nodesOf("n1\nn2"), pools: new Map(manifests.pools.map((pool) => [pool.name, pool])) };
  const model = unwrap(nmstate.read(manifests));
  const claims = nmstate.claims(model, facts);
  const found = nmstate.conflicts?.(model, facts, claims, { snapshot: emptySnapshot, set: "default" }) ?? [];
  expect(found.map(({ message }) => message)).toEqual(
    expected === undefined ? [] : [expect.stringContaining(expected)],
  );
});
