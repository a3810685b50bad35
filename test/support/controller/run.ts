import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import type { LogEvent } from "../../../controller/dependencies.ts";
import { runController } from "../../../controller/run/start.ts";
import type { Timing } from "../../../controller/timing.ts";
import type { ClusterApiVersion } from "../../../integrations/contract/cluster-api.ts";
import type { FreeingNodes } from "../../../integrations/contract/freeing-nodes.ts";
import type { System } from "../../../integrations/contract/system.ts";
import type { Access } from "../../../kube/index.ts";
import type { Cluster } from "../cluster/cluster.ts";

type Log = (event: LogEvent) => void;

/** Runs a controller as somebody, around what is to be tried. */
export async function withController(
  access: Access,
  work: () => Promise<void>,
  {
    log = () => {},
    ...options
  }: {
    readonly log?: Log;
    readonly timing?: Timing;
    readonly systems?: readonly System[];
    readonly fleet?: boolean;
    readonly clusterApi?: ClusterApiVersion;
    readonly metal3?: string;
    readonly nodeSlices?: string;
    readonly ipamClaims?: boolean;
    readonly vmClaims?: boolean;
    readonly vmAddresses?: boolean;
    readonly workloadAddresses?: boolean;
    readonly freeTerminating?: FreeingNodes;
    readonly freeTerminatingAfter?: number;
  } = {},
): Promise<void> {
  const stop = new AbortController();
  const running = runController({
    ...{ access, namespace: "nodeippool", signal: stop.signal, log },
    ...options,
  });
  try {
    await work();
  } finally {
    stop.abort();
    await running;
  }
}

/** Until kubectl prints this. */
export async function eventually(cluster: Cluster, args: string, expected: string): Promise<void> {
  let printed = "";
  for (let tries = 0; tries < 75 && printed !== expected; tries++) {
    await sleep(200);
    printed = await cluster.kubectl(args.split(" ")).catch((error) => `${error}`);
  }
  expect(printed).toBe(expected);
}
