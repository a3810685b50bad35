import { describe, expect, it } from "vitest";
import { NodeIPPool, NodeNetworkPolicy, Nodes } from "../../../constructs/index.ts";
import { type AppOptions, appOf, type Build, nic, recordAfter, synthesised } from "../../support/cli/constructs-app.ts";

const fleet =
  (nodesPerSyncWave: number, ...names: string[]): Build =>
  (chart) => {
    const pool = new NodeIPPool(chart, "p", { range: { cidr: "10.0.0.0/24" }, gateway: "10.0.0.1" });
    const metadata = { annotations: { note: "x" } };
    const desiredState = nic("eth1", pool.claim("eth1"));
    new NodeNetworkPolicy(chart, "a", { nodes: Nodes.named(...names), nodesPerSyncWave, metadata, desiredState });
  };

async function wavesOf(build: Build, options: AppOptions = {}): Promise<Record<string, string>> {
  const record = await recordAfter(build, options);
  const children = synthesised(appOf(build, { record })).filter(({ kind }) => kind !== "NodeIPPool");
  return Object.fromEntries(
    children.map(({ metadata }) => [metadata.name, metadata.annotations["argocd.argoproj.io/sync-wave"]]),
  );
}

describe("sync waves", () => {
  it("hold at most so many nodes each, in the order of addresses, behind the pool", async () => {
    const waves = await wavesOf(fleet(2, "n1", "n2", "n3", "n4"));
    expect(waves).toEqual({ "a--n1": "2", "a--n2": "2", "a--n3": "3", "a--n4": "3" });
  });

  it("stay as they are when nodes come and go", async () => {
    const before = fleet(2, "n1", "n2", "n3", "n4");
    const record = await recordAfter(before);
    const after = await wavesOf(fleet(2, "n0", "n2", "n3", "n4", "n5"), { record });
    expect(after).toMatchObject({ "a--n2": "2", "a--n3": "3", "a--n4": "3" });
  });

  it("leave the policy's own annotations as they are", async () => {
    const build = fleet(1, "n1");
    const [, child] = synthesised(appOf(build, { record: await recordAfter(build) }));
    expect(child.metadata.annotations).toEqual({ note: "x", "argocd.argoproj.io/sync-wave": "3" });
  });

  it("are numbers that Argo CD reads, even far into an IPv6 pool", async () => {
    const build: Build = (chart) => {
      const pool = new NodeIPPool(chart, "p", { range: { cidr: "fd00::/64", start: "fd00::f000:0:0:1" } });
      new NodeNetworkPolicy(chart, "a", {
        nodes: Nodes.named("n1"),
        nodesPerSyncWave: 1,
        desiredState: { interfaces: [{ name: "eth1", ipv6: { enabled: true, address: [pool.claim("x")] } }] },
      });
    };
    const [wave] = Object.values(await wavesOf(build));
    expect(Number(wave)).toBeGreaterThan(0);
    expect(Number(wave)).toBeLessThan(1_000_001);
  });
});
