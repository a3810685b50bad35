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
  "linkSync",
  "renameSync",
  "rmSync",
] as const;
type Call = (typeof fileCalls)[number];

/** What `hook` is told of: the n-th call from now on, counted from 1, or what it returned. */
export type Hook = (n: number, name: Call) => unknown;

const real = { ...fs };

/** Runs `hook` before each of this process' file calls, for all modules. What it throws, the call throws. */
export function beforeFileCall(hook: Hook | undefined): void {
  wrapFileCalls(hook, undefined);
}

/** The same, and another hook after each call that succeeded. */
export function wrapFileCalls(before: Hook | undefined, after: Hook | undefined): void {
  let n = 0;
  for (const name of fileCalls) {
    const call = real[name] as (...args: unknown[]) => unknown;
    const wrapped = (...args: unknown[]) => {
      const current = ++n;
      before?.(current, name);
      const result = call(...args);
      after?.(current, name);
      return result;
    };
    Object.assign(fs, { [name]: before === undefined && after === undefined ? call : wrapped });
  }
  syncBuiltinESMExports();
}
