import { spawn } from "node:child_process";
import { once } from "node:events";

/** A server that never outlives the process that started it, however that one ends. */
export interface Daemon {
  readonly pid: number;
  /** Resolves when it is gone, also when it ended by itself. */
  readonly ended: Promise<unknown>;
  isRunning(): boolean;
  stop(): Promise<void>;
}

/**
 * A shell in a session of its own, which Ctrl-C does not reach, runs the server and kills it at the end of its input.
 * It reaps the server, so no other process can have the server's id while it may still be killed.
 */
const supervise = `
  log=$1; shift
  exec 3<&0
  "$@" </dev/null 3<&- >>"$log" 2>&1 &
  server=$!
  { cat <&3; kill -KILL $server; } >/dev/null 2>&1 &
  guard=$!
  echo $server
  wait $server
  kill $guard`;

/** Where a server runs, unless as everything else here. */
export interface DaemonOptions {
  /** A command that runs the one after it in namespaces, such as nsenter with its arguments. */
  readonly within?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
}

/** Runs a server whose output goes to the file `log`. Its `pid` is that in the namespace where it runs. */
export async function startDaemon(
  file: string,
  args: readonly string[],
  log: string,
  { within = [], env }: DaemonOptions = {},
): Promise<Daemon> {
  const [program = "", ...words] = [...within, "sh", "-c", supervise, "sh", log, file, ...args];
  const shell = spawn(program, words, { detached: true, stdio: ["pipe", "pipe", "ignore"], ...(env && { env }) });
  const ended = once(shell, "exit");
  const [pid] = await once(shell.stdout, "data");
  return {
    pid: Number(String(pid)),
    ended,
    isRunning: () => shell.exitCode === null && shell.signalCode === null,
    async stop() {
      shell.stdin.end();
      await ended;
    },
  };
}

/** Removes a folder when the returned function is called, at the latest after this process is gone. */
export function removeAtEnd(folder: string): () => Promise<void> {
  const script = `cat; rm -rf "$1" || { sleep 1; rm -rf "$1"; }`;
  const shell = spawn("sh", ["-c", script, "sh", folder], { detached: true, stdio: ["pipe", "ignore", "ignore"] });
  const ended = once(shell, "exit");
  return async () => {
    shell.stdin.end();
    await ended;
  };
}
