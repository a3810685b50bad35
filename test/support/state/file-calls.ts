import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";

type FileCall = (...args: unknown[]) => unknown;

/** All but existsSync, which never throws: what cannot be looked at is not there. */
const real = new Map(
  Object.entries(fs).filter(
    ([name, call]) => name.endsWith("Sync") && name !== "existsSync" && typeof call === "function",
  ) as [string, FileCall][],
);

/** Is told of the n-th call from now on, counted from 1. */
export type Hook = (n: number, name: string) => unknown;

/** Runs a hook before each of this process' file calls, for all modules, and one after it. What it throws, the call throws. */
export function onFileCall(before?: Hook, after?: Hook): void {
  let n = 0;
  let inside = false; // of a call that makes others
  for (const [name, call] of real) {
    const wrapped = (...args: unknown[]) => {
      if (inside) return call(...args);
      const current = ++n;
      before?.(current, name);
      try {
        inside = true;
        return call(...args);
      } finally {
        inside = false;
        after?.(current, name);
      }
    };
    Object.assign(fs, { [name]: before === undefined && after === undefined ? call : wrapped });
  }
  syncBuiltinESMExports();
}
