import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Whatever the tests of a run, and the programs that they start, put into the temporary folder is in one, and goes with the run. */
export default function setup(): () => void {
  const folder = mkdtempSync(join(tmpdir(), "nip-"));
  process.env.TMPDIR = folder;
  // The programs that tests start start in half the time.
  process.env.NODE_COMPILE_CACHE = join(folder, "compile-cache");
  // Loading makes much garbage, and little of it has to be collected.
  process.env.NODE_OPTIONS = `${process.env.NODE_OPTIONS ?? ""} --max-semi-space-size=64`.trim();
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}
