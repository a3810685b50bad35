import { afterEach, beforeEach } from "vitest";
import type { Cluster } from "../cluster/cluster.ts";
import { clusterOfFile } from "../cluster/of-file.ts";
import { Stage } from "./stage.ts";

/** A stage for each test, on one cluster for all of a file, with what `prepare` puts into it. */
export function stageOfFile(prepare: (cluster: Cluster) => Promise<void>): {
  readonly cluster: () => Cluster;
  readonly stage: () => Stage;
} {
  const cluster = clusterOfFile(async (started) => {
    await prepare(started);
    await started.startControllers("garbage-collector-controller");
  });
  let stage: Stage;
  beforeEach(async () => {
    stage = await Stage.open(cluster());
  });
  afterEach(() => stage.close());
  return { cluster, stage: () => stage };
}
