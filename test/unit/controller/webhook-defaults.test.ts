import { describe, expect, it } from "vitest";
import { contestMessage } from "../../../controller/write/contest.ts";
import type { Write } from "../../../controller/write/write-limit.ts";
import { IpamError } from "../../../core/index.ts";
import { capi } from "../../../integrations/capi/in-cluster.ts";
import type { ClusterIntegration } from "../../../integrations/contract/cluster-integration.ts";
import { asBag, asList, type Bag, conditionOf } from "../../../schema/objects.ts";
import { policy } from "../../support/objects/controller-objects.ts";
import { SimController } from "../../support/sim/controller.ts";

const policies = "nodenetworkconfigurationpolicies";

/** A webhook that adds to each policy of a node a field of the spec, one of each NIC, an owner and a label. */
function addDefaults(sim: SimController): void {
  sim.server.webhook = (object) => {
    if (!object.metadata.name.includes("--") && object.kind !== "IPAddress") return object;
    const spec = asBag(object.spec) as Bag;
    const { desiredState, ...others } = spec;
    const interfaces = asList(asBag(desiredState)?.interfaces).map((nic) => ({ ...asBag(nic), mtu: 1500 }));
    const owners = asList((object.metadata as Bag).ownerReferences).filter((one) => asBag(one)?.uid !== "w");
    const ownerReferences = [{ apiVersion: "v1", kind: "Team", name: "t", uid: "w" }, ...owners];
    const labels = { ...object.metadata.labels, "example.org/team": "net" };
    const more = {
      maxUnavailable: "50%",
      ...others,
      ...(desiredState !== undefined && { desiredState: { interfaces } }),
    };
    return { ...object, metadata: { ...object.metadata, labels, ownerReferences }, spec: more } as never;
  };
}

function begin(): SimController {
  const sim = new SimController();
  sim.pool("p", "10.0.0.0/24", "10.0.0.9");
  sim.node("n1");
  sim.create(policy("a", "p") as never);
  return sim;
}

const mtuOf = (sim: SimController) => {
  const spec = asBag(sim.object("NodeNetworkConfigurationPolicy", "a--n1")?.spec);
  return asBag(asList(asBag(spec?.desiredState)?.interfaces)[0])?.mtu;
};

describe("a webhook that adds defaults to a policy of a node", () => {
  it("leaves nothing to write", async () => {
    const sim = begin();
    addDefaults(sim);
    await sim.pass(30_000);
    expect(mtuOf(sim)).toBe(1500);
    expect(sim.requests.filter((one) => one.endsWith(policies) && one.startsWith("create"))).toHaveLength(1);
    sim.requests.length = 0;
    sim.engine.resync();
    await sim.pass(30_000);
    expect(sim.requests.filter((one) => one.endsWith(policies))).toEqual([]);
  });

  it("after the policies were made is met by reading each once", async () => {
    const sim = begin();
    await sim.pass(5000);
    addDefaults(sim);
    // Somebody touches the policy of a node.
    sim.change("NodeNetworkConfigurationPolicy", "a--n1", (one) => ({ ...one }));
    sim.requests.length = 0;
    await sim.pass(30_000);
    expect(mtuOf(sim)).toBe(1500);
    expect(sim.requests.filter((one) => one.endsWith(policies))).toEqual([`get ${policies}`]);
  });

  it("does not hide what somebody changes", async () => {
    const sim = begin();
    addDefaults(sim);
    await sim.pass(10_000);
    sim.change("NodeNetworkConfigurationPolicy", "a--n1", (one) => {
      const state = asBag(asBag(one.spec)?.desiredState);
      const nics = asList(state?.interfaces).map((nic) => ({ ...asBag(nic), name: "eth9" }));
      return { ...one, spec: { ...asBag(one.spec), desiredState: { interfaces: nics } } };
    });
    await sim.pass(10_000);
    const spec = asBag(sim.object("NodeNetworkConfigurationPolicy", "a--n1")?.spec);
    expect(asBag(asList(asBag(spec?.desiredState)?.interfaces)[0])?.name).toBe("eth1");
  });
});

/** The same cluster with a controller that was started anew. */
function restart({ server, record }: SimController, integrations?: readonly ClusterIntegration[]): SimController {
  const sim = new SimController(undefined, undefined, undefined, integrations);
  Object.assign(sim.server, server);
  sim.record = record;
  return sim;
}

const setMtu = (sim: SimController, mtu?: number) =>
  sim.change("NodeNetworkConfigurationPolicy", "a", ({ spec, ...one }) => {
    const { desiredState, ...others } = asBag(spec) as Bag;
    const nics = asList(asBag(desiredState)?.interfaces).map((nic) => {
      const { mtu: _, ...rest } = asBag(nic) as Bag;
      return mtu === undefined ? rest : { ...rest, mtu };
    });
    return { ...one, spec: { ...others, desiredState: { interfaces: nics } } };
  });
const writesOf = (sim: SimController) =>
  sim.requests.filter((one) => one.endsWith(policies) && !/^(get|list|apply)/.test(one));

describe("after a restart", () => {
  it("a field that the wish has lost meanwhile is taken away, and no webhook's default", async () => {
    const before = begin();
    setMtu(before, 1400);
    await before.pass(10_000);
    expect(mtuOf(before)).toBe(1400);
    setMtu(before);
    const sim = restart(before);
    await sim.pass(10_000);
    expect(mtuOf(sim)).toBeUndefined();
    addDefaults(sim);
    setMtu(sim, 1400);
    await sim.pass(10_000);
    setMtu(sim);
    const again = restart(sim);
    await again.pass(10_000);
    expect(mtuOf(again)).toBe(1500);
  });

  it("defaults of a webhook leave nothing to write", async () => {
    const before = begin();
    addDefaults(before);
    await before.pass(10_000);
    const sim = restart(before);
    await sim.pass(30_000);
    expect(writesOf(sim)).toEqual([]);
  });

  it.each(["an earlier version made the object", "a webhook drops the digest, and adds defaults"])(
    "the object is written once where %s",
    async (why) => {
      const before = begin();
      addDefaults(before);
      const webhook = before.server.webhook;
      const bare = (object: Bag) => {
        const { annotations: _, ...metadata } = asBag(object.metadata) as Bag;
        return { ...object, metadata } as never;
      };
      before.server.webhook = (object) => bare(webhook(object));
      await before.pass(10_000);
      const sim = restart(before);
      if (why.startsWith("an earlier")) sim.server.webhook = webhook;
      await sim.pass(30_000);
      expect(writesOf(sim)).toEqual([`patch ${policies}`]);
      if (why.startsWith("an earlier")) {
        const later = restart(sim);
        await later.pass(30_000);
        expect(writesOf(later)).toEqual([]);
      }
    },
  );
});

describe("what cannot be changed in an object, which a webhook changes as the object is created", () => {
  /** A claim beside a webhook that changes its IPAddress. */
  function beginWith(webhook: (sim: SimController) => void): SimController {
    const sim = new SimController(undefined, undefined, undefined, [capi("v1beta2")]);
    sim.pool("p", "10.0.0.0/24", "10.0.0.9");
    webhook(sim);
    sim.create({
      apiVersion: "ipam.cluster.x-k8s.io/v1beta2",
      kind: "IPAddressClaim",
      metadata: { name: "c", namespace: "metal3" },
      spec: { poolRef: { apiGroup: "nmstate.io", kind: "NodeIPPool", name: "p" } },
    } as never);
    return sim;
  }
  const writes = (sim: SimController) =>
    sim.requests.filter((one) => one.endsWith(" ipaddresses") && !/^(get|list)/.test(one));
  const setPrefix = (sim: SimController) => {
    sim.server.webhook = (object) =>
      object.kind === "IPAddress" ? ({ ...object, spec: { ...asBag(object.spec), prefix: 30 } } as never) : object;
  };
  const spec = (sim: SimController) => asBag(sim.object("IPAddress", "c")?.spec);
  const withSpec = (object: Bag, more: Bag) => ({ ...object, spec: { ...asBag(object.spec), ...more } });
  /** A program changes the IPAddress as it is created, and the controller does not get the answer. */
  const loseAnswer = (sim: SimController) => {
    const { server } = sim;
    const create = server.create.bind(server);
    server.create = (resource, object) => {
      const isIt = resource.plural === "ipaddresses";
      const stored = create(
        resource,
        isIt ? (withSpec(object as never, { prefix: 30, gateway: "10.0.0.3" }) as never) : object,
      );
      if (!isIt) return stored;
      throw new IpamError("unknown-outcome", "the answer is lost");
    };
  };

  it("is left as it is where it is a default", async () => {
    const sim = beginWith(addDefaults);
    await sim.pass(30_000);
    expect(writes(sim)).toEqual(["create ipaddresses"]);
  });

  it("is left as it is, whether the webhook is there or not, and after a restart: an Event says what to do", async () => {
    const sim = beginWith(setPrefix);
    await sim.pass(30_000);
    expect(writes(sim)).toEqual(["create ipaddresses"]);
    expect(sim.said.filter((one) => one.includes("ChangedBack"))).toEqual([
      expect.stringMatching(/webhook or policy changes spec\.prefix of ipaddresses c .*then delete ipaddresses c: /),
    ]);
    for (const webhook of [sim.server.webhook, (object: unknown) => object] as never[]) {
      const again = restart(sim, [capi("v1beta2")]);
      again.server.webhook = webhook;
      await again.pass(30_000);
      expect(writes(again)).toEqual([]);
    }
  });

  it.each<[string, (sim: SimController) => void]>([
    ["as it is created, and the answer to that is lost", loseAnswer],
    [
      "later",
      (sim) => sim.change("IPAddress", "c", (one) => withSpec(one, { prefix: 30, gateway: "10.0.0.3" }), "metal3"),
    ],
  ])("is named on the claim if another program changes it %s, also after a restart", async (_, interfere) => {
    const sim = beginWith(() => {});
    sim.change("NodeIPPool", "p", (one) => withSpec(one, { gateway: "10.0.0.9" }));
    if (interfere === loseAnswer) interfere(sim);
    await sim.pass(5000);
    if (interfere !== loseAnswer) interfere(sim);
    await sim.pass(30_000);
    const says =
      "IPAddress c differs from NodeIPPool p: prefix 30 instead of 24, gateway 10.0.0.3 instead of 10.0.0.9. If no machine uses it, delete it: the controller creates it again.";
    for (const one of [sim, restart(sim, [capi("v1beta2")])]) {
      await one.pass(5000);
      const { status, message } =
        conditionOf(asBag(sim.object("IPAddressClaim", "c")?.status)?.conditions, "Ready") ?? {};
      expect([status, message]).toEqual(["True", says]);
      expect(one.said).toContain(`IPAddressClaim.ipam.cluster.x-k8s.io/metal3:c Refused: ${says}`);
    }
  });

  it("is as the controller writes it once the webhook is gone and somebody deletes the object", async () => {
    const sim = beginWith(setPrefix);
    await sim.pass(5000);
    expect(spec(sim)).toMatchObject({ address: "10.0.0.1", prefix: 30 });
    sim.server.webhook = (object) => object;
    sim.remove("IPAddress", "c", "metal3");
    await sim.pass(5000);
    expect(spec(sim)).toMatchObject({ address: "10.0.0.1", prefix: 24 });
  });
});

it("a field that the API server drops, because its CRD is older: an Event says to apply the CRD", async () => {
  const sim = begin();
  sim.server.webhook = ({ status, ...object }) => {
    const { releasing: _, ...rest } = asBag(status) ?? {};
    const isPruned = object.kind === "NodeIPPool" && status !== undefined;
    return { ...object, ...(status !== undefined && { status: isPruned ? rest : status }) } as never;
  };
  await sim.pass(30_000);
  expect(sim.said.filter((one) => one.includes("ChangedBack"))).toEqual([
    expect.stringMatching(
      /^NodeIPPool\.nmstate\.io\/p ChangedBack: the API server drops status\.releasing of nodeippools p .*Next: apply the CRD of this release/,
    ),
  ]);
});

describe("a field that the answer to a write lacks", () => {
  const [pools, claims, maps] = [
    { apiVersion: "nmstate.io/v1", plural: "nodeippools" },
    { apiVersion: "k8s.cni.cncf.io/v1alpha1", plural: "ipamclaims" },
    { apiVersion: "v1", plural: "configmaps" },
  ];
  it.each<[string, Write["resource"], Bag, Bag, RegExp]>([
    [
      "is unknown to our CRD",
      pools,
      { status: { a: 1 } },
      {},
      /drops status\.a .*Next: apply the CRD of this release\./,
    ],
    [
      "is unknown to the CRD of others",
      claims,
      { status: { a: 1 } },
      {},
      /drops status\.a .*Next: update the CRD of ipamclaims\./,
    ],
    [
      "is in the metadata",
      pools,
      { metadata: { finalizers: ["x"] } },
      {},
      /webhook or policy changes metadata\.finalizers/,
    ],
    ["is of a kind without a CRD", maps, { data: { a: "1" } }, { data: {} }, /webhook or policy changes data\.a/],
  ])("%s", (_, resource, written, answer, message) => {
    expect(contestMessage({ verb: "change", resource, name: "x", written }, answer)).toMatch(message);
  });
});
