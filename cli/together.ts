import { IpamError, type Issue } from "../core/index.ts";

type Results<T extends readonly (() => unknown)[]> = { -readonly [K in keyof T]: ReturnType<T[K]> };

/** The results of all of these. What is invalid in any is thrown as one IpamError, so that one run tells it all. */
export function together<const T extends readonly (() => unknown)[]>(...reads: T): Results<T> {
  const issues: Issue[] = [];
  const results = reads.map((read) => {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof IpamError) || error.code !== "invalid") throw error;
      issues.push(...error.issues);
      return undefined;
    }
  });
  if (issues.length > 0) throw new IpamError("invalid", issues);
  return results as Results<T>;
}
