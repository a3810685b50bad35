import { describe, expect, it } from "vitest";
import { emptySnapshot, type Snapshot } from "../../../core/index.ts";
import { reasonOf } from "../../../provider/advice.ts";
import { nothingLeft } from "../../../provider/forgetting.ts";
import { heldOf } from "../../../provider/held.ts";
import { planSet } from "../../../provider/plan-set.ts";
import { recordOf, type SetInputs, type SetState } from "../../../provider/set-state.ts";
import { takesOf } from "../../../provider/stack-record.ts";
import { applyPlan } from "../../../state/apply.ts";
import { lanClaims, lanInputs, lanPools, planInStack, shortState } from "../../support/pulumi-inputs.ts";

const state = { backend: "kubernetes", namespace: "n" } as const;
const pairs = (text: string) => text.split(" ").map((pair) => pair.split(/[=>]/) as [string, string]);
const addresses = (text: string) =>
  Object.fromEntries(pairs(text).map(([node, last]) => [`Node/${node}/eth1`, `10.0.0.${last}`]));
const movesOf = (text: string) =>
  text === "" ? [] : pairs(text).map(([from, to]) => ({ from: `Node/${from}/eth1`, to: `Node/${to}/eth1` }));
const setOf = (set: string, text: string): SetState => ({
  addresses: { lan: addresses(text) },
  releasing: {},
  pools: lanPools,
  state,
  set,
});

/** What a set is to hold of this record, or why not; and the record after it. */
function planned(inputs: SetInputs, record: Snapshot, left = nothingLeft): { text: string; after?: Snapshot } {
  const there = { state, identity: undefined };
  const takes = takesOf(inputs.previous, inputs, there);
  const held = heldOf(inputs.previous.own ?? {}, inputs.previous, inputs, takes, there);
  try {
    const made = planSet(inputs, () => record, held, left, takes);
    const after = made.plan && applyPlan(record, made.plan);
    return { text: shortState(made.state), ...(after === undefined ? {} : { after }) };
  } catch (error) {
    const reasons = (error as AggregateError).errors.flatMap(({ code, issues }) =>
      issues.map((issue: never) => reasonOf(code, issue, inputs, [])),
    );
    return { text: reasons.join("\n") };
  }
}

describe("what the stack has of a claim that is renamed", () => {
  const rows: [what: string, stack: string, record: string, moved: string, claims: string, wants: string][] = [
    ["lost from the record: it comes back under the new name", "a=3", "", "a>b", "b", "b=3"],
    ["the same, after two renames", "a=3", "", "b>c a>b", "c", "c=3"],
    ["the record has another address under the new name", "a=3", "b=4", "a>b", "b", "which now wants 10.0.0.3"],
    ["the record has another one, and a rename is long done", "c=3", "c=4", "b>c", "c", "which now wants 10.0.0.3"],
    ["the record is an old one: the former name has the line", "c=3", "b=1", "b>c", "c", "which now wants 10.0.0.3"],
    ["the same, and its own line is releasing there", "c=3", "b=1 / c=3", "b>c", "c", "which now wants 10.0.0.3"],
  ];
  it.each(rows)("%s", (_, stack, record, moved, claims, wants) => {
    const own = setOf("shop", stack);
    const [live = "", releasing] = record.split(" / ");
    const gone = releasing === undefined ? {} : { releasing: { lan: addresses(releasing) } };
    const there = record === "" ? emptySnapshot : recordOf([{ ...setOf("shop", live), ...gone }]);
    const inputs = lanInputs(lanClaims(claims), own, { state, set: "shop", moved: movesOf(moved) });
    expect(planned(inputs, there).text).toContain(wants);
  });

  it("goes along to another record, after two renames", () => {
    const own = planInStack(lanInputs([{ key: "Node/a/eth1", pool: "lan", address: "10.0.0.3" }]));
    const left = { ...nothingLeft, record: recordOf([own]), own: recordOf([own]) };
    const inputs = lanInputs(lanClaims("c"), own, { state, set: "shop", moved: movesOf("a>b b>c") });
    expect(planned(inputs, emptySnapshot, left).text).toBe("c=3");
  });
});

describe("a pool that another set of the stack gives up in the same update", () => {
  const shop = setOf("shop", "a=1 b=2");
  const record = recordOf([shop]);
  const taking = (claims: SetInputs["claims"], moved = "") =>
    lanInputs(claims, undefined, { state, set: "web", previous: { others: [shop] }, moved: movesOf(moved) });
  const given = planned(lanInputs([], shop, { pools: {}, state, set: "shop" }), record).after as Snapshot;
  const b = { key: "Node/b/eth1", pool: "lan" };

  const rows: [what: string, inputs: SetInputs, says: RegExp][] = [
    ["keeps everybody", taking(lanClaims("b", "a")), /^a=1 b=2$/],
    ["gives up who is claimed no more", taking([b]), /^b=2$/],
    ["has a renamed claim", taking(lanClaims("b", "c"), "a>c"), /^b=2 c=1$/],
    [
      "does not let an owner move who has another name there",
      taking([{ key: "Node/a/lan", pool: "lan" }, b]),
      /^in-use: .* would lose 10\.0\.0\.1 \(eth1\) .*\n {2}What another folder .*: moved: \[/,
    ],
    [
      "does not let an owner move who wants another address",
      taking([{ key: "Node/a/eth1", pool: "lan", address: "10.0.0.4" }, b]),
      /^in-use: .* which now wants 10\.0\.0\.4\n {2}Ask for the address it has, or allow the move: allowMove: true$/,
    ],
  ];
  it.each(rows)("%s, whichever of the two sets commits first", (_, inputs, says) => {
    const [before, after] = [planned(inputs, record), planned(inputs, given)];
    expect(before.text).toMatch(says);
    expect(after.text).toBe(before.text);
    const linesOf = (snapshot: Snapshot | undefined) => snapshot && [snapshot.allocations, snapshot.releasing];
    expect(linesOf(after.after)).toEqual(linesOf(before.after));
  });
});

it("an update that did not end says so, and nothing else, where its pool is not taken over now", () => {
  const own = setOf("shop", "a=1");
  const inputs = lanInputs(lanClaims("a"), own, { state, set: "shop" });
  expect(planned(inputs, recordOf([setOf("web", "a=1")])).text).toMatch(
    /\n {2}An update that did not end has moved it to set web\. Run the program of that update again, to its end, then this one\.$/,
  );
});
