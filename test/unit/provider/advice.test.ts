import { expect, it } from "vitest";
import type { Issue } from "../../../core/index.ts";
import { reasonOf } from "../../../provider/advice.ts";
import type { StateArgs } from "../../../provider/set-state.ts";
import { lanInputs, planInStack, setInputs } from "../../support/pulumi-inputs.ts";

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

it.each<[StateArgs, string, string]>([
  [
    { backend: "lockfile", path: "nodeippool.lock" },
    'set: "shop", or nodeippool mv --set shop nic --to-set site; nodeippool mv --set shop lan --to-set site',
    "nodeippool release",
  ],
  [
    { backend: "lockfile", path: "../net/a b.lock" },
    "set: \"shop\", or nodeippool mv --lock '../net/a b.lock' --set shop nic --to-set site; nodeippool mv --lock '../net/a b.lock' --set shop lan --to-set site",
    "nodeippool release --lock '../net/a b.lock'",
  ],
  [
    { backend: "kubernetes", namespace: "network", context: "prod" },
    'set: "shop", or nodeippool mv --backend kubernetes --context prod --namespace network --set shop nic --to-set site; nodeippool mv --backend kubernetes --context prod --namespace network --set shop lan --to-set site',
    "nodeippool release --backend kubernetes --context prod --namespace network",
  ],
])("a command names the record that it is about: %o", (state, moves, releases) => {
  const says = (remedy: NonNullable<Issue["remedy"]>) =>
    reasonOf("in-use", { message: "no", hint: "Do", remedy }, setInputs({ state }), []);
  expect(says(["to-set", ["nic", "lan"], "shop", "site"])).toBe(`in-use: no\n  Do: ${moves}`);
  expect(says(["release"])).toBe(`in-use: no\n  Do: ${releases}`);
});

it("commands that are too many for people to run are counted", () => {
  const words = Array.from({ length: 22 }, (_, i) => `Node/n${i}/a/x`);
  const issue = { message: "no", hint: "Do", remedy: ["to-set", words, "shop", "site"] as const };
  const text = reasonOf("in-use", issue, setInputs(), []);
  expect(text).toMatch(/; nodeippool mv --set shop Node\/n19\/a\/x --to-set site \(and 2 more\)$/);
  expect(text.match(/nodeippool mv/g)).toHaveLength(20);
});

it.each([
  ["an address as it is in a message", "FD00:0::0AB", "fd00::ab is not an address of pool lan"],
  ["an address that is none, in quotes", "10.0.0.6\n", '"10.0.0.6\\n" is no address'],
  ["an address in its own words", "10.0.0.6", "10.0.0.6 is held by Node/b/eth1"],
])("a secret address is struck out, and no name: %s", (_, address, message) => {
  const claims = [{ key: "Node/a/eth1", pool: "lan", address, secretAddress: true }];
  const text = reasonOf("invalid", { message: `Node/a/eth1: ${message}` }, setInputs({ claims }), []);
  expect(text).toMatch(/^invalid: Node\/a\/eth1: "?\[secret\]"? is/);
});

it("a secret that a message cuts off is struck out as far as it is there", () => {
  const address = `ghp_${"a1".repeat(40)}`;
  const claims = [{ key: "Node/a/eth1", pool: "lan", address, secretAddress: true }];
  const issue = { message: `"${address.slice(0, 57)}..." is too long` };
  expect(reasonOf("invalid", issue, setInputs({ claims }), [])).toBe('invalid: "[secret]..." is too long');
});

it("secrets that begin alike are each struck out as a whole", () => {
  const begin = "customer-name-that-is-as-long-as-names-may-well-be";
  const claims = ["alpha-x", "beta", "zzz"].map((end) => ({ key: `Node/${begin}-${end}/eth1`, pool: "lan" }));
  const message = `Node/${begin}-beta/eth1, and Node/${begin}-zzz/eth1 of ${begin}-alpha-x`;
  expect(reasonOf("in-use", { message }, setInputs({ claims, secret: true }), [])).toBe(
    "in-use: [secret], and [secret] of [secret]",
  );
});

it("a secret name is struck out in quotes, too", () => {
  const claims = [{ key: "Node/w1/eth1", pool: "lan", owner: "Node/brandnew\n" }];
  const issue = { message: '"Node/brandnew\\n" has no owner "brandnew\\n"' };
  expect(reasonOf("invalid", issue, setInputs({ claims, secret: true }), [])).toBe(
    'invalid: "[secret]" has no owner "[secret]"',
  );
});

it("owners that the state has by an id are struck out, but for those that the program names", () => {
  const owners = { "Node/w1/eth1": "Node/owl", "Node/w2/eth1": "Node/plain" };
  const left = { ...planInStack(lanInputs([])), owners };
  const claims = [{ key: "Node/w2/eth1", pool: "lan", owner: "Node/plain" }];
  const text = reasonOf("in-use", { message: "Node/owl and Node/plain" }, setInputs({ claims }), [left]);
  expect(text).toBe("in-use: [secret] and Node/plain");
});

it("a secret address of the state is struck out, whoever has it now", () => {
  const claims = [{ key: "Node/a/eth1", pool: "lan", address: "10.0.0.3", secretAddress: true }];
  const left = planInStack(lanInputs([], planInStack(lanInputs(claims))));
  const text = reasonOf("in-use", { message: "10.0.0.3 of Node/a/eth1 is releasing" }, setInputs(), [left]);
  expect(text).toBe("in-use: [secret] of Node/a/eth1 is releasing");
});
