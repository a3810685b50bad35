import { describe, expect, it } from "vitest";
import { type Count, policyConditions, unlocking } from "../../../integrations/nmstate/policy-status.ts";

const fine: Count = {
  nodes: 3,
  available: 3,
  form: "",
  failing: [],
  notReady: 0,
  unfinished: [],
  away: [],
  waiting: [],
  reasons: [],
};

describe("policyConditions", () => {
  it.each<[Partial<Count>, string, string, string]>([
    [{}, "Available", "SuccessfullyConfigured", "3/3 nodes successfully configured"],
    [
      { notReady: 1, available: 2 },
      "Available",
      "SuccessfullyConfigured",
      "2/3 nodes successfully configured, 1 nodes ignored due to NotReady state",
    ],
    [
      { form: " by policy a---fleet" },
      "Available",
      "SuccessfullyConfigured",
      "3/3 nodes successfully configured by policy a---fleet",
    ],
    [{ available: 1 }, "Progressing", "ConfigurationProgressing", "Policy is progressing 1/3 nodes finished"],
    [
      { available: 0, notReady: 2 },
      "Progressing",
      "ConfigurationProgressing",
      "Policy is progressing 0/1 nodes finished, 2 nodes ignored due to NotReady state",
    ],
    [
      { available: 1, notReady: 1, unfinished: ["b"], away: ["a"] },
      "Progressing",
      "ConfigurationProgressing",
      "Policy is progressing 1/2 nodes finished, waiting for b (kubectl get nnce -l nmstate.io/node=b), 1 nodes ignored due to NotReady state. It waits for nodes that are not Ready: a. Start such a node again or, if it does not come back, delete it: kubectl delete node a",
    ],
    [
      { nodes: 0, away: ["a", "b", "c", "d", "e"] },
      "Ignored",
      "NoMatchingNode",
      "Policy does not match any node. It waits for nodes that are not Ready: a, b, c and 2 more. Start such a node again or, if it does not come back, delete it: kubectl delete node a",
    ],
    [
      { available: 1, failing: ["a"] },
      "Degraded",
      "FailedToConfigure",
      "1/3 nodes failed to configure (a). The rollout stops until that is mended: kubectl get nnce -l nmstate.io/node=a -o yaml",
    ],
    [
      { nodes: 5, failing: ["e"], waiting: ["a"], reasons: ["p is full"] },
      "Degraded",
      "FailedToConfigure",
      "1/5 nodes get no address (a): p is full. 1/5 nodes failed to configure (e). The rollout stops until that is mended: kubectl get nnce -l nmstate.io/node=e -o yaml",
    ],
    [
      { nodes: 5, waiting: ["a", "b", "c", "d"], reasons: ["p is full", "q is full"] },
      "Degraded",
      "FailedToConfigure",
      "4/5 nodes get no address (a, b, c and 1 more): p is full; q is full",
    ],
    [
      { available: 0, notReady: 3 },
      "Ignored",
      "NoMatchingNode",
      "Policy does not match any Ready node, 3 are NotReady",
    ],
    [{ nodes: 0, available: 0 }, "Ignored", "NoMatchingNode", "Policy does not match any node"],
    [{ nodes: 0, rejected: "why" }, "Degraded", "FailedToConfigure", "why"],
    [{ waiting: ["full"], rejected: "why" }, "Degraded", "FailedToConfigure", "why"],
  ])("%j: %s", (change, type, reason, message) => {
    const conditions = policyConditions({ ...fine, ...change });
    expect(conditions.map((one) => one.type).sort()).toEqual(["Available", "Degraded", "Ignored", "Progressing"]);
    expect(conditions.every((one) => one.reason === reason)).toBe(true);
    expect(conditions.filter(({ status }) => status === "True")).toEqual([{ type, status: "True", reason, message }]);
  });
});

describe("unlocking", () => {
  const available = (reason?: string) => [{ type: "Available", ...(reason === undefined ? {} : { reason }) }];
  it.each<[string, unknown, boolean]>([
    ["no conditions", undefined, true],
    ["no reason", available(), true],
    ["an empty reason", available(""), true],
    ["being configured", available("ConfigurationProgressing"), true],
    ["configured", available("SuccessfullyConfigured"), false],
    ["failed", available("FailedToConfigure"), false],
    ["parking", available("Parking"), false],
  ])("%s", (_, there, isNeeded) => {
    const conditions = unlocking(there);
    expect(conditions === undefined).toBe(!isNeeded);
    // Or the next change would be refused, too.
    if (isNeeded) expect(unlocking(conditions)).toBeUndefined();
  });
});
