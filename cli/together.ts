import { IpamError, type Issue } from "../core/index.ts";

/** The results of all of these. What is invalid in any is thrown as one IpamError, so that one run tells it all. */
export function together<T>(...reads: readonly (() => T)[]): T[] {
  const issues: Issue[] = [];
  const results = reads.flatMap((read) => {
    try {
      return [read()];
    } catch (error) {
      if (!(error instanceof IpamError) || error.code !== "invalid") throw error;
      issues.push(...error.issues);
      return [];
    }
  });
  if (issues.length > 0) throw new IpamError("invalid", issues);
  return results;
}
