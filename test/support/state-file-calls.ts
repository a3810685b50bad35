import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";

/** The calls by which src/state/replace-file.ts reads and writes. */
export const fileCalls = [
  "lstatSync",
  "readFileSync",
  "mkdirSync",
  "openSync",
  "writeFileSync",
  "fsyncSync",
  "closeSync",
  "symlinkSync",
  "readlinkSync",
  "renameSync",
  "rmSync",
] as const;
type Call = (typeof fileCalls)[number];

/** Is told of the n-th call from now on, counted from 1. */
export type Hook = (n: number, name: Call) => unknown;

const real = { ...fs };

/** Runs a hook before each of this process' file calls, for all modules, and one after it. What it throws, the call throws. */
export function onFileCall(before?: Hook, after?: Hook): void {
  let n = 0;
  let inside = false; // of a call that makes others
  for (const name of fileCalls) {
    const call = real[name] as (...args: unknown[]) => unknown;
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
