import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { health, type Vitals } from "../../../controller/run/health.ts";
import { counting, metricsOf } from "../../../controller/run/metrics.ts";
import { parseListen, serve } from "../../../controller/run/server.ts";
import { emptySnapshot, IpamError } from "../../../core/index.ts";
import type { WatchState } from "../../../kube/index.ts";
import { poolConflictsOf } from "../../../schema/pool-conflicts.ts";
import { root } from "../../support/console.ts";
import { tableOf } from "../../support/core/table.ts";
import { poolOf } from "../../support/core/text.ts";
import { policy } from "../../support/objects/controller-objects.ts";
import { SimController } from "../../support/sim/controller.ts";

it("what is free of a pool is without what other hosts have", async () => {
  const counted = {
    ...{ pools: [poolOf("p", "10.0.0.0/24 10.0.0.1 10.0.0.9")], snapshot: emptySnapshot, pending: [] },
    conflicts: new Map([
      [
        "p",
        poolConflictsOf({ metadata: { annotations: { "nodeippool.nmstate.io/conflicts": "10.0.0.4, 10.0.0.99" } } }),
      ],
    ]),
    ...{ queue: { length: 0, oldest: 0 }, watches: new Map() },
  };
  const { text } = await metricsOf(() => counted, "1.2.3").print();
  expect(text).toContain('nodeippool_pool_addresses{pool="p",state="free"} 8');
});

describe("health", () => {
  const rows = tableOf(`
    watches         | decided | stuck  | stopping | healthz                             | readyz
    synced;absent   | yes     | 0      | no       | ok                                  | ok
    synced;absent   | no      | 0      | no       | ok                                  | nothing was decided yet
    listing;absent  | no      | 0      | no       | ok                                  | the watch of A is listing
    synced;failing  | yes     | 0      | no       | ok                                  | the watch of B is failing
    synced;synced   | yes     | 300000 | no       | ok                                  | ok
    synced;synced   | yes     | 300500 | no       | a key has been stuck for 301 s    | ok
    synced;synced   | yes     | 0      | yes      | ok                                  | stopping
  `);
  it.each(rows)("$title", ({ cell }) => {
    const [one = ""] = cell("decided");
    const vitals: Vitals = {
      watches: new Map(cell("watches").map((state, i) => [i === 0 ? "A" : "B", state as WatchState])),
      hasDecided: one === "yes",
      stuckFor: Number(cell("stuck")[0]),
      isStopping: cell("stopping")[0] === "yes",
    };
    const { healthz = "ok", readyz = "ok" } = health(vitals);
    expect([healthz, readyz]).toEqual([cell("healthz")[0], cell("readyz")[0]]);
  });
});

describe("where to listen", () => {
  it.each([
    [":8080", { host: undefined, port: 8080 }],
    ["127.0.0.1:0", { host: "127.0.0.1", port: 0 }],
    ["[::1]:9000", { host: "::1", port: 9000 }],
    ["localhost:80", { host: "localhost", port: 80 }],
    ["0", undefined],
    ["off", undefined],
  ])("%s", (text, expected) => {
    expect(parseListen(text)).toEqual(expected);
  });

  it.each(["8080", ":", ":70000", "::1:80", "on", ":-1"])("not at %s", (text) => {
    expect(() => parseListen(text)).toThrow(IpamError);
  });
});

describe("over HTTP", () => {
  const open: { close(): void }[] = [];
  afterEach(() => open.splice(0).forEach((one) => void one.close()));

  /** A controller in memory, and how to ask it. */
  async function started() {
    const watches = new Map<string, WatchState>([["Node", "synced"]]);
    const metrics = metricsOf(
      () => ({
        pools: [...sim.engine.allocator.pools.values()].flatMap(({ pool }) => pool ?? []),
        conflicts: new Map(),
        snapshot: sim.engine.allocator.record.latest ?? emptySnapshot,
        pending: [...sim.engine.allocator.pending.values()].flat(),
        queue: { length: sim.engine.queue.length(), oldest: sim.engine.queue.oldest() },
        watches,
      }),
      "1.2.3",
    );
    const observer = {
      recorded: () => {},
      wrong: () => {},
      ran: (key: string, ms: number, error?: unknown) => metrics.ran(key.replace(/ .*/s, ""), ms, error),
    };
    const sim = new SimController(observer, (state) => counting(state, metrics.committed));
    const vitals = () => ({
      watches,
      hasDecided: sim.engine.hasDecided,
      stuckFor: sim.engine.queue.stuckFor(),
      isStopping: false,
    });
    const server = await serve({ host: "127.0.0.1", port: 0 }, { vitals, metrics: metrics.print });
    open.push(server);
    const get = async (path: string) => {
      const response = await fetch(`http://127.0.0.1:${server.port}${path}`);
      return { status: response.status, type: response.headers.get("content-type"), text: await response.text() };
    };
    return { sim, metrics, get };
  }

  it("is ready once all is decided, and counts what it did", async () => {
    const { sim, metrics, get } = await started();
    expect(await get("/readyz")).toMatchObject({ status: 503, text: "nothing was decided yet\n" });
    sim.pool("p", "10.0.0.0/24", "10.0.0.2");
    for (const name of ["n1", "n2", "n3"]) sim.node(name);
    sim.create(policy("a", "p", "eth1") as never);
    await sim.pass();
    metrics.sent("get", 200);
    metrics.sent("watch", 0);
    expect(await get("/healthz")).toEqual({ status: 200, type: "text/plain", text: "ok\n" });
    expect(await get("/readyz?verbose")).toMatchObject({ status: 200 });
    expect(await get("/")).toMatchObject({ status: 404 });
    const { text, type } = await get("/metrics");
    expect(type).toContain("version=0.0.4");
    for (const line of [
      'nodeippool_pool_addresses{pool="p",state="allocated"} 2',
      'nodeippool_pool_addresses{pool="p",state="releasing"} 0',
      'nodeippool_pool_addresses{pool="p",state="free"} 0',
      'nodeippool_pool_pending_claims{pool="p"} 1',
      'nodeippool_commits_total{result="ok"} 1',
      'nodeippool_api_requests_total{verb="get",code="200"} 1',
      'nodeippool_api_requests_total{verb="watch",code="none"} 1',
      'nodeippool_watch_state{kind="Node",state="synced"} 1',
      'nodeippool_watch_state{kind="Node",state="failing"} 0',
      `nodeippool_build_info{version="1.2.3",node="${process.versions.node}"} 1`,
      "nodeippool_queue_keys 0",
    ])
      expect(text.split("\n")).toContain(line);
    expect(text).toMatch(/^nodeippool_runs_total{verb="apply",result="ok"} [1-9]/m);
    expect(text).toMatch(/^nodeippool_run_duration_seconds_count{verb="allocate"} [1-9]/m);
  });

  it("prints the metrics that docs/observe.md lists, and no others", async () => {
    const { get } = await started();
    const { text } = await get("/metrics");
    const printed = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name);
    const page = readFileSync(join(root, "docs/observe.md"), "utf8");
    const rows = page.split("\n").filter((line) => line.startsWith("| `nodeippool_"));
    const listed = rows.flatMap((row) => [...row.matchAll(/`(nodeippool_\w+)`/g)].map(([, name]) => name));
    expect(printed.sort()).toEqual(listed.sort());
  });

  it("says that it cannot listen", async () => {
    const { port, ...first } = await serve({ host: "127.0.0.1", port: 0 }, {} as never);
    open.push(first);
    await expect(serve({ host: "127.0.0.1", port }, {} as never)).rejects.toThrow(/cannot listen on 127.0.0.1:\d+/);
  });
});
