import type { LogLevel } from "../controller/dependencies.ts";
import { logger } from "../controller/log.ts";
import { checkAccount } from "../controller/run/own-account.ts";
import { parseListen } from "../controller/run/server.ts";
import { type ControllerOptions, runController } from "../controller/run/start.ts";
import { timing } from "../controller/timing.ts";
import { IpamError } from "../core/errors.ts";
import { findAccess } from "../kube/index.ts";
import { parseDuration } from "./duration.ts";

interface Options {
  readonly context?: string;
  readonly namespace?: string;
  readonly listen: string;
  readonly fleet?: boolean;
  readonly clusterApi?: ControllerOptions["clusterApi"];
  readonly metal3?: string;
  readonly nodeSlices?: string;
  readonly ipamClaims?: boolean;
  readonly vmClaims?: boolean;
  readonly vmAddresses?: boolean;
  readonly workloadAddresses?: boolean;
  readonly freeTerminating: ControllerOptions["freeTerminating"];
  readonly freeTerminatingAfter: string;
  readonly lookEvery: string;
  readonly logLevel: LogLevel;
}

/**
 * Runs until SIGTERM or SIGINT, and ends what it has begun; a second signal ends it at once. Logs one JSON object a line to
 * standard error.
 */
export async function controllerVerb(options: Options, version: string) {
  const { context, namespace, listen, logLevel, freeTerminatingAfter: after, lookEvery, ...served } = options;
  const again = parseDuration("--look-every", lookEvery, 10_000);
  const freeTerminatingAfter = parseDuration("--free-terminating-after", after);
  if (served.freeTerminating !== "never" && !served.workloadAddresses)
    throw new IpamError("invalid", "--free-terminating is about pods whose addresses the controller gives", {
      hint: "Add --workload-addresses.",
    });
  const stop = new AbortController();
  for (const [name, number] of [
    ["SIGTERM", 15],
    ["SIGINT", 2],
  ] as const)
    process.on(name, () => (stop.signal.aborted ? process.exit(128 + number) : stop.abort()));
  const at = parseListen(listen);
  const access = findAccess({ context });
  await checkAccount(access);
  await runController({
    access,
    namespace: namespace ?? access.namespace,
    server: at && { at, version },
    ...served,
    freeTerminatingAfter,
    timing: { ...timing, again },
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
