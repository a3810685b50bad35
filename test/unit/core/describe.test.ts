import { expect, it } from "vitest";
import { describeChanges, describeRewrite } from "../../../core/plan/describe.ts";
import { plan } from "../../../core/plan/plan.ts";
import { claimOf, lineOf, poolOf, recordOf } from "../../support/core-text.ts";

it.each([
  ["10.0.0.1 VM/v/a", "10.0.0.1 VM/w/a", "was VM/v/a"],
  ["10.0.0.1 VM/v/a", "10.0.0.1 VM/v/a if=eth1", "on eth1, was on no NIC"],
  ["10.0.0.1 VM/v/a", "10.0.0.1 VM/v/a uid=u1", "uid u1, was none"],
  ["10.0.0.1 VM/v/a uid=u1", "10.0.0.1 VM/v/a uid=u2", "uid u2, was u1"],
  ["10.0.0.1 VM/v/a", "10.0.0.1 VM/v/a set=b", "in set b, was in default"],
  ["10.0.0.1 VM/v/a", "10.0.0.1 VM/v/a", "no longer releasing"],
])("a rewrite of %s to %s reads: %s", (was, now, text) => {
  expect(describeRewrite(lineOf(was), lineOf(now))).toBe(text);
});

it("what a set takes over reads as kept or as given up, as it is after that", () => {
  const pools = [poolOf("p", "10.0.0.0/29")];
  const lines = ["10.0.0.1 Node/a/x set=s", "10.0.0.2 Node/b/x set=s", "10.0.0.3 Node/c/x set=s releasing"];
  const snapshot = recordOf(lines, pools);
  const claims = ["Node/b/x", "Node/d/x"].map((text) => claimOf(text));
  expect(describeChanges(plan({ pools, claims, snapshot, set: "t", takes: [{ pool: "p", set: "s" }] }))).toEqual([
    "+ 10.0.0.4  d  x",
    "~ 10.0.0.2  b  x  in set t, was in s",
    "- 10.0.0.1  a  x  releasing, in set t, was in s",
    "- 10.0.0.3  c  x  releasing, in set t, was in s",
  ]);
});
