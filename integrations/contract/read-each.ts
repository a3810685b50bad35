import type { Issue, Parsed } from "../../core/index.ts";
import type { SourceObject } from "../../schema/manifest-document.ts";
import { type Bag, issueIn } from "../../schema/objects.ts";
import type { UnreadObject } from "./unserved.ts";

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
  const { read, unread } = readApart(sources, parse);
  return unread.length > 0 ? { issues: issuesOf(unread) } : { value: read };
}

/** Reads objects one by one; one that cannot be read does not stop the others. */
export function readApart<T>(
  sources: readonly SourceObject[],
  parse: (object: Bag) => Parsed<T>,
): { readonly read: readonly ReadObject<T>[]; readonly unread: readonly UnreadObject[] } {
  const unread: UnreadObject[] = [];
  const read = sources.flatMap((source): ReadObject<T>[] => {
    const parsed = source.issues === undefined ? parse(source.object) : { issues: source.issues };
    if (parsed.issues === undefined) return [{ value: parsed.value, source }];
    unread.push({ source, issues: parsed.issues.map((issue) => (issue.at ? issue : issueIn(source, issue))) });
    return [];
  });
  return { read, unread };
}

/** All that is wrong with some objects. */
export function issuesOf(unread: readonly UnreadObject[]): Issue[] {
  return unread.flatMap(({ issues }) => issues);
}
