import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { IpamError, parsePool, plan, planRelease, unwrap } from "../../../core/index.ts";
import type { ClusterIntegration } from "../../../integrations/contract/cluster-integration.ts";
import { Refusal } from "../../../kube/refusal.ts";
import { integrationsInCluster } from "../../../pipeline/integrations.ts";
import { asBag, conditionOf } from "../../../schema/objects.ts";
import { applyPlan } from "../../../state/apply.ts";
import type { StateBackend } from "../../../state/backend.ts";
import { kubernetes } from "../../../state/kubernetes/backend.ts";
import { emptyPart, encodePart, split } from "../../../state/kubernetes/subnet-records.ts";
import type { Around } from "../../support/cluster/kube-memory.ts";
import { claimOf, poolOf } from "../../support/core/text.ts";
import { policy, policyOfTwo, pool } from "../../support/objects/controller-objects.ts";
import type { SimController } from "../../support/sim/controller.ts";
import { simWithMaps } from "../../support/sim/maps.ts";

// A part of the record that is damaged, full, or cannot be written stops the pools of its subnet, which say why, and nothing else.

const integrations: readonly ClusterIntegration[] = integrationsInCluster({});
const part = "ippool.default.10.0.1.0-24";
const all = { maxUnavailable: "100%" };

/** Pool `bad` in 10.0.1.0/24 and pool `good` in 10.0.2.0/24, each asked by a policy, and node n1. */
async function begin(around?: Around, nodes: readonly string[] = ["n1"]) {
  const known = simWithMaps(integrations, around);
  const { sim } = known;
  sim.create(pool("bad", 1, 200) as never);
  sim.create(pool("good", 2, 200) as never);
  sim.create(policy("b", "good", "eth2", all) as never);
  for (const name of nodes) sim.node(name);
  await sim.pass(5_000);
  return { ...known, ...lookAt(sim) };
}

function lookAt(sim: SimController) {
  const available = (name: string) =>
    conditionOf(asBag(sim.object("NodeIPPool", name)?.status)?.conditions, "Available");
  const children = () =>
    sim
      .all("NodeNetworkConfigurationPolicy")
      .map(({ metadata }) => metadata.name)
      .filter((name) => name.includes("--"))
      .sort();
  return { available, children };
}

const asking = (sim: SimController) => sim.create(policy("a", "bad", "eth1", all) as never);
const ofGood = (sim: SimController) => sim.lines().filter((line) => line.startsWith("10.0.2."));
const damaged = { status: "False", reason: "UnsynchronizedIPPool" };

describe("a subnet in which no pool has an address", () => {
  const damage: [string, (text: string) => string | undefined, RegExp][] = [
    ["is deleted", () => undefined, /ConfigMap net\/ippool\.default\.10\.0\.1\.0-24 is gone/],
    ["is overwritten", () => "nothing", /ConfigMap net\/ippool\.default\.10\.0\.1\.0-24.*Put it back/s],
  ];
  it.each(damage)("and whose ConfigMap %s: its pools say so, and all others are served", async (_, change, message) => {
    const { sim, edit, others, available } = await begin();
    const once = plan({
      pools: [poolOf("bad", "10.0.1.0/24")],
      claims: [claimOf("Node/x/a pool=bad")],
      snapshot: await others.read(),
    });
    const { allocations } = await others.commit(once);
    const line = allocations.filter((one) => one.pool === "bad");
    await others.commit(planRelease(await others.read(), line));
    await sim.pass(15_000);
    edit(part, change);
    sim.create({ ...pool("late", 1, 200), spec: { range: { cidr: "10.0.1.0/24", start: "10.0.1.201" } } } as never);
    asking(sim);
    sim.create(policy("c", "late", "eth3", all) as never);
    sim.node("n2");
    await sim.pass(30_000);
    expect(ofGood(sim)).toEqual(["10.0.2.1 Node/n1/b/address", "10.0.2.2 Node/n2/b/address"]);
    for (const name of ["bad", "late"])
      expect(available(name)).toMatchObject({ ...damaged, message: expect.stringMatching(message) });
    expect(available("good")?.reason).toBe("ReconciledPool");
  });

  it("and of whose name somebody else has a ConfigMap: its pools say so until that is gone", async () => {
    const { sim, cluster, available } = await begin();
    const metadata = { name: part, namespace: "net", uid: "u", resourceVersion: "1" };
    cluster.maps.set(part, { apiVersion: "v1", kind: "ConfigMap", metadata, data: {} });
    asking(sim);
    sim.node("n2");
    await sim.pass(30_000);
    expect(ofGood(sim)).toHaveLength(2);
    expect(available("bad")).toMatchObject({ ...damaged, message: expect.stringMatching(/has lost its label/) });
    cluster.maps.delete(part);
    await sim.pass(30_000);
    expect([sim.lines().length, available("bad")?.reason]).toEqual([4, "ReconciledPool"]);
  });
});

describe("a subnet with addresses", () => {
  it("keeps what was written last, also by this controller, while it cannot be read", async () => {
    const { sim, edit, children } = await begin();
    asking(sim);
    await sim.pass(3_000);
    sim.node("n2");
    await sim.pass(1_500);
    expect(children()).toContain("a--n2");
    edit(part, () => "nothing");
    await sim.pass(60_000);
    expect(sim.lines()).toContain("10.0.1.2 Node/n2/a/address");
    expect(children()).toEqual(["a--n1", "a--n2", "b--n1", "b--n2"]);
  });

  it("that has no room for another line says so, keeps and releases what it has, and all others are served", async () => {
    const { sim, cluster, others, available } = await begin();
    const range = { cidr: "10.8.0.0/16", end: "10.8.0.200" };
    sim.create({ ...pool("full", 1, 1), spec: { range } } as never);
    sim.create(policy("a", "full", "eth1", all) as never);
    await sim.pass(5_000);
    await fill(others);
    await sim.pass(15_000);
    sim.create(policyOfTwo("two", "good", "full", ["eth3", "eth4"]) as never);
    const joining = Array.from({ length: 60 }, (_, i) => `m${i}`);
    for (const name of joining) sim.node(name);
    await sim.pass(30_000);
    expect(ofGood(sim)).toHaveLength(61);
    const ofFull = () => sim.lines().filter((line) => line.startsWith("10.8.0."));
    expect(ofFull()).toEqual(["10.8.0.1 Node/n1/a/address"]);
    expect(available("full")).toMatchObject({
      reason: "ExhaustedIPPool",
      message: expect.stringMatching(
        /ippool\.default\.10\.8\.0\.0-16 is full: an object holds 1 MiB\. .*another subnet/,
      ),
    });
    const { conditions } = asBag(sim.object("NodeNetworkConfigurationPolicy", "a")?.status) ?? {};
    expect(conditionOf(conditions, "Degraded")?.message).toMatch(/is full/);
    sim.remove("Node", "n1");
    await sim.pass(60_000);
    expect(ofFull()).toEqual([]);
    expect(available("full")?.reason).toBe("ExhaustedIPPool");
    await neverTwice(kubernetes(cluster.objects(), "net", { goesOn: true }));
  }, 60_000);
});

/** What an API server answers to a write that it refuses, by its status. */
const refusals: [number, string][] = [
  [403, "exceeded quota: maps, requested: count/configmaps=1, used: 2, limited: 2"],
  [422, "data: Forbidden: field is immutable when `immutable` is set"],
  [400, 'admission webhook "maps.example.com" denied the request: no'],
];

describe("a ConfigMap that the server refuses", () => {
  const writes = ["create", "put"].flatMap((verb) => refusals.map(([status, words]) => [verb, status, words] as const));
  it.each(writes)(
    "to %s with %i %s: its pools alone say so, until the server takes it",
    async (verb, status, words) => {
      let isRefused = true;
      const { sim, available } = await begin(async (request, run) => {
        if (isRefused && request === `${verb} ${part}`) throw refused(status, words);
        return run();
      });
      asking(sim);
      sim.node("n2");
      await sim.pass(30_000);
      expect(ofGood(sim)).toHaveLength(2);
      // Also what was written in the commit that the server refused a part of.
      expect(sim.allocated).toEqual(sim.lines());
      expect(available("good")?.reason).toBe("ReconciledPool");
      expect(available("bad")).toMatchObject({ ...damaged, message: expect.stringContaining(words) });
      expect(available("bad")?.message).toMatch(
        /^ConfigMap net\/ippool\.default\.10\.0\.1\.0-24 cannot be written: .*quota/s,
      );
      const before = sim.statuses("NodeIPPool", "bad").length;
      await sim.pass(180_000);
      expect(sim.statuses("NodeIPPool", "bad")).toHaveLength(before);
      isRefused = false;
      await sim.pass(60_000);
      expect([sim.lines().length, available("bad")?.reason]).toEqual([4, "ReconciledPool"]);
      expect(sim.allocated.sort()).toEqual(sim.lines());
    },
  );

  it("to list them: all pools say so", async () => {
    let isRefused = false;
    const { sim, available } = await begin(async (request, run) => {
      if (isRefused && request === "list") throw refused(403, "User nodeippool cannot list configmaps");
      return run();
    });
    isRefused = true;
    await sim.pass(30_000);
    for (const name of ["bad", "good"])
      expect(available(name)).toMatchObject({ ...damaged, message: expect.stringMatching(/cannot list configmaps/) });
    isRefused = false;
    await sim.pass(60_000);
    expect(available("good")?.reason).toBe("ReconciledPool");
  });

  it("among many: all others are served at once", async () => {
    const { sim } = await begin(async (request, run) => {
      if (/^(create|put) .*10\.9\./.test(request)) throw refused(403, "no");
      return run();
    });
    for (let i = 0; i < 30; i++) {
      const range = { cidr: `10.9.${i}.0/24` };
      sim.create({ ...pool(`many${i}`, 1, 200), spec: { range } } as never);
      sim.create(policy(`a${i}`, `many${i}`, `eth${10 + i}`, all) as never);
    }
    sim.node("n2");
    await sim.pass(3_000);
    expect(ofGood(sim)).toHaveLength(2);
  });

  it("if it is the index, only pools without addresses wait for it, and say so", async () => {
    let isRefused = false;
    const { sim, available } = await begin(async (request, run) => {
      if (isRefused && request === "put ippool.index") throw refused(403, "no change today");
      return run();
    });
    isRefused = true;
    asking(sim);
    sim.node("n2");
    await sim.pass(30_000);
    sim.create(pool("late", 3, 200) as never);
    sim.create(policy("c", "late", "eth3", all) as never);
    await sim.pass(30_000);
    sim.node("n3");
    await sim.pass(30_000);
    expect(ofGood(sim)).toHaveLength(3);
    for (const name of ["bad", "late"])
      expect(available(name)?.message).toMatch(/^ConfigMap net\/ippool\.index cannot be written: no change today/);
    isRefused = false;
    await sim.pass(60_000);
    expect([sim.lines().length, available("bad")?.reason, available("late")?.reason]).toEqual([
      9,
      "ReconciledPool",
      "ReconciledPool",
    ]);
  });
});

describe("a network with the CIDR of another one whose part of the record is damaged", () => {
  /** Node n1 has 10.0.1.1 of pool `bad` on eth1, and 10.0.1.1 of pool `blue` in network blue on eth2. */
  async function beginTwice() {
    const known = await begin();
    const { sim, edit } = known;
    sim.create({ ...pool("blue", 1, 200), spec: { ...asBag(pool("blue", 1, 200).spec), network: "blue" } } as never);
    asking(sim);
    sim.create(policy("c", "blue", "eth3", all) as never);
    await sim.pass(15_000);
    expect(sim.lines().filter((line) => line.startsWith("10.0.1.1 "))).toHaveLength(2);
    edit(part, () => "nothing");
    return known;
  }
  const addressesOf = (sim: SimController, name: string) =>
    JSON.stringify(sim.object("NodeNetworkConfigurationPolicy", name)?.spec).match(/10\.[\d.]+\d/g);

  it("takes its addresses off nodes that are to lose them", async () => {
    const { sim } = await beginTwice();
    await sim.pass(15_000);
    sim.remove("NodeNetworkConfigurationPolicy", "c");
    await sim.pass(30_000);
    expect([addressesOf(sim, "c--n1"), addressesOf(sim, "a--n1")]).toEqual([null, ["10.0.1.1"]]);
  });

  it("does not make the address of the damaged one look recorded: the node keeps it", async () => {
    const { sim, beside } = await beginTwice();
    const next = beside();
    sim.change("NodeNetworkConfigurationPolicy", "a", (one) => ({
      ...one,
      spec: policy("a", "good", "eth1", all).spec as never,
    }));
    await next.pass(60_000);
    expect(addressesOf(sim, "a--n1")).toEqual(["10.0.1.1"]);
  });
});

/** A plan that asks for new lines of a part of which it knows that it is full, whyever, must not stop all others again and again. */
async function neverTwice(state: StateBackend): Promise<void> {
  const pools = [unwrap(parsePool("bulk", { range: { cidr: "10.8.0.0/16", start: "10.8.200.0" } }))];
  const claims = Array.from({ length: 500 }, (_, n) =>
    claimOf(`Node/${createHash("md5").update(`${n}`).digest("hex")}/a pool=bulk`),
  );
  const grow = async () => state.commit(plan({ pools, claims, snapshot: await state.read(), set: "more" }));
  const blocked = async () => {
    const { unreadable = [], full = [] } = await state.read();
    return [unreadable.length, full.length];
  };
  await expect(grow()).rejects.toMatchObject({ code: "exhausted" });
  expect(await blocked()).toEqual([0, 1]);
  await expect(grow()).rejects.toMatchObject({ code: "exhausted" });
  expect(await blocked()).toEqual([1, 0]);
}

/** Fills a part of the record with owners whose names cannot be compressed, but for some bytes. */
async function fill(others: StateBackend): Promise<void> {
  const range = { cidr: "10.8.0.0/16", start: "10.8.1.1", end: "10.8.100.254" };
  const pools = [unwrap(parsePool("bulk", { range }))];
  const random = (n: number) =>
    BigInt(`0x${[1, 2, 3].map((i) => createHash("sha512").update(`${n} ${i}`).digest("hex")).join("")}`).toString(36);
  const ownerOf = (n: number) => `IPAddressClaim/a${random(n).slice(0, 60)}:a${random(-n - 1).slice(0, 250)}`;
  const claims = (count: number) => Array.from({ length: count }, (_, n) => claimOf(`${ownerOf(n)}/a pool=bulk`));
  const snapshot = await others.read();
  const sizeOf = (count: number) => {
    const made = plan({ pools, claims: claims(count), snapshot, set: "other" });
    const body = encodePart(
      split(applyPlan(snapshot, made) ?? snapshot).get("ippool.default.10.8.0.0-16") ?? emptyPart(),
      "x",
    );
    return "gzip" in body ? Buffer.from(body.gzip, "base64").length : 0;
  };
  const some = 2_000;
  const each = (sizeOf(some) - sizeOf(some - 500)) / 500;
  const count = some + Math.floor((960 * 1024 - 200 - sizeOf(some)) / each);
  await others.commit(plan({ pools, claims: claims(count), snapshot, set: "other" }));
}

function refused(status: number, message: string): IpamError {
  const body = JSON.stringify({ kind: "Status", message });
  return new IpamError("invalid", message, { cause: new Refusal({ status, headers: {}, body }) });
}
