import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { ControllerOptions } from "../../controller/start.ts";

type Served = Pick<ControllerOptions, "nodeSlices" | "ipamClaims" | "vmClaims" | "vmAddresses" | "workloadAddresses">;

/** Two controllers as processes of their own. */
export function startControllers(kubeconfig: string, record: string, options: Served) {
  const start = () => {
    const program = join(import.meta.dirname, "controller-child.ts");
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

/** Kills one or the other soon after something was written, and starts it anew; returns how often. */
export async function killNowAndThen(
  controllers: ReturnType<typeof startControllers>,
  written: () => Promise<string>,
  random: () => number,
  goOn: { readonly isSo: boolean },
): Promise<number> {
  let kills = 0;
  for (; goOn.isSo; kills++) {
    const before = await written();
    while (goOn.isSo && (await written()) === before) await sleep(50);
    // Now and then both live until what is held back is free.
    await sleep(random() < 0.8 ? 1_000 * random() : 10_000);
    await controllers[kills % 2]?.anew();
  }
  return kills;
}
