import type { Issue, Parsed } from "../core/index.ts";
import type { SourceObject } from "../schema/manifest-document.ts";
import { type Bag, issueIn } from "../schema/objects.ts";

/** What an object says, and where it was read. */
export interface ReadObject<T> {
  readonly value: T;
  readonly source: SourceObject;
}

/** Reads objects one by one. All issues, each with its place. */
export function readEach<T>(
  sources: readonly SourceObject[],
  parse: (object: Bag) => Parsed<T>,
): Parsed<readonly ReadObject<T>[]> {
  const issues: Issue[] = [];
  const read = sources.flatMap((source): ReadObject<T>[] => {
    const parsed = parse(source.object);
    if (parsed.issues === undefined) return [{ value: parsed.value, source }];
    issues.push(...parsed.issues.map((issue) => issueIn(source, issue)));
    return [];
  });
  return issues.length > 0 ? { issues } : { value: read };
}
