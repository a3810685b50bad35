import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { parse } from "yaml";
import { tool } from "../tools/tools.ts";

/**
 * What the handler of a node makes of an NNCP's `capture` and `desiredState`: `nmstatectl policy`. The current state is
 * what `show` returns, or any part of it that the captures look at. With `captured`, what captures gave before as an
 * enactment keeps it, none is evaluated. Throws what nmstatectl reports.
 */
export function runPolicy(
  capture: Record<string, string>,
  desiredState: unknown,
  current: unknown,
  captured?: unknown,
): Promise<unknown> {
  return withFiles({ policy: { capture, desiredState }, current, captured }, (paths) => {
    const cache = captured === undefined ? [] : ["--captured", paths.captured];
    return nmstatectl("policy", "-q", "--current", paths.current, ...cache, paths.policy);
  });
}

/** The NetworkManager profiles that a state stands for, by file name: `nmstatectl gc`. It knows no current state. */
export async function gc(state: unknown): Promise<Record<string, string>> {
  const made = await withFiles({ state }, (paths) => nmstatectl("gc", "-q", paths.state));
  return Object.fromEntries((made as { NetworkManager: [string, string][] }).NetworkManager);
}

/** A state as nmstate itself writes it down: `nmstatectl format`. Throws what it does not know. */
export function format(state: unknown): Promise<unknown> {
  return withFiles({ state }, (paths) => nmstatectl("format", "-q", paths.state));
}

async function nmstatectl(...args: string[]): Promise<unknown> {
  const { stdout } = await promisify(execFile)(await tool("nmstatectl"), args, { timeout: 30_000 });
  return parse(stdout);
}

/** Runs `use` with the contents as JSON files, which nmstatectl reads as it reads YAML. */
async function withFiles<K extends string, T>(
  contents: Record<K, unknown>,
  use: (paths: Record<K, string>) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "nmstatectl-"));
  try {
    const paths = {} as Record<K, string>;
    for (const name in contents) {
      paths[name] = join(folder, name);
      await writeFile(paths[name], JSON.stringify(contents[name] ?? null));
    }
    return await use(paths);
  } finally {
    await rm(folder, { recursive: true });
  }
}
