import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";

/** A child process that something hangs on: a lock, a network namespace. */
export interface Held {
  readonly pid: number;
  release(): Promise<void>;
}

/**
 * Runs the shell script under `command` and, once it has succeeded, keeps its process until `release`. The process waits
 * for the end of its input, so it also ends with this process, however this one ends. Ctrl-C does not reach it.
 */
export async function hold(command: string, args: readonly string[], script: string): Promise<Held> {
  const waiting = `${script}\necho ready\nexec cat`;
  const child = spawn(command, [...args, "sh", "-ec", waiting], { stdio: "pipe", detached: true });
  const ended = once(child, "close");
  const errors = text(child.stderr);
  const ready = await Promise.race([once(child.stdout, "data"), ended.then(() => undefined)]);
  if (ready === undefined) throw new Error(`${command} ${args.join(" ")} failed: ${(await errors).trim()}`);
  return {
    pid: child.pid as number,
    async release() {
      child.stdin.end();
      await ended;
    },
  };
}
