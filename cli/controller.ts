import { runController } from "../controller/start.ts";
import { findAccess } from "../kube/index.ts";

interface Options {
  readonly context?: string;
  readonly namespace?: string;
}

/** Runs until SIGTERM or SIGINT, and ends what it has begun. Logs one JSON object a line to standard error. */
export async function controllerVerb({ context, namespace }: Options): Promise<void> {
  const stop = new AbortController();
  for (const name of ["SIGTERM", "SIGINT"] as const) process.once(name, () => stop.abort());
  const access = findAccess({ context });
  await runController({
    access,
    namespace: namespace ?? access.namespace,
    signal: stop.signal,
    log: (event) => process.stderr.write(`${JSON.stringify({ time: new Date().toISOString(), ...event })}\n`),
  });
}
