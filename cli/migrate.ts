import { hostname } from "node:os";
import { resolve } from "node:path";
import { IpamError } from "../core/index.ts";
import { findAccess, objectsOf } from "../kube/index.ts";
import { kubernetesPlace } from "../state/kubernetes/place.ts";
import { lockfilePlace } from "../state/lockfile-place.ts";
import { moveRecord, type RecordPlace, type Step } from "../state/migrate.ts";
import { refuseNoFolder } from "./state.ts";
import { paint, plural, print } from "./terminal.ts";

export interface MigrateOptions {
  readonly lock: string;
  readonly context?: string;
  readonly namespace?: string;
  readonly init?: boolean;
}

/** Moves the record from the lockfile to the cluster, or back. */
export async function migrateVerb(to: string, { lock, context, namespace, init }: MigrateOptions): Promise<void> {
  if (to !== "kubernetes" && to !== "lockfile")
    throw new IpamError("invalid", `a record can move to kubernetes or to lockfile, not to ${JSON.stringify(to)}`);
  refuseNoFolder(lock);
  const objects = objectsOf(findAccess({ context }));
  const [file, cluster]: [RecordPlace, RecordPlace] = [
    lockfilePlace(lock, `${resolve(lock)} on ${hostname()}`, init),
    kubernetesPlace(objects, namespace),
  ];
  const [source, target] = to === "kubernetes" ? [file, cluster] : [cluster, file];
  const steps: Step[] = [];
  try {
    const { allocations, releasing } = await moveRecord(source, target, (step) => {
      steps.push(step);
      if (step in texts) print(paint("dim", texts[step as keyof typeof texts]));
    });
    const lines = plural(allocations.length + releasing.length, "address");
    if (steps.length === 0) return print(`The record of ${source.name} has moved to ${target.name} before.`);
    print(`The record is in ${to === "kubernetes" ? target.name : lock} now: ${lines}. No address changed hands.`);
    print(`Commit ${lock}${to === "kubernetes" ? ": it says where the record has gone" : ""}.`);
  } catch (error) {
    if (steps.lastIndexOf("close") > steps.lastIndexOf("reopen"))
      print(paint("yellow", "The move has not ended: run the same command again, and it goes on."));
    throw error;
  } finally {
    objects.close();
  }
}

const texts = {
  announce: "  the target is empty and closed: nobody can use it until the record is there",
  close: "  the source is closed",
  reopen: "  the source is open again",
  write: "  the record is there",
  clear: "  the source says where it is",
  open: "  the target is open",
} as const satisfies Partial<Record<Step, string>>;
