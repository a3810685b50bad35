import { describe, expect, it } from "vitest";
import { keep } from "../../../controller/cache/seen.ts";
import { nextConflicts } from "../../../controller/reconcile/quarantine.ts";
import { type Allocation, parseAddress } from "../../../core/index.ts";
import { wayOf } from "../../../integrations/workload/pod-conflict.ts";
import { asBag, type Bag } from "../../../schema/objects.ts";
import { formatConflicts, poolConflictsOf } from "../../../schema/pool-conflicts.ts";
import { detected, failed } from "../../support/objects/pod-detects.ts";
import { networksKey, singlePod } from "../../support/objects/workload-objects.ts";
import type { SimObject } from "../../support/sim/apps.ts";
import { beginWorkloads } from "../../support/sim/begin-workloads.ts";

const mac = "02:00:00:00:00:99";
const conflictsKey = "nodeippool.nmstate.io/conflicts";
const conflict = (ip: string) => `conflict ${ip} net1 ${mac} (another host answers for this address)`;
const none = (ip: string) => `not-detected ${ip} net1 (nobody else answers for this address)`;
const strategy = { rollingUpdate: { maxSurge: 0 } };

function begin(options = {}) {
  const all = beginWorkloads(options);
  const { sim, apps, reconciler } = all;
  const says = (pod: string, status: Bag) => apps.change(apps.find("Pod", pod) ?? {}, (one) => ({ ...one, status }));
  const pool = () => sim.object("NodeIPPool", "lan") as Bag;
  const conflicts = () => formatConflicts(poolConflictsOf(pool()));
  const annotate = (text: string | undefined) =>
    apps.change(pool(), (one) => ({
      ...one,
      metadata: { ...asBag(one.metadata), annotations: { [conflictsKey]: text } },
    }));
  const reason = () => (pool() as { status?: { conditions?: Bag[] } }).status?.conditions?.[0]?.reason;
  const free = () => (pool() as { status?: Bag }).status?.free;
  /** `web-x 10.0.0.1`, by the addresses. */
  const byIp = () =>
    new Map(all.told().map((text) => text.replace("/24", "").split(" ").reverse() as [string, string]));
  const ips = () => [...byIp().keys()].sort();
  /** The pod with this address finds that another host answers for it. */
  const finds = (ip: string) => says(byIp().get(ip) ?? "", detected(4, conflict(ip)));
  const events = () => reconciler.said.join("\n");
  return { ...all, says, conflicts, annotate, reason, free, byIp, ips, finds, events };
}

const web = (count: number) =>
  Array.from({ length: count }, (_, i) => `10.0.0.${i + 1} Deployment/default:web/${i}/net1`);

describe("another host answers for the address of a pod", () => {
  it("of a StatefulSet: the pod waits, the pool says so, and the address is nobody else's until the pod starts", async () => {
    const { sim, create, pass, told, says, conflicts, reason, events } = begin();
    create("StatefulSet", "db", { replicas: 2 });
    await pass();
    says("db-0", detected(4, conflict("10.0.0.1")));
    await pass();
    expect([conflicts(), reason()]).toEqual([`10.0.0.1 ${mac}`, "IPCollision"]);
    expect(events()).toContain(
      `Pod/default:db-0 IPConflict: another host, with MAC address ${mac}, answers for 10.0.0.1`,
    );
    expect(sim.said.join("\n")).toContain(
      `10.0.0.1 at the host with MAC address ${mac} is colliding with StatefulSet/`,
    );
    expect(told()).toEqual(["db-0 10.0.0.1/24", "db-1 10.0.0.2/24"]);
    says("db-0", detected(0, none("10.0.0.1")));
    await pass();
    expect([conflicts(), reason()]).toEqual([undefined, "ReconciledPool"]);
  });

  it("at a MAC address that is none: the pool says unknown, and nothing else of what the pod says", async () => {
    const { create, pass, says, conflicts } = begin();
    create("StatefulSet", "db", { replicas: 1 });
    await pass();
    says("db-0", detected(4, conflict("10.0.0.1").replace(mac, "m,10.0.0.7")));
    await pass();
    expect(conflicts()).toBe("10.0.0.1 unknown");
  });

  it("which somebody has written into the pool: its pod that hears nobody takes it out", async () => {
    const { create, pass, says, annotate, conflicts } = begin();
    create("StatefulSet", "db", { replicas: 1 });
    await pass();
    annotate(`10.0.0.1 ${mac}`);
    await pass();
    expect(conflicts()).toBe(`10.0.0.1 ${mac}`);
    says("db-0", detected(0, none("10.0.0.1")));
    await pass();
    expect(conflicts()).toBeUndefined();
  });

  it("as a pod said that says otherwise by now: it is not written into the pool", async () => {
    const { sim, apps, create, pass, says, conflicts } = begin();
    create("StatefulSet", "db", { replicas: 1 });
    await pass();
    sim.isFrozen = true;
    says("db-0", detected(4, conflict("10.0.0.1")));
    const { cache } = sim;
    const pod = apps.find("Pod", "db-0") as SimObject;
    const seen = keep(cache.kindFor(pod as never), pod);
    says("db-0", detected(0, none("10.0.0.1")));
    cache.set(seen);
    await pass();
    expect(conflicts()).toBeUndefined();
  });

  it("nobody gets it once its workload is gone, also after a restart and without the record, until somebody takes it out", async () => {
    const { sim, apps, create, pass, told, finds, conflicts, annotate, reason, free } = begin({ last: 1 });
    create("StatefulSet", "db", { replicas: 1 });
    await pass();
    finds("10.0.0.1");
    await pass();
    apps.remove(apps.find("StatefulSet", "db") ?? {});
    await pass(120_000);
    expect([sim.lines(), reason(), free()]).toEqual([[], "IPCollision", "0"]);
    create("StatefulSet", "app", { replicas: 1 });
    await pass();
    expect([told(), conflicts()]).toEqual([["app-0"], `10.0.0.1 ${mac}`]);
    annotate(undefined);
    await pass(60_000);
    expect(told()).toEqual(["app-0 10.0.0.1/24"]);
  });

  it("of a Deployment: another pod gets another index, and the line stays; once it is well, the index is used again", async () => {
    const { sim, create, pass, finds, conflicts, ips, annotate, apps, byIp, events } = begin();
    create("Deployment", "web", { replicas: 2, strategy });
    await pass();
    finds("10.0.0.1");
    await pass(10_000);
    expect([conflicts(), ips(), sim.lines()]).toEqual([`10.0.0.1 ${mac}`, ["10.0.0.2", "10.0.0.3"], web(3)]);
    expect(events()).toMatch(/^Deployment.apps\/default:web IPConflict: .*Another pod gets another address/m);
    apps.roll("Deployment", "web");
    await pass(60_000);
    expect([ips(), sim.lines()]).toEqual([["10.0.0.2", "10.0.0.3"], web(3)]);
    annotate(undefined);
    await pass();
    expect(ips()).toEqual(["10.0.0.2", "10.0.0.3"]);
    apps.remove(apps.find("Pod", byIp().get("10.0.0.3") ?? "") ?? {});
    await pass(120_000);
    expect([ips(), sim.lines()]).toEqual([["10.0.0.1", "10.0.0.2"], web(2)]);
  });

  it("of a lost record, the line is the same one's again", async () => {
    const { sim, create, pass, finds, conflicts, ips } = begin();
    create("Deployment", "web", { replicas: 2, strategy });
    await pass();
    finds("10.0.0.1");
    await pass(10_000);
    sim.record = { ...sim.record, allocations: [], releasing: [], pools: [], base: new Map() };
    sim.engine.resync();
    await pass(10_000);
    expect([conflicts(), ips(), sim.lines().sort()]).toEqual([`10.0.0.1 ${mac}`, ["10.0.0.2", "10.0.0.3"], web(3)]);
  });

  it("where all addresses conflict, a Deployment loses three, and then its pods wait", async () => {
    const { sim, apps, create, pass, finds, conflicts, ips, events } = begin();
    create("Deployment", "web", { replicas: 2, strategy });
    await pass();
    for (let i = 0; i < 20; i++) {
      for (const ip of ips()) finds(ip);
      await pass(1000);
    }
    expect(conflicts()?.split(", ")).toHaveLength(3);
    expect([ips(), sim.lines()]).toEqual([["10.0.0.4", "10.0.0.5"], web(5)]);
    expect(events()).toContain("answer for every address");
    expect(apps.all("Pod")).toHaveLength(2);
  });

  it("where no other address is free, the pod waits, and starts once it may", async () => {
    const { create, pass, finds, ips, says, byIp, conflicts, events } = begin({ last: 2 });
    create("Deployment", "web", { replicas: 2, strategy });
    await pass();
    const before = byIp().get("10.0.0.1") ?? "";
    finds("10.0.0.1");
    await pass(10_000);
    expect([ips(), byIp().get("10.0.0.1")]).toEqual([["10.0.0.1", "10.0.0.2"], before]);
    expect(events()).toContain("no other address is free");
    says(before, detected(0, none("10.0.0.1")));
    await pass();
    expect(conflicts()).toBeUndefined();
  });

  it.each([
    ["an address that is not its own", detected(4, conflict("10.0.0.2"))],
    ["an address of no pool", detected(4, conflict("10.9.9.9"))],
    ["a NIC that it has not", detected(4, conflict("10.0.0.1").replace("net1", "net7"))],
    ["nothing that can be read", detected(4, "conflict", "conflict x net1", "")],
    ["a gateway that is silent", detected(6, "unreachable 10.0.0.254 net1")],
  ])("the status of a pod that says %s keeps no address from anybody", async (_, status) => {
    const { create, pass, says, conflicts, told, events } = begin();
    create("Deployment", "web", { replicas: 1, strategy });
    create("StatefulSet", "db", { replicas: 1 });
    await pass();
    const pod =
      told()
        .find((text) => text.includes("10.0.0.1"))
        ?.split(" ")[0] ?? "";
    says(pod, status);
    await pass();
    expect([conflicts(), told().some((text) => text.startsWith(pod))]).toEqual([undefined, true]);
    expect(events()).not.toContain("IPConflict");
    expect(events().includes(`${pod} GatewayUnreachable: gateway 10.0.0.254 does not answer on net1`)).toBe(
      JSON.stringify(status).includes("unreachable"),
    );
  });

  it("a pod whose containers have run is not deleted", async () => {
    const { create, pass, says, byIp } = begin();
    create("Deployment", "web", { replicas: 1, strategy });
    await pass();
    const pod = byIp().get("10.0.0.1") ?? "";
    const status = detected(4, conflict("10.0.0.1"));
    says(pod, { ...status, containerStatuses: [{ name: "main", restartCount: 1, state: { waiting: {} } }] });
    await pass(10_000);
    expect(byIp().get("10.0.0.1")).toBe(pod);
  });
});

describe("another host answers for the address of a pod that is by itself", () => {
  const beginOne = async (options = {}) => {
    const all = begin(options);
    all.apps.create(singlePod("one"));
    await all.pass();
    return all;
  };

  it("and it waits: an Event says so, and what to do", async () => {
    const { says, pass, conflicts, events, apps } = await beginOne();
    expect(apps.all("ConfigMap")).toEqual([]);
    says("one", detected(4, conflict("10.0.0.1")));
    await pass();
    expect(conflicts()).toBe(`10.0.0.1 ${mac}`);
    expect(events()).toMatch(/^Pod\/default:one IPConflict: .*delete the pod: the next one gets another address, if /m);
  });

  it.each([
    ["at once", "one", 1000, "10.0.0.1/24"],
    ["a minute later", "one", 60_000, "10.0.0.2/24"],
    ["at once", "other", 1000, "10.0.0.2/24"],
  ])("and it is deleted: the next one, which is made %s and called %s, gets what the Event says", async (...row) => {
    const [, name, later, ip] = row;
    const { says, pass, events, apps, told } = await beginOne();
    says("one", detected(4, conflict("10.0.0.1")));
    await pass();
    expect(events()).toMatch(/another address, if it has another name or is made a minute later$/m);
    apps.remove(apps.find("Pod", "one") ?? {});
    await pass(later);
    apps.create(singlePod(name));
    await pass();
    expect(told()).toEqual([`${name} ${ip}`]);
  });

  it.each([false, true])(
    "and it fails at once: nobody else gets the address, also if the controller was away: %s",
    async (isAway) => {
      const { sim, says, pass, conflicts, events, apps, told, annotate } = await beginOne();
      sim.isFrozen = isAway;
      says("one", failed(4, conflict("10.0.0.1")));
      apps.create(singlePod("two"));
      if (isAway) await pass();
      sim.isFrozen = false;
      await pass();
      expect(conflicts()).toBe(`10.0.0.1 ${mac}`);
      expect(told()).toEqual(["one 10.0.0.1/24", "two 10.0.0.2/24"]);
      expect(events()).toContain("Pod/default:one IPConflict: another host");
      await pass(120_000);
      expect(sim.lines()).toEqual(["10.0.0.2 Pod/default:two/0/net1"]);
      annotate(undefined);
      await pass(60_000);
      expect(conflicts()).toBeUndefined();
    },
  );

  it.each([
    ["an address that is not its own", {}, failed(4, conflict("10.0.0.2"))],
    [
      "one of another workload, as it says",
      { "nodeippool.nmstate.io/pod-index": "StatefulSet/db/0" },
      failed(4, conflict("10.0.0.2")),
    ],
  ])("and it fails with %s: nothing", async (_, annotations, status) => {
    const { create, says, pass, conflicts, apps } = await beginOne();
    create("StatefulSet", "db", { replicas: 1 });
    await pass();
    const ips = JSON.stringify([{ name: "red", interface: "net1", ips: ["10.0.0.2/24"] }]);
    apps.change(apps.find("Pod", "one") ?? {}, (one) => {
      const own = asBag(asBag(one.metadata)?.annotations);
      return {
        ...one,
        metadata: { ...asBag(one.metadata), annotations: { ...own, ...annotations, [networksKey]: ips } },
      };
    });
    says("one", status);
    await pass();
    expect(conflicts()).toBeUndefined();
  });
});

const at = (ip: string) => parseAddress(ip).value as Allocation["address"];

describe("what a pool says of its addresses that others have", () => {
  const line = (ip: string, claim: string) => ({ claim, address: at(ip) }) as Allocation;
  const found = (claim: string, ip: string, isConflict: boolean) => {
    return { claim, address: at(ip), isConflict, mac, by: claim };
  };
  const lines = [line("10.0.0.1", "a"), line("10.0.0.2", "b")];
  it.each([
    ["found", "", [found("a", "10.0.0.1", true)], `10.0.0.1 ${mac}`],
    ["found by who has another one on record", "", [found("b", "10.0.0.1", true)], undefined],
    ["found by who has nothing on record", "", [found("c", "10.0.0.1", true)], undefined],
    ["not to be left out", "", [found("b", "10.0.0.2", true)], undefined],
    ["said, and found again", "10.0.0.1 unknown", [found("a", "10.0.0.1", true)], "10.0.0.1 unknown"],
    ["said, and nobody says anything", "10.0.0.1 x, 10.0.0.9 y", [], "10.0.0.1 x, 10.0.0.9 y"],
    ["said, and nobody else answers", "10.0.0.1 x, 10.0.0.9 y", [found("a", "10.0.0.1", false)], "10.0.0.9 y"],
    ["said, and who never had it hears nobody", "10.0.0.1 x", [found("b", "10.0.0.1", false)], "10.0.0.1 x"],
    ["heard, and not heard", "10.0.0.1 x", [found("a", "10.0.0.1", false), found("a", "10.0.0.1", true)], "10.0.0.1 x"],
    ["said by hand", "10.0.0.1,nonsense", [], "10.0.0.1 unknown"],
    [
      "said by hand, in no order",
      "10.0.0.9   y,10.0.0.10, 10.0.0.2\tx",
      [],
      "10.0.0.2 x, 10.0.0.9 y, 10.0.0.10 unknown",
    ],
  ])("%s", (_, text, all, expected) => {
    const known = poolConflictsOf({ metadata: { annotations: { [conflictsKey]: text } } });
    const mayLeaveOut = (claim: string) => claim !== "b";
    const { next } = nextConflicts({ known, lines, found: all, mayLeaveOut, conflicting: new Set() });
    expect(formatConflicts(next)).toBe(expected);
  });

  it("it says no more than a hundred", () => {
    const many = Array.from({ length: 200 }, (_, i) => [`c${i}`, `10.0.1.${i}`] as const);
    const all = many.map(([claim, ip]) => found(claim, ip, true));
    const own = many.map(([claim, ip]) => line(ip, claim));
    const asked = { known: new Map(), lines: own, found: all, mayLeaveOut: () => true, conflicting: new Set<string>() };
    expect(nextConflicts(asked).next.size).toBe(100);
  });
});

it.each([
  ["StatefulSet", true, true, 0, "waits"],
  ["Deployment", true, true, 1, "replaced"],
  ["Deployment", true, false, 1, "no index"],
  ["Deployment", false, true, 3, "too many"],
  ["Deployment", false, true, 2, "waits"],
] as const)("a pod of a %s, its index left out: %s, another one free: %s, left out in all: %s: %s", (...row) => {
  const [kind, isLeftOut, isOtherFree, leftOut, way] = row;
  expect(wayOf(kind, { isLeftOut, isOtherFree, leftOut })).toBe(way);
});

it("a template that says to look for what nobody knows makes an Event; its pods wait, and its addresses stay its", async () => {
  const { sim, apps, create, pass, told } = begin();
  create("Deployment", "app", { replicas: 1, strategy });
  await pass();
  apps.roll("Deployment", "app", { "nodeippool.nmstate.io/detect": "conflikt" });
  create("Deployment", "web", { replicas: 1, strategy });
  apps.roll("Deployment", "web", { "nodeippool.nmstate.io/detect": "conflikt" });
  await pass(120_000);
  expect(told().find((text) => text.startsWith("web"))).not.toContain("10.0.0");
  expect(sim.lines()).toEqual(["10.0.0.1 Deployment/default:app/0/net1"]);
  expect(sim.said.join("\n")).toContain("/detect takes conflict, gateway or none, not conflikt");
});

describe("what a pod is told to look for", () => {
  const gateway = "10.0.0.254";
  it.each([
    ["nothing", undefined, {}, undefined, undefined],
    ["what the pool asks for", undefined, { detect: ["Conflict"], gateway }, "conflict", undefined],
    ["what its template asks for, and the gateway of the pool", "gateway", { gateway }, "gateway", gateway],
    ["what both ask for", "conflict", { detect: ["Gateway"], gateway }, "conflict, gateway", gateway],
    ["no gateway, as the pool has none", "gateway", {}, "gateway", undefined],
    ["none, whatever the pool asks for", "none", { detect: ["Gateway"], gateway }, "none", undefined],
  ])("%s", async (_, annotation, spec, checks, gateways) => {
    const { apps, create, pass } = begin({ spec });
    create("Deployment", "web", { replicas: 1, strategy });
    if (annotation !== undefined) apps.roll("Deployment", "web", { "nodeippool.nmstate.io/detect": annotation });
    await pass();
    const [pod] = apps.all("Pod");
    const annotations = asBag(pod?.metadata.annotations);
    const told = ["detect", "gateways"].map((name) => annotations?.[`nodeippool.nmstate.io/${name}`]);
    expect(told).toEqual([checks, gateways]);
  });
});
