import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { Snapshot } from "../../../core/allocation.ts";
import { IpamError } from "../../../core/errors.ts";
import { plan } from "../../../core/plan/plan.ts";
import type { StateBackend } from "../../../state/backend.ts";
import { kubernetes } from "../../../state/kubernetes/backend.ts";
import { kubernetesPlace } from "../../../state/kubernetes/place.ts";
import { lockfile } from "../../../state/lockfile.ts";
import { lockfilePlace } from "../../../state/lockfile-place.ts";
import { moveRecord, type RecordPlace } from "../../../state/migrate.ts";
import { type Around, MemoryCluster } from "../../support/cluster/kube-memory.ts";
import { claimOf, poolOf } from "../../support/core/text.ts";
import { tries } from "../../support/long.ts";
import { scratchFolder } from "../../support/state/folder.ts";
import { duplicates, recordTexts } from "../../support/state/record.ts";

const root = scratchFolder();
afterAll(() => rmSync(root, { recursive: true, force: true }));
let count = 0;

const pools = [poolOf("p", "10.0.0.0/24"), poolOf("q", "10.0.1.0/24"), poolOf("other", "10.9.0.0/24")];

/** A lockfile and a cluster; either may be the source. */
class World {
  /** In a folder of its own: a writer looks at all that lies beside the lock. */
  readonly path = join(root, `${++count}`, "nodeippool.lock");
  readonly cluster = new MemoryCluster();
  readonly toCluster: boolean;

  constructor(toCluster: boolean) {
    mkdirSync(dirname(this.path));
    this.toCluster = toCluster;
  }

  /** The same source, and a target of the same kind somewhere else. */
  withOtherTarget(): World {
    const other = new World(this.toCluster);
    const source = this.toCluster ? { path: this.path } : { cluster: this.cluster };
    return Object.assign(other, source);
  }

  open(which: "source" | "target"): StateBackend {
    return (which === "source") === this.toCluster ? lockfile(this.path) : kubernetes(this.cluster.objects(), "net");
  }

  /** Moves; `around` is called for every request to the cluster and every step on the file. */
  move(around: Around = async (_, run) => run()): Promise<Snapshot> {
    const file = through(lockfilePlace(this.path), around);
    const kube = kubernetesPlace(this.cluster.objects(around), "net");
    return this.toCluster ? moveRecord(file, kube) : moveRecord(kube, file);
  }

  /** Keeps the source as it is now; what it gives puts that back. */
  keepCopy(): () => void {
    const [text, maps] = [this.toCluster ? readFileSync(this.path) : undefined, new Map(this.cluster.maps)];
    return () => {
      if (text !== undefined) return writeFileSync(this.path, text);
      this.cluster.maps.clear();
      for (const [name, map] of maps) this.cluster.maps.set(name, map);
    };
  }

  async allocate(which: "source" | "target", node: string, names: readonly string[], set = "default"): Promise<void> {
    const backend = this.open(which);
    const claims = names.map((pool) => claimOf(`Node/${node}/a pool=${pool}`));
    await backend.commit(plan({ pools, claims, snapshot: await backend.read(), set }));
  }

  async start(): Promise<Snapshot> {
    await this.allocate("source", "n1", ["p", "q"], "one");
    await this.allocate("source", "n2", ["p", "q"], "two");
    await this.allocate("source", "n3", ["p"], "two"); // n2 is releasing
    return this.open("source").read();
  }

  /** What a writer sees of an end; undefined if it is refused. */
  async seen(which: "source" | "target"): Promise<Snapshot | undefined> {
    return this.open(which)
      .read()
      .catch((error) => {
        expect(["unavailable", "stale"], error.message).toContain(error.code);
        return undefined;
      });
  }
}

function through<S extends RecordPlace>(place: S, around: Around): S {
  const call = (name: "look" | "settle" | "mark" | "write" | "clear") => ({
    [name]: (...args: never[]) => around(`file ${name}`, () => (place[name] as (...args: never[]) => unknown)(...args)),
  });
  return Object.assign({}, place, call("look"), call("settle"), call("mark"), call("write"), call("clear"));
}

/** One authority at most, and never a part of a record. */
async function look(world: World, record: Snapshot): Promise<void> {
  const [source, target] = [await world.seen("source"), await world.seen("target")];
  const [here, there] = [source, target].map((one) => recordTexts(one ?? record));
  if (source !== undefined) expect(there, "the target has nothing yet").toEqual(target === undefined ? here : []);
  else if (target !== undefined) expect(there, "the target has everything").toEqual(recordTexts(record));
}

/** A source that only means to leave has all of it, so that its mark can be taken off. */
async function wholeWhileLeaving(world: World, record: Snapshot): Promise<void> {
  const source = world.toCluster ? lockfilePlace(world.path) : kubernetesPlace(world.cluster.objects(), "net");
  const { mark, snapshot } = await source.look();
  if (mark?.state === "leaves") expect(recordTexts(snapshot)).toEqual(recordTexts(record));
}

/** How many of these places may be used and have the record: all of it, or nothing. */
async function authorities(record: Snapshot, ...places: Promise<Snapshot | undefined>[]): Promise<number> {
  const lines = recordTexts(record);
  const found = (await Promise.all(places)).map((place) =>
    place === undefined ? [] : recordTexts(place).filter((text) => lines.includes(text)),
  );
  for (const mine of found) if (mine.length > 0) expect(mine).toEqual(lines);
  return found.filter((mine) => mine.length > 0).length;
}

describe.each([
  { name: "lockfile to cluster", toCluster: true },
  { name: "cluster to lockfile", toCluster: false },
])("$name", { timeout: 300_000 }, ({ toCluster }) => {
  it("moves every line, and the source says where it is", async () => {
    const world = new World(toCluster);
    const before = await world.start();
    await world.move();
    const after = await world.open("target").read();
    expect(recordTexts(after)).toEqual(recordTexts(before));
    await expect(world.open("source").read()).rejects.toMatchObject({ code: "stale", message: /has moved to/ });
    await world.allocate("target", "n4", ["p", "q"], "three");
    expect(duplicates(await world.open("target").read())).toEqual([]);
  });

  it("killed at any moment: one authority at most, and moving again ends it", async () => {
    let kills = 0;
    for (let number = 1; ; number++)
      for (const isDone of [false, true]) {
        const world = new World(toCluster);
        const before = await world.start();
        let calls = 0;
        const killing: Around = async (request, run) => {
          if (++calls !== number) return run();
          if (isDone) await run();
          throw new Error(`killed at ${request}`);
        };
        const ended = await world.move(killing).then(
          () => true,
          (error) => {
            if (error.message.startsWith("killed")) return false;
            throw error;
          },
        );
        await look(world, before);
        await wholeWhileLeaving(world, before);
        if (!ended) await world.move();
        await look(world, before);
        expect(await world.seen("source")).toBeUndefined();
        if (ended && isDone) {
          expect(kills).toBeGreaterThan(30);
          return;
        }
        kills++;
      }
  });

  it("writers at any moment of it, old plans and new ones: whoever is told yes is in the record", async () => {
    let [told, refused] = [0, 0];
    let isReached = true;
    for (let number = 1; isReached; number++) {
      isReached = false;
      for (const which of ["source", "target"] as const)
        for (const isOld of [true, false]) {
          const world = new World(toCluster);
          await world.start();
          const writer = world.open(which);
          const make = async () => {
            const claims = [claimOf("Node/late/a"), claimOf("Node/late/a pool=q")];
            return plan({ pools, claims, set: "late", snapshot: await writer.read() });
          };
          const old = isOld ? await make() : undefined;
          let [calls, wasTold] = [0, false];
          const meeting: Around = async (_, run) => {
            if (++calls === number)
              await (old ? writer.commit(old) : make().then((made) => writer.commit(made))).then(
                () => (wasTold = true),
                (error) => expect(error).toBeInstanceOf(IpamError),
              );
            return run();
          };
          const failure: IpamError | undefined = await world.move(meeting).then(
            () => undefined,
            (error) => error,
          );
          isReached ||= calls >= number;
          wasTold ? told++ : refused++;
          if (failure !== undefined) expect([which, failure.code]).toEqual(["target", "in-use"]);
          const records = [await world.seen("source"), await world.seen("target")].flatMap((one) => one ?? []);
          expect(records).toHaveLength(failure === undefined ? 1 : 2);
          const late = records.flatMap((one) => one.allocations.filter((line) => line.set === "late"));
          expect(late).toHaveLength(wasTold ? 2 : 0);
          for (const record of records) expect(duplicates(record)).toEqual([]);
        }
    }
    expect(Math.min(told, refused)).toBeGreaterThan(20);
  });

  it("is refused, and nothing has happened, if the target has a record, or cannot hold this one, or nothing is there", async () => {
    const world = new World(toCluster);
    await world.start();
    await world.allocate("target", "x", ["p"], "x");
    await expect(world.move()).rejects.toMatchObject({ code: "in-use" });
    const wide = new World(toCluster);
    await wide.start();
    const claims = [claimOf("Node/w/a pool=wide")];
    const one = [poolOf("wide", "10.0.0.0/16 10.0.9.1 10.0.9.9")];
    if (toCluster) {
      const source = wide.open("source");
      await source.commit(plan({ pools: one, claims, set: "w", snapshot: await source.read() }));
      await expect(wide.move()).rejects.toMatchObject({ code: "overlap" });
    }
    await expect(new World(toCluster).move()).rejects.toMatchObject({ code: "invalid" });
    for (const each of [world, wide])
      for (const which of ["source", "target"] as const) await each.allocate(which, "y", [], "y");
  });

  it("moved to two targets at once, or to another one after a kill: never two authorities, and one move ends it", async () => {
    let [first, second] = [0, 0];
    let isReached = true;
    for (let number = 1; isReached; number++) {
      isReached = false;
      for (const isKilled of [false, true]) {
        const world = new World(toCluster);
        const before = await world.start();
        const other = world.withOtherTarget();
        const count = () => authorities(before, world.seen("source"), world.seen("target"), other.seen("target"));
        const outcome = (move: Promise<unknown>) =>
          move.then(
            () => "done",
            (error) => error.code ?? error.message,
          );
        const refused = ["in-use", "stale"];
        let calls = 0;
        const meeting: Around = async (_, run) => {
          if (++calls !== number) return run();
          const ended = await outcome(other.move());
          expect(["done", ...refused]).toContain(ended);
          if (isKilled) throw new Error("killed");
          return run();
        };
        expect(["done", "killed", ...refused]).toContain(await outcome(world.move(meeting)));
        isReached ||= calls >= number;
        expect(await count()).toBeLessThanOrEqual(1);
        const ends = [await outcome(world.move()), await outcome(other.move())];
        expect(ends.filter((end) => end === "done")).toHaveLength(1);
        ends[0] === "done" ? first++ : second++;
        expect(await count()).toBe(1);
        // Whoever lost is free, with what it had.
        if (!isKilled) for (const one of [world, other]) await one.allocate("target", "x", ["other"], "x");
      }
    }
    expect(Math.min(first, second)).toBeGreaterThan(10);
  });

  it("there and back again", async () => {
    const world = new World(toCluster);
    const before = await world.start();
    await world.move();
    const back = new World(!toCluster);
    Object.assign(back, { path: world.path, cluster: world.cluster });
    await back.move();
    const after = await back.open("target").read();
    expect(recordTexts(after)).toEqual(recordTexts(before));
  });

  it("a move that was asleep while another one carried the record there, and back again, harms nothing", async () => {
    for (const hops of tries([1, 2], [1, 2, 3]))
      for (let number = 1; ; number++) {
        const world = new World(toCluster);
        const before = await world.start();
        const back = Object.assign(new World(!toCluster), { path: world.path, cluster: world.cluster });
        let calls = 0;
        const sleeping: Around = async (_, run) => {
          if (++calls === number) for (let hop = 0; hop < hops; hop++) await (hop % 2 === 0 ? world : back).move();
          return run();
        };
        await world.move(sleeping).catch((error) => expect(error).toBeInstanceOf(IpamError));
        const ends = [world.seen("source"), world.seen("target")];
        expect([number, await authorities(before, ...ends)]).toEqual([number, 1]);
        await world.move().catch((error) => expect(error).toBeInstanceOf(IpamError));
        expect([number, await authorities(before, world.seen("source"), world.seen("target"))]).toEqual([number, 1]);
        if (calls < number) break;
      }
  });

  it("goes on from a copy of the source, where the source itself was lost on the way", async () => {
    let copies = 0;
    for (let number = 1; ; number++) {
      const world = new World(toCluster);
      const before = await world.start();
      const copy = world.keepCopy();
      let calls = 0;
      const killing: Around = async (_, run) => {
        if (++calls === number) throw new Error("killed");
        return run();
      };
      const ended = await world.move(killing).then(
        () => true,
        () => false,
      );
      if (ended) break;
      copy();
      const outcome = await world.move().then(
        () => "done",
        (error) => error.code,
      );
      // Where it had come as a whole, the copy cannot say so; but it does not come twice.
      expect(["done", "in-use"]).toContain(outcome);
      if (outcome === "done") copies++;
      const there = await world.seen("target");
      if (there !== undefined) expect(recordTexts(there)).toEqual(expect.arrayContaining(recordTexts(before)));
    }
    expect(copies).toBeGreaterThan(10);
  });
});

describe("a move into a place whose own record has moved away", () => {
  it("is refused, where it is not the one that comes back; the place says where its record is, as before", async () => {
    const world = new World(true);
    await world.start();
    await world.move();
    const stranger = Object.assign(new World(false), { path: world.path });
    await stranger.allocate("source", "theirs", ["other"], "theirs");
    const mark = { state: "left", other: "memory" };
    await expect(stranger.move()).rejects.toMatchObject({
      code: "in-use",
      message: /has moved to .*, and that is not/,
    });
    expect((await lockfilePlace(world.path).look()).mark).toMatchObject({ ...mark, other: /net/ });
    const back = Object.assign(new World(false), { path: world.path, cluster: world.cluster });
    const forbidden: Around = async (request, run) => {
      if (request.startsWith("put")) throw new IpamError("invalid", "forbidden");
      return run();
    };
    await expect(back.move(forbidden)).rejects.toThrow("forbidden");
    expect((await lockfilePlace(world.path).look()).mark).toMatchObject({ state: "left" });
    const killed: Around = async (request, run) => {
      const answer = await run();
      if (request === "file mark") throw new Error("killed");
      return answer;
    };
    await expect(back.move(killed)).rejects.toThrow("killed");
    expect((await lockfilePlace(world.path).look()).mark).toMatchObject({
      state: "expects",
      before: { state: "left" },
    });
    await expect(stranger.move()).rejects.toMatchObject({ code: "in-use" });
    await back.move();
  });
});

it("a namespace tells a lock whose record has left it since from one whose record is there", async () => {
  const [one, two] = [new World(true), new World(true)];
  Object.assign(two, { cluster: one.cluster });
  await one.allocate("source", "n1", ["p"], "one");
  await two.allocate("source", "n2", ["q"], "two");
  await one.move();
  await expect(two.move()).rejects.toMatchObject({ code: "in-use", message: /has a record already, with pools p/ });
  const { mark } = await lockfilePlace(one.path).look();
  const hasTaken = () => kubernetes(one.cluster.objects(), "net").hasTaken(mark?.id as string);
  expect(await hasTaken()).toBe(true);
  await Object.assign(new World(false), { path: one.path, cluster: one.cluster }).move();
  await two.move();
  expect(await hasTaken()).toBe(false);
});
