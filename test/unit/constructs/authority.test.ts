import { describe, expect, it } from "vitest";
import { NodeIPPool, NodeNetworkPolicy, Nodes } from "../../../constructs/index.ts";
import {
  appOf,
  type Build,
  drift,
  nic,
  nothing,
  objectsByName,
  objectsOf,
  synthesised,
} from "../../support/cli/constructs-app.ts";

const range = { cidr: "10.0.0.0/24" };
const nncp = (name: string) => `NodeNetworkConfigurationPolicy/${name}`;
const nodes = Nodes.named("n1", "n2");

const cluster: Build = (chart) => {
  const pool = new NodeIPPool(chart, "p", { range, authority: "Cluster" });
  new NodeNetworkPolicy(chart, "a", {
    nodeSelector: { role: "worker" },
    maxUnavailable: "10%",
    metadata: { labels: { a: "b" } },
    desiredState: nic("eth1", pool.claim("eth1")),
  });
};

describe("authority Cluster", () => {
  it("emits the policy itself, parked, and plans nothing", () => {
    const [, policy] = synthesised(appOf(cluster, { record: nothing }));
    expect(policy).toMatchInlineSnapshot(`
      {
        "apiVersion": "nmstate.io/v1",
        "kind": "NodeNetworkConfigurationPolicy",
        "metadata": {
          "labels": {
            "a": "b",
          },
          "name": "a",
        },
        "spec": {
          "capture": {
            "eth1": "ippool.p.allocate",
          },
          "desiredState": {
            "interfaces": [
              {
                "ipv4": {
                  "address": [
                    {
                      "ip": "{{ capture.eth1.ip }}",
                      "prefix-length": "{{ capture.eth1.prefix-length }}",
                    },
                  ],
                  "dhcp": false,
                  "enabled": true,
                },
                "name": "eth1",
                "state": "up",
                "type": "ethernet",
              },
            ],
          },
          "maxUnavailable": "10%",
          "nodeSelector": {
            "nmstate.io/ippool-template": "parked",
            "role": "worker",
          },
        },
      }
    `);
  });

  it("needs no nodes, and takes no notice of them", async () => {
    const names = Object.keys(
      await objectsByName((chart) => {
        const pool = new NodeIPPool(chart, "p", { range, authority: "Cluster" });
        new NodeNetworkPolicy(chart, "a", { nodes, desiredState: nic("eth1", pool.claim("eth1")) });
      }),
    );
    expect(names).toEqual(["NodeIPPool/p", nncp("a")]);
  });
});

describe("a pool with a clusterRange", () => {
  const mixed =
    (nodesPerSyncWave?: number): Build =>
    (chart) => {
      const pool = new NodeIPPool(chart, "p", { range, clusterRange: { start: "10.0.0.1", end: "10.0.0.99" } });
      const waves = nodesPerSyncWave === undefined ? {} : { nodesPerSyncWave };
      new NodeNetworkPolicy(chart, "a", { nodes, ...waves, desiredState: nic("eth1", pool.claim("eth1")) });
    };

  it("gives known nodes literal policies from the rest, and later ones the parked policy", async () => {
    const objects = await objectsByName(mixed());
    expect(Object.keys(objects)).toEqual(["NodeIPPool/p", nncp("a--n1"), nncp("a--n2"), nncp("a")]);
    const address = objects[nncp("a--n1")].spec.desiredState.interfaces[0].ipv4.address;
    expect(address).toEqual([{ ip: "10.0.0.100", "prefix-length": 24 }]);
    expect(objects[nncp("a")].spec.capture).toEqual({ eth1: "ippool.p.allocate" });
    expect(objects[nncp("a")].spec.nodeSelector).toEqual({ "nmstate.io/ippool-template": "parked" });
  });

  it("puts the parked policy behind all waves: Argo CD waits for what only a controller makes healthy", async () => {
    const objects = await objectsOf(mixed(1));
    const waves = objects.map(({ metadata }) => Number(metadata.annotations?.["argocd.argoproj.io/sync-wave"] ?? 0));
    expect(waves).toEqual([0, 101, 102, 1_000_001]);
  });
});

describe("mixed authorities", () => {
  it("in one policy are refused", () => {
    const app = appOf(
      (chart) => {
        const ours = new NodeIPPool(chart, "p", { range });
        const theirs = new NodeIPPool(chart, "q", { range: { cidr: "10.1.0.0/24" }, authority: "Cluster" });
        new NodeNetworkPolicy(chart, "a", {
          nodes,
          desiredState: nic("eth1", ours.claim("a"), theirs.claim("b")),
        });
      },
      { record: nothing },
    );
    expect(
      drift(app),
    ).toBe(`[AddressPlan] network/a: spec.capture: policy a takes addresses from pools of authority Plan and Cluster
  Make two policies of it, one for each authority and each with NICs of its own.`);
  });

  it("in one app are fine", async () => {
    const objects = await objectsByName((chart, app) => {
      cluster(chart, app);
      const pool = new NodeIPPool(chart, "q", { range: { cidr: "10.1.0.0/24" } });
      new NodeNetworkPolicy(chart, "b", {
        nodes: Nodes.named("n1"),
        desiredState: nic("eth2", pool.claim("eth2")),
      });
    });
    expect(Object.keys(objects)).toEqual(["NodeIPPool/p", nncp("a"), "NodeIPPool/q", nncp("b--n1")]);
  });
});
