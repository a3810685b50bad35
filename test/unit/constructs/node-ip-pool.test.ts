import { ApiObject, Chart } from "cdk8s";
import { describe, expect, it } from "vitest";
import { NodeIPPool, NodeNetworkPolicy, Nodes } from "../../../constructs/index.ts";
import {
  appOf,
  nic,
  nothing,
  objectsByName,
  objectsOf,
  refusal,
  synthesised,
} from "../../support/cli/constructs-app.ts";
import { inScratchFolder } from "../../support/state/folder.ts";

inScratchFolder();

const range = { cidr: "10.0.0.0/24" };

describe("NodeIPPool", () => {
  it("shows the cluster what it was made of, whatever happens to that later", async () => {
    const [object] = await objectsOf((chart) => {
      const exclude = ["10.0.0.9"];
      new NodeIPPool(chart, "p", { range: { ...range, exclude } });
      exclude.push("10.0.0.1");
    });
    expect(object).toHaveProperty("spec.range.exclude", ["10.0.0.9"]);
  });

  it("is the object that the cluster sees, with authority Plan", async () => {
    const objects = await objectsOf(
      (chart) =>
        new NodeIPPool(chart, "traffic", {
          range: { cidr: "10.0.0.0/24", start: "10.0.0.10", end: "10.0.0.20", exclude: ["10.0.0.12"] },
          gateway: "10.0.0.1",
          dnsServers: ["10.0.0.2"],
          reservations: [{ address: "10.0.0.11", owner: "Service/lan:vip" }],
        }),
    );
    expect(objects).toMatchInlineSnapshot(`
      [
        {
          "apiVersion": "nmstate.io/v1",
          "kind": "NodeIPPool",
          "metadata": {
            "name": "traffic",
          },
          "spec": {
            "authority": "Plan",
            "dnsServers": [
              "10.0.0.2",
            ],
            "gateway": "10.0.0.1",
            "range": {
              "cidr": "10.0.0.0/24",
              "end": "10.0.0.20",
              "exclude": [
                "10.0.0.12",
              ],
              "start": "10.0.0.10",
            },
            "reservations": [
              {
                "address": "10.0.0.11",
                "owner": "Service/lan:vip",
              },
            ],
          },
        },
      ]
    `);
  });

  it.each(["Plan", "Cluster"] as const)("says authority %s if that is said", async (authority) => {
    const [object] = await objectsOf((chart) => new NodeIPPool(chart, "p", { range, authority }));
    expect(object.spec.authority).toBe(authority);
  });

  it("takes its name from metadata, which goes to the object", async () => {
    const metadata = { name: "p.lan", labels: { a: "b" }, annotations: { c: "d" } };
    const [object] = await objectsOf((chart) => new NodeIPPool(chart, "pool", { range, metadata }));
    expect(object.metadata).toEqual(metadata);
  });

  it("has the chart's labels, but not its namespace", async () => {
    const [object] = await objectsOf(
      (_, app) =>
        new NodeIPPool(new Chart(app, "net", { namespace: "lan", labels: { team: "net" } }), "p", {
          range,
          metadata: { labels: { a: "b" } },
        }),
    );
    expect(object.metadata).toEqual({ name: "p", labels: { team: "net", a: "b" } });
  });

  it("is an ApiObject below, for patches and dependencies", () => {
    const app = appOf((chart) => {
      const pool = new NodeIPPool(chart, "p", { range });
      ApiObject.of(pool).metadata.addAnnotation("a", "b");
    });
    expect(synthesised(app)[0].metadata.annotations).toEqual({ a: "b" });
  });

  it("has no object where another app has it, and gives addresses all the same", async () => {
    const objects = await objectsByName((chart) => {
      const pool = new NodeIPPool(chart, "p", { range, external: true });
      new NodeNetworkPolicy(chart, "a", { nodes: Nodes.named("n1"), desiredState: nic("eth1", pool.claim("eth1")) });
    });
    expect(Object.keys(objects)).toEqual(["NodeNetworkConfigurationPolicy/a--n1"]);
  });

  it.each([
    [{ range: { cidr: "10.0.0.0/33" } }, /10\.0\.0\.0\/33/],
    [{ range: { ...range, start: "10.0.1.1" } }, /pool p: 10\.0\.1\.1 is not in 10\.0\.0\.0\/24/],
    [{ range, gatway: "10.0.0.1" }, /unknown field gatway; did you mean gateway\?/],
    [{ range, metadata: { name: "Traffic" } }, /metadata\.name/],
  ])("refuses %j", (props, message) => {
    expect(refusal(() => appOf((chart) => new NodeIPPool(chart, "p", props)))).toMatch(message);
  });

  it("refuses two pools of one name, wherever they are", () => {
    const app = appOf(
      (chart, root) => {
        new NodeIPPool(chart, "p", { range });
        new NodeIPPool(new Chart(root, "other"), "p", { range });
      },
      { record: nothing },
    );
    expect(refusal(() => app.synthYaml())).toMatch(/pool p/);
  });

  it("refuses pools that overlap", () => {
    const app = appOf(
      (chart) => {
        new NodeIPPool(chart, "p", { range });
        new NodeIPPool(chart, "q", { range: { cidr: "10.0.0.128/25" } });
      },
      { record: nothing },
    );
    expect(refusal(() => app.synthYaml())).toMatch(/pools p and q of network default share addresses/);
  });

  it("belongs in an App", () => {
    expect(refusal(() => new NodeIPPool(new Chart(undefined as never, "alone"), "p", { range }))).toMatch(/in no App/);
  });
});
