import type { LogLevel } from "../controller/ground.ts";
import { logger } from "../controller/log.ts";
import { parseListen } from "../controller/server.ts";
import { type ControllerOptions, runController } from "../controller/start.ts";
import { findAccess } from "../kube/index.ts";

interface Options {
  readonly context?: string;
  readonly namespace?: string;
  readonly listen: string;
  readonly clusterApi?: ControllerOptions["clusterApi"];
  readonly metal3?: string;
  readonly nodeSlices?: string;
  readonly ipamClaims?: boolean;
  readonly vmClaims?: boolean;
  readonly vmAddresses?: boolean;
  readonly workloadAddresses?: boolean;
  readonly logLevel: LogLevel;
}

/**
 * Runs until SIGTERM or SIGINT, and ends what it has begun; a second signal ends it at once. Logs one JSON object a line to
 * standard error.
 */
export async function controllerVerb({ context, namespace, listen, logLevel, ...served }: Options, version: string) {
  const stop = new AbortController();
  for (const [name, number] of [
    ["SIGTERM", 15],
    ["SIGINT", 2],
  ] as const)
    process.on(name, () => (stop.signal.aborted ? process.exit(128 + number) : stop.abort()));
  const at = parseListen(listen);
  const access = findAccess({ context });
  await runController({
    access,
    namespace: namespace ?? access.namespace,
    server: at && { at, version },
    ...served,
    signal: stop.signal,
    log: logger(
      logLevel,
      (line) => process.stderr.write(line),
      () => new Date(),
    ),
  });
  // What did not end in time is left behind.
  process.exit(0);
}
