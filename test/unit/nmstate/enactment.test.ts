import { describe, expect, it } from "vitest";
import { healthBy } from "../../../integrations/nmstate/enactment.ts";
import { tableOf } from "../../support/core/table.ts";

describe("healthBy", () => {
  it.each(
    tableOf(`
      policy | enacted | true                   | the node
      1      |         |                        | progressing
      2      | 1       | Available              | progressing
      2      | 1       | Failing                | progressing
      1      | 1       | Available              | available
      1      | 1       | Failing                | failing
      1      | 1       | Failing;Progressing    | progressing
      1      | 1       | Aborted                | failing
      1      | 1       | Progressing            | progressing
      1      | 1       | Pending                | progressing
      1      | 1       | Retrying;Failing;Progressing | progressing
      1      | 1       |                        | progressing
    `),
  )("$title", ({ cell }) => {
    const [enacted] = cell("enacted");
    const all = ["Available", "Failing", "Aborted", "Progressing", "Pending", "Retrying"];
    const conditions = all.map((type) => ({ type, status: cell("true").includes(type) ? "True" : "False" }));
    const enactment = enacted === undefined ? undefined : { status: { policyGeneration: Number(enacted), conditions } };
    const policy = { metadata: { generation: Number(cell("policy")[0]) } };
    expect(healthBy(policy, enactment)).toBe(cell("the node")[0]);
  });

  it.each([
    ["has not begun", 2, "unreachable"],
    ["has begun", 1, "progressing"],
  ])("a node that is not Ready and %s", (_, generation, expected) => {
    expect(healthBy({ metadata: { generation } }, { status: { policyGeneration: 1 } }, false)).toBe(expected);
  });
});
