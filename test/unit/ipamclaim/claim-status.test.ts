import { expect, it } from "vitest";
import { claimStatus } from "../../../integrations/ipamclaim/claim-status.ts";

it.each([
  ["one of its network before, and one of its network now", ["10.0.2.6/24"], ["10.0.0.4/24"], ["10.0.0.4/24"]],
  [
    "the same, and one of another family",
    ["10.0.2.6/24", "fd20::1/64"],
    ["10.0.0.4/24"],
    ["10.0.0.4/24", "fd20::1/64"],
  ],
])("a claim that has %s shows one of a family", (_, recorded, shown, ips) => {
  const { fields, conditions } = claimStatus({ recorded, kept: ["10.0.0.4/24"], planned: [], shown }) ?? {};
  expect([fields, conditions?.[0]?.status]).toEqual([{ ips }, "True"]);
});
