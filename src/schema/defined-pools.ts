import { checkPools, emptySnapshot, type Pool } from "../core/index.ts";
import { readManifests } from "./manifests.ts";
import { type SourceFile, splitDocuments } from "./yaml.ts";

/**
 * The pools that are defined in files of any kind, of whatever authority; one that is defined alike in several places, as
 * those have it who share it, counts once. Throws what `readManifests` and `checkPools` do.
 */
export function definedPools(files: readonly SourceFile[]): readonly Pool[] {
  const { pools } = readManifests(withoutRepeats(files.filter(({ text }) => mentionsPool.test(text))));
  checkPools(pools, emptySnapshot);
  return pools;
}

const mentionsPool = /\bNodeIPPool\b/;

/** The same files, with nothing where a pool is defined in the very words of an earlier document. */
function withoutRepeats(files: readonly SourceFile[]): SourceFile[] {
  const seen = new Set<string>();
  return files.map((file) => {
    const repeats = splitDocuments(file).filter(({ text }) => {
      if (!mentionsPool.test(text)) return false;
      const isRepeat = seen.has(text.trim());
      seen.add(text.trim());
      return isRepeat;
    });
    const text = repeats.reduce(
      (left, repeat) => left.replace(repeat.text, repeat.text.replace(/[^\n]/g, "")),
      file.text,
    );
    return { ...file, text };
  });
}
