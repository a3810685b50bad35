import { describe, expect, it } from "vitest";
import { statusPatch } from "../../../controller/write/status.ts";

const now = "2026-01-02T00:00:00Z";
const old = "2026-01-01T00:00:00Z";
const wanted = { type: "Available", status: "True", reason: "Fine", message: "m" };
const plain = { hasHeartbeat: false };

describe("statusPatch", () => {
  const there = (change: object = {}, rest: object = {}) => ({
    conditions: [{ ...wanted, lastTransitionTime: old, ...change }],
    ...rest,
  });

  it.each<[string, object | undefined, object | undefined]>([
    ["no status", undefined, { since: now }],
    ["no conditions", {}, { since: now }],
    ["the same", there(), undefined],
    ["another message", there({ message: "n" }), { since: old }],
    ["another reason", there({ reason: "Bad" }), { since: old }],
    ["another status", there({ status: "False" }), { since: now }],
    ["somebody else's condition beside it", { conditions: [{ type: "X" }, ...there().conditions] }, undefined],
  ])("%s", (_, before, expected) => {
    const patch = statusPatch(before as never, { conditions: [wanted] }, plain, now);
    const since = expected && (expected as { since: string }).since;
    expect(patch).toEqual(since && { conditions: [{ ...wanted, lastTransitionTime: since }] });
  });

  it("leaves the conditions of somebody else", () => {
    const { conditions } = there({ message: "n" });
    const patch = statusPatch(
      { conditions: [{ type: "X" }, ...conditions] } as never,
      { conditions: [wanted] },
      plain,
      now,
    );
    expect(patch).toEqual({ conditions: [{ type: "X" }, { ...wanted, lastTransitionTime: old }] });
  });

  it("an empty text is one that the server leaves out", () => {
    const { message: _, ...silent } = wanted;
    const before = { conditions: [{ ...silent, lastTransitionTime: old }] };
    expect(statusPatch(before, { conditions: [{ ...silent, message: "" }] }, plain, now)).toBeUndefined();
  });

  it("of another generation, or with other fields, is written", () => {
    const status = { fields: { free: "3" }, conditions: [wanted] };
    const style = { generation: 2, hasHeartbeat: false };
    const patch = {
      observedGeneration: 2,
      free: "3",
      conditions: [{ ...wanted, observedGeneration: 2, lastTransitionTime: old }],
    };
    expect(
      statusPatch(there({ observedGeneration: 1 }, { observedGeneration: 1, free: "3" }), status, style, now),
    ).toEqual(patch);
    expect(
      statusPatch(there({ observedGeneration: 2 }, { observedGeneration: 2, free: "4" }), status, style, now),
    ).toEqual(patch);
    expect(
      statusPatch(there({ observedGeneration: 2 }, { observedGeneration: 2, free: "3" }), status, style, now),
    ).toBeUndefined();
  });

  it("a field that is undefined is taken away, once", () => {
    const status = { fields: { address: undefined }, conditions: [wanted] };
    expect(statusPatch(there({}, { address: "10.0.0.1" }), status, plain, now)).toMatchObject({ address: null });
    expect(statusPatch(there(), status, plain, now)).toBeUndefined();
  });

  it("a heartbeat goes along, and is no reason to write", () => {
    const beating = { hasHeartbeat: true };
    expect(statusPatch(there({ lastHeartbeatTime: old }), { conditions: [wanted] }, beating, now)).toBeUndefined();
    expect(statusPatch(there({ message: "n" }), { conditions: [wanted] }, beating, now)).toEqual({
      conditions: [{ ...wanted, lastHeartbeatTime: now, lastTransitionTime: old }],
    });
  });
});
