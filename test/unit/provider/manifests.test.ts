import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "../../support/console.ts";
import { monitorOfFile } from "../../support/monitor-of-file.ts";
import { toyObjects } from "../../support/toy-integration.ts";

const { pool } = toyObjects;
const policy = (name: string, spec: object, more: object = {}) => ({
  apiVersion: "nmstate.io/v1",
  kind: "NodeNetworkConfigurationPolicy",
  metadata: { name },
  spec,
  ...more,
});
const asking = policy("a", {
  capture: { x: "ippool.office.allocate" },
  desiredState: { a: "{{ capture.x.ip }}" },
});

describe("the objects of Manifests", () => {
  const monitor = monitorOfFile();
  const up = (...objects: object[]) =>
    monitor().up(join(root, "test/support/pulumi-manifests.ts"), { objects, nodes: ["n1"] });

  it("are replaced where they ask a pool; another one of the same kind and name is as it was", async () => {
    const namesake = policy("a", { b: 1 }, { apiVersion: "example.net/v1" });
    const { errors, outputs } = await up(pool, asking, namesake);
    expect(errors).toEqual([]);
    expect(outputs.objects).toMatchObject([
      { kind: "NodeIPPool", spec: { authority: "Plan" } },
      { metadata: { name: "a--n1" }, spec: { desiredState: { a: "10.0.0.1" } } },
      namesake,
    ]);
  });

  it("are refused, as a folder is, where one has the name of what is rendered, whatever its namespace", async () => {
    const selector = { nodeSelector: { "kubernetes.io/hostname": "n9" }, desiredState: { b: 1 } };
    for (const metadata of [{ name: "a--n1" }, { name: "a--n1", namespace: "x" }]) {
      const { errors } = await up(pool, asking, policy("a--n1", selector, { metadata }));
      expect(errors.join("\n")).toMatch(
        /NodeNetworkConfigurationPolicy \S*a--n1 is written by your own manifests and by NodeNetworkConfigurationPolicy a/,
      );
    }
  });
});
