import { expect, it } from "vitest";
import type { Issue } from "../../../src/core/index.ts";
import { reasonOf } from "../../../src/provider/advice.ts";
import { setInputs } from "../../support/pulumi-inputs.ts";

it.each<[string, Issue["remedy"], string]>([
  [
    "a whole policy, by the names of its claims",
    ["rename", "nic/a", "lan/a", "policy"],
    'moved: [{ from: "OWNER/nic/a", to: "OWNER/lan/a" }], for each owner, or allowMove: true',
  ],
  [
    "a name that nobody has any more",
    ["rename", "eth1", "lan", "claim"],
    'moved: [{ from: "OWNER/eth1", to: "OWNER/lan" }], for each owner, or allowMove: true',
  ],
  [
    "the claims of some owners",
    ["rename", "eth1", "lan", ["Node/a", "VirtualMachine/b:c"]],
    'moved: [{ from: "Node/a/eth1", to: "Node/a/lan" }, { from: "VirtualMachine/b:c/eth1", to: "VirtualMachine/b:c/lan" }], or allowMove: true',
  ],
])("a rename is declared in a program: %s", (_, remedy, says) => {
  const issue = { message: "no", hint: "Declare it.", ...(remedy === undefined ? {} : { remedy }) };
  expect(reasonOf("in-use", issue, setInputs(), [])).toBe(`in-use: no\n  Declare it: ${says}`);
});
