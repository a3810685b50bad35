import { afterAll, beforeAll } from "vitest";
import { Monitor } from "./monitor.ts";
import { ProviderHost } from "./provider.ts";

/** One stand-in for the engine, with the provider's host, for the tests of a file or a block. */
export function monitorOfFile(): () => Monitor {
  let host: ProviderHost;
  let monitor: Monitor;
  beforeAll(async () => {
    host = await ProviderHost.start();
    monitor = await Monitor.start(host);
  });
  afterAll(async () => {
    await monitor.stop();
    await host.stop();
  });
  return () => monitor;
}
