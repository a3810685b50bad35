import { checkPools, emptySnapshot, formatPlace, IpamError, type Issue, isSamePool, type Pool } from "../core/index.ts";
import type { DefinedPool } from "../integrations/contract/integration.ts";
import type { ManifestDocument } from "../schema/manifest-document.ts";
import { readDocuments } from "../schema/manifests.ts";
import type { SourceFile } from "../schema/yaml.ts";
import { objectsFor, placedPool } from "./desired.ts";
import { integrations, readKinds } from "./integrations.ts";

/**
 * The pools that are defined in files of any kind, of whatever authority: NodeIPPools, and what integrations define. One that
 * is defined alike in several places, as those have it who share it, counts once. Throws IpamError `invalid` for one that is
 * defined in two ways, and for documents that cannot be read, and what `checkPools` does.
 */
export function definedPools(files: readonly SourceFile[]): readonly Pool[] {
  const defining = integrations.filter((integration) => integration.pools !== undefined);
  const { documents, issues: unreadable } = readDocuments(files, readKinds(defining));
  const issues = [...unreadable];
  const owned = documents.flatMap((document) => (document.kind === "owned" ? document.source : []));
  const ofIntegrations = defining.flatMap((integration) => {
    const { value: model, issues: found = [] } = integration.read(objectsFor(integration, { owned, others: [] }));
    issues.push(...found);
    if (found.length > 0) return [];
    return (integration.pools?.(model) ?? []).map((one) => ({ pool: placedPool(one), at: one.at }));
  });
  const found = new Map<string, PlacedPool>();
  for (const one of [...documents.flatMap(poolOf), ...ofIntegrations]) {
    const first = found.get(one.pool.name);
    if (first === undefined) found.set(one.pool.name, one);
    else if (!isSamePool(first.pool, one.pool)) issues.push(twoWays(one, first));
  }
  if (issues.length > 0) throw new IpamError("invalid", issues);
  const pools = [...found.values()].map(({ pool }) => pool);
  checkPools(pools, emptySnapshot);
  return pools;
}

type PlacedPool = Pick<DefinedPool, "pool" | "at">;

function poolOf(document: ManifestDocument): PlacedPool[] {
  if (document.kind !== "pool") return [];
  return [{ pool: document.pool, at: document.yaml.at([...document.path, "metadata", "name"]) }];
}

function twoWays({ pool, at }: PlacedPool, { at: other }: PlacedPool): Issue {
  return {
    message: `pool ${pool.name} is defined in two ways, here and in ${formatPlace(other)}`,
    at,
    hint: "Name less of what is there, or say which pools are meant.",
  };
}
