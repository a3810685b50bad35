import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { poolOf } from "../core/text.ts";
import type { Cluster } from "./cluster.ts";
import type { FaultProxy, Planted } from "./proxy.ts";

export const batchSize = 5;
export const writers = 16;

/** One pool that is nearly full with all writers at work, or several that are not. */
export function chaosPools(count: number) {
  return Array.from({ length: count }, (_, i) => poolOf(`p${i}`, `10.0.${i}.0/24`));
}

export interface ChaosOptions {
  readonly pools: number;
  readonly rounds: number;
  /** SIGKILLs of writers, and of the API server. */
  readonly kills: number;
  readonly serverKills: number;
  readonly faults: number;
}

export interface ChaosResult {
  readonly acknowledged: ReadonlySet<string>;
  readonly kills: number;
  readonly faults: number;
}

/** Runs the writers to their end, whatever happens to them and to the server on the way. */
export async function chaos(
  cluster: Cluster,
  proxy: FaultProxy,
  namespace: string,
  options: ChaosOptions,
): Promise<ChaosResult> {
  const acknowledged = new Set<string>();
  let running = true;
  let kills = 0;
  const planted: Planted[] = [];
  const lane = async (name: string) => {
    let from = 0;
    for (;;) {
      const numbers = [options.pools, options.rounds, from].map(String);
      const writer = startWriter(proxy.kubeconfig, namespace, name, ...numbers);
      const doomed = kills < options.kills;
      if (doomed) kills++;
      if (doomed) await writer.started.then(() => sleep(Math.random() * 1_500)).then(writer.kill);
      const { lines, finished } = await writer.ended;
      for (const line of lines) {
        acknowledged.add(line);
        from = Math.max(from, Number(/-(\d+)-\d+\//.exec(line)?.[1]) + 1);
      }
      if (finished) return;
    }
  };
  const trouble = async () => {
    const count = () => planted.reduce((sum, { count }) => sum + count, 0);
    while (running && count() < options.faults) {
      planted.push(plantFault(proxy));
      await sleep(10);
      if (planted.length > 50) for (const one of planted.slice(-50, -25)) one.stop();
    }
    for (const one of planted) one.stop();
  };
  const crashes = async () => {
    for (let i = 0; i < options.serverKills && running; i++) {
      await sleep(3_000 + Math.random() * 2_000);
      await cluster.killApiServer();
      await cluster.startApiServer();
    }
  };
  const around = [trouble(), crashes()];
  await Promise.all(Array.from({ length: writers }, (_, i) => lane(`w${i}`)));
  running = false;
  await Promise.all(around);
  return { acknowledged, kills, faults: planted.reduce((sum, { count }) => sum + count, 0) };
}

const verbs = ["GET", "PUT", "PUT", "POST"] as const;
const faults = [
  { delay: 80 },
  { cut: "request" },
  { cut: "reply" },
  { cut: "reply" },
  { status: 409, reason: "Conflict" },
  { status: 429, retryAfter: 0 },
  { status: 500, reason: "InternalError" },
  { status: 503, reason: "ServiceUnavailable" },
  { status: 504, reason: "Timeout" },
] as const;

function plantFault(proxy: FaultProxy): Planted {
  const verb = pick(verbs);
  const possible = faults.filter((fault) => verb !== "GET" || !("status" in fault) || fault.status !== 409);
  return proxy.plant({ verb, path: /configmaps/, times: 2 }, pick(possible));
}

function pick<T>(list: readonly T[]): T {
  return list[Math.floor(Math.random() * list.length)] as T;
}

function startWriter(...args: readonly string[]) {
  const program = join(import.meta.dirname, "writer.ts");
  const child = spawn(process.execPath, [program, ...args], { stdio: ["pipe", "pipe", "inherit"] });
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (part: string) => {
    text += part;
  });
  const closed = once(child, "close");
  return {
    started: Promise.race([once(child.stdout, "data"), closed]),
    kill: () => child.kill("SIGKILL"),
    ended: closed.then(([code, signal]) => {
      if (code !== 0 && signal !== "SIGKILL") throw new Error(`a writer ended with ${code ?? signal}`);
      return { lines: text.split("\n").slice(0, -1), finished: code === 0 };
    }),
  };
}
