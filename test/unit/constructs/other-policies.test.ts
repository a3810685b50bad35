import { ApiObject, type Chart, Include } from "cdk8s";
import { describe, expect, it } from "vitest";
import { NodeIPPool, NodeNetworkPolicy, Nodes } from "../../../constructs/index.ts";
import type { Snapshot } from "../../../core/index.ts";
import { parkKey } from "../../../integrations/nmstate/select.ts";
import {
  type AppOptions,
  appOf,
  type Build,
  nic,
  objectsByName,
  recordAfter,
  refusal,
  synthesised,
} from "../../support/cli/constructs-app.ts";
import { poolOf, recordOf } from "../../support/core/text.ts";
import { folderOf } from "../../support/schema/cli.ts";

const nodes = Nodes.named("n1", "n2");
const eth = (name: string, ipv4: object) => ({ name, ipv4: { enabled: true, ...ipv4 } });
const literal = (ip: string) => ({ address: [{ ip, "prefix-length": 24 }] });
const object = (interfaces: unknown, hostname?: string, name = "z") => ({
  apiVersion: "nmstate.io/v1",
  kind: "NodeNetworkConfigurationPolicy",
  metadata: { name },
  spec: {
    nodeSelector: hostname === undefined ? {} : { "kubernetes.io/hostname": hostname },
    desiredState: { interfaces },
  },
});

/** Policy `a` gives eth1 of n1 and n2 the addresses 10.0.0.1 and 10.0.0.2. */
const beside =
  (more: Build): Build =>
  (chart, app) => {
    const pool = new NodeIPPool(chart, "p", { range: { cidr: "10.0.0.0/24" } });
    new NodeNetworkPolicy(chart, "a", { nodes, desiredState: nic("eth1", pool.claim("x")) });
    more(chart, app);
  };
const withObject = (...args: Parameters<typeof object>) =>
  beside((chart) => new ApiObject(chart, "z", object(...args)));

async function twice() {
  let chart: Chart | undefined;
  const build = beside((made) => {
    chart = made;
  });
  const app = appOf(build, { record: await recordAfter(build) });
  return { app, chart: chart as Chart };
}

async function refusedFor(build: Build): Promise<string> {
  try {
    await recordAfter(build);
  } catch (error) {
    // What is not recorded is not synthesised either, from a record that has it.
    const record = await recordAfter(beside(() => {}));
    expect(refusal(() => synthesised(appOf(build, { record })))).toContain((error as Error).message);
    return (error as Error).message;
  }
  return "nothing";
}

describe("a policy of the app that is no NodeNetworkPolicy", () => {
  const taken = "10.0.0.1 is used by Node/n2 eth9, but recorded for Node/n1/a/x";

  it("may not write out an address of somebody else", async () => {
    expect(await refusedFor(withObject([eth("eth9", literal("10.0.0.1"))], "n2"))).toContain(taken);
  });

  it("by no token either", async () => {
    expect(await refusedFor(withObject([eth("eth9", literal("ippool://p/n1"))], "n2"))).toContain(taken);
  });

  it("nor in a file or a List", async () => {
    const list = { apiVersion: "v1", kind: "List", items: [object([eth("eth9", literal("10.0.0.1"))], "n2")] };
    const folder = folderOf({ "z.yaml": JSON.stringify(list) });
    expect(await refusedFor(beside((chart) => new Include(chart, "z", { url: `${folder}/z.yaml` })))).toContain(taken);
  });

  it.each([
    ["address: 10.9.9.9", eth("eth1", literal("10.9.9.9"))],
    ["dhcp: true", eth("eth1", { dhcp: true })],
    ["state: absent", { name: "eth1", state: "absent" }],
    ["enabled: false", { name: "eth1", ipv4: { enabled: "no" } }],
    ["dhcp: true", eth("eth1", { dhcp: "On" })],
  ])("may not wipe what another one takes from a pool: %s", async (what, entry) => {
    const expected = `policies a and z (${what}) both set the IPv4 addresses of eth1 on Node/n2; nmstate replaces the whole list`;
    expect(await refusedFor(withObject([entry], "n2"))).toContain(expected);
    const own = beside((chart) => {
      const desiredState = { interfaces: [entry] } as never;
      new NodeNetworkPolicy(chart, "z", {
        nodes,
        nodeSelector: { "kubernetes.io/hostname": "n2" },
        desiredState,
      });
    });
    expect(await refusedFor(own)).toContain(expected);
  });

  it.each([
    ["for the node that holds it, and its NIC", [eth("eth1", literal("ippool://p/n1"))], "n1"],
    ["outside of the pool", [eth("eth9", literal("10.9.9.9"))], "n2"],
    ["of the NIC, but no addresses", [{ name: "eth1", mtu: 9000 }], undefined],
  ])("may say what it will %s", async (_, interfaces, hostname) => {
    expect(await refusedFor(withObject(interfaces, hostname))).toBe("nothing");
  });

  it("may not write out an address of the same node for another NIC", async () => {
    expect(await refusedFor(withObject([eth("eth9", literal("10.0.0.1"))], "n1"))).toContain(
      "10.0.0.1 is used by Node/n1 eth9, but recorded for eth1",
    );
  });

  const manyNodes = /10\.0\.0\.77 is configured on Node\/n1 eth8 and on Node\/n2 eth8/;
  it.each([
    ["beside a claim", [eth("eth8", literal("10.0.0.77"))]],
    ["alone", undefined],
  ])("nor may a NodeNetworkPolicy give one address of a pool to several nodes, %s", async (_, more) => {
    const build = beside((chart) => {
      const pool = new NodeIPPool(chart, "q", { range: { cidr: "10.1.0.0/24" } });
      const claims = more === undefined ? [] : [{ name: "eth7", ipv4: { enabled: true, address: [pool.claim("y")] } }];
      const desiredState = { interfaces: [...claims, eth("eth8", literal("10.0.0.77"))] } as never;
      new NodeNetworkPolicy(chart, "b", { nodes, desiredState });
    });
    expect(await refusedFor(build)).toMatch(manyNodes);
  });

  it("may have no name of a node's policy, not in a List either", async () => {
    const items = [object([{ name: "eth9", mtu: 9000 }], "n2", "a--n2")];
    const build = beside((chart) => new ApiObject(chart, "z", { apiVersion: "v1", kind: "List", items } as never));
    const record = await recordAfter(build);
    expect(refusal(() => synthesised(appOf(build, { record })))).toMatch(
      /NodeNetworkConfigurationPolicy a--n2 is written by network\/z and by network\/a/,
    );
  });

  const asking = (nodeSelector = {}) => ({
    ...object([], undefined, "q"),
    spec: { nodeSelector, capture: { x: "ippool.p.allocate" }, desiredState: { interfaces: [{ name: "eth9" }] } },
  });
  it.each([
    ["beside a claim", beside],
    ["alone", (build: Build) => build],
  ])("may not ask a pool for addresses, which nothing would expand: %s", async (_, around) => {
    const record = await recordAfter(beside(() => {}));
    const synth = (policy: object) =>
      synthesised(
        appOf(
          around((chart) => new ApiObject(chart, "q", policy as never)),
          { record },
        ),
      );
    expect(refusal(() => synth(asking()))).toContain(
      "network/q: policy q asks a pool for addresses, and no handler can run that\n  Make it with NodeNetworkPolicy",
    );
    // What is parked waits for the controller.
    const parked = synth(asking({ [parkKey]: "true" }));
    expect(parked.find(({ metadata }) => metadata.name === "q")?.spec.capture).toEqual({ x: "ippool.p.allocate" });
  });

  it("may not, once the app has been synthesised before, do so either", async () => {
    const { app, chart } = await twice();
    expect(synthesised(app)).toHaveLength(3);
    const added = new ApiObject(chart, "z", object([eth("eth9", literal("10.0.0.1"))], "n2"));
    expect(refusal(() => app.synthYaml())).toContain(taken);
    chart.node.tryRemoveChild("z");
    expect(added.name).toBe("z");
    new ApiObject(chart, "y", object([eth("eth1", { dhcp: true })], "n2"));
    expect(refusal(() => app.synthYaml())).toContain("both set the IPv4 addresses of eth1 on Node/n2");
  });

  it("is synthesised with its tokens, beside the policies of the nodes, as often as one likes", async () => {
    const build = withObject([eth("eth1", literal("ippool://p/n1"))], "n1");
    const app = appOf(build, { record: await recordAfter(build) });
    for (let i = 0; i < 2; i++) {
      const found = synthesised(app).find(({ metadata }) => metadata.name === "z");
      expect(found.spec.desiredState.interfaces[0].ipv4.address[0].ip).toBe("10.0.0.1");
    }
  });
});

describe("a NodeNetworkPolicy with an address that is written out", () => {
  const written = (ip: string, at: Nodes | undefined) =>
    beside((chart) => {
      const desiredState = { interfaces: [eth("eth2", literal(ip))] } as never;
      new NodeNetworkPolicy(chart, "b", at === undefined ? { desiredState } : { nodes: at, desiredState });
    });

  it.each([
    ["literal", "10.0.0.1", Nodes.named("n2")],
    ["token", "ippool://p/n1", Nodes.named("n2")],
    ["token for several nodes", "ippool://p/n1", nodes],
    ["token with its end", "ippool://p/n1/a/x#ip", Nodes.named("n2")],
    ["token for nodes that nobody names", "ippool://p/n1", undefined],
  ])("may not have one that a claim has: %s", async (_, ip, at) => {
    expect(await refusedFor(written(ip, at))).toContain("but recorded for Node/n1/a/x");
  });

  it("says of a token that cannot be looked up what is wrong with it", async () => {
    const app = appOf(written("ippool://p/n7", nodes), { record: await recordAfter(beside(() => {})) });
    expect(refusal(() => app.synthYaml())).toContain("node n7 holds no address of p");
  });
});

describe("what the record has beyond the app's own plan", () => {
  const record = recordOf(
    [
      "10.0.0.1 Node/n1/a/x set=other if=eth1",
      "10.0.0.2 Node/n2/a/x set=other if=eth1 releasing",
      "10.0.0.3 Node/n3/a/x set=imported if=eth1",
      "10.0.0.4 Node/n1/c/x set=mine if=eth3",
      "10.2.0.1 Node/n1/a/g set=other pool=g if=eth5",
    ],
    [poolOf("p", "10.0.0.0/24"), { ...poolOf("g", "10.2.0.0/24"), network: "green" }],
  );
  const apps: Record<string, (more: Build) => Build> = {
    "nothing but a policy": (more) => more,
    "a pool": (more) => (chart, app) => {
      new NodeIPPool(chart, "p", { range: { cidr: "10.0.0.0/24" } });
      more(chart, app);
    },
    "a pool and policies": (more) => (chart, app) => {
      const pool = new NodeIPPool(chart, "p", { range: { cidr: "10.0.0.0/24" } });
      new NodeNetworkPolicy(chart, "b", { nodes: Nodes.named("n1", "n9"), desiredState: nic("eth2", pool.claim("x")) });
      more(chart, app);
    },
  };
  const others: [string, string, string][] = [
    ["10.0.0.1", "n9", "but recorded for Node/n1/a/x"],
    ["10.0.0.2", "n9", "but recorded for Node/n2/a/x"],
    ["10.0.0.3", "n9", "but recorded for Node/n3/a/x"],
    ["ippool://p/n1/a", "n9", "but recorded for Node/n1/a/x"],
    ["10.0.0.1", "n1", "10.0.0.1 is used by Node/n1 eth9, but recorded for eth1"],
    ["10.0.0.2", "n2", "nothing"],
    ["10.0.0.9", "n9", "nothing"],
  ];
  const set = "mine";

  for (const [what, around] of Object.entries(apps))
    it.each(others)(`%s for %s, in an app of ${what}`, async (ip, node, message) => {
      const build = around((chart) => new ApiObject(chart, "z", object([eth("eth9", literal(ip))], node)));
      const options = { record: withoutMine(), set };
      const after = await outcome(build, options);
      expect(after).toContain(message);
    });

  it.each(others)("%s for %s, in a NodeNetworkPolicy", async (ip, node, message) => {
    const build = apps["a pool and policies"]?.((chart) => {
      const desiredState = { interfaces: [eth("eth9", literal(ip))] } as never;
      new NodeNetworkPolicy(chart, "z", { nodes: Nodes.named(node), desiredState });
    }) as Build;
    expect(await outcome(build, { record: withoutMine(), set })).toContain(message);
  });

  it("but not in networks that the app has no pool in", async () => {
    const policy: Build = (chart) => new ApiObject(chart, "z", object([eth("eth9", literal("10.2.0.1"))], "n9"));
    const build = apps["a pool and policies"]?.(policy) as Build;
    expect(await outcome(build, { record: withoutMine(), set })).toBe("nothing");
    expect(await outcome(policy, { record: withoutMine(), set })).toContain("but recorded for Node/n1/a/g");
  });

  it("has NICs that nobody may wipe, whatever set has an address there", async () => {
    const build = apps["a pool and policies"]?.(
      (chart) => new ApiObject(chart, "z", object([eth("eth1", literal("10.7.0.1"))], "n1")),
    ) as Build;
    expect(await outcome(build, { record: withoutMine(), set })).toContain(
      "policies a and z (address: 10.7.0.1) both set the IPv4 addresses of eth1 on Node/n1",
    );
  });

  it("lets who gave an address up go on with it by hand, and nobody else", async () => {
    const byHand = (node: string) =>
      apps["a pool and policies"]?.(
        (chart) => new ApiObject(chart, "z", object([eth("eth3", literal("10.0.0.4"))], node)),
      );
    expect(await outcome(byHand("n1") as Build, { record, set, allowMove: true })).toBe("nothing");
    expect(await outcome(byHand("n9") as Build, { record, set, allowMove: true })).toContain(
      "but recorded for Node/n1/c/x",
    );
  });

  function withoutMine(): Snapshot {
    return { ...record, allocations: record.allocations.filter((line) => line.set !== set) };
  }
});

/** What recording an app is refused for, and if it is not, what synthesising is. */
async function outcome(build: Build, options: AppOptions): Promise<string> {
  try {
    const record = await recordAfter(build, options);
    return refusal(() => synthesised(appOf(build, { ...options, record })));
  } catch (error) {
    return (error as Error).message;
  }
}

it("clean-up leaves a NIC alone that another policy of the app sets", async () => {
  const record = await recordAfter(beside(() => {}));
  const dhcp: Build = (chart) => {
    new NodeIPPool(chart, "p", { range: { cidr: "10.0.0.0/24" } });
    const pool = new NodeIPPool(chart, "q", { range: { cidr: "10.1.0.0/24" } });
    new NodeNetworkPolicy(chart, "b", { nodes, desiredState: nic("eth2", pool.claim("x")) });
    new ApiObject(chart, "z", object([eth("eth1", { dhcp: true })], "n1"));
  };
  const objects = await objectsByName(dhcp, { record, confirmRelease: true });
  expect(Object.keys(objects).filter((name) => name.includes("/a--"))).toEqual([
    "NodeNetworkConfigurationPolicy/a--n2",
  ]);
});
