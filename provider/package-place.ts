import { createRequire } from "node:module";
import { join } from "node:path";
import * as pulumi from "@pulumi/pulumi";

/**
 * The engine runs the provider in the program's folder, and finds the package from there, not from where the program has
 * it from. An inline program of the Automation API, or a unit test, may be in another folder.
 */
export function warnOfPlace(set: string): void {
  if (!/@pulumi.pulumi.cmd.run/.test(process.argv[1] ?? "")) return;
  const folder = process.cwd();
  try {
    createRequire(join(folder, "index.js")).resolve("nodeippool/provider/runtime");
  } catch {
    pulumi.log.warn(
      `allocation set ${set}: nodeippool is not found from ${folder}, where pulumi looks for it: add it to the dependencies there, too, if a library has brought it`,
    );
  }
}
