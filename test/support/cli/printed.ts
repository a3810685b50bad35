import { stripVTControlCharacters } from "node:util";
import { vi } from "vitest";

/** Runs a verb in this process: what it writes to standard output, without colours. */
export async function printed(run: () => Promise<void>): Promise<string> {
  const write = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  try {
    await run();
    return stripVTControlCharacters(write.mock.calls.map(([text]) => text).join(""));
  } finally {
    write.mockRestore();
  }
}
