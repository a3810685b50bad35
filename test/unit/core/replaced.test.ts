import { describe, expect, it } from "vitest";
import { plan } from "../../../core/plan/plan.ts";
import { replacedOwners } from "../../../core/plan/replaced.ts";
import { claimOf, poolOf, recordOf } from "../../support/core-text.ts";

const pools = [poolOf("p", "10.0.0.0/24")];

/** Plans these nodes over a record that has those, the n-th at 10.0.0.n. */
function replace(held: readonly string[], claimed: readonly string[], set?: string, more: readonly string[] = []) {
  const lines = held.map((name, i) => `10.0.0.${i + 1} Node/${name}/nic/a${set === undefined ? "" : ` set=${set}`}`);
  const claims = claimed.map((name) => claimOf(`Node/${name}/nic/a`));
  const snapshot = recordOf([...lines, ...more], pools);
  const made = plan({ pools, claims, snapshot, ...(set === undefined ? {} : { set }) });
  const refused = replacedOwners(made, snapshot);
  if (refused) throw refused;
}

describe("a plan that keeps no owner of its set", () => {
  it("is refused where others come: new names, or another folder", () => {
    expect(() => replace(["a", "b", "c", "d", "e"], ["v", "w"])).toThrow(
      "none of the 5 addresses of claim set default would stay: Node/a, Node/b, Node/c and 2 more go, and Node/v, Node/w come",
    );
    expect(() => replace(["a", "b", "c", "d"], ["w"], "lab")).toThrow(
      expect.objectContaining({
        code: "in-use",
        issues: [expect.objectContaining({ remedy: ["rename", "Node/OLD", "Node/NEW", "claim", "lab"] })],
      }),
    );
  });

  it("is refused where the same owners would have other pools instead: another folder", () => {
    const nodes = ["a", "b", "c", "d"];
    const snapshot = recordOf(
      nodes.map((name, i) => `10.0.0.${i + 1} Node/${name}/nic/a`),
      pools,
    );
    const other = [poolOf("q", "10.0.1.0/24")];
    const claims = nodes.map((name) => claimOf(`Node/${name}/nic/a pool=q`));
    const made = plan({ pools: other, claims, snapshot });
    expect(replacedOwners(made, snapshot)).toMatchObject({
      code: "in-use",
      issues: [
        {
          message:
            "none of the 4 addresses of claim set default would stay: Node/a, Node/b, Node/c and 1 more lose theirs, and 4 others come",
          remedy: ["allow-move"],
        },
      ],
    });
    const shared = plan({ pools: [...pools, ...other], claims: [...claims, claimOf("Node/z/nic/a")], snapshot });
    expect(replacedOwners(shared, snapshot)?.message).toContain("and 5 others come");
    const both = plan({ pools: [...pools, ...other], claims: [...claims, claimOf("Node/a/nic/a")], snapshot });
    expect(replacedOwners(both, snapshot)).toBeUndefined();
  });

  it("is refused, too, where what comes was releasing, or where only another set says who they are", () => {
    const back = ["v", "w"].map((name, i) => `10.0.0.${i + 20} Node/${name}/nic/a releasing`);
    expect(() => replace(["a", "b", "c", "d"], ["v", "w"], undefined, back)).toThrow("Node/v, Node/w come");
    const imported = ["v", "w"].map((name, i) => `10.0.0.${i + 20} Node/${name}/imported/x set=imported`);
    for (const nodes of [
      ["v", "w"],
      ["v", "w", "z"],
    ])
      expect(() => replace(["a", "b", "c", "d"], nodes, undefined, imported)).toThrow("Node/v, Node/w");
    const lan = ["a", "w"].map((name, i) => `10.0.0.${i + 10} Node/${name}/lan/a set=lan`);
    const own = ["a", "b", "c", "d"].map((name, i) => `10.0.0.${i + 1} Node/${name}/nic/a`);
    const snapshot = recordOf([...own, ...lan], pools);
    const made = plan({ pools, claims: [claimOf("Node/w/cps/a")], snapshot });
    expect(replacedOwners(made, snapshot)?.message).toContain("Node/w come");
  });

  it("is not, where those who go and those who come are known as two", () => {
    const others = ["a", "w"].map((name, i) => `10.0.0.${i + 10} Node/${name}/lan/a set=lan`);
    expect(() => replace(["a", "b", "c", "d"], ["w"], "gw", others)).not.toThrow();
    expect(() => replace(["a", "b", "c", "d"], ["w"], "gw", others.slice(0, 1))).toThrow();
  });

  it.each([
    ["of few owners", ["a", "b", "c"], ["w"]],
    ["where one of them stays", ["a", "b", "c", "d", "e"], ["e", "w"]],
    ["where nobody comes", ["a", "b", "c", "d", "e"], []],
    ["where there were none", [], ["a", "b", "c", "d", "e"]],
  ])("is not, %s", (_, held, claimed) => {
    expect(() => replace(held, claimed)).not.toThrow();
  });
});
