import type { Bag } from "../../schema/objects.ts";

const name = "nodeippool-detect";

/** The status of a pod whose init container has ended with these lines, as the kubelet writes it; it tries again, or goes on. */
export function detected(exitCode: number, ...lines: readonly string[]): Bag {
  const terminated = { exitCode, message: lines.map((line) => `${line}\n`).join("") };
  const waiting = { reason: "CrashLoopBackOff" };
  const main = { name: "main", restartCount: 0, ready: false, state: { waiting: { reason: "PodInitializing" } } };
  return {
    phase: "Pending",
    initContainerStatuses: [
      exitCode === 0 ? { name, state: { terminated } } : { name, state: { waiting }, lastState: { terminated } },
    ],
    containerStatuses: [main],
  };
}
