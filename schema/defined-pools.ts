import { checkPools, emptySnapshot, IpamError, type Issue, isSamePool, type Pool } from "../core/index.ts";
import type { ManifestDocument } from "./manifest-document.ts";
import { readDocuments } from "./manifests.ts";
import type { SourceFile } from "./yaml.ts";

type PoolDocument = Extract<ManifestDocument, { readonly kind: "pool" }>;

/**
 * The pools that are defined in files of any kind, of whatever authority; one that is defined alike in several places, as
 * those have it who share it, counts once. Throws IpamError `invalid` for one that is defined in two ways, and for
 * documents that cannot be read, and what `checkPools` does.
 */
export function definedPools(files: readonly SourceFile[]): readonly Pool[] {
  const { documents, issues: unreadable } = readDocuments(files, /\bNodeIPPool(?:List)?\b/);
  const issues = [...unreadable];
  const found = new Map<string, PoolDocument>();
  for (const document of documents) {
    if (document.kind !== "pool") continue;
    const first = found.get(document.pool.name);
    if (first === undefined) found.set(document.pool.name, document);
    else if (!isSamePool(first.pool, document.pool)) issues.push(twoWays(document, first));
  }
  if (issues.length > 0) throw new IpamError("invalid", issues);
  const pools = [...found.values()].map(({ pool }) => pool);
  checkPools(pools, emptySnapshot);
  return pools;
}

function twoWays(second: PoolDocument, first: PoolDocument): Issue {
  const [at, other] = [placeOf(second), placeOf(first)];
  return {
    message: `pool ${second.pool.name} is defined in two ways, here and in ${other.file}:${other.line}:${other.column}`,
    at,
    hint: "Name less of what is there, or say which pools are meant.",
  };
}

function placeOf({ yaml, path }: PoolDocument) {
  return yaml.at([...path, "metadata", "name"]);
}
