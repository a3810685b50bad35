import { describe, expect, it } from "vitest";
import { limitWrites, pauseAfterWrites, type Write } from "../../../controller/write/write-limit.ts";
import { Later } from "../../../kube/index.ts";
import { asBag, type Bag } from "../../../schema/objects.ts";
import { policy } from "../../support/objects/controller-objects.ts";
import { SimController } from "../../support/sim/controller.ts";
import { SimServer } from "../../support/sim/server.ts";
import { VirtualClock } from "../../support/sim/virtual-clock.ts";

const things = { apiVersion: "v1", plural: "things" };
const merge = { type: "merge" } as const;

function begin() {
  const [server, clock] = [new SimServer(), new VirtualClock()];
  const contested: Write[] = [];
  const objects = limitWrites(
    server.client(async (_, run) => run()),
    clock,
    (write) => void contested.push(write),
  );
  server.create(things, { apiVersion: "v1", kind: "Thing", metadata: { name: "a" } });
  server.create(things, { apiVersion: "v1", kind: "Thing", metadata: { name: "b" } });
  /** Writes, and says how many milliseconds it has to wait, if it does. */
  const write = async (body: Bag, name = "a", kind: typeof merge | { type: "json" } = merge) => {
    try {
      await objects.patch(things, name, undefined, body, kind);
      return 0;
    } catch (error) {
      if (error instanceof Later) return error.pause;
      throw error;
    }
  };
  return { server, clock, objects, contested, write };
}

describe("a decision that is undone again and again", () => {
  it("is written at once twice more, and then after pauses that double up to a minute", () => {
    const pauses = Array.from({ length: 12 }, (_, count) => pauseAfterWrites(count) / 1000);
    expect(pauses).toEqual([0, 0, 0, 1, 2, 4, 8, 16, 32, 60, 60, 60]);
  });

  it("is written at most ten times in a minute, and at rest once", async () => {
    const { clock, write } = begin();
    const times: number[] = [];
    for (let ms = 0; ms < 600_000; ms += 100) {
      if ((await write({ data: { x: "1" } })) === 0) times.push(clock.now());
      await clock.pass(100);
    }
    const inMinute = (from: number) => times.filter((at) => at >= from && at < from + 60_000).length;
    expect(Math.max(...times.map(inMinute))).toBeLessThanOrEqual(10);
    expect(inMinute(500_000)).toBeLessThanOrEqual(2);
    expect(inMinute(500_000)).toBeGreaterThanOrEqual(1);
  });

  it("is told of once it has lasted for seconds", async () => {
    const { clock, write, contested } = begin();
    for (let ms = 0; ms < 60_000; ms += 100) {
      await write({ data: { x: "1" } });
      if (ms < 6000) expect(contested).toEqual([]);
      await clock.pass(100);
    }
    expect(contested).toHaveLength(1);
  });

  it("is forgotten once nobody undoes it", async () => {
    const { clock, write } = begin();
    for (let i = 0; i < 3; i++) expect(await write({ data: { x: "1" } })).toBe(0);
    expect(await write({ data: { x: "1" } })).toBe(1000);
    await clock.pass(3 * 60_000);
    for (let i = 0; i < 3; i++) expect(await write({ data: { x: "1" } })).toBe(0);
  });
});

describe("what is written at once", () => {
  const fought = async () => {
    const all = begin();
    for (let i = 0; i < 3; i++) await all.write({ data: { x: "1" } });
    expect(await all.write({ data: { x: "1" } })).toBe(1000);
    return all;
  };

  it("is another value, each time", async () => {
    const { write } = await fought();
    for (let i = 2; i < 20; i++) expect(await write({ data: { x: `${i}` } })).toBe(0);
  });

  it("is another field, and another object", async () => {
    const { write } = await fought();
    expect(await write({ data: { y: "1" } })).toBe(0);
    expect(await write({ data: { x: "1" } }, "b")).toBe(0);
  });

  it("is what was not written: the server refused it", async () => {
    const { objects } = begin();
    const refused = { metadata: { resourceVersion: "0" }, data: { x: "1" } };
    for (let i = 0; i < 5; i++)
      await expect(objects.patch(things, "a", undefined, refused, merge)).rejects.toThrow("Conflict");
  });

  it("is what deletes an object of the same name that belongs to another one", async () => {
    const { server, objects } = begin();
    for (let i = 0; i < 5; i++) {
      const ownerReferences = [{ apiVersion: "v1", kind: "Node", name: "n", uid: `u${i}` }];
      const made = server.create(things, {
        apiVersion: "v1",
        kind: "Thing",
        metadata: { name: "c", ownerReferences },
      } as never);
      expect(await objects.delete(things, made)).toBe(true);
    }
  });
});

describe("what is no other decision", () => {
  it.each<[string, (i: number) => Bag, "merge" | "json"]>([
    [
      "another version",
      (i) => ({ metadata: { uid: undefined, resourceVersion: undefined, i: undefined }, data: { x: "1", i: i < 0 } }),
      "merge",
    ],
    [
      "another time of a condition",
      (i) => ({ status: { conditions: [{ type: "Ready", lastTransitionTime: `${i}`, lastHeartbeatTime: `${i}` }] } }),
      "merge",
    ],
    [
      "another test in a JSON patch",
      (i) =>
        [
          { op: "test", path: "/kind", value: i < 0 ? "" : "Thing" },
          { op: "add", path: "/data", value: 1 },
        ] as never,
      "json",
    ],
  ])("%s", async (_, body, type) => {
    const { write } = begin();
    for (let i = 0; i < 3; i++) expect(await write(body(i), "a", { type } as never)).toBe(0);
    expect(await write(body(3), "a", { type } as never)).toBe(1000);
  });

  it("a field that alternates with another one", async () => {
    const { write } = begin();
    for (let i = 0; i < 3; i++) for (const field of ["x", "y"]) expect(await write({ data: { [field]: "1" } })).toBe(0);
    for (const field of ["x", "y"]) expect(await write({ data: { [field]: "1" } })).toBe(1000);
  });
});

describe("the controller beside a program that undoes what it writes", () => {
  const plural = "nodenetworkconfigurationpolicies";
  let stamp = 0;
  /** As the webhook of kubernetes-nmstate does: each write is a change. */
  const stamped = (object: Bag) => {
    const { annotations, ...metadata } = asBag(object.metadata) ?? {};
    return {
      ...object,
      metadata: { ...metadata, annotations: { ...asBag(annotations), stamp: `${++stamp}` } },
    } as never;
  };
  const child = (object: { metadata: { name: string } }) => object.metadata.name === "a--n1";

  async function play(hostile: (sim: SimController) => void) {
    const sim = new SimController();
    sim.pool("p", "10.0.0.0/24", "10.0.0.9");
    hostile(sim);
    for (const node of ["n1", "n2"]) sim.node(node);
    sim.create(policy("a", "p", "eth1", { maxUnavailable: 5 }) as never);
    await sim.pass(60_000);
    const writes = sim.requests.filter((one) => one.endsWith(plural) && /^(create|patch|delete)/.test(one)).length;
    const warnings = sim.logged.filter(({ level }) => level === "warn" || level === "error");
    const said = sim.said.filter((one) => one.includes("ChangedBack"));
    return { sim, writes, warnings, said };
  }

  it("a webhook that rewrites a label and stamps each write", async () => {
    const { sim, writes, warnings, said } = await play(({ server }) => {
      server.webhook = (object) => {
        if (!child(object)) return object;
        const labels = { ...object.metadata.labels, "nodeippool.nmstate.io/node": "elsewhere" };
        return stamped({ ...object, metadata: { ...object.metadata, labels } });
      };
    });
    expect(writes).toBeLessThan(20);
    expect(warnings).toEqual([]);
    expect(new Set(said).size).toBe(1);
    expect(said[0]).toMatch(
      /^NodeNetworkConfigurationPolicy\.nmstate\.io\/a ChangedBack: .*metadata\.labels\[nodeippool\.nmstate\.io\/node\] of .* a--n1 .*webhook/,
    );
    expect(sim.object("NodeNetworkConfigurationPolicy", "a--n2")).toBeDefined();
  });

  it("a webhook that rewrites a field of the spec", async () => {
    const { writes, warnings, said } = await play(({ server }) => {
      server.webhook = (object) => {
        if (!child(object)) return object;
        return stamped({ ...object, spec: { ...asBag(object.spec), nodeSelector: { nowhere: "" } } });
      };
    });
    expect(writes).toBeLessThan(20);
    expect([warnings, new Set(said).size]).toEqual([[], 1]);
  });

  it("a program that deletes what the controller makes", async () => {
    const { writes, warnings, said } = await play((sim) => {
      const { server } = sim;
      const create = server.create.bind(server);
      server.create = (resource, object) => {
        const made = create(resource, object);
        if (child(object)) server.remove(resource, made);
        return made;
      };
    });
    expect(writes).toBeLessThan(20);
    expect([warnings, said.length]).toEqual([[], 1]);
    expect(said[0]).toMatch(/\/a ChangedBack: another program deletes .* a--n1/);
  });

  it("a webhook that rewrites the status of a pool", async () => {
    const { sim, warnings, said } = await play(({ server }) => {
      server.webhook = (object) =>
        object.kind === "NodeIPPool" ? stamped({ ...object, status: { conditions: [] } }) : object;
    });
    expect(sim.requests.filter((one) => one === "patch nodeippools").length).toBeLessThan(20);
    expect(warnings).toEqual([]);
    expect(said.length).toBeGreaterThan(0);
    // Its finalizer is there all the same.
    expect(asBag(sim.object("NodeIPPool", "p")?.metadata)?.finalizers).toEqual(["nmstate.io/nodeippool-in-use"]);
  });

  it("a handler that writes the status of a policy for some seconds, which is no contest, and for minutes, which is one", async () => {
    const { sim } = await play(() => {});
    const told = async (seconds: number) => {
      for (let i = 0; i < seconds; i++) {
        const conditions = [{ type: "Ignored", status: "True", reason: "NoMatchingNode" }];
        sim.change("NodeNetworkConfigurationPolicy", "a", (object) => ({ ...object, status: { conditions } }));
        await sim.pass(1000);
      }
      return sim.said.filter((one) => one.includes("ChangedBack"));
    };
    expect(await told(20)).toEqual([]);
    expect((await told(90))[0]).toMatch(
      /\/a ChangedBack: another program changes status\.conditions of .* a \(status\)/,
    );
  });
});
