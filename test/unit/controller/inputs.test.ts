import { describe, expect, it } from "vitest";
import { clusterNode, readInputs } from "../../../controller/allocate/inputs.ts";
import { Cache } from "../../../controller/cache/cache.ts";
import { kindsOf } from "../../../controller/cache/kinds.ts";
import type { Seen } from "../../../controller/cache/seen.ts";
import { World } from "../../../controller/cache/world.ts";
import { managedBy } from "../../../integrations/contract/managed-by.ts";
import { nmstateInCluster } from "../../../integrations/nmstate/in-cluster.ts";
import { unselectable } from "../../../integrations/nmstate/recording.ts";
import type { Bag } from "../../../schema/objects.ts";
import { poolOf, recordOf } from "../../support/core/text.ts";
import { policy } from "../../support/objects/controller-objects.ts";

let number = 0;
function seen(object: Bag, metadata: Bag = {}): Seen {
  const own = { ...(object.metadata as Bag), uid: `u${++number}`, resourceVersion: `${number}`, ...metadata };
  return { ...object, metadata: own } as Seen;
}
const poolObject = (name: string, cidr: string) =>
  seen({ apiVersion: "nmstate.io/v1", kind: "NodeIPPool", metadata: { name }, spec: { range: { cidr } } });

function sceneOf(objects: readonly Seen[], lines: string[] = []) {
  const cache = new Cache(kindsOf([nmstateInCluster]));
  const world = new World(cache, kindsOf([nmstateInCluster]), () => {});
  for (const object of objects) cache.set(object);
  const record = recordOf(lines, [poolOf("p", "10.0.0.0/24")]);
  const inputs = readInputs(world, [nmstateInCluster], record);
  return { ...inputs, refused: objects.filter((one) => inputs.whyRejected(one) !== undefined) };
}

describe("readInputs", () => {
  const p = poolObject("p", "10.0.0.0/24");

  it("takes each object by itself: one that is wrong keeps no other one from being served", () => {
    const wrong = seen(policy("wrong", "q", "eth1"));
    const inputs = sceneOf([p, poolObject("bad", "x"), seen(policy("a", "p", "eth1")), wrong]);
    const { shared, refused, sound } = inputs;
    expect(shared.map(({ object }) => (object.metadata as Bag).name)).toEqual(["a"]);
    expect(refused).toEqual([wrong]);
    expect(inputs.whyRejected(wrong)).toMatch(/pool q.*not defined/);
    expect(sound.map(({ name }) => name)).toEqual(["p"]);
  });

  it("leaves out what is being deleted, and what uses no pool", () => {
    const going = seen(policy("going", "p", "eth1"), { deletionTimestamp: "2026-01-01T00:00:00Z" });
    const plain = seen({
      apiVersion: "nmstate.io/v1",
      kind: "NodeNetworkConfigurationPolicy",
      metadata: { name: "plain" },
      spec: { desiredState: {} },
    });
    const { shared, refused } = sceneOf([p, going, plain]);
    expect([shared, refused]).toEqual([[], []]);
  });

  it("takes no object that the controller made for one that asks", () => {
    const { shared } = sceneOf([p, seen(policy("made", "p", "eth1"), { labels: managedBy })]);
    expect(shared).toEqual([]);
  });

  it("takes nothing from a pool that is not as it is recorded", () => {
    const { pools, sound } = sceneOf([poolObject("p", "10.9.0.0/24")], ["10.0.0.1 Node/a/x"]);
    expect(pools.get("p")?.problem?.reason).toBe("UnsynchronizedIPPool");
    expect(sound).toEqual([]);
  });
});

describe("nodes", () => {
  const node = (name: string, hostname?: string, ready?: string) => {
    const labels = hostname === undefined ? {} : { "kubernetes.io/hostname": hostname };
    const conditions = ready === undefined ? [] : [{ type: "Ready", status: ready }];
    return clusterNode(seen({ kind: "Node", metadata: { name, labels }, status: { conditions } }));
  };

  it.each([
    ["True", true],
    ["False", false],
    ["Unknown", false],
    [undefined, false],
  ])("Ready %s: %s", (status, expected) => {
    expect(node("n", "n", status).isReady).toBe(expected);
  });

  it("that no policy can select alone are named with the reason", () => {
    const found = unselectable({ nodes: [node("a", "a"), node("b", "twin"), node("c", "twin"), node("d")] });
    expect([...found]).toEqual([
      ["Node/b", expect.stringContaining("nodes b, c have the same label")],
      ["Node/c", expect.stringContaining("nodes b, c have the same label")],
      ["Node/d", expect.stringContaining("node d has no label")],
    ]);
  });
});
