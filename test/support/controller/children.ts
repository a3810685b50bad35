import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { ControllerOptions } from "../../../controller/run/start.ts";

type Served = Pick<ControllerOptions, "nodeSlices" | "ipamClaims" | "vmClaims" | "vmAddresses" | "workloadAddresses">;

/** Two controllers as processes of their own. */
export function startControllers(kubeconfig: string, record: string, options: Served) {
  const start = () => {
    const program = join(import.meta.dirname, "child.ts");
    const args = [program, kubeconfig, record, JSON.stringify(options)];
    const child = spawn(process.execPath, args, { stdio: ["pipe", "ignore", "inherit"] });
    return { child, ended: once(child, "exit") };
  };
  return [start(), start()].map((running) => {
    let { child, ended } = running;
    const end = async () => {
      child.kill("SIGKILL");
      await ended;
    };
    const anew = async () => {
      await end();
      ({ child, ended } = start());
    };
    return { end, anew };
  });
}

interface Kills {
  readonly controllers: ReturnType<typeof startControllers>;
  /** Another text, once something was written. */
  readonly written: () => Promise<string>;
  readonly random: () => number;
  /** What else happens before each. */
  readonly before?: () => void;
}

/** Does some work while one controller or the other is killed soon after something was written, and started anew; returns how often. */
export async function killedWhile(kills: Kills, work: () => Promise<void>): Promise<number> {
  const goOn = { isSo: true };
  const killed = killNowAndThen(kills, goOn);
  try {
    await work();
  } finally {
    goOn.isSo = false;
    await killed;
  }
  return killed;
}

async function killNowAndThen(
  { controllers, written, random, before = () => {} }: Kills,
  goOn: { readonly isSo: boolean },
): Promise<number> {
  let kills = 0;
  for (; goOn.isSo; kills++) {
    const last = await written();
    while (goOn.isSo && (await written()) === last) await sleep(50);
    // Now and then both live until what is held back is free.
    await sleep(random() < 0.8 ? 1_000 * random() : 10_000);
    before();
    await controllers[kills % 2]?.anew();
  }
  return kills;
}
