import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { poolOf } from "../core/text.ts";

/** The pools that writers share. */
export const writerPools = [poolOf("p", "10.0.0.0/16"), poolOf("q", "2001:db8::/64")];

/** What a writer acknowledged before its end: claims with their addresses. */
export type Acknowledged = ReadonlyMap<string, string>;

interface Writer {
  /** Resolves once the first commit was acknowledged, or the process ended. */
  readonly started: Promise<unknown>;
  readonly ended: Promise<Acknowledged>;
  kill(): void;
}

/** Starts test/support/state/writer.ts. */
export function startWriter(...args: string[]): Writer {
  const program = join(import.meta.dirname, "writer.ts");
  const child = spawn(process.execPath, [program, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (part: string) => {
    text += part;
  });
  const closed = once(child, "close");
  const acknowledged = () =>
    new Map(
      text
        .split("\n")
        .slice(0, -1)
        .map((line) => line.split(" ") as [string, string]),
    );
  return {
    started: Promise.race([once(child.stdout, "data"), closed]),
    ended: closed.then(([code, signal]) => {
      if (code !== 0 && signal !== "SIGKILL") throw new Error(`a writer ended with ${code ?? signal}`);
      return acknowledged();
    }),
    kill: () => child.kill("SIGKILL"),
  };
}

/** What interrupted writers left beside a lock: temporary files, and links that claim a step. */
export function leftovers(folder: string): { readonly temps: number; readonly links: number } {
  const names = readdirSync(folder).filter((name) => name.startsWith("."));
  const temps = names.filter((name) => name.endsWith(".tmp")).length;
  return { temps, links: names.length - temps };
}
