import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { expandPolicy } from "../../../integrations/nmstate/expand.ts";
import type { Policy } from "../../../integrations/nmstate/policy.ts";
import type { ClusterNode } from "../../../schema/node.ts";
import { poolOf } from "../../support/core/text.ts";
import { type Manifest, policiesOf, rendered } from "../../support/schema/render.ts";
import { documentsOf, nicPolicyText, nodesOf, policyText, poolText, read } from "../../support/schema/text.ts";

const pools = documentsOf(
  poolText("  range: {cidr: 10.0.0.0/26}\n  gateway: 10.0.0.1"),
  poolText("  range: {cidr: 2001:db8::/64, start: 2001:db8::000F}\n  gateway: 2001:DB8:0::1", "six"),
);
const child = async (policy: string, node = "n1") =>
  (await policiesOf({ manifests: documentsOf(pools, policy), nodes: node })).get(`a--${node.split(" ")[0]}`);
const state = async (desiredState: string, captures = "x: ippool.p.allocate, six: ippool.six.allocate") =>
  (await child(policyText(`  capture: {${captures}}\n  desiredState: ${desiredState}`))).spec.desiredState;

describe("a node's own policy", () => {
  it("is what the user wrote, with the node's hostname label and literal addresses", async () => {
    const policy = nicPolicyText("a", ["p"], "eth1", "  nodeSelector: {role: worker}\n  maxUnavailable: 3\n");
    expect(await child(policy, "n1 kubernetes.io/hostname=n1.example.net,role=worker")).toEqual({
      apiVersion: "nmstate.io/v1",
      kind: "NodeNetworkConfigurationPolicy",
      metadata: {
        name: "a--n1",
        labels: { "nodeippool.nmstate.io/policy": "a", "nodeippool.nmstate.io/node": "n1" },
      },
      spec: {
        nodeSelector: { "kubernetes.io/hostname": "n1.example.net" },
        desiredState: {
          interfaces: [
            {
              name: "eth1",
              type: "ethernet",
              state: "up",
              ipv4: { enabled: true, dhcp: false, address: [{ ip: "10.0.0.2", "prefix-length": 26 }] },
            },
          ],
        },
      },
    });
  });

  it("keeps apiVersion, other captures and all references to them", async () => {
    const text = policyText(`  capture:
    x: ippool.p.allocate
    up: interfaces.name=="eth0"
    gw: routes.running.destination=="0.0.0.0/0"
    base: capture.gw | interfaces.name==capture.up.interfaces.0.name
  desiredState:
    a: "{{ capture.base.interfaces.0.name }}"
    b: "{{ capture.x.ip }}"`).replace("nmstate.io/v1", "nmstate.io/v1beta1");
    expect(await child(text)).toMatchObject({
      apiVersion: "nmstate.io/v1beta1",
      spec: {
        capture: {
          up: 'interfaces.name=="eth0"',
          gw: 'routes.running.destination=="0.0.0.0/0"',
          base: "capture.gw | interfaces.name==capture.up.interfaces.0.name",
        },
        desiredState: { a: "{{ capture.base.interfaces.0.name }}", b: "10.0.0.2" },
      },
    });
  });

  it("has no capture where all were allocations: a stock handler refuses ippool captures", async () => {
    expect(await child(nicPolicyText("a"))).not.toHaveProperty("spec.capture");
  });
});

describe("references become values of their own type", () => {
  it.each([
    ['{a: "{{ capture.x.ip }}"}', { a: "10.0.0.2" }],
    ['{a: "{{ capture.x.prefix-length }}"}', { a: 26 }],
    ['{a: "{{ capture.x.gateway }}"}', { a: "10.0.0.1" }],
    ['{a: "{{ capture.six.ip }}"}', { a: "2001:db8::f" }],
    ['{a: "{{ capture.six.prefix-length }}"}', { a: 64 }],
    ['{a: "{{ capture.six.gateway }}"}', { a: "2001:db8::1" }],
    ['[["{{ capture.x.ip }}"], {b: {c: "{{ capture.x.ip }}"}}]', [["10.0.0.2"], { b: { c: "10.0.0.2" } }]],
  ])("%s", async (desiredState, expected) => {
    expect(await state(desiredState)).toEqual(expected);
  });

  it("in the text too: numbers bare, addresses not quoted into something else", async () => {
    const { "f.yaml": text = "" } = await rendered({
      manifests: documentsOf(pools, nicPolicyText("a", ["p", "six"])),
      nodes: "n1",
    });
    expect(text).toMatch(/ip: 10\.0\.0\.2\n +prefix-length: 26\n/);
    expect(text).toMatch(/ip: "?2001:db8::f"?\n +prefix-length: 64\n/);
  });
});

describe("data without references stays as it was", () => {
  it.each([
    '{mac: "11:22:33:44:55:10", octal: "0644", old: "0o17", hex: "0X1F", under: "6e_2", less: "-_4_", word: "on", big: "1_000", nil: "null", sexa: "190:20:30"}',
    '{num: 0, m: -1, f: 1.5, t: true, e: "", z: null, deep: [[], {}, [{}]]}',
    '{"key with blanks": 1, "on": 2, "10": 3, "-": 4, "": 5, "a: b": 6, "{{ capture.x.ip }}": 7}',
    '{text: "a\\nb\\n", tab: "\\t", quote: "\'\\"", hash: "# no", colon: "a: b", dash: "- a", long: "'.concat(
      "word ".repeat(60),
      '"}',
    ),
    '{brace: "{ x }", "{{": "}}", constructor: {toString: a}, "__proto": 1}',
  ])("%s", async (desiredState) => {
    const both = await rendered({
      manifests: documentsOf(pools, policyText(`  capture: {x: ippool.p.allocate}\n  desiredState: ${desiredState}`)),
      nodes: "n1",
    });
    const text = both["f.yaml"]?.split("---\n").at(-1) ?? "";
    for (const version of ["1.1", "1.2"] as const)
      expect((parse(text, { version }) as Manifest).spec.desiredState).toEqual(parse(desiredState));
  });

  it("a MAC address and a word keep their quotes for readers of YAML 1.1", async () => {
    const { "f.yaml": text = "" } = await rendered({
      manifests: documentsOf(
        pools,
        policyText('  capture: {x: ippool.p.allocate}\n  desiredState: {mac: "11:22:33:44:55:10", a: "on", b: "0644"}'),
      ),
      nodes: "n1",
    });
    for (const line of ['mac: "11:22:33:44:55:10"', 'a: "on"', 'b: "0644"']) expect(text).toContain(`    ${line}\n`);
  });
});

describe("a gateway that the pool does not have", () => {
  it("is invalid, naming policy, capture and pool", async () => {
    const manifests = documentsOf(
      poolText(),
      policyText('  capture: {x: ippool.p.allocate}\n  desiredState: {a: "{{ capture.x.gateway }}"}'),
    );
    await expect(rendered({ manifests, nodes: "n1" })).rejects.toMatchObject({
      code: "invalid",
      message: expect.stringMatching(/\ba\b.*capture\.x\.gateway.*pool p has no gateway/),
    });
  });
});

describe("a next hop that no host can have", () => {
  it("is invalid, naming policy and subnet", async () => {
    const route = "{destination: 0.0.0.0/0, next-hop-interface: eth1, next-hop-address: 10.0.0.255}";
    const manifests = documentsOf(
      poolText(),
      policyText(`  capture: {x: ippool.p.allocate}\n  desiredState: {routes: {config: [${route}]}}`),
    );
    await expect(rendered({ manifests, nodes: "n1" })).rejects.toMatchObject({
      code: "invalid",
      message: expect.stringMatching(/policy a: next hop 10\.0\.0\.255 is the broadcast address of 10\.0\.0\.0\/24/),
    });
  });
});

describe("a child of a policy alone, which nobody has held against its pools", () => {
  it("is invalid where a pool does not have what the policy asks for", () => {
    const pool = poolOf("p", "10.0.0.0/26");
    const text = policyText('  capture: {x: ippool.p.allocate}\n  desiredState: {a: "{{ capture.x.gateway }}"}');
    const [policy] = read(documentsOf(poolText("  range: {cidr: 10.0.0.0/26}\n  gateway: 10.0.0.1"), text))
      .policies as [Policy];
    const addresses = new Map([["x", { address: pool.start, pool }]]);
    const [node] = nodesOf("n1") as [ClusterNode];
    expect(() => expandPolicy({ policy, node, addresses, releasing: [] })).toThrow(
      expect.objectContaining({ code: "invalid", message: "capture.x.gateway: pool p has no gateway" }),
    );
  });
});
