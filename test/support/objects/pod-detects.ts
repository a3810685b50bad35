import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { asBag, asList, type Bag } from "../../../schema/objects.ts";
import { root } from "../console.ts";
import { runIn } from "../real/lab.ts";
import { giveAddresses, type PodNetwork } from "../real/pod-network.ts";

import { ipsOf } from "./workload-objects.ts";

const name = "nodeippool-detect";

/** The status of a pod whose init container has ended with these lines, as the kubelet writes it; it tries again, or goes on. */
export function detected(exitCode: number, ...lines: readonly string[]): Bag {
  const terminated = { exitCode, message: lines.map((line) => `${line}\n`).join("") };
  const fields = { image: name, imageID: name, ready: exitCode === 0, restartCount: exitCode === 0 ? 0 : 1 };
  const ended = { state: { terminated }, lastState: null };
  const again = {
    state: { waiting: { reason: "CrashLoopBackOff" }, terminated: null },
    lastState: { terminated },
  };
  const waiting = { state: { waiting: { reason: "PodInitializing" } } };
  return {
    phase: "Pending",
    initContainerStatuses: [{ name, ...fields, ...(exitCode === 0 ? ended : again) }],
    containerStatuses: [{ name: "main", image: "main", imageID: "", ready: false, restartCount: 0, ...waiting }],
  };
}

/** The same of a pod that is not to be restarted. */
export function failed(exitCode: number, ...lines: readonly string[]): Bag {
  const [own] = asList(detected(0, ...lines).initContainerStatuses).map((one) => asBag(one) ?? {});
  const message = asBag(asBag(own?.state)?.terminated)?.message;
  const ended = { ...own, ready: false, state: { terminated: { exitCode, message } } };
  return { ...detected(exitCode, ...lines), phase: "Failed", initContainerStatuses: [ended] };
}

/** A kubelet for init containers that detect: each is run in the pod of a network, with the addresses that its pod was told. */
export function detecting(network: PodNetwork): (pod: Bag) => Promise<Bag> {
  const log = join(mkdtempSync(join(tmpdir(), "detect-")), "termination-log");
  let last: Promise<unknown> = Promise.resolve();
  const run = async (pod: Bag): Promise<Bag> => {
    const container = asList(asBag(pod.spec)?.initContainers).map(asBag)[0];
    if (container?.name !== name) return {};
    await giveAddresses(network.pod, ipsOf(pod));
    writeFileSync(log, "");
    const words = [join(root, "cli/main.ts"), ...argsOf(container, pod), "--termination-log", log];
    const exitCode = await runIn(network.pod, process.execPath, words).then(
      () => 0,
      ({ code }) => Number(code),
    );
    const lines = readFileSync(log, "utf8").split("\n").filter(Boolean);
    const isLast = exitCode !== 0 && asBag(pod.spec)?.restartPolicy === "Never";
    return isLast ? failed(exitCode, ...lines) : detected(exitCode, ...lines);
  };
  // One after the other: they share the pod.
  return (pod) => {
    const next = last.then(() => run(pod));
    last = next.catch(() => undefined);
    return next;
  };
}

/** Its words, with what the environment has in their places, of annotations of the pod. */
function argsOf(container: Bag, { metadata }: Bag): string[] {
  const annotations = asBag(asBag(metadata)?.annotations) ?? {};
  const values = new Map(
    asList(container.env).map((one) => {
      const { name: variable, valueFrom } = asBag(one) ?? {};
      const [, annotation] = /'(.*)'/.exec(`${asBag(asBag(valueFrom)?.fieldRef)?.fieldPath}`) ?? [];
      return [variable, `${annotations[`${annotation}`] ?? ""}`];
    }),
  );
  return asList(container.args).map((arg) =>
    `${arg}`.replace(/\$\((\w+)\)/g, (_, variable) => `${values.get(variable)}`),
  );
}
