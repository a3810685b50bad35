import { expect, it } from "vitest";
import { type LabelExpression, mayMeetAll, nodesWith } from "../../../core/index.ts";

const rack = (operator: LabelExpression["operator"], ...values: string[]): LabelExpression => ({
  ...{ key: "rack", operator },
  ...(values.length > 0 && { values }),
});

it.each<[boolean, LabelExpression[]]>([
  [true, []],
  [true, nodesWith({ rack: "a", row: "b" })],
  [true, [rack("In", "a", "b"), rack("In", "b", "c"), rack("Exists")]],
  [false, [rack("In", "a", "b"), rack("In", "b", "c"), rack("In", "a", "c")]],
  [false, [rack("In", "a", "b"), rack("NotIn", "a"), rack("NotIn", "b")]],
  [true, [rack("In", "a", "b"), rack("NotIn", "a")]],
  [false, [rack("In", "a"), rack("DoesNotExist")]],
  [false, [rack("Exists"), rack("DoesNotExist")]],
  [true, [rack("NotIn", "a"), rack("DoesNotExist")]],
  [true, [rack("NotIn", "a"), rack("Exists")]],
  [true, [rack("In", "a"), { key: "row", operator: "DoesNotExist" }]],
  [false, [{ key: "row", operator: "Exists" }, rack("In", "a"), rack("DoesNotExist")]],
])("one node may meet all of them: %s, %j", (want, nodes) => expect(mayMeetAll(nodes)).toBe(want));
