import { checkPools, emptySnapshot, type Pool } from "../core/index.ts";
import { readSharing } from "./manifests.ts";
import type { SourceFile } from "./yaml.ts";

/**
 * The pools that are defined in files of any kind, of whatever authority; one that is defined alike in several places, as
 * those have it who share it, counts once. Throws what `readManifests` and `checkPools` do.
 */
export function definedPools(files: readonly SourceFile[]): readonly Pool[] {
  const { pools } = readSharing(files.filter(({ text }) => /\bNodeIPPool\b/.test(text)));
  checkPools(pools, emptySnapshot);
  return pools;
}
