import { existsSync } from "node:fs";
import { join } from "node:path";
import { lostRoutes } from "../integrations/nmstate/dropped-routes.ts";
import type { SourceFile } from "../schema/index.ts";
import { childLabels } from "../schema/node.ts";
import { asBag, type Bag } from "../schema/objects.ts";
import { objectsIn } from "../schema/objects-in-text.ts";
import { splitDocuments } from "../schema/yaml.ts";
import { readFile } from "./files.ts";
import { plural } from "./terminal.ts";

/** Returns a note for each route that rendered policies in a folder have, and these files no longer: nmstate keeps it on the nodes. */
export function lostRouteNotes(folder: string, files: readonly SourceFile[]): string[] {
  const lost = files.flatMap(({ path, text }) => {
    const file = join(folder, path);
    const before = existsSync(file) ? readFile(file) : text;
    if (before === text || !before.includes("next-hop-interface")) return [];
    const now = new Map(policiesIn(path, text).map((object) => [nameOf(object), object]));
    return policiesIn(path, before).flatMap((object) => {
      const policy = `${asBag(asBag(object.metadata)?.labels)?.[childLabels.policy]}`;
      const next = now.get(nameOf(object));
      return next === undefined ? [] : lostRoutes(stateOf(object), stateOf(next)).map((route) => ({ policy, route }));
    });
  });
  const groups = Map.groupBy(lost, ({ policy, route }) => `${policy} ${JSON.stringify(route)}`);
  return [...groups.values()].map((group) => {
    const [{ policy, route }] = group as [(typeof group)[0]];
    const { destination, "next-hop-interface": nic } = route;
    const where = `over ${nic} on ${plural(group.length, "node")}, and nmstate keeps it`;
    const removal = `{${Object.entries(route).map(fieldText).join(", ")}}`;
    return `Note: policy ${policy} no longer has the route to ${destination} ${where}. Add it to the routes of the policy: ${removal}`;
  });
}

/** A field of a route as YAML in flow style. */
function fieldText([field, value]: [string, unknown]): string {
  return `${field}: ${field === "destination" ? JSON.stringify(value) : value}`;
}

/** The policies of nodes in a file. */
function policiesIn(path: string, text: string): Bag[] {
  const objects = splitDocuments({ path, text }).flatMap((chunk) => objectsIn(chunk).value ?? []);
  return objects
    .map(({ object }) => object)
    .filter(({ metadata }) => asBag(asBag(metadata)?.labels)?.[childLabels.policy] !== undefined);
}

function nameOf({ metadata }: Bag): unknown {
  return asBag(metadata)?.name;
}

function stateOf({ spec }: Bag): unknown {
  return asBag(spec)?.desiredState;
}
