import { ApiObject, Chart, Lazy } from "cdk8s";
import { describe, expect, it } from "vitest";
import { type DesiredState, NodeIPPool, NodeNetworkPolicy, Nodes } from "../../../constructs/index.ts";
import {
  appOf,
  type Build,
  nic,
  nothing,
  objectsByName,
  objectsOf,
  recordAfter,
  refusal,
} from "../../support/cli/constructs-app.ts";

const nodes = Nodes.named("n1", "n2");
const v4 = { range: { cidr: "10.0.0.0/24" }, gateway: "10.0.0.1" };
const v6 = { range: { cidr: "fd00::/64" }, gateway: "fd00::1" };
const nncp = (name: string) => `NodeNetworkConfigurationPolicy/${name}`;

describe("NodeNetworkPolicy", () => {
  it("becomes one policy per node, with literal addresses of both families and routes over the gateways", async () => {
    const objects = await objectsOf((chart) => {
      const a = new NodeIPPool(chart, "a", v4).claim("eth1");
      const b = new NodeIPPool(chart, "b", v6).claim("eth1-v6");
      new NodeNetworkPolicy(chart, "static-ip", {
        nodes: Nodes.named("n1"),
        desiredState: {
          interfaces: [
            {
              name: "eth1",
              type: "ethernet",
              state: "up",
              ipv4: { enabled: true, dhcp: false, address: [a] },
              ipv6: { enabled: true, dhcp: false, autoconf: false, address: [b] },
            },
          ],
          routes: {
            config: [
              { destination: "0.0.0.0/0", "next-hop-address": a.gateway, "next-hop-interface": "eth1" },
              { destination: "::/0", "next-hop-address": b.gateway, "next-hop-interface": "eth1", source: b.ip },
            ],
          },
        },
      });
    });
    expect(objects.slice(2)).toMatchInlineSnapshot(`
      [
        {
          "apiVersion": "nmstate.io/v1",
          "kind": "NodeNetworkConfigurationPolicy",
          "metadata": {
            "labels": {
              "nodeippool.nmstate.io/node": "n1",
              "nodeippool.nmstate.io/policy": "static-ip",
            },
            "name": "static-ip--n1",
          },
          "spec": {
            "desiredState": {
              "interfaces": [
                {
                  "ipv4": {
                    "address": [
                      {
                        "ip": "10.0.0.2",
                        "prefix-length": 24,
                      },
                    ],
                    "dhcp": false,
                    "enabled": true,
                  },
                  "ipv6": {
                    "address": [
                      {
                        "ip": "fd00::2",
                        "prefix-length": 64,
                      },
                    ],
                    "autoconf": false,
                    "dhcp": false,
                    "enabled": true,
                  },
                  "name": "eth1",
                  "state": "up",
                  "type": "ethernet",
                },
              ],
              "routes": {
                "config": [
                  {
                    "destination": "0.0.0.0/0",
                    "next-hop-interface": "eth1",
                    "state": "absent",
                    "table-id": 254,
                  },
                  {
                    "destination": "::/0",
                    "next-hop-interface": "eth1",
                    "state": "absent",
                    "table-id": 254,
                  },
                  {
                    "destination": "0.0.0.0/0",
                    "next-hop-address": "10.0.0.1",
                    "next-hop-interface": "eth1",
                    "table-id": 254,
                  },
                  {
                    "destination": "::/0",
                    "next-hop-address": "fd00::1",
                    "next-hop-interface": "eth1",
                    "source": "fd00::2",
                    "table-id": 254,
                  },
                ],
              },
            },
            "nodeSelector": {
              "kubernetes.io/hostname": "n1",
            },
          },
        },
      ]
    `);
  });

  it("gives several NICs addresses of several pools, beside addresses of its own", async () => {
    const objects = await objectsByName((chart) => {
      const a = new NodeIPPool(chart, "a", v4);
      const b = new NodeIPPool(chart, "b", { range: { cidr: "10.1.0.0/24" } });
      new NodeNetworkPolicy(chart, "two", {
        nodes: Nodes.named("n1"),
        desiredState: {
          interfaces: [
            { name: "eth1", ipv4: { enabled: true, address: [a.claim("eth1"), a.claim("eth1-vip")] } },
            {
              name: "eth2",
              ipv4: { enabled: true, address: [b.claim("eth2"), { ip: "192.0.2.1", "prefix-length": 32 }] },
            },
          ],
        },
      });
    });
    const ips = objects[nncp("two--n1")].spec.desiredState.interfaces.map(
      (one: { ipv4: { address: unknown } }) => one.ipv4.address,
    );
    expect(ips).toEqual([
      [
        { ip: "10.0.0.2", "prefix-length": 24 },
        { ip: "10.0.0.3", "prefix-length": 24 },
      ],
      [
        { ip: "10.1.0.1", "prefix-length": 24 },
        { ip: "192.0.2.1", "prefix-length": 32 },
      ],
    ]);
  });

  it("leaves other captures to the handler", async () => {
    const objects = await objectsByName((chart) => {
      const pool = new NodeIPPool(chart, "p", v4);
      new NodeNetworkPolicy(chart, "a", {
        nodes: Nodes.named("n1"),
        capture: { primary: 'interfaces.name=="eth0"' },
        desiredState: {
          interfaces: [
            {
              name: "{{ capture.primary.interfaces.0.name }}",
              mtu: "{{ capture.primary.interfaces.0.mtu }}",
              ipv4: { enabled: true, address: [pool.claim("main")] },
            },
          ],
          routes: { config: "{{ capture.primary.routes.config }}" },
        },
      });
    });
    expect(objects[nncp("a--n1")].spec).toMatchInlineSnapshot(`
      {
        "capture": {
          "primary": "interfaces.name=="eth0"",
        },
        "desiredState": {
          "interfaces": [
            {
              "ipv4": {
                "address": [
                  {
                    "ip": "10.0.0.2",
                    "prefix-length": 24,
                  },
                ],
                "enabled": true,
              },
              "mtu": "{{ capture.primary.interfaces.0.mtu }}",
              "name": "{{ capture.primary.interfaces.0.name }}",
            },
          ],
          "routes": {
            "config": "{{ capture.primary.routes.config }}",
          },
        },
        "nodeSelector": {
          "kubernetes.io/hostname": "n1",
        },
      }
    `);
  });

  it("is for the nodes that its selector names", async () => {
    const labelled = Nodes.of(
      { name: "n1", labels: { "kubernetes.io/hostname": "n1.lan", role: "worker" } },
      { name: "n2", labels: { "kubernetes.io/hostname": "n2.lan", role: "master" } },
    );
    const objects = await objectsByName((chart) => {
      const pool = new NodeIPPool(chart, "p", v4);
      const desiredState = nic("eth1", pool.claim("eth1"));
      new NodeNetworkPolicy(chart, "a", { nodes: labelled, nodeSelector: { role: "worker" }, desiredState });
    });
    expect(Object.keys(objects)).toEqual(["NodeIPPool/p", nncp("a--n1")]);
    expect(objects[nncp("a--n1")].spec.nodeSelector).toEqual({ "kubernetes.io/hostname": "n1.lan" });
  });

  it("takes its name from metadata; labels and annotations go to every node's policy", async () => {
    const objects = await objectsByName((chart) => {
      const pool = new NodeIPPool(chart, "p", v4);
      const metadata = { name: "static", labels: { a: "b" }, annotations: { c: "d" } };
      new NodeNetworkPolicy(chart, "Policy", { nodes, metadata, desiredState: nic("eth1", pool.claim("eth1")) });
    });
    expect(objects[nncp("static--n2")].metadata).toEqual({
      name: "static--n2",
      labels: { a: "b", "nodeippool.nmstate.io/node": "n2", "nodeippool.nmstate.io/policy": "static" },
      annotations: { c: "d" },
    });
  });

  it("has the chart's labels, but not its namespace", async () => {
    const objects = await objectsByName((_, app) => {
      const chart = new Chart(app, "net", { namespace: "lan", labels: { team: "net" } });
      const pool = new NodeIPPool(chart, "p", v4);
      new NodeNetworkPolicy(chart, "a", { nodes, desiredState: nic("eth1", pool.claim("eth1")) });
      new NodeNetworkPolicy(chart, "plain", { desiredState: nic("eth2") });
      new ApiObject(chart, "theirs", { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "theirs" } });
    });
    const namespaces = Object.values(objects).map(({ metadata }) => metadata.namespace);
    expect(namespaces).toEqual([undefined, undefined, undefined, undefined, "lan"]);
    expect(Object.values(objects).map(({ metadata }) => metadata.labels.team)).toEqual(Array(5).fill("net"));
  });

  it("stays one policy where nothing comes from a pool and no nodes are named", async () => {
    const objects = await objectsOf((chart) => {
      new NodeNetworkPolicy(chart, "a", { nodeSelector: { role: "x" }, maxUnavailable: 2, desiredState: nic("eth1") });
    });
    expect(objects.map(({ metadata, spec }) => ({ metadata, spec }))).toEqual([
      {
        metadata: { name: "a" },
        spec: { nodeSelector: { role: "x" }, maxUnavailable: 2, desiredState: nic("eth1") },
      },
    ]);
  });

  it("takes what another construct of the app looks up", async () => {
    const objects = await objectsByName((chart) => {
      const pool = new NodeIPPool(chart, "p", v4);
      new NodeNetworkPolicy(chart, "a", { nodes, desiredState: nic("eth1", pool.claim("eth1")) });
      const vxlan = { id: 1, "base-iface": "eth1", remote: pool.addressOf("n1") };
      new NodeNetworkPolicy(chart, "tunnel", {
        nodes: Nodes.named("n2"),
        desiredState: { interfaces: [{ name: "vx1", type: "vxlan", state: "up", vxlan }] },
      });
    });
    expect(objects[nncp("tunnel--n2")].spec.desiredState.interfaces[0].vxlan.remote).toBe("10.0.0.2");
  });
});

describe("NodeNetworkPolicy refuses", () => {
  const policy =
    (desiredState: (pool: NodeIPPool) => unknown, more: object = {}): Build =>
    (chart) => {
      const pool = new NodeIPPool(chart, "p", { range: { cidr: "10.0.0.0/24" } });
      new NodeNetworkPolicy(chart, "a", { nodes, desiredState: desiredState(pool) as never, ...more });
    };
  const eth1 = (pool: NodeIPPool) => nic("eth1", pool.claim("eth1"));
  const interfacesOf = ({ interfaces = [] }: DesiredState) => interfaces;
  const holdsItself = () => {
    const state: Record<string, unknown> = {};
    return { description: Object.assign(state, { again: state }) };
  };

  it.each<[string, Build, RegExp]>([
    ["a name that is none", policy(eth1, { metadata: { name: "Static IP" } }), /^policy Static IP: metadata\.name/],
    ["a name longer than a label", policy(eth1, { metadata: { name: "a".repeat(64) } }), /63 characters/],
    ["names for nodes", policy(eth1, { nodes: ["n1"] as never }), /policy a: nodes is what Nodes\.named, /],
    ["a slip of the pen", policy(eth1, { nodesPerSyncwave: 1 } as never), /did you mean nodesPerSyncWave\?/],
    ["waves of no node", policy(eth1, { nodesPerSyncWave: 0 }), /nodesPerSyncWave must be a whole number above 0/],
    ["waves of half a node", policy(eth1, { nodesPerSyncWave: 1.5 }), /nodesPerSyncWave/],
    [
      "a claim named as a capture is",
      policy(eth1, { capture: { eth1: "interfaces" } }),
      /two claims or captures named/,
    ],
    [
      "one name for claims of two pools",
      (chart) => {
        const [p, q] = ["p", "q"].map((id, i) => new NodeIPPool(chart, id, { range: { cidr: `10.${i}.0.0/24` } }));
        const claims = [p, q].flatMap((pool) => pool?.claim("eth1") ?? []);
        new NodeNetworkPolicy(chart, "a", { nodes, desiredState: nic("eth1", ...claims) });
      },
      /two claims or captures named eth1[\s\S]*claim\("eth1-2"\)/,
    ],
    [
      "one claim on two NICs",
      policy((pool) => ({
        interfaces: ["eth1", "eth2"].map((name) => ({ name, ipv4: { address: [pool.claim("x")] } })),
      })),
      /x is one address, and interface eth1 has it already/,
    ],
    [
      "a claim's text among other text",
      policy((pool) => ({ ...eth1(pool), description: `at ${pool.claim("eth1").ip}` })),
      /desiredState\.description must be the claim's text alone/,
    ],
    [
      "values that cdk8s resolves later",
      policy(() => ({ interfaces: [{ name: Lazy.any({ produce: () => "eth1" }) }] })),
      /desiredState\.interfaces\[0\]\.name is a Lazy, not plain data/,
    ],
    [
      "a number that JSON has not",
      policy(() => ({ interfaces: [{ name: "eth1", mtu: Number.NaN }] })),
      /\[0\]\.mtu is NaN/,
    ],
    ["a function", policy(() => ({ description: () => "x" })), /description is \(\) => "x", not plain data/],
    ["a state that holds itself", policy(() => holdsItself()), /desiredState\.description\.again holds itself/],
    [
      "a claim's text as a key",
      policy((pool) => ({ ovn: { [pool.claim("eth1").ip]: 1 } })),
      /a claim is an address only inside its policy/,
    ],
    [
      "one NIC in two entries",
      policy((pool) => ({ interfaces: [...interfacesOf(eth1(pool)), { name: "eth1", mtu: 9000 }] })),
      /interface eth1 is listed twice, here and as interfaces\[0\]/,
    ],
    [
      "no chart to be in",
      (_, app) => new NodeNetworkPolicy(app, "a", { nodes, desiredState: nic("eth1") }),
      /a must be in a chart/,
    ],
    ["a capture that is not there", policy(() => nic("{{ capture.none.name }}")), /capture none is not defined/],
  ])("%s", (_, build, message) => {
    expect(refusal(() => appOf(build))).toMatch(message);
  });

  it.each<[string, Build, RegExp]>([
    [
      "a claim for an address list",
      policy((pool) => ({ interfaces: [{ name: "eth1", ipv4: { enabled: true, address: pool.claim("x") } }] })),
      /policy a: address of ipv4 is a list, and capture\.x stands there without one/,
    ],
    ["addresses without nodes", policy(eth1, { nodes: undefined }), /a takes addresses from pools, but has no nodes/],
    [
      "a pool of another app",
      (chart) => {
        let theirs: NodeIPPool | undefined;
        appOf((other) => {
          theirs = new NodeIPPool(other, "theirs", v4);
        });
        new NodeNetworkPolicy(chart, "a", { nodes, desiredState: eth1(theirs as NodeIPPool) });
      },
      /theirs/,
    ],
    [
      "a label to select by that bare nodes do not have",
      policy(eth1, { nodeSelector: { role: "worker" } }),
      /selects nodes by role, but only the name of n1 is known/,
    ],
    [
      "two policies of one NIC",
      (chart) => {
        const pool = new NodeIPPool(chart, "p", v4);
        for (const id of ["a", "b"]) new NodeNetworkPolicy(chart, id, { nodes, desiredState: eth1(pool) });
      },
      /policies a and b both set the IPv4 addresses of eth1/,
    ],
    [
      "two policies of one name",
      (chart) => {
        const pool = new NodeIPPool(chart, "p", v4);
        for (const name of ["n1", "n2"])
          new NodeNetworkPolicy(chart, name, {
            nodes: Nodes.named(name),
            metadata: { name: "a" },
            desiredState: eth1(pool),
          });
      },
      /NodeNetworkConfigurationPolicy a is written by network\/n1 and by network\/n2/,
    ],
    [
      "nodes of which two policies know different hostnames",
      (chart, app) => {
        policy(eth1)(chart, app);
        const labelled = Nodes.of({ name: "n1", labels: { "kubernetes.io/hostname": "n1.lan" } });
        new NodeNetworkPolicy(chart, "b", { nodes: labelled, desiredState: nic("eth2") });
      },
      /node n1 has the label kubernetes\.io\/hostname: n1, and elsewhere n1\.lan/,
    ],
    [
      "one hostname of two nodes, in two policies",
      (chart) => {
        const pool = new NodeIPPool(chart, "p", v4);
        for (const name of ["n1", "n2"])
          new NodeNetworkPolicy(chart, `on-${name}`, {
            nodes: Nodes.of({ name, labels: { "kubernetes.io/hostname": "localhost" } }),
            desiredState: eth1(pool),
          });
      },
      /nodes n1 and n2 have the same label kubernetes\.io\/hostname: localhost/,
    ],
    [
      "an address of the other family",
      policy((pool) => ({ interfaces: [{ name: "eth1", ipv6: { enabled: true, address: [pool.claim("x")] } }] })),
      /puts an address of pool p into ipv6, but the pool is IPv4/,
    ],
    [
      "an address that another policy writes out",
      (chart) => {
        const pool = new NodeIPPool(chart, "p", v4);
        new NodeNetworkPolicy(chart, "a", { nodes: Nodes.named("n1"), desiredState: eth1(pool) });
        const address = [{ ip: "10.0.0.2", "prefix-length": 24 }];
        const desiredState = { interfaces: [{ name: "eth9", ipv4: { enabled: true, address } }] };
        new NodeNetworkPolicy(chart, "hand", { nodeSelector: { "kubernetes.io/hostname": "n2" }, desiredState });
      },
      /10\.0\.0\.2 is used by Node\/n2 eth9, but recorded for Node\/n1\/a\/eth1/,
    ],
    [
      "more nodes than addresses",
      (chart) => {
        const pool = new NodeIPPool(chart, "p", { range: { cidr: "10.0.0.0/24", start: "10.0.0.1", end: "10.0.0.1" } });
        new NodeNetworkPolicy(chart, "a", { nodes, desiredState: eth1(pool) });
      },
      /p/,
    ],
  ])("at synthesis: %s", (_, build, message) => {
    expect(refusal(() => appOf(build, { record: nothing }).synthYaml())).toMatch(message);
  });

  it("the gateway of a pool without one, before anything is recorded", async () => {
    const config = (pool: NodeIPPool) => [{ destination: "0.0.0.0/0", "next-hop-address": pool.claim("eth1").gateway }];
    const build = policy((pool) => ({ ...eth1(pool), routes: { config: config(pool) } }));
    await expect(recordAfter(build)).rejects.toThrow(/pool p has no gateway/);
  });

  it.each<[string, Build, RegExp]>([
    [
      "a policy by hand that has the name of a node's",
      (chart, app) => {
        policy(eth1)(chart, app);
        const kind = "NodeNetworkConfigurationPolicy";
        new ApiObject(chart, "hand", { apiVersion: "nmstate.io/v1", kind, metadata: { name: "a--n2" } });
      },
      /NodeNetworkConfigurationPolicy a--n2 is written by network\/hand and by network\/a/,
    ],
  ])("with everything recorded: %s", async (_, build, message) => {
    await expect(objectsOf(build)).rejects.toThrow(message);
  });
});
