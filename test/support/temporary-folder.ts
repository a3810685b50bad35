import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Whatever the tests of a run, and the programs that they start, put into the temporary folder is in one, and goes with the run. */
export default function setup(): () => void {
  const folder = mkdtempSync(join(tmpdir(), "nip-"));
  process.env.TMPDIR = folder;
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}
