import { ApiObject, Include } from "cdk8s";
import { describe, expect, it } from "vitest";
import { NodeIPPool, NodeNetworkPolicy, Nodes } from "../../../src/constructs/index.ts";
import {
  appOf,
  type Build,
  nic,
  objectsByName,
  recordAfter,
  refusal,
  synthesised,
} from "../../support/constructs-app.ts";
import { folderOf } from "../../support/schema-cli.ts";

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
  const taken = "NodeNetworkConfigurationPolicy/z: 10.0.0.1 is for Node/n1/a/x, but a policy writes it out for Node/n2";

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
    ["for the node that holds it", [eth("eth9", literal("10.0.0.1"))], "n1"],
    ["for it and its NIC", [eth("eth1", literal("ippool://p/n1"))], "n1"],
    ["outside of the pool", [eth("eth9", literal("10.9.9.9"))], "n2"],
    ["of the NIC, but no addresses", [{ name: "eth1", mtu: 9000 }], undefined],
  ])("may say what it will %s", async (_, interfaces, hostname) => {
    expect(await refusedFor(withObject(interfaces, hostname))).toBe("nothing");
  });

  it("is synthesised with its tokens, beside the policies of the nodes, as often as one likes", async () => {
    const build = withObject([eth("eth9", literal("ippool://p/n1"))], "n1");
    const app = appOf(build, { record: await recordAfter(build) });
    for (let i = 0; i < 2; i++) {
      const found = synthesised(app).find(({ metadata }) => metadata.name === "z");
      expect(found.spec.desiredState.interfaces[0].ipv4.address[0].ip).toBe("10.0.0.1");
    }
  });
});

it("clean-up leaves a NIC alone that another policy of the app sets", async () => {
  const record = await recordAfter(beside(() => {}));
  const dhcp: Build = (chart) => {
    new NodeIPPool(chart, "p", { range: { cidr: "10.0.0.0/24" } });
    const pool = new NodeIPPool(chart, "q", { range: { cidr: "10.1.0.0/24" } });
    new NodeNetworkPolicy(chart, "b", { nodes, desiredState: nic("eth2", pool.claim("x")) });
    new ApiObject(chart, "z", object([eth("eth1", { dhcp: true })], "n1"));
  };
  const objects = await objectsByName(dhcp, { record });
  expect(Object.keys(objects).filter((name) => name.includes("/a--"))).toEqual([
    "NodeNetworkConfigurationPolicy/a--n2",
  ]);
});
