import { describe, expect, it } from "vitest";
import { parseAddress } from "../../../core/address.ts";
import { formatBlock } from "../../../core/block.ts";
import { unwrap } from "../../../core/errors.ts";
import { type ImportInput, planImport } from "../../../core/plan/import.ts";
import { isNoop, plan } from "../../../core/plan/plan.ts";
import { apply } from "../../support/core/apply.ts";
import { inputOf, refusalOf, useOf } from "../../support/core/import.ts";
import { tableOf } from "../../support/core/table.ts";
import { claimOf, lineOf, poolOf, recordOf, shown } from "../../support/core/text.ts";

describe("planImport records what nodes have", () => {
  const table = tableOf(`
claims                              | record                    | uses                               | plan
------------------------------------+---------------------------+------------------------------------+------------------------------------------------------
                                    |                           |                                    |
# matched by node, NIC and pool
Node/n/a if=eth1                    |                           | .3 Node/n eth1                     | assign .3 Node/n/a if=eth1
Node/n/a if=eth1                    |                           | .3 Node/n eth2                     | assign .3 Node/n/imported/.3 set=imported if=eth2
Node/n/a if=eth1                    |                           | .3 Node/m eth1                     | assign .3 Node/m/imported/.3 set=imported if=eth1
Node/n/a if=eth1                    |                           |                                    |
Node/n/a if=eth1 ; Node/n/b if=eth2 |                           | .3 Node/n eth2 ; .1 Node/n eth1    | assign .1 Node/n/a if=eth1 ; assign .3 Node/n/b if=eth2
# two claims of one NIC: in order
Node/n/b if=eth1 ; Node/n/a if=eth1 |                           | .3 Node/n eth1 ; .1 Node/n eth1    | assign .1 Node/n/a if=eth1 ; assign .3 Node/n/b if=eth1
Node/n/b if=eth1 ; Node/n/a if=eth1 |                           | .3 Node/n eth1                     | assign .3 Node/n/a if=eth1
Node/n/b if=eth1 ; Node/n/a if=eth1 | .1 Node/n/b if=eth1       | .3 Node/n eth1 ; .1 Node/n eth1    | assign .3 Node/n/a if=eth1 ; keep .1 Node/n/b if=eth1
# a claim whose NIC is not known: by node and pool
Node/n/a                            |                           | .3 Node/n eth7                     | assign .3 Node/n/a
Node/n/a ; Node/n/b if=eth1         |                           | .3 Node/n eth7 ; .1 Node/n eth1    | assign .1 Node/n/b if=eth1 ; assign .3 Node/n/a
Node/n/a ; Node/n/b if=eth1         |                           | .1 Node/n eth1                     | assign .1 Node/n/b if=eth1
# a reservation of the pool says which
Node/r/a if=eth1                    |                           | .6 Node/r eth1 ; .1 Node/r eth1    | assign .1 Node/r/imported/.1 set=imported if=eth1 ; assign .6 Node/r/a if=eth1
Node/n/a if=eth1 wanted=10.0.0.2    |                           | .1 Node/n eth1 ; .2 Node/n eth1    | assign .1 Node/n/imported/.1 set=imported if=eth1 ; assign .2 Node/n/a if=eth1

# on record: kept, and brought up to date
Node/n/a if=eth1                    | .3 Node/n/a if=eth1       | .3 Node/n eth1                     | keep .3 Node/n/a if=eth1
Node/n/a if=eth1                    | .3 Node/n/a               | .3 Node/n eth1                     | keep .3 Node/n/a if=eth1, was .3 Node/n/a
Node/n/a if=eth1                    | .3 Node/n/a if=eth1       | .3 Node/n eth1 ; .2 Node/n eth1    | assign .2 Node/n/imported/.2 set=imported if=eth1 ; keep .3 Node/n/a if=eth1
Node/n/a if=eth1                    | .3 Node/n/a if=eth1       |                                    |
                                    | .3 Node/n/a if=eth1       | .3 Node/n eth1                     | keep .3 Node/n/a if=eth1
Node/n/a if=eth1                    | .3 Node/n/x set=b if=eth1 | .3 Node/n eth1                     | keep .3 Node/n/x set=b if=eth1
Node/n/a if=eth1                    | .3 Node/n/x set=b if=eth1 | .3 Node/n eth1 ; .1 Node/n eth1    | assign .1 Node/n/a if=eth1 ; keep .3 Node/n/x set=b if=eth1
# on another NIC than recorded, which no claim asks for: the node has it, that is enough
Node/n/a if=eth1                    | .3 Node/n/a if=eth1       | .3 Node/n eth2                     | keep .3 Node/n/a if=eth1
# releasing: back to its claim; without one it stays what it is
Node/n/a if=eth1                    | .3 Node/n/a if=eth1 releasing | .3 Node/n eth1                 | keep .3 Node/n/a if=eth1, was .3 Node/n/a if=eth1
Node/n/a if=eth1                    | .3 Node/n/old releasing   | .3 Node/n eth1                     | keep .3 Node/n/a if=eth1, was .3 Node/n/old
                                    | .3 Node/n/a releasing     | .3 Node/n eth1                     |
# an earlier import finds its claim
Node/n/a if=eth1                    | .3 Node/n/imported/.3 set=imported if=eth1 | .3 Node/n eth1    | keep .3 Node/n/a if=eth1, was .3 Node/n/imported/.3 set=imported if=eth1
                                    | .3 Node/n/imported/.3 set=imported if=eth1 | .3 Node/n eth2    | keep .3 Node/n/imported/.3 set=imported if=eth1

# what no pool hands out is passed over: outside, excluded, reserved for nobody
Node/n/a if=eth1                    |                           | .10 Node/n eth2 ; 192.0.2.1 Node/n eth1 |
                                    |                           | .4 Node/n eth1 ; .5 Node/n eth1    |
Node/n/a if=eth1                    |                           | .1 Node/n eth1 ; .200 Node/n eth1  | assign .1 Node/n/a if=eth1
# the same use twice, or on a second NIC
Node/n/a if=eth1                    |                           | .1 Node/n eth1 ; .1 Node/n eth1    | assign .1 Node/n/a if=eth1
Node/n/a                            |                           | .1 Node/n ; .1 Node/n              | assign .1 Node/n/a
                                    |                           | .1 Node/n eth2 ; .1 Node/n eth1 ; .1 Node/n eth1 | assign .1 Node/n/imported/.1 set=imported if=eth1
Node/n/a if=eth2                    |                           | .1 Node/n eth2 ; .1 Node/n eth1    | assign .1 Node/n/a if=eth2
                                    |                           | .1 Node/n                          | assign .1 Node/n/imported/.1 set=imported
`);

  it.each(table.map((row) => [row.title, row] as const))("%s", (_, { cell }) => {
    const made = planImport(inputOf(cell("claims"), cell("record"), cell("uses")));
    expect(shown(made)).toEqual(cell("plan").map((line) => line.replaceAll(/(?<=[ /])\.(\d)/g, "10.0.0.$1")));
    expect(made.pending).toEqual([]);
  });

  it("passes over uses that only mention an address", () => {
    const { owner: _, ...mention } = useOf(".1 Node/n", 0);
    expect(isNoop(planImport({ ...inputOf([], [], []), uses: [mention] }))).toBe(true);
  });
});

describe("planImport refuses what would move somebody", () => {
  it.each<[string, ImportInput, string, string[]]>([
    [
      "a claim that holds another address",
      inputOf(["Node/n/a if=eth1"], [".3 Node/n/a if=eth1"], [".2 Node/n eth1"]),
      "conflict",
      ["Node/n/a holds 10.0.0.3, but Node/n has 10.0.0.2 on eth1"],
    ],
    [
      "a claim that was allocated for after an import had found its address",
      inputOf(
        ["Node/n/a if=eth1"],
        [".1 Node/n/a if=eth1", ".3 Node/n/imported/10.0.0.3 set=imported if=eth1"],
        [".3 Node/n eth1"],
      ),
      "conflict",
      ["Node/n/a holds 10.0.0.1, but Node/n has 10.0.0.3 on eth1"],
    ],
    [
      "NICs that changed places",
      inputOf(
        ["Node/n/a if=eth1", "Node/n/b if=eth2"],
        [".1 Node/n/a if=eth1", ".2 Node/n/b if=eth2"],
        [".1 Node/n eth2", ".2 Node/n eth1"],
      ),
      "conflict",
      [
        "Node/n/a holds 10.0.0.1, but Node/n has 10.0.0.2 on eth1",
        "Node/n/b holds 10.0.0.2, but Node/n has 10.0.0.1 on eth2",
      ],
    ],
    [
      "an address of two nodes",
      inputOf(["Node/n/a if=eth1"], [], [".2 Node/n eth1", ".2 Node/m eth1", ".3 Node/n eth2", ".3 Node/m eth2"]),
      "conflict",
      ["10.0.0.2 is on Node/n eth1 and on Node/m eth1", "10.0.0.3 is on Node/m eth2 and on Node/n eth2"],
    ],
    [
      "an address of two claims whose NIC is not known",
      inputOf(["Node/n/a", "Node/n/b", "Node/n/c if=eth1"], [], [".3 Node/n eth7", ".1 Node/n eth1"]),
      "conflict",
      ["Node/n has 10.0.0.3 on eth7, which may be that of Node/n/a or Node/n/b"],
    ],
    [
      "an address of two claims",
      inputOf(["Node/n/a if=eth1", "Node/m/a if=eth1"], [], [".2 Node/n eth1", ".2 Node/m eth1"]),
      "conflict",
      ["10.0.0.2 is on Node/m eth1 and on Node/n eth1"],
    ],
    [
      "an address recorded for another node",
      inputOf(["Node/m/a if=eth1"], [".2 Node/n/a if=eth1"], [".2 Node/m eth1"]),
      "conflict",
      ["10.0.0.2 is recorded for Node/n/a, but Node/m has 10.0.0.2 on eth1"],
    ],
    [
      "an unclaimed address recorded for another node",
      inputOf([], [".2 Node/n/imported/10.0.0.2 set=imported", ".3 Node/n/a releasing"], [".2 Node/m", ".3 Node/m"]),
      "conflict",
      [
        "10.0.0.2 is recorded for Node/n/imported/10.0.0.2, but Node/m has 10.0.0.2",
        "10.0.0.3 is recorded for Node/n/a, but Node/m has 10.0.0.3",
      ],
    ],
    [
      "an address recorded for another claim of the node, on another NIC",
      inputOf(["Node/n/b if=eth2"], [".1 Node/n/a if=eth1"], [".1 Node/n eth2"]),
      "conflict",
      ["10.0.0.1 is recorded for Node/n/a, but Node/n has 10.0.0.1 on eth2"],
    ],
    [
      "more addresses than claims",
      inputOf(["Node/n/a if=eth1"], [], [".2 Node/n eth1", ".1 Node/n eth1"]),
      "conflict",
      ["Node/n has 10.0.0.1 and 10.0.0.2 on eth1, more than Node/n/a asks for"],
    ],
    [
      "two claims of a NIC with one address that fits and one that does not",
      inputOf(["Node/n/a if=eth1", "Node/n/b if=eth1"], [".1 Node/n/a if=eth1"], [".1 Node/n eth1", ".10 Node/n eth1"]),
      "out-of-range",
      ["Node/n has 10.0.0.10 on eth1, which pool p may not hand out"],
    ],
    [
      "another address than the reserved one",
      inputOf(["Node/r/a if=eth1"], [], [".2 Node/r eth1"]),
      "conflict",
      ["10.0.0.6 is reserved for Node/r/a, but Node/r has 10.0.0.2 on eth1"],
    ],
    [
      "an excluded address, one reserved for nobody, and one behind the end, on claimed NICs",
      inputOf(
        ["Node/n/a if=eth1", "Node/m/a if=eth1", "Node/o/a if=eth1"],
        [],
        [".4 Node/n eth1", ".5 Node/m eth1", ".10 Node/o eth1"],
      ),
      "out-of-range",
      [
        "Node/m has 10.0.0.5 on eth1, which pool p may not hand out",
        "Node/n has 10.0.0.4 on eth1, which pool p may not hand out",
        "Node/o has 10.0.0.10 on eth1, which pool p may not hand out",
      ],
    ],
    [
      "the set of import itself",
      { ...inputOf([], [], []), set: "imported" },
      "invalid",
      ["claim set imported belongs to import itself"],
    ],
    [
      "a pool that is not defined",
      inputOf(["Node/n/a pool=q"], [], []),
      "invalid",
      ["claim Node/n/a asks for pool q, which is not defined"],
    ],
    ["a claim twice", inputOf(["Node/n/a", "Node/n/a"], [], []), "invalid", ["claim Node/n/a asks pool p twice"]],
  ])("%s", (_, input, code, messages) => {
    const error = refusalOf(input);
    expect([error?.code, error?.issues.map(({ message }) => message)]).toEqual([code, messages]);
    if (code !== "invalid")
      expect(error?.issues.every(({ at, hint }) => at !== undefined && hint !== undefined)).toBe(true);
  });
});

describe("planImport of slices whose length is not that of the pool's blocks", () => {
  const slices = poolOf("p", "10.4.0.0/16", { blockLength: 22 });
  const sliceOf = (text: string, i: number) => {
    const [block = "", ...rest] = text.split(" ");
    const { address, length } = lineOf(`${block} Node/x/y`);
    return { ...useOf([block.split("/")[0], ...rest].join(" "), i), address, length };
  };
  const table = tableOf(`
claims   | record                    | uses                                  | outcome
---------+---------------------------+---------------------------------------+----------------------------------------------------
         |                           | 10.4.8.0/21 Node/n                    | assign 10.4.8.0/21 Node/n/imported/10.4.8.0/21 set=imported
         |                           | 10.4.8.0/24 Node/n                    | assign 10.4.8.0/24 Node/n/imported/10.4.8.0/24 set=imported
         |                           | 10.4.8.0/24 Node/n ; 10.4.9.0/24 Node/m | assign 10.4.8.0/24 Node/n/imported/10.4.8.0/24 set=imported ; assign 10.4.9.0/24 Node/m/imported/10.4.9.0/24 set=imported
         |                           | 10.4.8.7 Node/n                       | assign 10.4.8.7 Node/n/imported/10.4.8.7 set=imported
Node/n/a |                           | 10.4.8.0/24 Node/n                    | assign 10.4.8.0/24 Node/n/a
# part of what its owner has, by the record or by this import
Node/n/a | 10.4.8.0/22 Node/n/a      | 10.4.9.7 Node/n                       | keep 10.4.8.0/22 Node/n/a
         |                           | 10.4.8.0/22 Node/n ; 10.4.9.0/24 Node/n | assign 10.4.8.0/22 Node/n/imported/10.4.8.0/22 set=imported
         |                           | 10.4.8.0/24 Node/n ; 10.4.8.0/22 Node/n | assign 10.4.8.0/22 Node/n/imported/10.4.8.0/22 set=imported
# part of what another one has
         | 10.4.8.0/22 Node/m/a      | 10.4.9.0/24 Node/n                    | conflict
         | 10.4.9.0/24 Node/m/a releasing | 10.4.8.0/22 Node/n               | conflict
         |                           | 10.4.8.0/22 Node/n ; 10.4.9.0/24 Node/m | conflict
# out of the pool
Node/n/a |                           | 10.4.0.0/15 Node/n                    |
`);
  it.each(table.map((row) => [row.title, row] as const))("%s", (_, { cell }) => {
    const input = {
      pools: [slices],
      claims: cell("claims").map(claimOf),
      snapshot: recordOf(cell("record"), [slices]),
      uses: cell("uses").map(sliceOf),
    };
    const refusal = refusalOf(input);
    expect(refusal === undefined ? shown(planImport(input)) : [refusal.code]).toEqual(cell("outcome"));
  });
});

describe("planImport with several pools", () => {
  it("takes the address of a claim from the pool it asks, where two pools share a subnet and a NIC", () => {
    const pools = [poolOf("a", "10.0.0.0/24 10.0.0.1 10.0.0.9"), poolOf("b", "10.0.0.0/24 10.0.0.11 10.0.0.19")];
    const claims = ["Node/n/a pool=a if=eth1", "Node/n/b pool=b if=eth1"].map(claimOf);
    const made = planImport({ pools, claims, snapshot: recordOf([], pools), uses: [useOf(".12 Node/n eth1", 0)] });
    expect(shown(made)).toEqual(["assign 10.0.0.12 Node/n/b pool=b if=eth1"]);
  });

  it("knows the network of a claimed NIC, and sets an unclaimed address aside in every network", () => {
    const pools = [poolOf("a", "10.0.0.0/29", { network: "red" }), poolOf("b", "10.0.0.0/29", { network: "blue" })];
    const claims = ["Node/n/x pool=a if=eth1", "Node/m/x pool=b if=eth1"].map(claimOf);
    const uses = [".1 Node/n eth1", ".1 Node/m eth1", ".2 Node/m eth2"].map(useOf);
    expect(shown(planImport({ pools, claims, snapshot: recordOf([], pools), uses }))).toEqual([
      "assign 10.0.0.1 Node/m/x pool=b if=eth1",
      "assign 10.0.0.1 Node/n/x pool=a if=eth1",
      "assign 10.0.0.2 Node/m/imported/10.0.0.2 pool=a set=imported if=eth2",
      "assign 10.0.0.2 Node/m/imported/10.0.0.2 pool=b set=imported if=eth2",
    ]);
  });

  it("accepts .0 and .255 inside the range, and IPv6", () => {
    const pools = [poolOf("a", "10.0.0.0/16"), poolOf("b", "2001:db8::/64")];
    const uses = ["10.0.1.0 Node/n eth1", "10.0.1.255 Node/n eth2", "2001:db8::5 Node/n eth1"].map(useOf);
    const claims = ["Node/n/x pool=a if=eth1", "Node/n/y pool=b if=eth1"].map(claimOf);
    expect(shown(planImport({ pools, claims, snapshot: recordOf([], pools), uses }))).toEqual([
      "assign 10.0.1.0 Node/n/x pool=a if=eth1",
      "assign 10.0.1.255 Node/n/imported/10.0.1.255 pool=a set=imported if=eth2",
      "assign 2001:db8::5 Node/n/y pool=b if=eth1",
    ]);
  });

  it("gives no claim what is reserved for another one", () => {
    const reservations = [{ address: "10.0.0.2", owner: "Node/n", claim: "mgmt" }];
    const pools = [poolOf("a", "10.0.0.0/29", { reservations })];
    const uses = ["10.0.0.2 Node/n eth0"].map(useOf);
    const made = planImport({ pools, claims: ["Node/n/x pool=a"].map(claimOf), snapshot: recordOf([], pools), uses });
    expect(shown(made)).toEqual(["assign 10.0.0.2 Node/n/imported/10.0.0.2 pool=a set=imported if=eth0"]);
  });

  it("refuses pools as plan does", () => {
    const pools = [poolOf("a", "10.0.0.0/29"), poolOf("b", "10.0.0.0/29")];
    expect(refusalOf({ pools, claims: [], snapshot: recordOf([], []), uses: [] })?.code).toBe("overlap");
  });

  it("leaves an owner what it has, where another claim of it has the address that is reserved for it", () => {
    const input = inputOf(["Node/r/a if=eth1", "Node/r/b if=eth1"], [], [".1 Node/r eth1", ".6 Node/r eth1"]);
    const snapshot = apply(planImport(input), input.snapshot);
    expect(shown(plan({ ...input, snapshot }))).toEqual([
      expect.stringMatching(/^keep 10.0.0.1 /),
      expect.stringMatching(/^keep 10.0.0.6 /),
    ]);
  });

  it.each([
    ["10.64.8.1/16", "10.64.8.0/24"],
    ["10.64.8.0/24", "10.64.8.0/24"],
    ["10.64.8.64/26", "10.64.8.0/24"],
    ["10.64.8.0/23", "10.64.8.0/23"],
  ])("in a pool of blocks, a node that has %s has the block %s", (text, block) => {
    const [ip = "", length] = text.split("/");
    const pools = [poolOf("pods", "10.64.0.0/16", { blockLength: 24 })];
    const use = {
      ...useOf("10.64.8.0 Node/n cni0", 0),
      address: unwrap(parseAddress(ip)),
      prefixLength: Number(length),
    };
    const input = { pools, claims: ["Node/n/cidr pool=pods if=cni0"].map(claimOf), snapshot: recordOf([], pools) };
    const made = planImport({ ...input, uses: [use] });
    expect(made.assign.map(formatBlock)).toEqual([block]);
  });
});
