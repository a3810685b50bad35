import { expect, it } from "vitest";
import { describeRewrite } from "../../../core/plan/describe.ts";
import { lineOf } from "../../support/core/text.ts";

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
