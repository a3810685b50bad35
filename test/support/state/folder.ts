import { accessSync, constants, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach } from "vitest";

/** A new folder, in memory where the machine has such a place: these tests write thousands of small files. */
export function scratchFolder(): string {
  return mkdtempSync(join(isWritable("/dev/shm") ? "/dev/shm" : tmpdir(), "nodeippool-test-"));
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Runs the tests of a file in an empty folder, in no git repository: the locks of this one are none of theirs. */
export function inScratchFolder(): void {
  const home = process.cwd();
  beforeEach(() => process.chdir(scratchFolder()));
  afterEach(() => {
    const folder = process.cwd();
    process.chdir(home);
    rmSync(folder, { recursive: true, force: true });
  });
}
