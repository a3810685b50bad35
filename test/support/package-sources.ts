import { registerHooks } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** Where the package is by its own name, as examples import it: the sources, not what was built of them. */
function sourceOf(name: string): string | undefined {
  if (name === "nodeippool") return "index.ts";
  const [, room] = /^nodeippool\/(schema|state|pipeline)$/.exec(name) ?? [];
  if (room !== undefined) return `${room}/index.ts`;
  const [, system] = /^nodeippool\/(nmstate|metal3)$/.exec(name) ?? [];
  return system && `integrations/${system}/index.ts`;
}

registerHooks({
  resolve(name, context, next) {
    const source = sourceOf(name);
    return next(source ? pathToFileURL(join(import.meta.dirname, "../..", source)).href : name, context);
  },
});
