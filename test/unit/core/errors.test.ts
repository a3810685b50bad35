import { describe, expect, it } from "vitest";
import { byCodeUnit, codes, formatIssue, type IpamCode, IpamError, type Issue, unwrap } from "../../../core/errors.ts";

describe("codes", () => {
  const table: Record<IpamCode, string> = {
    invalid: "exit 2, InvalidSpec, final",
    "out-of-range": "exit 2, OutOfRange, final",
    overlap: "exit 2, OverlappingIPPool, final",
    exhausted: "exit 3, ExhaustedIPPool, try again",
    "in-use": "exit 3, InUse, final",
    conflict: "exit 4, IPCollision, try again",
    stale: "exit 5, UnsynchronizedIPPool, final",
    corrupt: "exit 5, UnsynchronizedIPPool, final",
    unavailable: "exit 6, ReconcilingPool, try again",
    "unknown-outcome": "exit 6, ReconcilingPool, try again",
  };

  it.each(Object.entries(table))("%s: %s", (code, want) => {
    const { exit, reason, retry } = codes[code as IpamCode];
    expect(`exit ${exit}, ${reason}, ${retry ? "try again" : "final"}`).toBe(want);
  });

  it("are these and no others", () => {
    expect(Object.keys(codes).sort()).toEqual(Object.keys(table).sort());
  });

  // "The NodeIPPool conditions" of the proposal; its UnsyncronizedIPPool is misspelt.
  it.each(["ReconcilingPool", "ExhaustedIPPool", "UnsynchronizedIPPool", "OverlappingIPPool", "IPCollision"])(
    "hold the proposal's condition reason %s",
    (reason) => {
      expect(Object.values(codes).map((code) => code.reason as string)).toContain(reason);
    },
  );
});

describe("formatIssue", () => {
  const at = { file: "pools/a.yaml", line: 3, column: 14 };
  it.each<{ issue: Issue; want: string }>([
    { issue: { message: "is wrong" }, want: "is wrong" },
    { issue: { message: "is wrong", hint: "Mend it." }, want: "is wrong\n  Mend it." },
    { issue: { message: "is wrong", at }, want: "pools/a.yaml:3:14: is wrong" },
    {
      issue: { message: "is wrong", at, hint: "Mend it.", path: ["a", 0] },
      want: "pools/a.yaml:3:14: is wrong\n  Mend it.",
    },
  ])("formatIssue($issue)", ({ issue, want }) => {
    expect(formatIssue(issue)).toBe(want);
  });
});

describe("IpamError", () => {
  it("of a text has one issue", () => {
    const error = new IpamError("conflict", "moved on", { hint: "Plan again." });
    expect(error).toMatchObject({ name: "IpamError", code: "conflict", message: "moved on\n  Plan again." });
    expect(error.issues).toEqual([{ message: "moved on", hint: "Plan again." }]);
    expect(new IpamError("conflict", "moved on").issues).toEqual([{ message: "moved on" }]);
  });

  it("of many issues shows all of them", () => {
    const error = new IpamError("invalid", [{ message: "one", hint: "Do." }, { message: "two" }]);
    expect(error.message).toBe("one\n  Do.\ntwo");
    expect(error.issues).toHaveLength(2);
  });

  it("keeps its cause", () => {
    const cause = new Error("EIO");
    expect(new IpamError("unavailable", "cannot read", { cause }).cause).toBe(cause);
  });
});

it("unwrap gives the value, or throws all issues as `invalid`", () => {
  const issues = [{ message: "one" }, { message: "two" }];
  expect(unwrap({ value: 7 })).toBe(7);
  expect(() => unwrap({ issues })).toThrow(expect.objectContaining({ code: "invalid", issues, message: "one\ntwo" }));
});

it.each([
  ["Z", "a", -1],
  ["a", "Z", 1],
  ["z", "ä", -1],
  ["a", "a", 0],
  ["a", "aa", -1],
  ["10", "9", -1],
  ["\uffff", "\u{1f600}", 1],
])("byCodeUnit(%j, %j) is %d", (a, b, want) => {
  expect(byCodeUnit(a, b)).toBe(want);
});
