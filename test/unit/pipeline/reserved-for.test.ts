import { describe, expect, it } from "vitest";
import { misspeltReservers } from "../../../pipeline/reserved-for.ts";
import { claimOf, poolOf } from "../../support/core/text.ts";

/** The issues of a pool that reserves for one owner, where others ask. */
function issuesOf(reserver: string, asking: readonly string[], alsoReserved: readonly string[] = []) {
  const owners = [reserver, ...alsoReserved].map((name) => (name.includes("/") ? name : `Node/${name}`));
  const reservations = owners.map((owner, i) => ({ address: `10.0.0.${i + 3}`, owner }));
  const claims = asking.map((name) => claimOf(`Node/${name}/nic`));
  return misspeltReservers({
    pools: [poolOf("p", "10.0.0.0/24", { reservations })],
    claims,
    facts: { nodes: [] } as never,
  });
}

describe("a reservation for a misspelt owner", () => {
  it.each([
    ["nodeO2", "node02"],
    ["Node02", "node02"],
    ["node-02", "node02"],
    ["nodl-1", "nodl-l"],
    ["mode02", "node02"],
    ["nde02", "node02"],
    ["noode02", "node02"],
    ["ndoe02", "node02"],
    ["node2", "node02"],
    ["node-0010", "node-10"],
    ["node02.example.com", "node02"],
    ["Node2", "node02.example.com"],
  ])("%s is told of %s", (reserver, meant) => {
    expect(issuesOf(reserver, ["node01", meant])).toEqual([
      {
        message: `pool p reserves 10.0.0.3 for Node/${reserver}, which is not there; did you mean Node/${meant}?`,
        hint: `Write Node/${meant}. If Node/${reserver} is to come, leave its owner out until then: nobody gets the address.`,
      },
    ]);
  });

  it.each([
    ["node03", "node02"],
    ["node021", "node02"],
    ["nodeb", "nodea"],
    ["node20", "node2"],
    ["node200", "node2"],
    ["node02.b.example.com", "node02.a.example.com"],
    ["rack-b-1", "rack-a-1"],
    ["db1", "node02"],
    ["VM/ns:node02", "node02"],
  ])("%s is an owner to come, beside %s", (reserver, other) => {
    expect(issuesOf(reserver, [other])).toEqual([]);
  });

  it("an owner who has a reservation of its own was not meant", () => {
    expect(issuesOf("nodeO2", ["node02"], ["node02"])).toEqual([]);
  });

  it.each<[claim: string, reserved: readonly string[], expected: readonly string[]]>([
    ["nic/storage", [], []],
    ["nicc/storage", [], ["Write one that it has: nic/storage, nic/traffic."]],
    ["nicc/storage", ["nic/storage"], ["Write one that it has: nic/traffic."]],
    ["nicc/storage", ["nic/storage", "nic/traffic"], []],
  ])("claim %s, beside reservations for %j", (claim, reserved, expected) => {
    const reservations = [claim, ...reserved].map((one, i) => ({
      address: `10.0.0.${i + 3}`,
      owner: "Node/node02",
      claim: one,
    }));
    const issues = misspeltReservers({
      pools: [poolOf("p", "10.0.0.0/24", { reservations })],
      claims: ["nic/storage", "nic/traffic"].map((name) => claimOf(`Node/node02/${name}`)),
      facts: { nodes: [] } as never,
    });
    expect(issues.map(({ hint }) => hint?.split(" If")[0])).toEqual(expected);
  });

  it("an owner who is there is none", () => {
    expect(issuesOf("nodeO2", ["nodeO2", "node02"])).toEqual([]);
  });
});
