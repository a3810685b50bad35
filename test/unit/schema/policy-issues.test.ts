import { describe, expect, it } from "vitest";
import { issuesOf, policyText, poolText } from "../../support/schema/text.ts";

const six = poolText('  range: {cidr: "fd00::/64"}\n  gateway: "fd00::1"', "six");
const pools = { "pools.yaml": `${poolText()}---\n${six}` };

describe("readManifests places every issue of a policy's spec", () => {
  // The spec starts on line 5; pool p is defined elsewhere.
  const rows: [spec: string, ...issues: string[]][] = [
    ["  capture: {x: ippool.q.allocate}", "5:16 capture x asks for pool q, which is not defined; did you mean p?"],
    ["  capture: {x: ippool.traffic-1.allocate}", "5:16 capture x asks for pool traffic-1, which is not defined"],
    ["  capture: {x: ippool.p.alocate}", '5:16 unknown capture "ippool.p.alocate": did you mean "ippool.p.allocate"?'],
    ["  capture: {x: ippool.p}", '5:16 unknown capture "ippool.p": write "ippool.POOL.allocate"'],
    [
      "  capture: {x: IPPool.P.allocate}",
      '5:16 unknown capture "IPPool.P.allocate": did you mean "ippool.p.allocate"?',
    ],
    ["  capture: {x: ippool.P_1.allocate}", '5:16 unknown capture "ippool.P_1.allocate": write "ippool.POOL.allocate"'],
    [
      "  capture: {'1x': ippool.p.allocate}",
      "5:19 capture name 1x must be letters, digits and - and start with a letter",
    ],
    [
      "  capture: {x.b: ippool.p.allocate}",
      "5:18 capture name x.b must be letters, digits and - and start with a letter",
    ],
    ["  capture: {x: ippool.p.allocate, z: 5}", "5:38 z must be text; quote it"],
    [
      "  capture: {x: ippool.p.allocate}\n  nodeSelectr: {}\n  desiredstate: {}",
      "6:3 unknown field nodeSelectr; did you mean nodeSelector?",
      "7:3 unknown field desiredstate; did you mean desiredState?",
    ],
    [
      "  capture: {x: ippool.p.allocate}\n  nodeSelector: {a: true, b: 1}",
      "6:21 a must be text; quote it",
      "6:30 b must be text; quote it",
    ],
    [
      "  capture: {x: ippool.p.allocate}\n  nodeSelector:\n    matchLabels: {a: b}",
      "7:18 matchLabels must be text; quote it",
    ],
    ["  capture: {x: ippool.p.allocate}\n  nodeSelector: {matchLabels: 1}", "6:31 matchLabels must be text; quote it"],
    ["  capture: {x: ippool.p.allocate}\n  nodeSelector: [a]", "6:17 nodeSelector must be a mapping of text"],
    ...["101", "1e3", "~", "true", ""].map((name): [string, string] => [
      `  capture: {x: ippool.p.allocate}\n  desiredState: {interfaces: [{name: ${name}}]}`,
      expect.stringMatching(/^6:(?:38|37) name must be text; quote it$/) as never,
    ]),
    [
      "  capture: {x: ippool.p.allocate}\n  desiredState: {interfaces: [{name: b, controller: 1, bond: {port: [101, '102', true]}}], routes: {config: [{next-hop-interface: 101}]}}",
      "6:53 controller must be text; quote it",
      "6:70 a port must be text; quote it",
      "6:82 a port must be text; quote it",
      "6:131 next-hop-interface must be text; quote it",
    ],
    [
      "  capture: {x: ippool.p.allocate}\n  desiredState: {ovs-db: {external_ids: {name: 1}}, interfaces: [{name: '101', controller: ~}]}",
    ],
    [
      "  capture: {x: ippool.p.allocate}\n  desiredState: {interfaces: [{name: eth1}, {name: eth2}, {name: eth1}]}",
      "6:66 interface eth1 is listed twice, here and as interfaces[0]; make one entry of both",
    ],
    [
      '  capture: {x: ippool.p.allocate}\n  desiredState: {interfaces: [{name: ""}, {name: "eth1\\u200b"}]}',
      '6:38 the name of an interface cannot be printed: ""',
      expect.stringMatching(/^6:50 the name of an interface cannot be printed/) as unknown as string,
    ],
    [
      "  capture: {x: ippool.p.allocate}\n  desiredState: {interfaces: [{name: b, type: ovs-bridge}, {name: b, type: ovs-interface}]}",
    ],
    [
      '  capture: {x: ippool.p.allocate}\n  desiredState: {interfaces: [{name: a, ipv6: {address: [{ip: "{{ capture.x.ip }}"}]}}]}',
      "6:63 policy a puts an address of pool p into ipv6, but the pool is IPv4",
    ],
    [
      '  capture: {x: ippool.p.allocate}\n  desiredState: {interfaces: [{name: a, state: absent, ipv4: {address: [{ip: "{{ capture.x.ip }}"}]}}]}',
      "6:78 policy a puts an address of pool p where nmstate ignores it: beside state: absent",
    ],
    [
      '  capture: {x: ippool.p.allocate}\n  desiredState: {interfaces: [{name: a, ipv4: {enabled: false, address: [{ip: "{{ capture.x.ip }}"}]}}]}',
      "6:79 policy a puts an address of pool p where nmstate ignores it: beside enabled: false",
    ],
    ...(
      [
        ["name: a, ipv4: {", "may ignore it: without enabled it keeps the NIC's own setting"],
        ["name: a, state: ignore, ipv4: {enabled: true, ", "ignores it: beside state: ignore"],
        [
          "name: a, type: ovs-bridge, ipv4: {enabled: true, ",
          "ignores it: on type: ovs-bridge, not on its ovs-interface",
        ],
        [
          "name: br0, type: linux-bridge}, {name: a, controller: br0, ipv4: {enabled: true, ",
          "refuses it: a is a port of another interface there",
        ],
        ...[
          "link-aggregation: {port: [a]}",
          "bond: {port: [a]}",
          "bond: {ports: [a]}",
          "bond: {ports-config: [{name: a}]}",
          "bridge: {ports: [{name: a}]}",
          "bridge: {port: [{name: x, bond: {ports: [{name: a}]}}]}",
          "hsr: {port1: x, port2: a}",
        ].map(
          (section) =>
            [
              `name: b, type: bond, ${section}}, {name: a, ipv4: {enabled: true, `,
              "refuses it: a is a port of another interface there",
            ] as const,
        ),
      ] as const
    ).map(([before, says]): [string, string] => [
      `  capture: {x: ippool.p.allocate}\n  desiredState: {interfaces: [{${before}address: [{ip: "{{ capture.x.ip }}"}]}}]}`,
      expect.stringMatching(`^6:[0-9]+ policy a puts an address of pool p where nmstate ${says}$`) as never,
    ]),
    [
      '  capture: {x: ippool.p.allocate}\n  desiredState: {interfaces: [{name: b, type: ovs-interface, ipv4: {enabled: true, address: [{ip: "{{ capture.x.ip }}"}]}}, {name: b, type: ovs-bridge, bridge: {port: [{name: b}]}}]}',
    ],
    [
      '  capture: {x: ippool.p.allocate}\n  desiredState: {interfaces: [{name: v, type: vrf, vrf: {port: [a]}}, {name: a, controller: v, ipv4: {enabled: true, address: [{ip: "{{ capture.x.ip }}"}]}}]}',
    ],
    [
      '  capture: {x: ippool.p.allocate}\n  desiredState: {interfaces: [{name: a, ipv4: [{address: {ip: "{{ capture.x.ip }}"}}]}]}',
    ],
    ...["'32'", "0x20", "'0x20'", "'{{ capture.s.prefix-length }}'"].map((length): [string, string] => [
      `  capture: {x: ippool.p.allocate, s: ippool.six.allocate}\n  desiredState: {interfaces: [{name: a, ipv4: {enabled: true, address: [{ip: "{{ capture.x.ip }}", prefix-length: ${length}}]}}]}`,
      `6:78 policy a gives an address of pool p the prefix length ${length.includes("s.") ? 64 : 32}, but the pool has /24`,
    ]),
    [
      "  capture: {x: ippool.p.allocate}\n  desiredState: {interfaces: [{name: a, ipv6: {dhcp: tr, enabled: 'yes'}}, {name: b, ipv4: {enabled: }}, {name: c, ipv4: }]}",
      "6:54 dhcp must be true or false",
      "6:102 enabled has no value",
      "6:122 ipv4 has no value",
    ],
    [
      '  capture: {x: ippool.p.allocate}\n  desiredState: {interfaces: [{name: a, ipv4: {enabled: "off", address: [{ip: "{{ capture.x.ip }}"}]}}]}',
      "6:79 policy a puts an address of pool p where nmstate ignores it: beside enabled: false",
    ],
    [
      '  capture: {x: ippool.p.allocate}\n  desiredState: {interfaces: [{name: a, ipv4: {enabled: true, dhcp: true, address: [{ip: "{{ capture.x.ip }}"}]}}]}',
    ],
  ];
  it.each(rows)("%j", (spec, ...issues) => {
    expect(issuesOf({ "f.yaml": policyText(spec), ...pools })).toEqual(issues);
  });
});

describe("readManifests passes no policy on whose only allocation is misspelt", () => {
  const meant = 'did you mean "ippool.p.allocate"?';
  it.each([
    ["ipool.p.allocate", meant],
    ["ippools.p.allocate", meant],
    ["ip-pool.p.allocate", meant],
    ["p.allocate", 'write "ippool.POOL.allocate"'],
  ])("%s", (expression, what) => {
    const text = policyText(`  capture: {x: ${expression}}`);
    expect(issuesOf({ "f.yaml": text, ...pools })).toEqual([`5:16 unknown capture "${expression}": ${what}`]);
  });

  it("and says nothing of the places that use it: the capture is there", () => {
    const text = policyText(
      `  capture: {x: ippool.p.alocate, z: 5}\n  desiredState: {a: "{{ capture.x.ip }}", b: "{{ capture.z.ip }}"}`,
    );
    expect(issuesOf({ "f.yaml": text, ...pools })).toEqual([
      "5:37 z must be text; quote it",
      `5:16 unknown capture "ippool.p.alocate": ${meant}`,
    ]);
  });
});

describe("readManifests places every issue of a policy as an object", () => {
  const head = "apiVersion: nmstate.io/v1\nkind: NodeNetworkConfigurationPolicy\n";
  const spec = "spec: {capture: {x: ippool.p.allocate}}\n";
  const rows: [text: string, ...issues: string[]][] = [
    [`${head}${spec}`, "1:1 metadata.name is missing"],
    [
      `${head}metadata: {name: A}\n${spec}`,
      '3:18 metadata.name "A" is no name: lower case letters, digits, - and . only',
    ],
    [
      `${head}metadata: {name: ${"a".repeat(64)}}\n${spec}`,
      "3:18 metadata.name is longer than the 63 characters of a label value",
    ],
    [
      `${head}metadata: {name: a, labels: {b: 1}, annotations: [c]}\n${spec}`,
      "3:33 b must be text; quote it",
      "3:50 annotations must be a mapping of text",
    ],
    [
      `apiVersion: nmstate.io/v2\nkind: NodeNetworkConfigurationPolicy\nmetadata: {name: a}\n${spec}`,
      "1:13 apiVersion must be nmstate.io/v1 or nmstate.io/v1beta1",
    ],
    [
      `${head}metadata: {name: a}\ncapture: {x: ippool.p.allocate}\ndesiredState: {a: "{{ capture.z.ip }}"}\nnodeSelector: {}\n`,
      "4:10 capture belongs under spec",
      "5:15 desiredState belongs under spec",
      "6:15 nodeSelector belongs under spec",
      "5:19 capture z is not defined; did you mean x?",
    ],
  ];
  it.each(rows)("%j", (text, ...issues) => {
    expect(issuesOf({ "f.yaml": text, ...pools })).toEqual(issues);
  });

  it("nmstate.io/v1beta1 is a policy too", () => {
    const text = policyText("  capture: {x: ippool.p.allocate}").replace("nmstate.io/v1", "nmstate.io/v1beta1");
    expect(issuesOf({ "f.yaml": text, ...pools })).toEqual([]);
  });
});

describe("readManifests names all issues of all documents at once", () => {
  it("of several files and documents", () => {
    const bad = poolText("  range: {cidr: 10.0.0.0/33}", "q");
    expect(
      issuesOf({
        "a.yaml": `${bad}---\n${poolText("  range: {cidr: 10.0.1.0/24, strat: 10.0.1.1}", "r")}`,
        "b.yaml": policyText("  capture: {x: ippool.q.allocate, z: ippool.s.allocate}\n  desiredState: {a: '{{ }}'}"),
        "c.yaml": poolText("  range: {cidr: [}", "t"),
        "d.yaml": policyText("  capture: {u: ippool.r.allocate}", "d"),
      }),
    ).toEqual([
      'a.yaml:5:17 "10.0.0.0/33" has a prefix length that is not a number from 0 to 32',
      "a.yaml:11:30 unknown field strat; did you mean start?",
      "c.yaml:5:18 Flow sequence in block collection must be sufficiently indented and end with a ]",
      'b.yaml:6:21 {{ }}: a template is the whole value, with one blank inside the braces: "{{ capture.NAME.ip }}"',
    ]);
  });

  it("a pool that is wrong is defined all the same: its policies are not blamed", () => {
    const broken = poolText("  range: {cidr: nonsense}");
    expect(issuesOf(`${broken}---\n${policyText("  capture: {x: ippool.p.allocate}")}`)).toHaveLength(1);
  });

  it("where a document cannot be read, its pools are not missed elsewhere", () => {
    const twice = `${poolText()}${poolText("  range: {cidr: 10.0.1.0/24}", "q")}`;
    expect(issuesOf({ "f.yaml": twice, "g.yaml": policyText("  capture: {x: ippool.p.allocate}") })).toEqual([
      "6:1 this key stands here a second time",
    ]);
  });

  it("a file that git left in the middle of a merge, and nothing else of it", () => {
    const [ours, theirs] = [poolText(), poolText("  range: {cidr: 10.0.1.0/24}")];
    const text = `# pools\n<<<<<<< HEAD\n${ours}=======\n${theirs}>>>>>>> main\n`;
    expect(issuesOf({ "f.yaml": text, "g.yaml": policyText("  capture: {x: ippool.p.allocate}") })).toEqual([
      "2:1 f.yaml has merge conflict markers",
    ]);
    const foreign = "kind: ConfigMap\ndata: |\n <<<<<<< HEAD\n =======\n >>>>>>> main\n";
    expect(issuesOf({ "f.yaml": `${poolText()}---\n${foreign}`, "h.yaml": foreign })).toEqual([]);
  });

  it("a name used twice, of a pool and of a policy, in one file and in two", () => {
    const policy = policyText("  capture: {x: ippool.p.allocate}");
    expect(issuesOf({ "f.yaml": `${poolText()}---\n${poolText()}---\n${policy}`, "g.yaml": policy })).toEqual([
      "9:18 NodeIPPool p is defined twice, here and in f.yaml:3:18",
      "g.yaml:3:18 NodeNetworkConfigurationPolicy a is defined twice, here and in f.yaml:15:18",
    ]);
  });
});
