import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { dataOf, exampleText } from "../../support/cli/metal3-infra.ts";
import { root } from "../../support/console.ts";
import { macvlanNetwork } from "../../support/objects/vm-objects.ts";
import { attachment } from "../../support/objects/whereabouts-objects.ts";
import { gate, workload } from "../../support/objects/workload-objects.ts";
import { monitorOfFile } from "../../support/pulumi/monitor-of-file.ts";
import { toyObjects } from "../../support/toy-integration.ts";

const { pool } = toyObjects;
const policy = (name: string, spec: object, more: object = {}) => ({
  apiVersion: "nmstate.io/v1",
  kind: "NodeNetworkConfigurationPolicy",
  metadata: { name },
  spec,
  ...more,
});
const asking = policy("a", {
  capture: { x: "ippool.office.allocate" },
  desiredState: { a: "{{ capture.x.ip }}" },
});

const monitor = monitorOfFile();
// Each test has a stack of its own.
beforeEach(() => monitor().stack.clear());

describe("the objects of Manifests", () => {
  const up = (...objects: object[]) =>
    monitor().up(join(root, "test/support/pulumi/manifests.ts"), { objects, nodes: ["n1"] });

  it("are replaced where they ask a pool; another one of the same kind and name is as it was", async () => {
    const namesake = policy("a", { b: 1 }, { apiVersion: "example.net/v1" });
    const { errors, outputs } = await up(pool, asking, namesake);
    expect(errors).toEqual([]);
    expect(outputs.objects).toMatchObject([
      { kind: "NodeIPPool", spec: { authority: "Plan" } },
      { metadata: { name: "a--n1" }, spec: { desiredState: { a: "10.0.0.1" } } },
      namesake,
    ]);
  });

  it("are refused, as a folder is, where one has the name of what is rendered, whatever its namespace", async () => {
    const selector = { nodeSelector: { "kubernetes.io/hostname": "n9" }, desiredState: { b: 1 } };
    for (const metadata of [{ name: "a--n1" }, { name: "a--n1", namespace: "x" }]) {
      const { errors } = await up(pool, asking, policy("a--n1", selector, { metadata }));
      expect(errors.join("\n")).toMatch(
        /NodeNetworkConfigurationPolicy \S*a--n1 is written by your own manifests and by NodeNetworkConfigurationPolicy a/,
      );
    }
  });
});

describe("networks with node slices in Manifests", () => {
  it("stay as they are, with their NodeSlicePool beside them", async () => {
    const net = attachment("net", { range: "fd00:1::/48", node_slice_size: "/64" });
    const args = { objects: [net, pool, asking], nodes: ["n1", "n2"] };
    const { errors, outputs } = await monitor().up(join(root, "test/support/pulumi/manifests.ts"), args);
    expect(errors).toEqual([]);
    const allocations = [
      { nodeName: "n1", sliceRange: "fd00:1::/64" },
      { nodeName: "n2", sliceRange: "fd00:1:0:1::/64" },
    ];
    expect(outputs.objects).toMatchObject([
      net,
      { kind: "NodeSlicePool", status: { allocations } },
      { kind: "NodeIPPool" },
      { metadata: { name: "a--n1" } },
      { metadata: { name: "a--n2" } },
    ]);
  });
});

describe("workloads in Manifests", () => {
  const up = (...objects: object[]) => monitor().up(join(root, "test/support/pulumi/manifests.ts"), { objects });
  const lan = { ...pool, metadata: { name: "lan" } };
  const spare = { ...pool, metadata: { name: "spare" }, spec: { range: { cidr: "10.9.0.0/24" } } };
  const pods = [
    workload("StatefulSet", "db", { replicas: 2 }, "red", {}),
    workload("Deployment", "web", { replicas: 1, strategy: { type: "Recreate" } }, "red", {}),
  ];

  it("have their ConfigMap before them, with the addresses of the set", async () => {
    const { errors, outputs } = await up(lan, spare, macvlanNetwork("red", "lan"), ...pods);
    expect(errors).toEqual([]);
    const told = (address: string) => `[{"name":"red","interface":"net1","ips":["${address}/29"]}]`;
    const labelled = (value: string) => ({ template: { metadata: { labels: { [gate]: value } } } });
    expect(outputs.objects).toMatchObject([
      { kind: "NodeIPPool" },
      { kind: "NodeIPPool" },
      { kind: "NetworkAttachmentDefinition" },
      { kind: "ConfigMap", data: { "db-0": told("10.0.0.2"), "db-1": told("10.0.0.3") } },
      { kind: "StatefulSet", spec: labelled("planned") },
      { kind: "ConfigMap", data: { 0: told("10.0.0.1") } },
      { kind: "Deployment", metadata: { labels: { [gate]: "planned" } }, spec: labelled("gated") },
    ]);
  });

  it("are refused where they have a choice of pools", async () => {
    const { errors } = await up(lan, spare, macvlanNetwork("red", "lan, spare"), ...pods);
    const said = "Manifests net: StatefulSet/default:db/0/net1 may ask pools lan, spare";
    expect(errors.join("\n")).toBe(`${said}\n  A Pulumi program needs one pool of a family for it.`);
  });

  it("are refused where no node reaches all of their networks", async () => {
    const [a, b] = [lan, spare].map((one, i) => ({
      ...one,
      spec: { ...one.spec, nodeAffinity: { matchLabels: { rack: `${i}` } } },
    }));
    const networks = [macvlanNetwork("red", "lan"), macvlanNetwork("blue", "spare")];
    const { errors } = await up(
      a as object,
      b as object,
      ...networks,
      workload("StatefulSet", "db", {}, "red, blue", {}),
    );
    expect(errors.join()).toContain("db/0/net1: none of its pools that have room is for the same nodes");
  });
});

describe("the hosts of a configuration in Manifests", () => {
  const up = (...objects: object[]) =>
    monitor().up(join(root, "test/support/pulumi/manifests.ts"), { objects, nodes: ["n1"] });

  it("are planned beside other objects, and its networks are pools of the set", async () => {
    const infra = dataOf(exampleText("seed.yaml")) as object;
    const { errors, outputs } = await up(infra, pool, asking);
    expect(errors).toEqual([]);
    expect(outputs.objects).toMatchObject([
      { kind: "Secret", stringData: { networkData: expect.stringContaining("ip_address: 192.168.0.10\n") } },
      { kind: "BareMetalHost", metadata: { name: "controllers-node-0" } },
      { kind: "Secret", stringData: { networkData: expect.stringContaining("ip_address: 192.168.1.11\n") } },
      { kind: "BareMetalHost", metadata: { name: "nodepool1-node-0" } },
      { kind: "NodeIPPool" },
      { metadata: { name: "a--n1" } },
    ]);
  });

  it("are refused where something in it is wrong, with the place, or a pool has the name of a network", async () => {
    const infra = dataOf(exampleText("seed.yaml")) as { controllers: object };
    const wrong = await up({ ...infra, controllers: { ...infra.controllers, replicas: 2 } });
    expect(wrong.errors.join("\n")).toMatch(/objects\[0\]:\d+:\d+: replicas is 2, and macMapping has 1 hosts/);
    const twice = await up(infra, { ...pool, metadata: { name: "net0" } });
    expect(twice.errors.join("\n")).toContain("pool net0 is defined twice");
  });
});
