import { readFileSync } from "node:fs";
import { App, Chart, Testing } from "cdk8s";
import { afterEach, describe, expect, it, vi } from "vitest";
import { AddressPlan, loadState, NodeIPPool, NodeNetworkPolicy, Nodes } from "../../../constructs/index.ts";
import { lockfile, memory } from "../../../state/index.ts";
import { markedText } from "../../../state/mark.ts";
import { offerVariable, readOffers } from "../../../state/offer.ts";
import {
  appOf,
  type Build,
  drift,
  linesOf,
  lockOf,
  nic,
  nothing,
  objectsOf,
  recordAfter,
  refusal,
  synthesised,
} from "../../support/cli/constructs-app.ts";
import { poolOf, recordOf } from "../../support/core/text.ts";
import { folderOf } from "../../support/schema/cli.ts";
import { inScratchFolder } from "../../support/state/folder.ts";

inScratchFolder();

const policy =
  (name: string, ...nodes: string[]): Build =>
  (chart) => {
    const pool = new NodeIPPool(chart, "p", { range: { cidr: "10.0.0.0/29" } });
    new NodeNetworkPolicy(chart, name, {
      nodes: Nodes.named(...nodes),
      desiredState: nic("eth1", pool.claim("eth1")),
    });
  };
const lockIn = (folder: string) => `${folder}/nodeippool.lock`;
afterEach(() => vi.unstubAllEnvs());

describe("synthesis", () => {
  it("fails with what is not recorded, and writes nothing", () => {
    const folder = folderOf({});
    const app = appOf(policy("a", "n1", "n2"), { lock: lockIn(folder) });
    expect(drift(app).replaceAll(folder, "")).toBe(`[AddressPlan] the app is not recorded in /nodeippool.lock:
    + 10.0.0.1  n1  a/eth1
    + 10.0.0.2  n2  a/eth1
  Run nodeippool allocate -- npx cdk8s synth, review the record, and commit it.`);
    expect(() => readFileSync(lockIn(folder))).toThrow(/ENOENT/);
  });

  it("fails with what has changed since", async () => {
    const record = await recordAfter(policy("a", "n1", "n2"));
    expect(drift(appOf(policy("a", "n2", "n3"), { record }))).toBe(`[AddressPlan] memory is not up to date with the app:
    + 10.0.0.3  n3  a/eth1
    - 10.0.0.1  n1  a/eth1  releasing
  Commit AddressPlan.of(app).plan() to that backend: it is none that the command line knows.`);
  });

  it("names what records in a cluster, and where a record that has moved is to be named", () => {
    const where = { context: "it's prod", namespace: "network" };
    const state = { name: "namespace network", snapshot: nothing, where };
    expect(drift(appOf(policy("a", "n1"), { state }))).toMatch(
      /\n {2}Run nodeippool allocate -- npx cdk8s synth, and synthesise anew\.$/,
    );
    const mark = { state: "left", id: "1", other: "namespace network of context test" } as const;
    const folder = folderOf({ "nodeippool.lock": markedText(mark, lockOf(nothing)) });
    expect(drift(appOf(policy("a", "n1"), { lock: lockIn(folder) }))).toMatch(
      /Use it there: state in AddressPlan\.configure/,
    );
  });

  it("names a pool that another app has once for each policy, whatever the number of nodes", () => {
    const pool = new NodeIPPool(new Chart(new App(), "other"), "p", { range: { cidr: "10.0.0.0/29" } });
    const stranger: Build = (chart) => {
      new NodeNetworkPolicy(chart, "a", { nodes: Nodes.named("n1", "n2"), desiredState: nic("eth1", pool.claim("c")) });
    };
    expect(drift(appOf(stranger))).toBe(`[AddressPlan] capture c of policy a asks for pool p, which is not in this app
  Add it: new NodeIPPool(chart, id, { external: true, ... }) where another app applies it.`);
  });

  it("refuses to move an address, but where that is allowed", async () => {
    const pool = (cidr: string, start: string): Build => {
      return (chart) => {
        const p = new NodeIPPool(chart, "p", {
          range: { cidr },
          reservations: [{ address: start, owner: "Node/n1", claim: "a/eth1" }],
        });
        new NodeNetworkPolicy(chart, "a", { nodes: Nodes.named("n1"), desiredState: nic("eth1", p.claim("eth1")) });
      };
    };
    const record = await recordAfter(pool("10.0.0.0/29", "10.0.0.1"));
    const moved = pool("10.0.0.0/29", "10.0.0.2");
    expect(drift(appOf(moved, { record }))).toMatch(
      /which now wants 10\.0\.0\.2[\s\S]*allowMove: true in AddressPlan\.configure/,
    );
    expect(linesOf(await recordAfter(moved, { record, allowMove: true }))).toEqual([
      "10.0.0.2 Node/n1/a/eth1",
      "10.0.0.1 Node/n1/a/eth1 releasing",
    ]);
  });

  it("plans a release of much only where it is confirmed", async () => {
    const build = (...names: string[]) => policy("a", ...names.map((name) => `${name}.example.org`));
    const record = await recordAfter((chart, app) => build("a", "b", "c", "d")(chart, app));
    const others = build("v");
    await expect(recordAfter(others, { record })).rejects.toThrow(
      "this plan releases 4 of 4 addresses of set default: wrong node list, selector or folder?",
    );
    const confirmed = AddressPlan.of(appOf(others, { record })).plan({ confirmRelease: true });
    expect(confirmed.release).toHaveLength(4);
  });

  it("stops where a selector selects none of its nodes any more, and `nodeippool allocate` is told why", async () => {
    const racks =
      (selected: string): Build =>
      (chart) => {
        const pool = new NodeIPPool(chart, "p", { range: { cidr: "10.0.0.0/24" } });
        const names = Array.from({ length: 21 }, (_, i) => (i < 20 ? `a${i}` : "b0"));
        const nodes = Nodes.of(
          ...names.map((name) => ({ name, labels: { "kubernetes.io/hostname": name, rack: name.slice(0, 1) } })),
        );
        for (const [name, rack] of [
          ["rack-a", "a"],
          ["rack-b", selected],
        ] as const)
          new NodeNetworkPolicy(chart, name, {
            ...{ nodes, nodeSelector: { rack } },
            desiredState: nic("eth1", pool.claim("eth1")),
          });
      };
    const record = await recordAfter(racks("b"));
    const says =
      "this plan releases the only address of policy rack-b (10.0.0.21 of b0): policy rack-b selects none of the nodes: none has rack: bb; did you mean b?";
    await expect(recordAfter(racks("bb"), { record })).rejects.toThrow(says);
    const [folder, offers] = [folderOf({ "nodeippool.lock": lockOf(record) }), folderOf({})];
    vi.stubEnv(offerVariable, offers);
    synthesised(appOf(racks("bb"), { lock: lockIn(folder) }));
    expect(readOffers(offers).map(({ doubts }) => doubts.map(({ message }) => message))).toEqual([[says]]);
  });

  it("names a rename that may be one, and how to declare it", async () => {
    const record = await recordAfter(policy("a", "n1"));
    expect(drift(appOf(policy("b", "n1"), { record }))).toBe(
      `[AddressPlan] network/b: Node/n1/b/eth1 in pool p: Node/n1 would lose 10.0.0.1 (a/eth1) and get another address
  Declare the rename, or allow the move: nodeippool mv a/eth1 b/eth1, or allowMove: true in AddressPlan.configure`,
    );
  });

  it("is the same the second time, and plans anew when there is more", async () => {
    const record = await recordAfter((chart, app) => {
      policy("a", "n1")(chart, app);
      policyOn(chart, "b");
    });
    const app = appOf(policy("a", "n1"), { record });
    expect(drift(app)).toMatch(/- 10\.0\.0\.2 {2}n1 {2}b\/eth2/);
    policyOn(app.charts[0] as Chart, "b");
    const once = app.synthYaml();
    expect(app.synthYaml()).toBe(once);
    expect(once).toContain("b--n1");
  });

  it("forgets what is taken out of the app", async () => {
    const record = await recordAfter(policy("a", "n1"));
    const app = appOf(policy("a", "n1"), { record });
    const chart = app.charts[0] as Chart;
    const all = app.synthYaml();
    policyOn(chart, "b");
    expect(drift(app)).toMatch(/\+ 10\.0\.0\.2 {2}n1 {2}b\/eth2/);
    chart.node.tryRemoveChild("b");
    expect(app.synthYaml()).toBe(all);
    new NodeIPPool(chart, "q", { range: { cidr: "10.0.0.0/24" } });
    expect(drift(app)).toMatch(/pools p and q of network default share addresses/);
    chart.node.tryRemoveChild("q");
    expect(app.synthYaml()).toBe(all);
  });

  it("of one chart plans for all", async () => {
    const build: Build = (chart, app) => {
      const pool = new NodeIPPool(chart, "p", { range: { cidr: "10.0.0.0/29" } });
      for (const id of ["one", "two"])
        new NodeNetworkPolicy(new Chart(app, id), id, {
          nodes: Nodes.named("n1"),
          desiredState: nic(id, pool.claim("x")),
        });
    };
    const app = appOf(build, { record: await recordAfter(build) });
    const [first, second, third] = app.charts.map((chart) => Testing.synth(chart).map(({ metadata }) => metadata.name));
    expect([first, second, third].sort()).toEqual([["one--n1"], ["p"], ["two--n1"]]);
    expect(synthesised(app)).toHaveLength(3);
  });

  it("goes beside a chart of any name", async () => {
    const names = ["nodeippool", "plan", "address-plan"];
    const objects = await objectsOf((chart, app) => {
      for (const name of names) new Chart(app, name);
      policy("a", "n1")(chart, app);
    });
    expect(objects).toHaveLength(2);
  });

  it("reads nodeippool.lock of the working folder unless told otherwise", () => {
    const app = new App();
    policy("a", "n1")(new Chart(app, "network"), app);
    expect(drift(app)).toMatch(/not recorded in nodeippool\.lock:[\s\S]*Run nodeippool allocate -- npx cdk8s synth/);
  });
});

/** A second policy, for eth2 of n1. */
function policyOn(chart: Chart, id: string): void {
  const pool = chart.node.findChild("p") as NodeIPPool;
  new NodeNetworkPolicy(chart, id, { nodes: Nodes.named("n1"), desiredState: nic("eth2", pool.claim("eth2")) });
}

describe("AddressPlan.configure", () => {
  it.each(["before", "after"])("%s the constructs", async (when) => {
    const record = await recordAfter(policy("a", "n1"));
    const app = new App();
    const props = { state: { name: "memory", snapshot: record } };
    if (when === "before") AddressPlan.configure(app, props);
    policy("a", "n1")(new Chart(app, "network"), app);
    if (when === "after") AddressPlan.configure(app, props);
    expect(synthesised(app)).toHaveLength(2);
  });

  it("even after a synthesis that failed", async () => {
    const app = new App();
    policy("a", "n1")(new Chart(app, "network"), app);
    expect(drift(app)).toMatch(/not recorded/);
    AddressPlan.configure(app, { state: { name: "memory", snapshot: await recordAfter(policy("a", "n1")) } });
    expect(drift(app)).toBe("nothing");
  });

  it("once", () => {
    const app = appOf(() => {});
    expect(refusal(() => AddressPlan.configure(app))).toBe("AddressPlan.configure is called twice for one app");
  });

  it("in one place", () => {
    const both = { lock: "nodeippool.lock", state: { name: "memory", snapshot: nothing } };
    expect(refusal(() => AddressPlan.configure(new App(), both))).toMatch(/is given lock and state/);
    const promised = { state: loadState(memory()) as never };
    expect(refusal(() => AddressPlan.configure(new App(), promised))).toMatch(/state is what await loadState/);
    expect(refusal(() => AddressPlan.configure(new App(), { set: 3 as never }))).toMatch(/set/);
    const slip = { lok: "nodeippool.lock" } as never;
    expect(refusal(() => AddressPlan.configure(new App(), slip))).toMatch(/unknown field lok; did you mean lock\?/);
  });
});

describe("a record that was loaded before", () => {
  it("takes the app's plan, and covers it from then on", async () => {
    const backend = memory();
    const app = appOf(policy("a", "n1"), { state: await loadState(backend) });
    expect(drift(app)).toMatch(/not recorded in memory/);
    await backend.commit(AddressPlan.of(app).plan());
    expect(synthesised(appOf(policy("a", "n1"), { state: await loadState(backend) }))).toHaveLength(2);
  });

  it("may be one that nodeippool allocate writes, so the plan is offered", async () => {
    const backend = memory();
    const offers = folderOf({});
    vi.stubEnv(offerVariable, offers);
    const state = await loadState(backend);
    expect(synthesised(appOf(policy("a", "n1"), { state }))).toHaveLength(2);
    for (const { plan } of readOffers(offers)) await backend.commit(plan);
    expect(linesOf(await backend.read())).toEqual(["10.0.0.1 Node/n1/a/eth1"]);
  });
});

describe("under nodeippool allocate", () => {
  it("the plan is offered, and what is offered is synthesised", async () => {
    const [folder, offers] = [folderOf({}), folderOf({})];
    vi.stubEnv(offerVariable, offers);
    const objects = synthesised(appOf(policy("a", "n1", "n2"), { lock: lockIn(folder) }));
    expect(objects.map(({ metadata }) => metadata.name)).toEqual(["p", "a--n1", "a--n2"]);
    const plans = readOffers(offers).map(({ plan }) => plan);
    expect(plans).toHaveLength(1);
    expect(linesOf(lockfile(lockIn(folder)).commitAll(plans))).toEqual([
      "10.0.0.1 Node/n1/a/eth1",
      "10.0.0.2 Node/n2/a/eth1",
    ]);
    vi.unstubAllEnvs();
    expect(synthesised(appOf(policy("a", "n1", "n2"), { lock: lockIn(folder) }))).toEqual(objects);
  });

  it("a second synthesis with more in the app goes on top of the first", () => {
    const [folder, offers] = [folderOf({}), folderOf({})];
    vi.stubEnv(offerVariable, offers);
    const app = appOf(policy("a", "n1"), { lock: lockIn(folder) });
    app.synthYaml();
    policyOn(app.charts[0] as Chart, "b");
    app.synthYaml();
    expect(linesOf(lockfile(lockIn(folder)).commitAll(readOffers(offers).map(({ plan }) => plan)))).toEqual([
      "10.0.0.1 Node/n1/a/eth1",
      "10.0.0.2 Node/n1/b/eth2",
    ]);
  });
});

describe("what an import recorded", () => {
  it("is adopted by the claim on its NIC", async () => {
    const imported = recordOf(
      ["10.0.0.4 Node/n1/imported/10.0.0.4 set=imported if=eth1"],
      [poolOf("p", "10.0.0.0/29")],
    );
    const after = await recordAfter(policy("a", "n1", "n2"), { record: imported });
    expect(linesOf(after)).toEqual(["10.0.0.1 Node/n2/a/eth1", "10.0.0.4 Node/n1/a/eth1"]);
  });
});

describe("claim sets", () => {
  it("share a record and a pool; each app keeps to its own", async () => {
    const here = await recordAfter(policy("a", "n1"), { set: "here" });
    const both = await recordAfter(policy("b", "n2"), { set: "there", record: here });
    expect(linesOf(both)).toEqual(["10.0.0.1 Node/n1/a/eth1", "10.0.0.2 Node/n2/b/eth1"]);
    for (const [name, node, set] of [
      ["a", "n1", "here"],
      ["b", "n2", "there"],
    ] as const)
      expect(drift(appOf(policy(name, node), { set, record: both }))).toBe("nothing");
  });

  it("without one, an app would release what another has: that is drift", async () => {
    const record = await recordAfter(policy("a", "n1"));
    expect(drift(appOf(policy("b", "n2"), { record }))).toMatch(/- 10\.0\.0\.1 {2}n1 {2}a\/eth1 {2}releasing/);
  });

  it("do not share a NIC", async () => {
    const record = await recordAfter(policy("a", "n1"), { set: "here" });
    expect(drift(appOf(policy("b", "n1"), { set: "there", record }))).toMatch(
      /policies a \(set here\) and b both set the IPv4 addresses of eth1 on Node\/n1/,
    );
  });
});

describe("an app without pools", () => {
  it("needs no record", () => {
    const app = appOf((chart) => new NodeNetworkPolicy(chart, "a", { desiredState: nic("eth1") }), { record: nothing });
    expect(synthesised(app)).toHaveLength(1);
  });
});
