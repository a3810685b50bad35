import { describe, expect, it } from "vitest";
import { IpamError } from "../../../core/errors.ts";
import { plan } from "../../../core/plan/plan.ts";
import { kubernetes } from "../../../state/kubernetes/backend.ts";
import { type Around, MemoryCluster } from "../../support/cluster/kube-memory.ts";
import { claimOf, poolOf } from "../../support/core/text.ts";
import { recordTexts } from "../../support/state/record.ts";

// What a real server does only by chance: a reply that gets lost at one request, another writer between two.

const pools = ["p", "q", "r", "t"].map((name, i) => poolOf(name, `10.0.${i}.0/24`));
const all = pools.map(({ name }) => name);
const lost = () => new IpamError("unknown-outcome", "the reply was lost");

async function planned(cluster: MemoryCluster, node: string, set: string, names: readonly string[] = ["p", "q"]) {
  const claims = names.map((pool) => claimOf(`Node/${node}/a pool=${pool}`));
  return plan({ pools, claims, set, snapshot: await kubernetes(cluster.objects(), "net").read() });
}

/** Makes something happen at one of the requests, counted from 1; the list of all requests grows in `seen`. */
function at(number: number, happens: (run: () => unknown) => unknown, seen: string[] = []): Around {
  return async (request, run) => {
    seen.push(request);
    return seen.length === number ? happens(run) : run();
  };
}

describe("a commit over two subnets", () => {
  const requests = [
    ...["list", "get net", "list"],
    ...["create ippool.default.10.0.0.0-24", "create ippool.default.10.0.1.0-24", "create ippool.index"],
    ...["put ippool.default.10.0.0.0-24", "put ippool.default.10.0.1.0-24"],
  ];

  it("lists what it begins before it writes a line, and makes parts before it lists them", async () => {
    const cluster = new MemoryCluster();
    const seen: string[] = [];
    await kubernetes(cluster.objects(at(0, () => {}, seen)), "net").commit(await planned(cluster, "n", "s"));
    expect(seen).toEqual(requests);
  });

  it.each(requests.map((request, i) => ({ request, number: i + 1 })).slice(3))(
    "goes on after the reply to $request is lost, done or not",
    async ({ number }) => {
      for (const isDone of [true, false]) {
        const cluster = new MemoryCluster();
        const made = await planned(cluster, "n", "s");
        const losing = at(number, (run) => {
          if (isDone) run();
          throw lost();
        });
        const after = await kubernetes(cluster.objects(losing), "net").commit(made);
        expect(recordTexts(after)).toEqual(["10.0.0.1 Node/n/a set=s", "10.0.1.1 Node/n/a pool=q set=s"]);
        expect(await kubernetes(cluster.objects(), "net").read()).toEqual(after);
      }
    },
  );

  it.each(requests.map((request, i) => ({ request, number: i + 1 })).slice(3))(
    "killed at $request: the same plan, committed again, goes on",
    async ({ number }) => {
      for (const isDone of [true, false]) {
        const cluster = new MemoryCluster();
        const made = await planned(cluster, "n", "s");
        const killing = at(number, (run) => {
          if (isDone) run();
          throw new Error("killed");
        });
        await expect(kubernetes(cluster.objects(killing), "net").commit(made)).rejects.toThrow("killed");
        const after = await kubernetes(cluster.objects(), "net").commit(made);
        expect(recordTexts(after)).toEqual(["10.0.0.1 Node/n/a set=s", "10.0.1.1 Node/n/a pool=q set=s"]);
      }
    },
  );

  it("that meets a conflict half way says what stands", async () => {
    const cluster = new MemoryCluster();
    const made = await planned(cluster, "n", "s");
    const meeting = at(8, async (run) => {
      const other = await planned(cluster, "x", "other", ["q"]);
      await kubernetes(cluster.objects(), "net").commit(other);
      return run();
    });
    await expect(kubernetes(cluster.objects(meeting), "net").commit(made)).rejects.toMatchObject({
      code: "conflict",
      message: expect.stringMatching(
        /^pool q changed since this plan was made\n.*of pool p was or may have been written/s,
      ),
    });
    const texts = recordTexts(await kubernetes(cluster.objects(), "net").read());
    expect(texts).toEqual(["10.0.0.1 Node/n/a set=s", "10.0.1.1 Node/x/a pool=q set=other"]);
  });

  it("whose reply is lost, and then the server: nobody knows, and says so", async () => {
    const cluster = new MemoryCluster();
    const made = await planned(cluster, "n", "s", ["p"]);
    let isGone = false;
    const losing: Around = async (request, run) => {
      if (isGone) throw new IpamError("unavailable", "no server");
      if (!request.startsWith("put")) return run();
      isGone = true;
      throw lost();
    };
    const commit = kubernetes(cluster.objects(losing), "net", { budget: 100 }).commit(made);
    await expect(commit).rejects.toMatchObject({ code: "unknown-outcome" });
  });

  it("that never gets its turn is unavailable, not a conflict: the pool did not change", async () => {
    const cluster = new MemoryCluster();
    await kubernetes(cluster.objects(), "net").commit(await planned(cluster, "x", "other"));
    const made = await planned(cluster, "n", "s", ["p"]);
    const others: Around = async (request, run) => {
      const map = cluster.maps.get("ippool.default.10.0.0.0-24");
      if (request.startsWith("put") && map)
        await cluster.objects().put({ apiVersion: "v1", plural: "configmaps" }, map);
      return run();
    };
    const commit = kubernetes(cluster.objects(others), "net", { budget: 100 }).commit(made);
    await expect(commit).rejects.toMatchObject({ code: "unavailable", message: expect.stringContaining("faster") });
  });
});

it("no pool begins that overlaps a subnet whose part a writer that goes on has never read", async () => {
  const cluster = new MemoryCluster();
  await kubernetes(cluster.objects(), "net").commit(await planned(cluster, "x", "other", ["p"]));
  cluster.edit("ippool.default.10.0.0.0-24", () => "nothing");
  const goingOn = kubernetes(cluster.objects(), "net", { goesOn: true });
  const snapshot = await goingOn.read();
  expect([snapshot.allocations, snapshot.unreadable?.flatMap((one) => one.pools.map(({ name }) => name))]).toEqual([
    [],
    ["p"],
  ]);
  const wide = plan({
    pools: [poolOf("wide", "10.0.0.0/16")],
    claims: [claimOf("Node/n/a pool=wide")],
    set: "s",
    snapshot,
  });
  await expect(goingOn.commit(wide)).rejects.toMatchObject({ code: "overlap" });
});

describe("a commit over four subnets that are begun", () => {
  const part = (i: number) => `put ippool.default.10.0.${i}.0-24`;
  const begun = async () => {
    const cluster = new MemoryCluster();
    await kubernetes(cluster.objects(), "net").commit(await planned(cluster, "x", "other", all));
    return cluster;
  };

  it("writes the first alone, and the others at once", async () => {
    const cluster = await begun();
    const made = await planned(cluster, "n", "s", all);
    const seen: string[] = [];
    const order: Around = async (request, run) => {
      if (request === "list") return run();
      seen.push(`${request} begins`);
      const answer = run();
      await new Promise(setImmediate);
      seen.push(`${request} ends`);
      return answer;
    };
    await kubernetes(cluster.objects(order), "net").commit(made);
    const both = (i: number) => [`${part(i)} begins`, `${part(i)} ends`];
    expect(seen.slice(0, 2)).toEqual(both(0));
    expect(seen.slice(2, 5)).toEqual([1, 2, 3].map((i) => `${part(i)} begins`));
  });

  it.each(Array.from({ length: 8 }, (_, bits) => [1, 2, 3].filter((_, i) => bits & (1 << i))))(
    "killed when of the last three those are done: [%s %s %s]; what another one plans then is no duplicate, and the same plan goes on",
    async (...done) => {
      const cluster = await begun();
      const made = await planned(cluster, "n", "s", all);
      const killing: Around = async (request, run) => {
        if (request === part(0) || request === "list") return run();
        if (done.some((i) => request === part(i))) run();
        await new Promise(setImmediate);
        throw new Error("killed");
      };
      await expect(kubernetes(cluster.objects(killing), "net").commit(made)).rejects.toThrow("killed");
      const there = await kubernetes(cluster.objects(), "net").read();
      const written = there.allocations.flatMap(({ set, pool }) => (set === "s" ? pool : []));
      expect(written).toEqual(["p", ...done.map((i) => all[i])]);
      const after = await kubernetes(cluster.objects(), "net").commit(made);
      const texts = recordTexts(after);
      expect(texts.filter((line) => line.includes("Node/n/a"))).toHaveLength(4);
      expect(new Set(texts.map((line) => line.split(" ")[0])).size).toBe(8);
    },
  );

  it("waits for what has begun before it looks again after a lost reply", async () => {
    const cluster = await begun();
    const made = await planned(cluster, "n", "s", all);
    const seen: string[] = [];
    const losing: Around = async (request, run) => {
      if (request === part(3)) for (let i = 0; i < 5; i++) await new Promise(setImmediate);
      seen.push(request);
      const answer = run();
      if (request === part(1) && seen.filter((one) => one === request).length === 1) throw lost();
      return answer;
    };
    const after = await kubernetes(cluster.objects(losing), "net").commit(made);
    expect(seen.slice(seen.indexOf(part(0)))).toEqual([0, 1, 2, 3].map(part).concat("list"));
    expect(recordTexts(after)).toHaveLength(8);
  });
});
