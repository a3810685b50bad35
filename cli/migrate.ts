import { existsSync } from "node:fs";
import { hostname } from "node:os";
import { resolve } from "node:path";
import { IpamError, shellWord } from "../core/index.ts";
import { findAccess, objectsOf } from "../kube/index.ts";
import { kubernetesPlace } from "../state/kubernetes/place.ts";
import { lockfilePlace } from "../state/lockfile-place.ts";
import { refusalOfOnward, withoutMark } from "../state/mark.ts";
import { moveRecord, type RecordPlace, withSet } from "../state/migrate.ts";
import type { Step } from "../state/next-step.ts";
import { locksAbove } from "../state/other-locks.ts";
import { refuseNoFolder } from "./state.ts";
import { paint, plural, print } from "./terminal.ts";

export interface MigrateOptions {
  readonly lock: string;
  readonly context?: string;
  readonly namespace?: string;
  readonly set?: string;
}

/** Moves the record from the lockfile to the cluster, or back. */
export async function migrateVerb(to: string, { lock, context, namespace, set }: MigrateOptions): Promise<void> {
  if (to !== "kubernetes" && to !== "lockfile")
    throw new IpamError("invalid", `a record can move to kubernetes or to lockfile, not to ${JSON.stringify(to)}`);
  refuseNoFolder(lock);
  const objects = objectsOf(findAccess({ context }));
  const [file, cluster]: [RecordPlace, RecordPlace] = [
    lockfilePlace(lock, `${resolve(lock)} on ${hostname()}`),
    kubernetesPlace(objects, namespace),
  ];
  const [from, target] = to === "kubernetes" ? [file, cluster] : [cluster, file];
  const source = withSet(from, set);
  const steps: Step[] = [];
  try {
    if (to === "lockfile" && !existsSync(lock)) await refuseBelow(lock, cluster);
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

/** Throws for a lock that would begin below one whose record is in that cluster, so that it would go on pointing there, or was, so that nobody knows where. */
async function refuseBelow(lock: string, cluster: RecordPlace): Promise<void> {
  const seen = await cluster.look();
  for (const { above, text } of locksAbove(lock)) {
    const { mark } = withoutMark(text, above);
    if (mark?.state !== "left" || !seen.hasEnded(mark)) continue;
    const onward = seen.onward?.(mark);
    if (onward !== undefined) throw refusalOfOnward(mark, above, onward);
    throw new IpamError("in-use", `the record of ${above} is in ${cluster.name}, and ${lock} would begin beside it`, {
      hint: `Let it come back to where it was: --lock ${shellWord(above)}`,
    });
  }
}

const texts = {
  point: "  the record is there: what is here was a copy of it, and says so now",
  announce: "  the target expects the record: nobody can use it until the record is there",
  close: "  the source is closed",
  reopen: "  the source is open again",
  open: "  the target takes the record",
  carry: "  the record is there",
} as const satisfies Partial<Record<Step, string>>;
