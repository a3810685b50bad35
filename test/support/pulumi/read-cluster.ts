import { registerHooks } from "node:module";
import type { Recorded } from "../../../provider/record.ts";

// Stands in for provider/cluster-record.ts: a test says what is read.
export * from "../../../provider/cluster-record.ts";

/** Nobody imports it from here by name but what is loaded below. @public */
export let readCluster: () => Promise<Recorded>;

/** The provider, loaded for this alone, that reads this from every cluster. */
export async function providerReading(read: () => Recorded): Promise<typeof import("../../../provider/runtime.ts")> {
  readCluster = async () => read();
  const rooms = new URL("../../../provider/", import.meta.url).href;
  const own = "?reading";
  const hooks = registerHooks({
    resolve(name, context, next) {
      const found = next(name, context);
      const isOwn = name.endsWith(own) || context.parentURL?.endsWith(own);
      if (!isOwn || !found.url.startsWith(rooms)) return found;
      if (found.url === `${rooms}cluster-record.ts`) return { ...found, url: import.meta.url };
      return { ...found, url: found.url.endsWith(own) ? found.url : `${found.url}${own}` };
    },
  });
  try {
    return await import(`../../../provider/runtime.ts${own}`);
  } finally {
    hooks.deregister();
  }
}
