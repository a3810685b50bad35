import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { emptySnapshot } from "../../../core/index.ts";
import type { Recorded } from "../../../provider/record.ts";
import { onlyState, recordOf, type SetInputs, type SetState } from "../../../provider/set-state.ts";
import { encode } from "../../../state/codec.ts";
import { refusalOfMark } from "../../../state/mark.ts";
import { lanClaims, lanInputs, lanPools, shortState } from "../../support/pulumi/inputs.ts";
import { providerReading } from "../../support/pulumi/read-cluster.ts";
import { inScratchFolder, scratchFolder } from "../../support/state/folder.ts";

inScratchFolder();

const cluster = { backend: "kubernetes" } as const;
const lanSet = (set: string, addresses: { readonly [claim: string]: string }, rest: Partial<SetState> = {}): SetState =>
  onlyState({ pools: lanPools, state: cluster, set, addresses: { lan: addresses }, ...rest } as SetState);

describe("a record that is left, and has another identity than it had", () => {
  const held = { "Node/a/eth1": "10.0.0.2", "Node/b/eth1": "10.0.0.3" };
  const own = lanSet("shop", held, { record: "1" });
  const lines = recordOf([own, lanSet("else", { "Node/stranger/eth1": "10.0.0.1" })]);
  const says = /stale: .*network is not the record that this stack used before: it lacks 2 of 2 addresses/;

  let runtime: typeof import("../../../provider/runtime.ts");
  let record: Recorded | Error;
  beforeAll(async () => {
    runtime = await providerReading(read);
  });

  const read = () => {
    if (record instanceof Error) throw record;
    return record;
  };
  const found = (rest: Partial<Recorded>) => {
    record = { name: "network", snapshot: emptySnapshot, ...rest };
  };
  beforeEach(() => found({ snapshot: lines, identity: "2" }));

  async function check(olds: Partial<SetState>, rest: Partial<SetInputs>): Promise<string> {
    const { inputs, failures = [] } = await runtime.check(olds as SetState, lanInputs([], undefined, rest));
    return inputs === undefined ? failures.map(({ reason }) => reason).join("\n") : shortState(inputs);
  }
  const toStack = (olds: Partial<SetState>, ...nodes: string[]) =>
    check(olds, { claims: lanClaims(...nodes), previous: { own, others: [] } });
  const taken = (others: SetState[], ...nodes: string[]) => {
    const state = { backend: "lockfile", path: "none.lock" } as const;
    return check({}, { claims: lanClaims(...nodes), state, set: "other", previous: { others } });
  };
  // What the engine has of a set that was made with its record: that began only then.
  const { record: _, ...first } = own;

  it.each([
    ["as the engine has it", own],
    ["as it was made", first],
    ["that is replaced", {}],
  ])(
    "counts with all that others have in it, where all of the set is in it: a set %s goes to the stack",
    async (_, olds) => {
      expect(await toStack(olds, "a", "b", "c")).toContain("has 1 address, as 10.0.0.1 of Node/stranger/eth1");
      found({ snapshot: recordOf([own]), identity: "2" });
      expect(await toStack(olds, "a", "b", "c")).toBe("a=2 b=3 c=1");
    },
  );

  it.each([
    ["as the engine has it", own],
    ["as it was made", first],
    ["that is replaced", {}],
  ])("is refused where it lacks lines of a set %s, and the set keeps what it has", async (_, olds) => {
    found({});
    expect(await toStack(olds, "a", "b", "c")).toMatch(says);
    found({ snapshot: recordOf([lanSet("shop", { "Node/a/eth1": "10.0.0.4" })]), identity: "2" });
    expect(await toStack(olds, "a", "b")).toMatch(says);
    // Also for another name in that record.
    const inputs = { claims: lanClaims("a", "b"), state: cluster, set: "renamed", previous: { own, others: [] } };
    expect(await check(olds, inputs)).toMatch(says);
  });

  it("gives no pool of it to a set with another record", async () => {
    expect(await taken([own], "b", "a")).toContain("pools: another record or set of this stack has 3 addresses");
    found({});
    expect(await taken([own], "b", "a")).toMatch(says);
  });

  describe("has nothing that tells it from others", () => {
    const idle = lanSet("shop", {}, { record: "1" });
    const tells =
      /stale: state: network is not the record that this stack used before, and no address of the set tells whether it was restored\n.*pulumi state delete/;
    const inCluster = { claims: lanClaims("c"), state: cluster, set: "shop", confirmRelease: true };

    it.each([
      ["that is empty", { snapshot: lines, identity: "2" }],
      ["that was never begun", {}],
    ])("where the set has no live address: a record %s is refused", async (_, rest) => {
      found(rest);
      const previous = { own: idle, others: [] };
      expect(await check(idle, { ...inCluster, previous })).toMatch(tells);
      expect(await check(idle, { claims: lanClaims("c"), previous })).toMatch(tells); // leaves it for the stack
      expect(await check(idle, { ...inCluster, set: "renamed", previous })).toMatch(tells);
      await expect(runtime.read("1", idle)).rejects.toThrow("no address of the set tells");
    });

    it("where no set that a pool goes to or comes from has one", async () => {
      const previous = { own: lanSet("other", {}, { record: "1", pools: {}, addresses: {} }), others: [idle] };
      expect(await check(previous.own, { ...inCluster, set: "other", previous })).toMatch(tells);
      expect(await taken([idle])).toMatch(tells);
      expect(await check({}, { ...inCluster, set: "other", previous: { others: [idle] } })).toMatch(tells);
    });

    it("is gone on with after a state delete, and as long as it is the one that it was", async () => {
      expect(await check({}, inCluster)).toBe("c=4");
      found({ snapshot: lines, identity: "1" });
      expect(await check(idle, { ...inCluster, previous: { own: idle, others: [] } })).toBe("c=4");
    });
  });

  describe("and a set that is new in the stack", () => {
    const fresh = (other: SetState) =>
      check({}, { pools: {}, set: "new", state: cluster, previous: { others: [other] } });

    it("is refused as those are that were in it", async () => {
      found({});
      expect(await fresh(own)).toMatch(says);
      expect(await fresh(lanSet("shop", {}, { record: "1" }))).toContain("no address of the set tells");
    });

    it("is gone on with where it is the one that it was, or has all of it", async () => {
      expect(await fresh(own)).toBe("");
      found({ identity: "1" });
      expect(await fresh(own)).toBe("");
      expect(await fresh(lanSet("shop", {}, { record: "1" }))).toBe("");
    });
  });

  it("counts for a set under an alias as for any other, though the engine does not know of the record", async () => {
    found({});
    expect(await check(first, { claims: lanClaims("a", "b"), previous: { others: [own] } })).toMatch(says);
  });

  it("that has moved is where all that its set had is, wherever its mark says; nowhere else", async () => {
    const folder = scratchFolder();
    for (const other of ["nodeippool.lock", "namespace elsewhere"]) {
      record = refusalOfMark({ id: "1", state: "left", other } as never, "network", "file");
      const goes = (path: string, ...nodes: string[]) => {
        const state = { backend: "lockfile", path: join(folder, path) } as const;
        return check(own, { claims: lanClaims(...nodes), set: "shop", state, previous: { own, others: [] } });
      };
      writeFileSync(join(folder, "right.lock"), encode(lines));
      expect(await goes("right.lock", "a", "b")).toBe("a=2 b=3");
      // First free: other claims have the same addresses in any record, also in a set of that name.
      const swapped = { "Node/a/eth1": "10.0.0.3", "Node/b/eth1": "10.0.0.2" };
      writeFileSync(join(folder, "chance.lock"), encode(recordOf([lanSet("shop", swapped)])));
      expect(await goes("chance.lock", "a", "b")).toContain("stale: the record of network has moved");
      // Renamed as the program says, or dropped and released, since it is there.
      writeFileSync(join(folder, "later.lock"), encode(recordOf([lanSet("shop", { "Node/c/eth1": "10.0.0.2" })])));
      expect(await goes("later.lock", "c")).toBe("c=2");
      const moved = [
        { from: "Node/a/eth1", to: "Node/x/eth1" },
        { from: "Node/x/eth1", to: "Node/c/eth1" },
      ];
      const renamed = { claims: lanClaims("c"), set: "shop", previous: { own, others: [] }, moved };
      const state = { backend: "lockfile", path: join(folder, "later.lock") } as const;
      expect(await check(own, { ...renamed, state })).toBe("c=2");
      expect(await goes("none.lock", "a", "b")).toContain(`stale: the record of network has moved to ${other}`);
      writeFileSync(join(folder, "wrong.lock"), encode(recordOf([lanSet("shop", { "Node/a/eth1": "10.0.0.2" })])));
      expect(await goes("wrong.lock", "a", "b")).toContain("stale: the record of network has moved");
    }
    rmSync(folder, { recursive: true });
  });

  it("that has moved is where its own set goes first, not another one with a new pool", async () => {
    const mark = { id: "1", state: "left", other: "nodeippool.lock" } as never;
    record = refusalOfMark(mark, "network", "file");
    const pools = { wan: { range: { cidr: "10.1.0.0/24" } } };
    expect(await check({}, { pools, set: "new", previous: { others: [own] } })).toContain(
      "stale: the record of network has moved to nodeippool.lock\n",
    );
    expect(await toStack(own, "a", "b")).toContain(
      'Use it there, and begin no other one here: state: { backend: "lock',
    );
  });
});
