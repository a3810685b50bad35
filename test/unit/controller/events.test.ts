import { describe, expect, it } from "vitest";
import { eventOfProblem, eventsOf, eventWrite } from "../../../controller/events.ts";
import { type Allocation, parseAddress, unwrap } from "../../../core/index.ts";
import { tableOf } from "../../support/core/table.ts";

/** Lines of text as the record has them: `node/policy address pool`. */
function line(text: string): Allocation {
  const [claim = "", address = "", pool = ""] = text.split(" ");
  return {
    claim: `Node/${claim}/a`,
    address: unwrap(parseAddress(address)),
    length: 32,
    pool,
    set: "cluster",
  } as Allocation;
}

const finder = {
  keyOfOwner: (owner: string) => owner,
  sourceOf: (claim: string) => `Policy/${claim.split("/")[2]}`,
  keyOfPool: (pool: string) => `NodeIPPool/${pool}`,
};
const said = (lines: readonly Allocation[]) =>
  eventsOf("Allocated", lines, finder).map(({ about, message }) => `${about}: ${message}`);

describe("what is said of addresses", () => {
  it("a few: on each node, and each with its node on the pools and policies", () => {
    expect(said(["n1/s 10.0.0.1 p", "n1/t 10.0.1.1 q", "n2/s 10.0.0.2 p"].map(line))).toEqual([
      "Node/n1: 10.0.0.1 of p for s, 10.0.1.1 of q for t",
      "Node/n2: 10.0.0.2 of p for s",
      "NodeIPPool/p: n1 10.0.0.1 for s, n2 10.0.0.2 for s",
      "NodeIPPool/q: n1 10.0.1.1 for t",
      "Policy/s: n1 10.0.0.1 of p, n2 10.0.0.2 of p",
      "Policy/t: n1 10.0.1.1 of q",
    ]);
  });

  it("ten are a few, eleven are many: none on nodes", () => {
    const lines = (count: number) => Array.from({ length: count }, (_, i) => line(`n${i + 1}/s 10.0.0.${i + 1} p`));
    expect(said(lines(10)).filter((text) => text.startsWith("Node/"))).toHaveLength(10);
    expect(said(lines(11))).toEqual([
      "NodeIPPool/p: 11: n1 10.0.0.1 for s to n11 10.0.0.11 for s",
      "Policy/s: 11: n1 10.0.0.1 of p to n11 10.0.0.11 of p",
    ]);
  });

  it("a claim that asks for itself is told once", () => {
    const own = { ...finder, sourceOf: (claim: string) => claim.split("/").slice(0, 2).join("/") };
    expect(eventsOf("Allocated", [line("n1/s 10.0.0.1 p")], own).map(({ about }) => about)).toEqual([
      "NodeIPPool/p",
      "Node/n1",
    ]);
  });

  it("nothing of none", () => {
    expect(said([])).toEqual([]);
  });
});

describe("what is said of problems", () => {
  it.each([
    ["InvalidSpec", "Invalid"],
    ["IPCollision", "Collision"],
    ["ExhaustedIPPool", "ExhaustedIPPool"],
    ["OverlappingIPPool", "OverlappingIPPool"],
    ["UnsynchronizedIPPool", "UnsynchronizedIPPool"],
    ["Refused", "Refused"],
    ["RecordLost", "RecordLost"],
    ["Terminating", undefined],
    ["ReconcilingPool", undefined],
    ["ReconciledPool", undefined],
  ])("%s: %s", (problem, reason) => {
    const expected = reason === undefined ? [] : [{ about: "x", type: "Warning", reason, message: "m" }];
    expect(eventOfProblem("x", problem, "m")).toEqual(expected);
  });
});

describe("what is done about an Event", () => {
  const half = 30 * 60_000;
  it.each(
    tableOf(`
      tells of  | last   | ago       | to do
      addresses |        |           | create
      addresses | same   | 0         | create
      problem   |        |           | create
      problem   | same   | 0         | none
      problem   | same   | ${half - 1} | none
      problem   | same   | ${half}   | count
      problem   | other  | 0         | count
    `),
  )("$title", ({ cell }) => {
    const type = cell("tells of")[0] === "problem" ? "Warning" : "Normal";
    const [last] = cell("last");
    const written = last === undefined ? undefined : { message: last === "same" ? "m" : "n", at: 1000 };
    const now = 1000 + Number(cell("ago")[0] ?? 0);
    expect(eventWrite({ about: "x", type, reason: "r", message: "m" }, written, now)).toBe(cell("to do")[0]);
  });
});
