import { createRequire } from "node:module";
import { join } from "node:path";
import * as pulumi from "@pulumi/pulumi";
import { isUnitTest } from "./pools-of-program.ts";

/**
 * The engine runs the provider in the program's folder, and finds the package from there, not from where the program has
 * it from. A program of the Automation API may be somewhere else than that, so this is no error.
 */
export function warnOfPlace(set: string): void {
  if (isUnitTest()) return;
  const folder = process.cwd();
  try {
    createRequire(join(folder, "index.js")).resolve("nodeippool/provider/runtime");
  } catch {
    pulumi.log.warn(
      `allocation set ${set}: nodeippool is not found from ${folder}, where pulumi looks for it: add it to the dependencies there, too, if a library has brought it`,
    );
  }
}
