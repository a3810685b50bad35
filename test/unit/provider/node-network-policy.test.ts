import * as pulumi from "@pulumi/pulumi";
import { beforeAll, describe, expect, it } from "vitest";
import { dispatcher } from "../../../provider/dispatcher.ts";
import { AllocationSet, NodeIPPool, NodeNetworkPolicy } from "../../../provider/index.ts";

// The SDK's own mocks: nothing is planned here, only what components make of a set is looked at.

interface Made {
  readonly type: string;
  readonly name: string;
  readonly inputs: Record<string, unknown>;
}

const made: Made[] = [];

beforeAll(async () => {
  // What tests compile cannot be serialised; test/unit/provider/program.test.ts has the real text.
  Object.assign(dispatcher, Object.fromEntries(Object.keys(dispatcher).map((name) => [name, undefined])));
  await pulumi.runtime.setMocks({
    newResource: ({ type, name, inputs }) => {
      made.push({ type, name, inputs });
      const of = { "Node/b/eth1": "10.0.0.2", "Node/a/eth1": "10.0.0.1", "VirtualMachine/shop:db/net0": "10.0.0.3" };
      return { id: name, state: { ...inputs, addresses: { lan: of } } };
    },
    call: () => ({ outputs: {} }),
  });
});

const lan = { range: { cidr: "10.0.0.0/24" } };
const policies = () => made.filter(({ type }) => type === "kubernetes:nmstate.io/v1:NodeNetworkConfigurationPolicy");
const value = <T>(output: pulumi.Output<T>) => new Promise<T>((resolve) => output.apply(resolve));

function policy(
  args: Partial<ConstructorParameters<typeof NodeNetworkPolicy>[1]> = {},
  opts: { readonly parent?: pulumi.Resource } = {},
) {
  const claims = ["a", "b"].map((name) => ({ owner: { kind: "Node", name }, name: "eth1", pool: "lan" }));
  const ips = new AllocationSet("ips", { pools: { lan }, claims }, opts);
  const some = {
    nodes: ["b", { name: "a", hostname: "a.example.net" }],
    desiredState: (node: string) => ({
      interfaces: [
        {
          name: "eth1",
          type: "ethernet" as const,
          state: "up" as const,
          ipv4: { enabled: true, address: [ips.claim(node, "eth1")] },
        },
      ],
    }),
  };
  return new NodeNetworkPolicy("static-ip", { ...some, ...args }, opts);
}

describe("NodeNetworkPolicy", () => {
  it("makes one policy for each node, with the address of its claim", async () => {
    const manifests = await value(policy().manifests);
    expect(manifests).toEqual([
      {
        apiVersion: "nmstate.io/v1",
        kind: "NodeNetworkConfigurationPolicy",
        metadata: {
          name: "static-ip--a",
          labels: { "nodeippool.nmstate.io/policy": "static-ip", "nodeippool.nmstate.io/node": "a" },
        },
        spec: {
          nodeSelector: { "kubernetes.io/hostname": "a.example.net" },
          desiredState: {
            interfaces: [
              {
                name: "eth1",
                type: "ethernet",
                state: "up",
                ipv4: { enabled: true, address: [{ ip: "10.0.0.1", "prefix-length": 24 }] },
              },
            ],
          },
        },
      },
      expect.objectContaining({ metadata: expect.objectContaining({ name: "static-ip--b" }) }),
    ]);
    expect(policies().map(({ name }) => name)).toEqual(["static-ip--a", "static-ip--b"]);
  });

  it("can be beside its set in a component, which stands for both of them where something depends on it", async () => {
    const parent = new pulumi.ComponentResource("test:index:Net", "net");
    expect(await value(policy({}, { parent }).manifests)).toHaveLength(2);
  });

  it("waits for each batch, but not for annotations that say otherwise", async () => {
    const [first] = (await value(policy({ batchSize: 1 }).manifests)) as { metadata: { annotations: object } }[];
    expect(first?.metadata.annotations).toEqual({ "pulumi.com/waitFor": "condition=Available" });
    const metadata = { annotations: { "pulumi.com/waitFor": "condition=Degraded" } };
    const [other] = (await value(policy({ batchSize: 1, metadata }).manifests)) as {
      metadata: { annotations: object };
    }[];
    expect(other?.metadata.annotations).toEqual(metadata.annotations);
  });

  it.each([0, -1, 1.5, Number.NaN])("refuses %s as a batch size", (batchSize) => {
    expect(() => policy({ batchSize })).toThrow("which is no number of nodes");
  });

  it.each(["", "a/b", "ü", "A.B"])("refuses %j as the name of a node or policy", (name) => {
    expect(() => policy({ nodes: [name] })).toThrow("static-ip: the name of nodes[0]: ");
    expect(() => policy({ nodes: ["b", { name: "a", hostname: name }] })).toThrow("the hostname of nodes[1]: ");
    expect(() => policy({ metadata: { name } })).toThrow("its name in the cluster: ");
  });

  it("refuses a node twice", () => {
    expect(() => policy({ nodes: ["a", { name: "a", hostname: "x" }] })).toThrow("node a is named twice");
    for (const nodes of [undefined, pulumi.output(["a"])])
      expect(() => policy({ nodes: nodes as never })).toThrow("nodes must be a list that is known now");
    expect(() => policy({ desiredState: {} as never })).toThrow("desiredState must be a function of a node's name");
  });

  it.each([
    [{ batchsize: 2 }, "unknown field batchsize; did you mean batchSize?"],
    [{ metadata: { lables: {} } }, "metadata: unknown field lables; did you mean labels?"],
    [{ metadata: { labels: pulumi.output({}) } }, "metadata.labels must be known, not an output or a promise"],
    [{ metadata: { annotations: { a: 1 } } }, "metadata.annotations.a must be text"],
    [{ metadata: { name: pulumi.output("a") } }, "metadata.name must be known, not an output or a promise"],
    [{ capture: ["interfaces"] }, "capture must be an object with texts"],
    [{ nodes: [undefined] }, "nodes[0] must be an object with name, hostname"],
    [{ nodes: [pulumi.output("a")] }, "nodes[0] must be known, not an output or a promise"],
    [{ nodes: ["a", { name: "b", hostname: "a" }] }, "nodes a and b have one hostname, a"],
    [{ desiredState: () => undefined }, "desiredState of node a is no object"],
  ])("refuses %j", (wrong, says) => {
    expect(() => policy({ nodes: ["a"], ...wrong } as never)).toThrow(`NodeNetworkPolicy static-ip: ${says}`);
  });

  it("refuses to be without arguments", () => {
    expect(() => new NodeNetworkPolicy("x", undefined as never)).toThrow("NodeNetworkPolicy x: the arguments must be");
    expect(() => new NodeIPPool("x", undefined as never)).toThrow("NodeIPPool x: the arguments must be");
    expect(() => new NodeIPPool("x", { spec: lan, sped: 1 } as never)).toThrow(
      "unknown field sped; did you mean spec?",
    );
  });
});

describe("NodeIPPool", () => {
  it("shows the pool to the cluster, which allocates nothing from it", async () => {
    new NodeIPPool("lan", { spec: { ...lan, authority: undefined as never } });
    const inputs = () => made.find(({ type }) => type === "kubernetes:nmstate.io/v1:NodeIPPool")?.inputs;
    await expect.poll(inputs).toMatchObject({
      metadata: { name: "lan" },
      spec: { ...lan, authority: "Plan" },
    });
  });

  it("leaves a pool of authority Cluster to the cluster", async () => {
    new NodeIPPool("theirs", { spec: { ...lan, authority: "Cluster" } });
    const inputs = () => made.map((resource) => resource.inputs);
    await expect
      .poll(inputs)
      .toContainEqual(
        expect.objectContaining({ metadata: { name: "theirs" }, spec: { ...lan, authority: "Cluster" } }),
      );
  });

  it("refuses a pool that is none", () => {
    expect(() => new NodeIPPool("lan", { spec: { range: { cidr: "10.0.0.0/33" } } })).toThrow(
      /^pool lan: .*10\.0\.0\.0\/33/,
    );
  });
});

describe("an allocation set", () => {
  const set = (claims: ConstructorParameters<typeof AllocationSet>[1]["claims"], pools = { lan, wan: lan } as object) =>
    new AllocationSet("ips", { pools: pools as { lan: typeof lan }, claims });
  const node = (pool: string) => ({ owner: { kind: "Node", name: "a" }, name: "eth1", pool });

  it("tells claims apart by pool, and refuses to guess", () => {
    expect(() => set([node("lan")]).address("Node/b/eth1")).toThrow("Node/b/eth1 is not claimed");
    expect(() => set([node("lan")]).address("Node/a/eth1", "wan")).toThrow("Node/a/eth1 is not claimed of pool wan");
    expect(() => set([node("lan"), node("wan")]).address("Node/a/eth1")).toThrow("several pools: lan, wan; name one");
    expect(() => set(pulumi.output([node("lan")])).address("Node/a/eth1")).toThrow("several pools: lan, wan; name one");
  });

  it("says of an entry for the address list which pool is none", () => {
    expect(() => set([node("lann")]).claim("a", "eth1")).toThrow(
      "allocation set ips has no pool lann; did you mean lan?",
    );
    expect(() => set([node("lan")], { lan: {} }).claim("a", "eth1")).toThrow("pool lan: spec needs the field range");
  });

  it("needs an id for an owner whose name is an output", () => {
    const late = { ...node("lan"), owner: { kind: "Node", name: pulumi.output("a") } };
    expect(() => set([late])).toThrow('give the claim an id, as in id: "Node/worker-1"');
  });

  it("has an entry for the address list of other owners than nodes, too", async () => {
    const ips = set([
      {
        id: "VirtualMachine/shop:db",
        owner: { kind: "VirtualMachine", namespace: "shop", name: "db" },
        name: "net0",
        pool: "lan",
      },
    ]);
    expect(ips.claim("VirtualMachine/shop:db", "net0")["prefix-length"]).toBe(24);
    const bare = set([node("lan")], { lan: { range: { cidr: "10.0.0.0" } } });
    expect(() => bare.claim("a", "eth1")).toThrow(/^pool lan: .*has no prefix length/);
    const blocks = set([node("lan")], { lan: { range: { cidr: "10.0.0.0/24" }, blockLength: 28 } });
    expect(() => blocks.claim("a", "eth1")).toThrow(
      "pool lan gives blocks of /28, and an address list needs an address",
    );
    expect(() => ips.claim(pulumi.output("a") as never, "eth1")).toThrow("must be text that is known now");
  });
});

// At the end: after this there is a program.
describe("two components with one name in the cluster", () => {
  const inProgram = (make: () => void) => pulumi.runtime.runInPulumiStack(async () => make());
  const east = () => new (class extends pulumi.ProviderResource {})("kubernetes", "east", {});
  const pool = (name: string, opts?: pulumi.ComponentResourceOptions) =>
    new NodeIPPool(name, { spec: lan, metadata: { name: "lan" } }, opts);
  const policyOf = (name: string, opts?: pulumi.ComponentResourceOptions) =>
    new NodeNetworkPolicy(name, { nodes: [], desiredState: () => ({}), metadata: { name: "lan" } }, opts);

  it.each([
    ["NodeIPPool", pool],
    ["NodeNetworkPolicy", policyOf],
  ])("are refused, by both of their names: %s", async (kind, make) => {
    const says = (one: string, other: string) =>
      `${kind} ${one} and ${other} are both named lan in the cluster: make them one, or give one of them another metadata.name`;
    await inProgram(() => {
      make("one");
      expect(() => make("two")).toThrow(says("one", "two"));
      const providers = [east()];
      const parent = new pulumi.ComponentResource("test:index:East", "east", {}, { providers });
      make("three", { providers });
      expect(() => make("four", { parent })).toThrow(says("three", "four"));
    });
  });

  it("are two objects where their providers or kinds are two, and in two programs", async () => {
    const make = () => {
      for (const one of [pool, policyOf]) expect(() => [one("one"), one("two", { provider: east() })]).not.toThrow();
    };
    for (let run = 0; run < 2; run++) await inProgram(make);
  });
});
