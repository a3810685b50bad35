import { beforeAll, beforeEach } from "vitest";
import { BUILD_TIMEOUT, orSkip } from "../tools/tools.ts";
import { type Cluster, type ClusterOptions, startCluster } from "./cluster.ts";

/** One cluster for all tests of a file, with what `prepare` puts into it; where its tools are missing, the tests are skipped. */
export function clusterOfFile(prepare: (cluster: Cluster) => Promise<void>, options?: ClusterOptions): () => Cluster {
  let cluster: Cluster;
  let prepared: Promise<void>;
  beforeAll(async () => {
    prepared = startCluster(options).then((started) => {
      cluster = started;
      return prepare(cluster);
    });
    await prepared.catch(() => {}); // beforeEach tells of it
    return () => cluster?.stop();
  }, BUILD_TIMEOUT);
  beforeEach((context) => orSkip(context, prepared));
  return () => cluster;
}
