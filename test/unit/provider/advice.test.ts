import { expect, it } from "vitest";
import type { IpamCode, Issue } from "../../../core/index.ts";
import { reasonOf } from "../../../provider/advice.ts";
import type { StateArgs } from "../../../provider/set-state.ts";

const stack: StateArgs = { backend: "stack" };
const lock: StateArgs = { backend: "lockfile", path: "nodeippool.lock" };

it.each<[StateArgs, NonNullable<Issue["remedy"]>, string]>([
  [stack, ["allow", "move"], "allowMove: true"],
  [stack, ["release"], 'release: ["Kind/name"], in an update without this claim'],
  [lock, ["release"], "nodeippool release"],
  [lock, ["record"], "nodeippool allocate -- pulumi preview"],
])("a hint names what a program has for it, or the verb: %j %j", (state, remedy, says) => {
  expect(reasonOf("in-use", { message: "no", hint: "Do.", remedy }, state, false)).toBe(`in-use: no\n  Do: ${says}`);
});

const issue: Issue = {
  path: ["claims", 4],
  message: "10.0.0.7 of Node/owl/eth1",
  hint: "Ask Node/owl.",
  remedy: ["release"],
};
it.each<IpamCode>(["invalid", "in-use", "exhausted", "out-of-range", "overlap", "stale"])(
  "of secret claims a reason has the place alone: %s",
  (code) => {
    for (const path of [["claims", 4], ["pools"], ["moved", 1], ["state"]].slice(0, code === "stale" ? 3 : 4)) {
      if (code === "invalid" && (path[0] === "pools" || path[0] === "state")) continue;
      const text = reasonOf(code, { ...issue, path }, stack, true);
      expect(text).not.toMatch(/owl|10\.0\.0\.7/);
      expect(text).toMatch(
        path.length === 2 ? new RegExp(`^${code}: ${path[0]}\\[${path[1]}\\]: `) : /^[a-z-]+: (pools|state): /,
      );
    }
  },
);

it("what is wrong with settings is said also beside secret claims: they are known in the program", () => {
  const wrong = { path: ["pools", "lan", "range", "cidr"], message: "10.0.0.0/33 has no such prefix" };
  expect(reasonOf("invalid", wrong, stack, true)).toBe("invalid: pools.lan.range.cidr: 10.0.0.0/33 has no such prefix");
});
