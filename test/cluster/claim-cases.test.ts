import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { findAccess, type Objects, objectsOf } from "../../kube/index.ts";
import { startDaemon } from "../support/cluster/daemon.ts";
import { installClusterApi, installInClusterProvider, installNodeIPPool } from "../support/cluster/kinds.ts";
import { clusterOfFile } from "../support/cluster/of-file.ts";
import { claimCases } from "../support/controller/claim-cases.ts";
import { inCluster, ours, type Provider, Trial } from "../support/controller/claim-trial.ts";
import { withController } from "../support/controller/run.ts";
import { hurried } from "../support/controller/timing.ts";
import { tries } from "../support/long.ts";
import { tool } from "../support/tools/tools.ts";

const cluster = clusterOfFile(async (started) => {
  await installNodeIPPool(started);
  await installClusterApi(started);
  await started.kubectl(["create", "namespace", "nodeippool"]);
});

/** Plays all cases at once: each has a namespace and a pool of its own. */
async function outcomes(kube: Objects, provider: Provider, first: number): Promise<unknown[]> {
  const play = async (i: number) => {
    const trial = await new Trial(kube, provider, first + i).open();
    return claimCases[i]?.run(trial).catch((error) => `${error}`);
  };
  return Promise.all(claimCases.map((_, i) => play(i)));
}

describe("the in-cluster provider's own cases, on a real API server", () => {
  let kube: Objects;
  beforeAll(() => {
    kube = objectsOf(findAccess({ kubeconfig: cluster().kubeconfig }));
    return () => kube.close();
  });

  it("are ours, too, but for those that say why not", async () => {
    let found: unknown[] = [];
    const options = { timing: hurried, clusterApi: "v1beta2" } as const;
    await withController(
      findAccess({ kubeconfig: cluster().kubeconfig }),
      async () => {
        found = await outcomes(kube, ours, 0);
      },
      options,
    );
    expect(byName(found)).toEqual(byName(claimCases.map((one) => one.ours?.outcome ?? one.outcome)));
  }, 240_000);

  // What the table says of that provider is what it does.
  it.runIf(tries(false, true))(
    "are what the real in-cluster provider does",
    async () => {
      await installInClusterProvider(cluster());
      const args = ["--kubeconfig", cluster().kubeconfig, "--webhook-port=0", "--health-probe-bind-address=0"];
      const local = ["--diagnostics-address=127.0.0.1:0", "--insecure-diagnostics=true"];
      const log = join(cluster().folder, "in-cluster.log");
      const provider = await startDaemon(await tool("in-cluster-ipam"), [...args, ...local], log);
      try {
        expect(byName(await outcomes(kube, inCluster, 100))).toEqual(byName(claimCases.map(({ outcome }) => outcome)));
      } finally {
        await provider.stop();
      }
    },
    300_000,
  );
});

function byName(found: readonly unknown[]): Record<string, unknown> {
  return Object.fromEntries(claimCases.map(({ name }, i) => [name, found[i]]));
}
