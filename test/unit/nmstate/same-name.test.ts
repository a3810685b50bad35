import { expect, it } from "vitest";
import { IpamError } from "../../../core/errors.ts";
import { refuseSameName } from "../../../integrations/nmstate/same-name.ts";
import { claimOf, poolOf, recordOf } from "../../support/core-text.ts";

const pools = [poolOf("p", "10.0.0.0/29")];
const claims = ["Node/n1/a/x if=eth1", "Node/n2/a/x if=eth1"].map(claimOf);

const issues = (...lines: string[]) => {
  try {
    refuseSameName(claims, recordOf(lines, pools), "default");
    return [];
  } catch (error) {
    if (error instanceof IpamError) return error.issues.map(({ message, remedy }) => [message, remedy]);
    throw error;
  }
};
const has = (what: string) => `policy a has addresses in claim set b, too: ${what}`;

it.each<[string, string[], ReturnType<typeof issues>]>([
  ["the same claim", ["10.0.0.1 Node/n1/a/x set=b"], [[has("10.0.0.1 of n1"), ["to-set", "a", "b", "default"]]]],
  [
    "another capture, NIC and all",
    ["10.0.0.1 Node/n1/a/y if=eth2 set=b", "10.0.0.2 Node/n2/a/y if=eth2 set=b"],
    [[has("10.0.0.1 of n1 and 1 more"), ["to-set", "a", "b", "default"]]],
  ],
  [
    "releasing: it is taken off its NIC by a policy of that name",
    ["10.0.0.1 Node/n1/a/y set=b releasing"],
    [[has("10.0.0.1 of n1 (releasing)"), ["to-set", "a", "b", "default"]]],
  ],
  [
    "on these nodes and on others",
    ["10.0.0.1 Node/n1/a/x set=b", "10.0.0.2 Node/n9/a/x set=b"],
    [[has("10.0.0.1 of n1"), ["to-set", "a", "b", "default"]]],
  ],
  [
    "in two other sets",
    ["10.0.0.1 Node/n1/a/x set=b", "10.0.0.2 Node/n2/a/y set=c"],
    [
      [has("10.0.0.1 of n1"), ["to-set", "a", "b", "default"]],
      ["policy a has addresses in claim set c, too: 10.0.0.2 of n2", ["to-set", "a", "c", "default"]],
    ],
  ],
  ["of a program, whose claims are those of no policy", ["10.0.0.1 Node/n1/a set=b"], []],
  ["on other nodes", ["10.0.0.1 Node/n9/a/x set=b"], []],
  ["of another name", ["10.0.0.1 Node/n1/aa/x set=b", "10.0.0.2 Node/n1/b/a set=b"], []],
  ["of the same set", ["10.0.0.1 Node/n1/a/x", "10.0.0.2 Node/n2/a/y releasing"], []],
  ["imported", ["10.0.0.1 Node/n1/a/x set=imported"], []],
])("a policy of the name in another claim set: %s", (_, lines, expected) => expect(issues(...lines)).toEqual(expected));
