import { checkPools, emptySnapshot, type Pool } from "../core/index.ts";
import { readManifests } from "./manifests.ts";
import type { SourceFile } from "./yaml.ts";

/** The pools that are defined in files of any kind, of whatever authority. Throws what `readManifests` and `checkPools` do. */
export function definedPools(files: readonly SourceFile[]): readonly Pool[] {
  const { pools } = readManifests(files.filter(({ text }) => /\bNodeIPPool\b/.test(text)));
  checkPools(pools, emptySnapshot);
  return pools;
}
