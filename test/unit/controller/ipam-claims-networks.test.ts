import { describe, expect, it } from "vitest";
import { type Address, IpamError } from "../../../core/index.ts";
import { reportClaim } from "../../../integrations/ipamclaim/recording.ts";
import { asBag, type Bag, conditionOf } from "../../../schema/objects.ts";
import { poolOf } from "../../support/core/text.ts";
import { begin as beginWith, claim, planned, pool } from "../../support/objects/ipam-claims.ts";
import { macvlanNetwork } from "../../support/objects/vm-objects.ts";

/** Network `red` on pool `lan`, a pool `other`, and claim `a.red` with an address. */
async function begin() {
  const all = beginWith();
  const { sim } = all;
  sim.create(pool("other", "10.0.1.0/24", "10.0.1.9"));
  sim.create(claim("a.red"));
  await sim.pass(3000);
  return all;
}

/** Another definition of network `red`. */
function second(pools: string, namespace = "default", config: Bag = {}) {
  const { metadata, spec, ...rest } = macvlanNetwork("red", pools, namespace);
  const said = { ...JSON.parse(`${asBag(spec)?.config}`), ...config };
  return { ...rest, metadata: { ...asBag(metadata), name: "red2" }, spec: { config: JSON.stringify(said) } };
}

const allocated = "10.0.0.1/24 True SuccessfulAllocation";
const waits = "False InternalError";

describe("several NetworkAttachmentDefinitions of one network", () => {
  it("that say the same are one", async () => {
    const { sim, stands } = await begin();
    sim.create(second("lan", "apps"));
    sim.create(claim("b.red"));
    await sim.pass(3000);
    expect([stands("b.red"), sim.said]).toEqual(["10.0.0.2/24 True SuccessfulAllocation", []]);
  });

  it.each([
    ["in another namespace, before the first one", "aaa", "other", {}],
    ["behind it", "zzz", "other", {}],
    ["that names no pool that is there", "aaa", "nope", {}],
    ["that OVN-Kubernetes would not serve", "aaa", "lan", { type: "ovn-k8s-cni-overlay", plugins: undefined }],
  ])("of which one differs, %s, give nothing new: each is told of the other", async (_, namespace, pools, config) => {
    const { sim, stands } = await begin();
    sim.create(second(pools, namespace, config));
    sim.create(claim("b.red"));
    await sim.pass(60_000);
    expect(["a.red", "b.red"].map(stands)).toEqual([allocated, waits]);
    const names = [`default/red`, `${namespace}/red2`].sort().join(" and ");
    for (const key of ["default:red", `${namespace}:red2`])
      expect(sim.said.filter((text) => text.includes(`/${key} InvalidSpec`)).join()).toContain(
        pools === "other" || key === "default:red" ? `NetworkAttachmentDefinitions ${names} share network red` : "",
      );
    sim.remove("NetworkAttachmentDefinition", "red2", namespace);
    await sim.pass(3000);
    expect(["a.red", "b.red"].map(stands)).toEqual([allocated, "10.0.0.2/24 True SuccessfulAllocation"]);
    expect(sim.lines()).toEqual(["10.0.0.1 IPAMClaim/default:a.red/lan", "10.0.0.2 IPAMClaim/default:b.red/lan"]);
  });

  it("of which the first one breaks: the second one does not stand for it", async () => {
    const { sim, stands, bind } = await begin();
    sim.create(second("other"));
    bind("red", "lan, nope");
    await sim.pass(1000);
    sim.create(claim("b.red"));
    await sim.pass(60_000);
    expect(["a.red", "b.red"].map(stands)).toEqual([allocated, waits]);
  });
});

describe("a network whose pool gives nothing", () => {
  const messageOf = (object: Bag | undefined) =>
    conditionOf(asBag(object?.status)?.conditions, "IPsAllocated")?.message;
  const begun = async (pools: string) => {
    const all = await begin();
    all.sim.create(pool("odd", "10.0.2.0/24", "10.9.0.0"));
    all.sim.create(macvlanNetwork("green", pools));
    await all.sim.pass(3000);
    all.sim.create(claim("b.green", {}, "green"));
    await all.sim.pass(60_000);
    return all;
  };
  const wrong: [string, string, string][] = [
    [
      "is not there",
      "nope",
      "NetworkAttachmentDefinition default/green: there is no NodeIPPool nope to take addresses from. Create it, or name another one",
    ],
    [
      "is invalid",
      "odd",
      "NetworkAttachmentDefinition default/green: NodeIPPool odd gives no addresses: 10.9.0.0 is not in 10.0.2.0/24",
    ],
  ];
  it.each(wrong)("because it %s: its new claims say so until it does", async (_, pools, message) => {
    const { sim, object, stands, bind } = await begun(pools);
    expect([stands("a.red"), stands("b.green")]).toEqual([allocated, waits]);
    expect(messageOf(object("b.green"))).toContain(message);
    bind("green", "other");
    await sim.pass(3000);
    expect(stands("b.green")).toBe("10.0.1.1/24 True SuccessfulAllocation");
  });

  it("to VMs, because it names pools by a wildcard: its new claims say so, and are served at once when it is mended", async () => {
    const { sim, object, stands, bind } = await begun("l*");
    sim.create(claim("c.green", {}, "green"));
    await sim.pass(5000);
    expect(["b.green", "c.green"].map(stands)).toEqual([waits, waits]);
    expect(messageOf(object("b.green"))).toContain("a VM has addresses of pools that are named in full, not of l*");
    bind("green", "other");
    await sim.pass(3000);
    expect(["b.green", "c.green"].map(stands).sort()).toEqual([
      "10.0.1.1/24 True SuccessfulAllocation",
      "10.0.1.2/24 True SuccessfulAllocation",
    ]);
  });

  it("because no definition of it is there: its claims are served at once when it comes", async () => {
    const { sim, stands } = await begin();
    sim.create(claim("b.green", {}, "green"));
    await sim.pass(60_000);
    sim.create(macvlanNetwork("green", "other"));
    await sim.pass(3000);
    expect(stands("b.green")).toBe("10.0.1.1/24 True SuccessfulAllocation");
  });

  it("now: a claim that was planned keeps its plan", async () => {
    const { sim, stands } = await begun("nope");
    sim.create(planned("c.green", "10.0.3.7/24", "green"));
    await sim.pass(60_000);
    expect(stands("c.green")).toBe("10.0.3.7/24 True SuccessfulAllocation");
  });
});

describe("a network that names other pools", () => {
  it("gives new claims addresses of these; those that have addresses keep them, until they are gone", async () => {
    const { sim, stands, finalizers, bind, remove } = await begin();
    bind("red", "other");
    sim.create(claim("b.red"));
    sim.create(macvlanNetwork("green", "lan"));
    sim.create(claim("a.green", {}, "green"));
    await sim.pass(60_000);
    expect(["a.red", "b.red", "a.green"].map(stands)).toEqual([
      allocated,
      "10.0.1.1/24 True SuccessfulAllocation",
      "10.0.0.2/24 True SuccessfulAllocation",
    ]);
    expect(finalizers("a.red")).toHaveLength(1);
    bind("red", "lan");
    await sim.pass(3000);
    expect(["a.red", "b.red"].map(stands)).toEqual([allocated, "10.0.1.1/24 True SuccessfulAllocation"]);
    remove("b.red");
    await sim.pass(60_000);
    expect(sim.lines()).toEqual(["10.0.0.1 IPAMClaim/default:a.red/lan", "10.0.0.2 IPAMClaim/default:a.green/lan"]);
  });

  it("takes nothing from those that have addresses: these are in use as before, also where the pool is being deleted", async () => {
    const { sim, stands, bind, remove } = await begin();
    for (const isDeleted of [false, true]) {
      if (isDeleted) sim.remove("NodeIPPool", "lan");
      bind("red", "other");
      await sim.pass(60_000);
      expect(stands("a.red")).toBe(allocated);
      expect(sim.lines()).toEqual(["10.0.0.1 IPAMClaim/default:a.red/lan"]);
      expect(asBag(sim.object("NodeIPPool", "lan")?.status)?.allocated).toBe(1);
      expect(sim.said.filter((text) => text.includes("is not an address that pool"))).toEqual([]);
    }
    remove("a.red");
    await sim.pass(60_000);
    expect([sim.lines(), sim.object("NodeIPPool", "lan")]).toEqual([[], undefined]);
  });

  it("has a claim go on that was told it has nothing, while its pool is being deleted", async () => {
    const { sim, stands, bind, edit } = await begin();
    sim.remove("NodeIPPool", "lan");
    bind("red", "other");
    const said = [{ type: "IPsAllocated", status: "False", reason: "InternalError", message: "of an older release" }];
    edit("a.red", (one) => ({ ...one, status: { ...asBag(one.status), conditions: said } }));
    await sim.pass(60_000);
    expect([stands("a.red"), sim.lines()]).toEqual([allocated, ["10.0.0.1 IPAMClaim/default:a.red/lan"]]);
  });

  it("that have the same addresses: nobody else gets there, or here, what a claim shows", async () => {
    const { sim, stands, bind, remove } = await begin();
    sim.create(pool("twin", "10.0.0.0/24", "10.0.0.9", { network: "twin" }));
    bind("red", "twin");
    sim.create(claim("b.red"));
    sim.create(macvlanNetwork("green", "lan"));
    sim.create(claim("a.green", {}, "green"));
    await sim.pass(60_000);
    const second = "10.0.0.2/24 True SuccessfulAllocation";
    expect(["a.red", "b.red", "a.green"].map(stands)).toEqual([allocated, second, second]);
    remove("a.red");
    await sim.pass(60_000);
    expect(sim.lines().filter((line) => line.includes("a.red"))).toEqual([]);
  });

  it("does not make an address its claim's that it never had", async () => {
    const { sim, stands, bind, shows } = await begin();
    bind("red", "other");
    shows("a.red", "10.0.0.7/24");
    await sim.pass(3000);
    expect(stands("a.red")).toBe("10.0.0.7/24 False InternalError");
  });
});

it("a claim that comes back for another network is told nothing by a record of the one before", () => {
  const line = {
    ...{ address: 0x0a00_0001n as Address, length: 32, pool: "lan" },
    claim: "IPAMClaim/default:a/lan",
    set: "cluster",
  };
  const allOf = () => [macvlanNetwork("red", "lan"), macvlanNetwork("green", "other")];
  const find = () => undefined;
  const pools = new Map([["lan", poolOf("lan", "10.0.0.0/24")]]);
  const say = (network: string, status?: Bag) => {
    const object = { ...claim("a", {}, network), status };
    const known = { object, find, made: [], pools: [], lines: [line], releasing: [], pending: [] };
    const steps = reportClaim(known, { nodes: [], pools, find, allOf });
    const conditions = steps.flatMap((step) => (step.verb === "status" ? step.conditions : []));
    const wanted = steps.flatMap((step) => (step.verb === "finalizer" ? step.isWanted : []));
    return [conditionOf(conditions, "IPsAllocated")?.status, ...wanted];
  };
  const nothing = [undefined];
  expect([say("green"), say("plain"), say("red")]).toEqual([nothing, nothing, ["True", true]]);
  // A pod may run with what it shows, whatever its network says meanwhile.
  expect(say("green", { ips: ["10.0.0.1/24"] })).toEqual(["True", true]);
});

it("a claim that comes back for another network is told no address of the one before, also while nothing can be recorded", async () => {
  let isDown = false;
  const { sim, stands, edit } = beginWith({
    around: (state) => ({
      ...state,
      commit: (plan) => (isDown ? Promise.reject(new IpamError("unavailable", "no connection")) : state.commit(plan)),
    }),
  });
  sim.create(pool("other", "10.0.1.0/24", "10.0.1.9"));
  sim.create(macvlanNetwork("green", "other"));
  sim.create(claim("a"));
  await sim.pass(3000);
  isDown = true;
  sim.isFrozen = true;
  edit("a", (one) => ({ ...one, metadata: { ...asBag(one.metadata), finalizers: [] } }));
  sim.remove("IPAMClaim", "a", "default");
  sim.create(claim("a", {}, "green"));
  sim.isFrozen = false;
  await sim.pass(3000);
  isDown = false;
  await sim.pass(60_000);
  expect(stands("a")).toBe("10.0.1.1/24 True SuccessfulAllocation");
});
