import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Allocation, address, formatAddress, planRelease } from "../../core/index.ts";
import { clusterOfFile } from "../support/cluster/of-file.ts";
import { type FaultProxy, startFaultProxy } from "../support/cluster/proxy.ts";
import { RecordNamespace } from "../support/cluster/record.ts";
import { tries } from "../support/long.ts";
import { PulumiProject, setText, short } from "../support/pulumi/engine.ts";
import { duplicates } from "../support/state/record.ts";
import { BUILD_TIMEOUT } from "../support/tools/tools.ts";

const rounds = tries(2, 50);

let place: RecordNamespace;
let proxy: FaultProxy;
const cluster = clusterOfFile(async (started) => {
  place = await RecordNamespace.make(started);
  proxy = await startFaultProxy(started);
});
afterAll(() => proxy?.close());

const stateText = (set: string) => `set: "${set}", state: { backend: "kubernetes", namespace: "${place.name}" }`;
const lineText = (line: Allocation) =>
  `${line.claim.split("/")[1]}=${formatAddress(line.address).replace("10.0.0.", "")}`;

/** `a=1 b=2 / c=3`: what the record has of a pool, live and releasing. */
async function recorded(pool = "lan"): Promise<string> {
  const { allocations, releasing } = await place.open().read();
  const text = (lines: typeof allocations) => lines.filter((line) => line.pool === pool).map(lineText);
  return [text(allocations).join(" "), text(releasing).join(" ")].join(" / ").replace(/ \/ $/, "");
}

// One stack through its life: each test goes on from where the one before it ended.
describe("a set whose record is in a cluster", () => {
  let project: PulumiProject;
  beforeAll(async () => {
    project = await PulumiProject.create("");
  }, BUILD_TIMEOUT);
  afterAll(() => project?.remove());

  const program = (nodes: readonly string[], rest = {}) =>
    project.program(setText(nodes, { rest: stateText("shop"), ...rest }));
  const held = (name = "ips") => short(project.sets()[name]?.addresses);
  const urn = (name = "ips") => project.resources().find((one) => one.urn.endsWith(`::${name}`))?.urn as string;

  it("shows in preview what it would record, and records it in up; the state holds no credentials", async () => {
    Object.assign(project.variables, { KUBECONFIG: cluster().kubeconfig });
    program(["b", "a"]);
    expect(await project.preview()).toMatch(/Node\/a\/eth1: "10.0.0.1"\s+Node\/b\/eth1: "10.0.0.2"/);
    expect(await recorded()).toBe("");
    await project.ok("up", "--yes", "--strict");
    expect([held(), await recorded()]).toEqual(["a=1 b=2", "a=1 b=2"]);
    const { tokens, kubeconfig, server } = cluster();
    for (const secret of [tokens.admin, kubeconfig, server]) expect(project.checkpoint()).not.toContain(secret);
    const stamp = await place.stamp();
    expect(await project.ok("up", "--yes", "--strict", "--expect-no-changes")).toContain("2 unchanged");
    expect(await place.stamp()).toBe(stamp);
  });

  it("makes what is claimed no more releasing in the record, and what comes back live again", async () => {
    program(["b", "c"]);
    await project.up();
    expect([held(), await recorded()]).toEqual(["b=2 c=3", "b=2 c=3 / a=1"]);
    program(["a", "b", "c"]);
    await project.up();
    expect([held(), await recorded()]).toEqual(["a=1 b=2 c=3", "a=1 b=2 c=3"]);
  });

  it("gives up nothing when the set is replaced, or renamed without an alias", async () => {
    const stamp = await place.stamp();
    expect(await project.up("--replace", urn())).toContain("1 replaced");
    // Renamed, and its record in other words.
    program(["a", "b", "c"], {
      name: "bare",
      rest: stateText("shop").replace("namespace:", 'context: "test", namespace:'),
    });
    await project.up();
    expect([held("bare"), await recorded(), await place.stamp()]).toEqual(["a=1 b=2 c=3", "a=1 b=2 c=3", stamp]);
  });

  it("has other sets on other pools, under other names", async () => {
    project.program(`${setText(["a", "b", "c"], { rest: stateText("shop") })}
      const other = (name, third, rest) => new AllocationSet(name, { ...rest, pools: { [name]: { range: { cidr: \`10.\${third}.0.0/24\` } } },
        claims: [{ owner: { kind: "Node", name: "x" }, name: "eth2", pool: name }] });
      other("wan", 1, { ${stateText("more")} });
      other("dmz", 2, { ${stateText("else")} });`);
    await project.up();
    expect([await recorded(), await recorded("wan"), await recorded("dmz")]).toEqual([
      "a=1 b=2 c=3",
      "x=10.1.0.1",
      "x=10.2.0.1",
    ]);
    program(["a", "b", "c"]);
    await project.up();
    expect([await recorded(), await recorded("wan")]).toEqual(["a=1 b=2 c=3", " / x=10.1.0.1"]);
  });

  it("shows by refresh what the record says otherwise, and up makes it true again", async () => {
    const record = place.open();
    const release = async (node: string, to: "releasing" | "free") => {
      const snapshot = await record.read();
      const lines = snapshot.allocations.filter((line) => line.claim === `Node/${node}/eth1`);
      await record.commit(planRelease(snapshot, lines, to));
    };
    await release("b", "releasing");
    await release("c", "free");
    expect(await recorded()).toBe("a=1 / b=2");
    expect(await project.ok("up", "--yes", "--strict")).toContain("1 to update");
    expect(await recorded()).toBe("a=1 b=2 c=3");
    await release("b", "free");
    expect(await project.ok("refresh", "--yes", "--diff")).toMatch(/- Node\/b\/eth1: "10.0.0.2"/);
    expect(held()).toBe("a=1 c=3");
    await project.up();
    expect([held(), await recorded()]).toEqual(["a=1 b=2 c=3", "a=1 b=2 c=3"]);
    await release("b", "free");
    await project.up("--refresh");
    expect([held(), await recorded()]).toEqual(["a=1 b=2 c=3", "a=1 b=2 c=3"]);
  });

  it("moves nobody where the record is a new one; an address that somebody else has there is refused", async () => {
    const other = await RecordNamespace.make(cluster());
    const [here, there] = [stateText("shop"), stateText("shop").replace(place.name, other.name)];
    project.program(setText(["a", "b", "c"], { rest: there }));
    await project.up();
    expect((await other.open().read()).allocations.map(lineText)).toEqual(["a=1", "b=2", "c=3"]);
    const record = other.open();
    const snapshot = await record.read();
    const { allocations } = snapshot;
    await record.commit(planRelease(snapshot, allocations));
    const thief = { ...allocations[0], claim: "Node/thief/eth1", set: "else" } as Allocation;
    const now = await record.read();
    await record.commit({ ...planRelease(now, []), set: "else", pools: snapshot.pools, assign: [thief] });
    const { status, text } = await project.run("up", "--yes", "--skip-preview");
    expect(status).not.toBe(0);
    expect(text).toContain("in-use: claims[0]: Node/a/eth1 in pool lan: 10.0.0.1 is held by Node/thief/eth1");
    expect(await recorded()).toBe(" / a=1 b=2 c=3");
    project.program(setText(["a", "b", "c"], { rest: here }));
    expect((await project.run("preview")).text).toContain("has 1 address, as 10.0.0.1 of Node/thief/eth1");
    await record.commit(planRelease(await record.read(), [thief]));
    await project.up();
    expect([held(), await recorded()]).toEqual(["a=1 b=2 c=3", "a=1 b=2 c=3"]);
  });

  it("does nothing at all where the record is not the one that it was, until that is restored", async () => {
    const kubectl = (args: string, input?: string) => cluster().kubectl(["-n", place.name, ...args.split(" ")], input);
    const before = await recorded();
    const backup = JSON.parse(await kubectl("get configmaps -l nodeippool.nmstate.io/record -o json"));
    await kubectl("delete configmaps -l nodeippool.nmstate.io/record");
    const record = place.open();
    const prefix = { first: address("10.0.0.0"), last: address("10.0.0.255"), length: 24 };
    const thief = { address: address("10.0.0.2"), length: 32, pool: "lan", claim: "Node/b/eth1", set: "else" };
    const pools = [{ name: "lan", network: "default", prefix }];
    await record.commit({ ...planRelease(await record.read(), []), set: "else", pools, assign: [thief as Allocation] });
    for (const args of [
      ["preview"],
      ["up", "--yes", "--skip-preview", "--replace", urn()],
      ["refresh", "--yes"],
      ["destroy", "--yes", "--skip-preview"],
    ]) {
      const { status, text } = await project.run(...args);
      expect(text).toMatch(/is not the record that this stack used before: it lacks [23] of 3 addresses/);
      expect(text).not.toMatch(/^\s+at /m);
      expect([status === 0, held(), await recorded()]).toEqual([false, "a=1 b=2 c=3", "b=2"]);
    }
    await kubectl("delete configmaps -l nodeippool.nmstate.io/record");
    for (const { metadata } of backup.items) for (const name of ["uid", "resourceVersion"]) delete metadata[name];
    await kubectl("create -f -", JSON.stringify(backup));
    await project.up();
    expect([held(), await recorded()]).toEqual(["a=1 b=2 c=3", before]);
  });

  it("goes on in a lockfile to which its record was moved", async () => {
    const other = await PulumiProject.create("", { KUBECONFIG: cluster().kubeconfig });
    const there = await RecordNamespace.make(cluster());
    try {
      other.program(setText(["a", "b"], { rest: stateText("web").replace(place.name, there.name) }));
      await other.up();
      const moved = await other.start("nodeippool", "migrate", "lockfile", "--namespace", there.name).ended;
      expect(moved).toMatchObject({ status: 0 });
      const lock = 'set: "web", state: { backend: "lockfile", path: "nodeippool.lock" }';
      // Under another name: what is deleted releases nothing there.
      other.program(setText(["a", "b"], { name: "renamed", rest: lock }));
      await other.up();
      expect(short(other.sets().renamed?.addresses)).toBe("a=1 b=2");
      expect(Object.keys(other.sets())).toEqual(["renamed"]);
    } finally {
      other.remove();
    }
  });

  it("fails with conflict where the record changes under an update, and writes nothing", async () => {
    Object.assign(project.variables, { KUBECONFIG: proxy.kubeconfig });
    program(["a", "b", "c", "d"]);
    const before = await recorded();
    const gate = Promise.withResolvers<void>();
    const late = proxy.plant({ verb: "PUT", times: 1 }, { until: gate.promise });
    const update = project.run("up", "--yes", "--skip-preview");
    while (late.count === 0) await sleep(50);
    const record = place.open();
    const snapshot = await record.read();
    const stranger = {
      ...snapshot.allocations[0],
      address: address("10.0.0.4"),
      claim: "Node/stranger/eth1",
      set: "else",
    };
    await record.commit({ ...planRelease(snapshot, []), assign: [stranger as Allocation] });
    gate.resolve();
    const { status, text } = await update;
    expect(status).not.toBe(0);
    expect(text).toContain("pool lan changed since this plan was made; nothing was written");
    expect(text).not.toMatch(/^\s+at /m);
    expect(await recorded()).toBe(`${before} stranger=4`);
    await project.up();
    expect([held(), await recorded()]).toEqual(["a=1 b=2 c=3 d=5", "a=1 b=2 c=3 stranger=4 d=5"]);
  });

  it("does nothing more once its engine is killed", async () => {
    const before = await recorded();
    const gate = Promise.withResolvers<void>();
    const late = proxy.plant({ verb: "GET", path: /configmaps/, times: 1 }, { until: gate.promise });
    const { pid, ended } = project.start("pulumi", "destroy", "--yes", "--skip-preview", "--non-interactive");
    while (late.count === 0) await sleep(50);
    process.kill(-pid, "SIGKILL");
    await ended;
    const asked = proxy.requests.length;
    gate.resolve();
    await sleep(3_000);
    expect(proxy.requests.slice(asked).filter((request) => !request.startsWith("GET "))).toEqual([]);
    expect(await recorded()).toBe(before);
    await project.run("cancel", "--yes");
    expect(await project.up()).toContain("2 unchanged");
  });

  it("gives up what it holds when it is destroyed, and nothing of others", async () => {
    await project.ok("destroy", "--yes", "--skip-preview");
    expect(project.resources()).toEqual([]);
    expect(await recorded()).toBe("stranger=4 / a=1 b=2 c=3 d=5");
  });
});

describe("two stacks on one record at the same time", () => {
  let projects: PulumiProject[] = [];
  beforeAll(async () => {
    projects = [await PulumiProject.create(""), await PulumiProject.create("")];
  }, BUILD_TIMEOUT);
  afterAll(() => {
    for (const project of projects) project.remove();
  });

  it(
    `${rounds} times: each gets what it showed, or fails and has nothing`,
    async () => {
      place = await RecordNamespace.make(cluster());
      const figures = { applied: 0, conflict: 0, violates: 0 };
      for (let round = 0; round < rounds; round++) {
        const runs = projects.map(async (project, i) => {
          Object.assign(project.variables, { KUBECONFIG: cluster().kubeconfig });
          const nodes = Array.from({ length: round + 1 }, (_, n) => `${"ab"[i]}${n}`);
          project.program(setText(nodes, { rest: stateText(`${"ab"[i]}`) }));
          const before = project.sets();
          return { project, before, nodes, ...(await project.run("up", "--yes", "--strict")) };
        });
        const outcomes = await Promise.all(runs);
        const record = await place.open().read();
        expect(duplicates(record)).toEqual([]);
        expect(outcomes.some(({ status }) => status === 0)).toBe(true);
        for (const { project, before, nodes, status, text } of outcomes) {
          const claim = `Node/${nodes.at(-1)}/eth1`;
          const line = record.allocations.find((one) => one.claim === claim);
          expect(line !== undefined, text).toBe(status === 0);
          if (line === undefined) {
            expect(text).toMatch(/changed since this plan was made; nothing was written|violates plan/);
            expect(project.sets()).toEqual(before);
            figures[text.includes("violates plan") ? "violates" : "conflict"]++;
          } else {
            const shown = text.matchAll(new RegExp(`${claim}: "([0-9.]+)"`, "g"));
            expect([...new Set([...shown].map(([, text]) => text))]).toEqual([formatAddress(line.address)]);
            figures.applied++;
          }
        }
      }
      console.log(`race, cluster: ${JSON.stringify(figures)} in ${rounds} rounds`);
    },
    rounds * 120_000,
  );
});
