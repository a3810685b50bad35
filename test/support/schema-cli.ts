import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

export interface Ran {
  readonly stdout: string;
  readonly stderr: string;
  readonly status: number;
}

let runs = 0;

/**
 * Runs the real main.ts in this process, in a folder: a hundred times cheaper than a process of its own, which
 * `nodeippool` of console.ts starts. Standard input is not to be had this way.
 */
export async function cli(args: readonly string[], folder: string): Promise<Ran> {
  const { argv, exitCode, env } = process;
  const cwd = process.cwd();
  const streams = [process.stdout, process.stderr] as const;
  const caught = streams.map((stream) => ({
    stream,
    write: stream.write,
    text: "",
    errors: stream.listeners("error"),
  }));
  for (const one of caught)
    one.stream.write = ((text: string | Uint8Array) => {
      one.text += String(text);
      return true;
    }) as typeof one.write;
  process.argv = [process.execPath, "nodeippool", ...args];
  process.env = { ...env, NO_COLOR: "1", FORCE_COLOR: undefined };
  process.exitCode = undefined;
  process.chdir(folder);
  try {
    await import(/* @vite-ignore */ `../../src/cli/main.ts?run=${++runs}`);
    return { stdout: caught[0]?.text ?? "", stderr: caught[1]?.text ?? "", status: Number(process.exitCode ?? 0) };
  } finally {
    process.chdir(cwd);
    Object.assign(process, { argv, env, exitCode });
    for (const { stream, write, errors } of caught) {
      stream.write = write;
      for (const added of stream.listeners("error"))
        if (!errors.includes(added)) stream.off("error", added as (error: Error) => void);
    }
  }
}

/** A new folder with these files. */
export function folderOf(files: Readonly<Record<string, string | Uint8Array>>): string {
  const folder = mkdtempSync(join(tmpdir(), "nodeippool-test-"));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

/** Every file of a folder, hidden ones too, with its text: what a command must leave as it was. */
export function filesOf(folder: string): Record<string, string> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = entries.map((entry) => join(entry.parentPath, entry.name)).sort();
  return Object.fromEntries(paths.map((path) => [path.slice(folder.length + 1), readFileSync(path, "latin1")]));
}
