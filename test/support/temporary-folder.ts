import { globSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "./console.ts";

/** Whatever the tests of a run, and the programs that they start, put into the temporary folder is in one, and goes with the run. */
export default function setup(): () => void {
  const folder = mkdtempSync(join(tmpdir(), "nip-"));
  process.env.TMPDIR = folder;
  // The programs that tests start start in half the time, and what tests import is ready from the run before.
  process.env.NODE_COMPILE_CACHE = compileCache();
  // Loading makes much garbage, and little of it has to be collected.
  process.env.NODE_OPTIONS = `${process.env.NODE_OPTIONS ?? ""} --max-semi-space-size=64`.trim();
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}

/** Where Node keeps what it compiled; emptied now and then, for it also has what was in folders of earlier runs. */
function compileCache(): string {
  const folder = join(root, "node_modules/.cache/nodeippool-compiled");
  if (globSync("*/*", { cwd: folder }).length > 15_000) rmSync(folder, { recursive: true, force: true });
  return folder;
}
