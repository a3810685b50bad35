import { describe, expect, it } from "vitest";
import type { Step } from "../../../integrations/contract/step.ts";
import type { WatchedKind } from "../../../integrations/contract/watched-kind.ts";
import { asBag, type Bag } from "../../../schema/objects.ts";
import { SimReconciler } from "../../support/sim/reconciler.ts";

const kind: WatchedKind = { apiVersion: "v1", kind: "ConfigMap", plural: "configmaps", keep: ({ data }) => ({ data }) };

/** A reconciler of ConfigMaps with these names, of which none has been done. What is to be done follows from all of them. */
async function begin(names: readonly string[], steps: (all: readonly Bag[]) => readonly Step[]) {
  const sim: SimReconciler = new SimReconciler({
    kinds: [kind],
    belongsTo: () => ["all"],
    steps: (_, all) => (sim.isFrozen ? steps(all) : []),
  });
  for (const name of names)
    sim.create({ apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace: "default" } });
  await sim.pass(100);
  sim.isFrozen = true;
  const look = async () => {
    sim.reconciler.resync();
    await sim.pass(3000);
  };
  const isDone = (name: string) => asBag(sim.object("ConfigMap", name)?.data)?.done !== undefined;
  return { sim, look, isDone };
}

const nameOf = (object: Bag) => `${asBag(object.metadata)?.name}`;
const toDo = (all: readonly Bag[]) => all.filter(({ data }) => asBag(data)?.done === undefined);
const done = (object: Bag, needs?: { keys: string[] }): Step => {
  return { verb: "change", object, fields: { data: { done: "yes" } }, ...(needs && { needs }) };
};

describe("what a reconciler does of a look", () => {
  it("nothing more, once something of it is not right by what the server answers", async () => {
    const { sim, look, isDone } = await begin(["a", "b"], (all) => {
      const [a, b] = [all.find((one) => nameOf(one) === "a"), all.find((one) => nameOf(one) === "b")];
      if (a === undefined || b === undefined || a.data !== undefined) return [];
      return [done(b, { keys: ["ConfigMap/default:a"] }), { verb: "warn", about: "a", message: "has no data" }];
    });
    sim.change("ConfigMap", "a", (one) => ({ ...one, data: { some: "data" } }));
    await look();
    expect([isDone("b"), sim.said]).toEqual([false, []]);
  });

  it("what is right by the answer only once it was asked for what that needs", async () => {
    const { sim, look, isDone } = await begin(["a", "b", "c"], (all) => {
      const [a, b] = [all.find((one) => nameOf(one) === "a"), toDo(all).find((one) => nameOf(one) === "b")];
      if (b === undefined) return [];
      const first: Step = { ...done(b, { keys: ["ConfigMap/default:a"] }), fields: { data: {} } } as Step;
      return [a?.data === undefined ? first : done(b, { keys: ["ConfigMap/default:c"] })];
    });
    sim.change("ConfigMap", "a", (one) => ({ ...one, data: { some: "data" } }));
    await look();
    expect(isDone("b")).toBe(true);
    expect(sim.requests).toEqual(["get configmaps", "get configmaps", "patch configmaps"]);
  });

  it("nothing more, once an object is otherwise than it was seen", async () => {
    const { sim, look, isDone } = await begin(["a"], (all) => [
      ...all.map((one) => done(one)),
      { verb: "warn", about: "a", message: "is done" },
    ]);
    sim.change("ConfigMap", "a", (one) => ({ ...one, data: { some: "data" } }));
    await look();
    expect([isDone("a"), sim.said]).toEqual([false, []]);
  });

  it("all that is not refused", async () => {
    const { sim, look, isDone } = await begin(["a", "b"], (all) => toDo(all).map((one) => done(one)));
    sim.remove("ConfigMap", "a");
    await look();
    expect(isDone("b")).toBe(true);
  });

  it("one step of an object after the other, each on what the one before has left", async () => {
    const { sim, look, isDone } = await begin(["a"], (all) =>
      toDo(all).flatMap((object): Step[] => [
        { verb: "finalizer", object, name: "example.org/a", isWanted: true },
        { verb: "status", object, fields: { some: "status" }, conditions: [] },
        done(object),
      ]),
    );
    await look();
    const { metadata, status } = sim.object("ConfigMap", "a") as Bag;
    expect([isDone("a"), asBag(metadata)?.finalizers, status]).toEqual([
      true,
      ["example.org/a"],
      { some: "status", conditions: [] },
    ]);
    expect(sim.requests).toHaveLength(3);
  });

  it("at most a hundred steps by one answer of the server", async () => {
    const names = Array.from({ length: 150 }, (_, i) => `n${i}`);
    const { sim, look } = await begin(names, (all) => {
      const needs = { keys: ["ConfigMap/default:n0"] };
      return toDo(all)
        .slice(1)
        .map((one) => done(one, needs));
    });
    await look();
    const runs = sim.requests
      .join()
      .split("get configmaps")
      .map((run) => run.split("patch configmaps").length - 1);
    expect(runs.slice(0, 3)).toEqual([0, 100, 49]);
  });
});
