import { existsSync } from "node:fs";
import { join } from "node:path";
import { ApiObject } from "cdk8s";
import { describe, expect, it } from "vitest";
import { NodeIPPool, NodeNetworkPolicy, Nodes } from "../../../constructs/index.ts";
import { appOf, nic, nothing, refusal, synthesised } from "../../support/cli/constructs-app.ts";
import { poolOf, recordOf } from "../../support/core/text.ts";
import { cli, folderOf } from "../../support/schema/cli.ts";
import { nicPolicyText } from "../../support/schema/text.ts";

// An interface has one address: there is none in a pool whose owners get blocks.
const says = "capture p asks for an address of pool p, which gives blocks of /28";
const hint = "Take it from a pool without blockLength.";

describe("a policy that takes an address from a pool of blocks", () => {
  it("is refused in a folder, with its place, and nothing is recorded", async () => {
    const pool =
      "apiVersion: nmstate.io/v1\nkind: NodeIPPool\nmetadata: {name: p}\nspec: {range: {cidr: 10.4.0.0/24}, blockLength: 28}\n";
    const folder = folderOf({ "m/pool.yaml": pool, "m/policy.yaml": nicPolicyText("lan"), "nodes.txt": "a\n" });
    for (const verb of ["plan", "allocate", "render"]) {
      const { status, stderr } = await cli([verb, "m", "--nodes", "nodes.txt"], folder);
      expect(status).toBe(2);
      expect(stderr).toMatch(new RegExp(`m/policy\\.yaml:\\d+:\\d+: ${says}\n +${hint}`));
    }
    expect(existsSync(join(folder, "nodeippool.lock"))).toBe(false);
  });

  it.each(["Plan", "Cluster"] as const)("is refused in an app, with its construct: authority %s", (authority) => {
    const app = appOf(
      (chart) => {
        const pool = new NodeIPPool(chart, "p", { range: { cidr: "10.4.0.0/24" }, blockLength: 28, authority });
        const nodes = authority === "Plan" ? { nodes: Nodes.named("a") } : {};
        new NodeNetworkPolicy(chart, "lan", { ...nodes, desiredState: nic("eth1", pool.claim("p")) });
      },
      { record: nothing },
    );
    expect(refusal(() => synthesised(app))).toContain(`network/lan: spec.capture.p: ${says}\n  ${hint}`);
  });
});

it("a token of a block is the block", () => {
  const pool = poolOf("pods", "10.4.0.0/16", { blockLength: 22 });
  const record = recordOf(["10.4.4.0/22 Node/a/x pool=pods"], [pool]);
  const app = appOf(
    (chart) => {
      const tokens = { default: "ippool://pods/a", ip: "ippool://pods/a#ip", cidr: "ippool://pods/a#cidr" };
      new ApiObject(chart, "c", { apiVersion: "v1", kind: "ConfigMap", data: tokens } as never);
    },
    { record },
  );
  const [{ data } = {}] = synthesised(app) as unknown as { data?: object }[];
  expect(data).toEqual({ default: "10.4.4.0/22", ip: "10.4.4.0/22", cidr: "10.4.4.0/22" });
});
