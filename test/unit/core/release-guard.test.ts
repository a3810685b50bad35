import { describe, expect, it } from "vitest";
import type { Allocation } from "../../../core/allocation.ts";
import { ownerOfKey } from "../../../core/claim.ts";
import { type PlanInput, plan } from "../../../core/plan/plan.ts";
import { releaseRefusal } from "../../../core/plan/release-guard.ts";
import { claimOf, poolOf, recordOf } from "../../support/core/text.ts";

const pools = [poolOf("p", "10.0.0.0/24"), poolOf("q", "10.0.0.0/24", { network: "other" })];
const names = (count: number, first = 1) => Array.from({ length: count }, (_, i) => `n${first + i}`);

type IsThere = (line: Allocation) => boolean | undefined;
const gone: IsThere = () => false;
const unknown: IsThere = () => undefined;
const isThere =
  (...owners: string[]): IsThere =>
  ({ claim }) =>
    owners.includes(ownerOfKey(claim));

/** What is said of a plan for these claims over lines, the n-th at 10.0.0.n. */
function said(
  held: readonly string[],
  claims: readonly string[],
  presence: IsThere = gone,
  rest: Partial<PlanInput> = {},
): string[] {
  const lines = held.map((line, i) => `10.0.0.${i + 1} ${line}`);
  const snapshot = recordOf(lines, pools);
  const proposed = plan({ pools, claims: claims.map(claimOf), snapshot, ...rest });
  const refusal = releaseRefusal(proposed, snapshot, {
    isThere: presence,
    whyIdle: () => undefined,
    placeOf: () => undefined,
  });
  return refusal?.issues.map(({ message }) => message) ?? [];
}

const nodes = (count: number, first = 1) => names(count, first).map((name) => `Node/${name}/nic/a`);
const stopped = (released: number, held: number, set = "default") => [
  `this plan releases ${released} of ${held} addresses of set ${set}: wrong node list, selector or folder?`,
];

describe("a plan that releases addresses of owners that are gone", () => {
  it.each([
    [1, 1, false],
    [2, 2, true],
    [3, 3, true],
    [3, 4, false],
    [3, 10, false],
    [4, 19, true],
    [4, 20, false],
    [5, 24, true],
    [26, 78, true],
    [63, 78, true],
  ])("%i of %i: stops %s", (released, held, stops) => {
    expect(said(nodes(held), nodes(held - released))).toEqual(stops ? stopped(released, held) : []);
  });

  it("counts what is live in its own set alone", () => {
    const others = nodes(40, 50).map((line) => `${line} set=other`);
    expect(said([...nodes(8), ...others], nodes(4))).toEqual(stopped(4, 8));
    expect(said([...nodes(8).map((line) => `${line} releasing`), ...nodes(20, 20)], nodes(20, 20))).toEqual([]);
    const imported = names(20, 50).map((name) => `Node/${name}/imported/x set=imported`);
    expect(said([...nodes(8), ...imported], nodes(4))).toEqual(stopped(4, 8));
  });

  it("does not count renames, nor moves inside of a pool that are allowed", () => {
    const moved = nodes(5).map((from, i) => ({ from, to: `Node/k${i + 1}/nic/a` }));
    const renamed = moved.map(({ to }) => to);
    expect(said(nodes(5), renamed, () => true, { moved })).toEqual([]);
    const wanting = nodes(5).map((key, i) => `${key} wanted=10.0.0.${i + 100}`);
    expect(said(nodes(5), wanting, () => true, { allowMove: true })).toEqual([]);
  });
});

describe("a plan that takes all addresses of", () => {
  const rackA = names(20).map((name) => `Node/${name}/rack-a/x`);
  const rackB = ["Node/b1/rack-b/x", "Node/b2/rack-b/x"];
  const held = [...rackA, ...rackB];
  const ofRackB = "this plan releases all 2 addresses of policy rack-b (10.0.0.21 of b1, 10.0.0.22 of b2)";

  it.each<[string, readonly string[], readonly string[], IsThere, readonly string[]]>([
    [
      "a policy, its nodes are there",
      held,
      rackA,
      isThere("Node/b1", "Node/b2"),
      [`${ofRackB}: its owners are still there`],
    ],
    [
      "a policy, one of its nodes is there",
      held,
      rackA,
      isThere("Node/b2"),
      [`${ofRackB}: its owners are still there`],
    ],
    ["a policy, its nodes are gone", held, rackA, gone, []],
    ["a policy, nothing tells", held, rackA, unknown, [`${ofRackB}: wrong node list, selector or folder?`]],
    ["a policy of one node, nothing tells", [...rackA, "Node/b1/rack-b/x"], rackA, unknown, []],
    [
      "a policy of one node that is there",
      [...rackA, "Node/b1/rack-b/x"],
      rackA,
      isThere("Node/b1"),
      ["this plan releases the only address of policy rack-b (10.0.0.21 of b1): its owners are still there"],
    ],
    ["a policy but for one node", held, [...rackA, "Node/b2/rack-b/x"], isThere("Node/b1", "Node/b2"), []],
    [
      "a policy, and gives the same nodes addresses of another pool",
      held,
      [...rackA, ...rackB.map((key) => `${key} pool=q`)],
      isThere("Node/b1", "Node/b2"),
      [`${ofRackB}: its owners are still there`],
    ],
    [
      "a virtual machine that is there",
      [...rackA, "VirtualMachine/shop:db/net"],
      rackA,
      isThere("VirtualMachine/shop:db"),
      ["this plan releases the only address of VirtualMachine/shop:db (10.0.0.21): it is still there"],
    ],
    ["a virtual machine that is gone", [...rackA, "VirtualMachine/shop:db/net"], rackA, gone, []],
    [
      "a claim of nodes that have others",
      ["Node/n1/eth1", "Node/n2/eth1", "Node/n1/eth2", "Node/n2/eth2"],
      ["Node/n1/eth1", "Node/n2/eth1"],
      isThere("Node/n1", "Node/n2"),
      ["this plan releases all 2 addresses of claim eth2 (10.0.0.3 of n1, 10.0.0.4 of n2): its owners are still there"],
    ],
    [
      "a pool, of policies that have others",
      [...rackA.slice(0, 2), ...rackA.slice(0, 2).map((key) => `${key}6 pool=q`)],
      rackA.slice(0, 2),
      isThere("Node/n1", "Node/n2"),
      ["this plan releases all 2 addresses of pool q (10.0.0.3 of n1, 10.0.0.4 of n2): its owners are still there"],
    ],
  ])("%s", (_, before, claims, presence, expected) => {
    expect(said(before, claims, presence)).toEqual(expected);
  });
});

describe("a plan that takes a part of the addresses of", () => {
  const policy = (name: string, count: number, first = 1) =>
    names(count, first).map((node) => `Node/${node}/${name}/x`);
  const big = policy("big", 100);
  const spread = [2, 1].flatMap((count, i) =>
    ["a", "b", "c", "d"].flatMap((name) => policy(name, count, 1 + 2 * i).map((key) => `${key} pool=q`)),
  );
  const firstNodes = (count: number) => names(count).map((name) => `Node/${name}`);
  const all: IsThere = () => true;
  const without = (held: readonly string[], count: number) => held.slice(0, held.length - count);
  const of = (count: string, what: string, why = "its owners are still there") => [
    expect.stringMatching(
      new RegExp(`^this plan releases ${count} addresses of ${what} \\(.*\\): ${why.replace("?", "\\?")}$`),
    ),
  ];

  it.each<[string, readonly string[], number, IsThere, readonly string[]]>([
    ["a policy, its nodes are there", policy("nic", 30), 15, all, of("15 of 30", "policy nic")],
    ["a policy, four of 19", policy("nic", 19), 4, all, of("4 of 19", "policy nic")],
    ["a policy, four of 20", policy("nic", 20), 4, all, []],
    ["a policy, three of four", policy("nic", 4), 3, all, of("3 of 4", "policy nic")],
    ["a policy, two of four", policy("nic", 4), 2, all, of("2 of 4", "policy nic")],
    ["a policy, two of five", policy("nic", 5), 2, all, []],
    ["a policy, one of two", policy("nic", 2), 1, all, []],
    [
      "a policy, one of two nodes with two families",
      ["n1", "n2"].flatMap((n) => [`Node/${n}/nic/x`, `Node/${n}/nic/y`]),
      2,
      all,
      [],
    ],
    [
      "a policy, three of four, and one of these nodes is there",
      policy("nic", 4),
      3,
      isThere("Node/n1", "Node/n2"),
      [],
    ],
    ["a policy, these nodes are gone", policy("nic", 30), 15, gone, []],
    [
      "a policy, and four of these nodes are there",
      policy("nic", 30),
      15,
      isThere(...firstNodes(19)),
      of("4 of 19", "policy nic"),
    ],
    ["a policy, and three of these nodes are there", policy("nic", 30), 15, isThere(...firstNodes(18)), []],
    [
      "a policy, nothing tells",
      policy("nic", 30),
      15,
      unknown,
      of("15 of 30", "policy nic", "wrong node list, selector or folder?"),
    ],
    ["a pool, of policies that have others", spread, 4, all, of("4 of 12", "pool q")],
    ["a workload that is scaled down", names(10).map((_, i) => `StatefulSet/shop:db/${i}/net1 pool=q`), 8, all, []],
  ])("%s", (_, held, count, presence, expected) => {
    expect(said([...big, ...held], [...big, ...without(held, count)], presence)).toEqual(expected);
  });
});
