import { join } from "node:path";
import * as pulumi from "@pulumi/pulumi";
import { beforeEach, describe, expect, it } from "vitest";
import { checkArgs } from "../../../provider/check-args.ts";
import { refuseShared } from "../../../provider/pools-of-program.ts";
import { dataOf, exampleText } from "../../support/cli/metal3-infra.ts";
import { root } from "../../support/console.ts";
import { macvlanNetwork } from "../../support/objects/vm-objects.ts";
import { attachment } from "../../support/objects/whereabouts-objects.ts";
import { gate, workload } from "../../support/objects/workload-objects.ts";
import { monitorOfFile } from "../../support/pulumi/monitor-of-file.ts";
import { previewIsUp } from "../../support/pulumi/previews.ts";
import { firstText } from "../../support/pulumi/provider.ts";
import { inScratchFolder } from "../../support/state/folder.ts";
import { toyObjects } from "../../support/toy-integration.ts";

inScratchFolder();
const monitor = monitorOfFile();
// Each test has a stack of its own.
beforeEach(() => monitor().stack.clear());

// Whole programs with the SDK's real serialisation and host, against a small stand-in for the engine: pulumi-monitor.ts
// says what that does not emulate, which is most of what an engine does; see test/pulumi.
describe("programs", () => {
  const example = join(root, "examples/pulumi/index.ts");
  const sets = join(root, "test/support/pulumi/sets.ts");
  const pools = { lan: { range: { cidr: "10.0.0.0/24", end: "10.0.0.3" } } };
  const claims = (...names: string[]) =>
    names.map((name) => ({ owner: { kind: "Node", name }, name: "eth1", pool: "lan" }));

  it("know in preview what up commits, and nothing changes after that", async () => {
    const preview = await monitor().preview(example);
    expect(preview).toMatchObject({ errors: [], outputs: { node01: "10.10.10.1" } });
    expect(monitor().stack.size).toBe(0);
    expect(await monitor().up(example)).toEqual(preview);
    const before = [...monitor().stack];
    expect(await monitor().up(example)).toEqual(preview);
    expect([...monitor().stack]).toEqual(before);
  });

  it("have the provider's text in them as every other program has", () => {
    expect([...monitor().texts]).toEqual([firstText]);
  });

  it("end with all mistakes of a set, in preview and up alike", async () => {
    const bad = [
      { name: "bad", pools, claims: [...claims("a", "b", "c", "d", "a"), { ...claims("e")[0], pool: "lam" }] },
    ];
    for (const run of [await monitor().preview(sets, bad), await monitor().up(sets, bad)])
      expect(run.log).toEqual([
        "invalid: claims[4]: Node/a/eth1 in pool lan: claims[0] claims the same",
        "invalid: claims[5]: Node/e/eth1 in pool lam: the set has no such pool; did you mean lan?",
      ]);
    const many = [{ name: "many", pools, claims: claims("a", "b", "c", "d") }];
    for (const run of [await monitor().preview(sets, many), await monitor().up(sets, many)])
      expect(run.log).toEqual([
        expect.stringMatching(/^exhausted: claims\[3\]: pool lan is exhausted: 4 needed, 3 free/),
      ]);
  });

  it("are refused a second set on a pool, and a pool of a second set with the same addresses", async () => {
    const twice = [
      { name: "a", pools, claims: [] },
      { name: "b", pools, claims: [] },
    ];
    const { errors } = await monitor().preview(sets, twice);
    expect(errors).toEqual(["pool lan is in two allocation sets, a and b: put all its claims into one"]);
    const shared = [
      { name: "a", pools, claims: [] },
      { name: "b", pools: { wan: pools.lan }, claims: [] },
    ];
    expect((await monitor().preview(sets, shared)).errors).toEqual([
      expect.stringMatching(/^allocation sets a and b: pools lan and wan of network default share addresses/),
    ]);
  });

  it("are refused that also where both sets have one name, below different parents", async () => {
    const shared = [
      { name: "ips", inside: "Lan", pools, claims: claims("a") },
      { name: "ips", inside: "Wan", pools: { wan: pools.lan }, claims: [] },
    ];
    expect((await monitor().preview(sets, shared)).errors).toEqual([
      expect.stringMatching(/^allocation sets ips and ips: pools lan and wan of network default share addresses/),
    ]);
  });

  const lock = (path: string) => ({ backend: "lockfile", path }) as const;
  const cluster = (namespace?: string, context?: string) =>
    ({ backend: "kubernetes", ...(namespace && { namespace }), ...(context && { context }) }) as const;
  it.each([
    [lock("nodeippool.lock"), lock("./nodeippool.lock"), true],
    [lock("nodeippool.lock"), lock("other.lock"), false],
    [cluster("network"), cluster("network"), true],
    [cluster("network"), cluster("network", "test"), true],
    [cluster("network"), cluster(), true],
    [cluster("network"), cluster("other"), false],
    [cluster("network"), lock("network"), false],
  ])("are refused one claim set twice in what may be one record: %j and %j: %j", (one, other, isRefused) => {
    const [a, b] = [one, other].map((state, i) => ({ name: "ab"[i] as string, pools: [], state, set: "shop" }));
    const go = () => refuseShared(a as never, b as never);
    const says =
      'allocation sets a and b have one record, and are set "shop" of it both: give one of them another name there';
    if (isRefused) expect(go).toThrow(says);
    else expect(go).not.toThrow();
  });

  it("are refused one claim set twice in a lock", async () => {
    const state = lock(join(process.cwd(), "nodeippool.lock"));
    const twice = [
      { name: "a", pools, claims: [], state },
      { name: "b", pools: {}, claims: [], state },
    ];
    expect((await monitor().preview(sets, twice)).errors).toEqual([
      expect.stringContaining('allocation sets a and b have one record, and are set "default" of it both'),
    ]);
  });

  it.each([
    [{ claims: [{ ...claims("a")[0], adress: "10.0.0.3" }] }, "claims[0]: unknown field adress; did you mean address?"],
    [{ claims: ["a"] }, "claims[0] must be an object with owner, name, pool, id, address, interface"],
    [{ state: { backend: "kubernetes", token: "t" } }, "state: unknown field token"],
    [{ state: { backend: "kubernetes", set: "shop" } }, "state: unknown field set"],
    [{ state: { backend: "kubernets" } }, "state.backend: no such backend; did you mean kubernetes?"],
    [{ state: { backend: "lockfile" } }, "state.path is missing"],
    [{ state: { backend: "kubernetes", namespace: "" } }, "state has an empty text"],
    [
      { claims: [{ name: "eth1", pool: "lan", owner: "a" }] },
      "claims[0].owner must be an object with kind, namespace, name",
    ],
    [{ claims: claims("a/b") }, "claims[0].owner.name must be letters, digits, -, . and _"],
    [
      { claims: [{ ...claims("a")[0], owner: { kind: "Virtual Machine", name: "a" } }] },
      "claims[0].owner.kind must be letters and digits, beginning with a letter",
    ],
    [{ pools: { [`${"the"}n`]: pools.lan } }, "pools.then: what has this name cannot be read from an output"],
    [{ claims: [{ ...claims("a")[0], name: 1 }] }, "claims[0].name must be text"],
    [
      { claims: [{ ...claims("a")[0], owner: { kind: "node", name: "a" } }] },
      "claims[0].owner.kind must be letters and digits, beginning with a letter; Node for a node",
    ],
    [{ claims: [{ ...claims("a")[0], owner: { name: "a" } }] }, "claims[0].owner.kind must be letters and digits"],
    [{ claims: "Node/a" }, "claims must be a list"],
    [{ claims: [{ ...claims("a")[0], id: "w1" }] }, 'claims[0].id must be Kind/name, as in "Node/worker-1"'],
    [{ claims: [{ ...claims("a")[0], address: null }] }, "claims[0].address must be text"],
    [
      { claims: [{ ...claims("a")[0], id: "Node/w", owner: { kind: "Node", name: ["a"] } }] },
      "claims[0].owner.name must be letters, digits, -, . and _",
    ],
    [{ state: { backend: "lockfile", path: 5 } }, "state.path must be text"],
    [{ moved: [{ from: "Node/a/eth1", to: "Node/b/eth1", x: 1 }] }, "moved must be a list of { from, to }"],
    [{ claims: undefined }, "claims must be a list of claims"],
    [{ claims: [{ ...claims("a")[0], interface: 5 }] }, "claims[0].interface must be text"],
    [{ claims: [{ ...claims("a")[0], id: null }] }, 'claims[0].id must be Kind/name, as in "Node/worker-1"'],
    [{ set: null }, 'set must be a name, as in set: "shop"'],
    [{ set: "" }, 'set must be a name, as in set: "shop"'],
    [{ allowMove: "false" }, "allowMove must be true or false"],
    [{ state: null }, 'state must be an object, as { backend: "lockfile", path: "nodeippool.lock" }'],
    [{ release: "Node/a" }, "release must be a list of texts"],
    [{ moved: [{ form: "Node/a/eth1", to: "Node/b/eth1" }] }, "moved must be a list of { from, to }, each a claim key"],
    [{ moved: [null] }, "moved must be a list of { from, to }, each a claim key"],
    [
      { claims: [{ ...claims("a")[0], owner: { kind: "Node", name: 5 }, id: "Node/x" }] },
      "claims[0].owner.name must be letters, digits, -, . and _",
    ],
    [{ releases: [] }, "unknown field releases; did you mean release?"],
    [
      { pools: { apply: pools.lan } },
      "pools.apply: what has this name cannot be read from an output; give it another one",
    ],
    [{ opts: { ignoreChanges: ["pools"] } }, "ignoreChanges would plan addresses that the program does not ask for"],
    [{ opts: { import: "x" } }, "there is nothing to import: the set finds what its record has"],
  ])("are refused %j", async (wrong, says) => {
    const { errors } = await monitor().preview(sets, [{ name: "ips", pools, claims: [], ...wrong }] as never);
    expect(errors).toEqual([expect.stringContaining(`allocation set ips: ${says}`)]);
  });

  it.each([
    [new Map(), "pools must be a plain object"],
    [{ lan: undefined }, "pools.lan is missing"],
  ])("are refused pools of another shape: %j", (wrong, says) => {
    expect(() => checkArgs("ips", { pools: wrong as never, claims: [] }, {})).toThrow(`allocation set ips: ${says}`);
  });

  it.each([
    ["pools.lan", pulumi.output(pools.lan)],
    ["pools.lan.range.cidr", { range: { cidr: pulumi.output("10.0.0.0/24") } }],
    ["pools.lan.range.cidr", { range: { cidr: pulumi.secret("10.0.0.0/24") } }],
    ["pools.lan.range.cidr", { range: { cidr: Promise.resolve("10.0.0.0/24") } }],
    ["pools.lan.range.excludes[1].start", { range: { excludes: [{}, { start: pulumi.output("10.0.0.9") }] } }],
  ])("are refused outputs in pools: the sets could not be compared: %s", (place, lan) => {
    expect(() => checkArgs("ips", { pools: { lan: lan as never }, claims: [] }, {})).toThrow(
      `allocation set ips: ${place} must be known text, not an output or a promise`,
    );
  });

  it("of every kind get what they were shown", async () => {
    expect(await previewIsUp(monitor(), 5, 1)).toMatchObject({ applied: 5 });
  });
});

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
