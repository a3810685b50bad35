import { IpamError } from "../core/errors.ts";
import type { StateBackend } from "../state/backend.ts";
import { openKubernetes } from "../state/kubernetes/open.ts";
import { type Lockfile, type LockfileOptions, lockfile } from "../state/lockfile.ts";

/** The options of a verb that say where allocations live. */
export interface StateOptions {
  readonly lock: string;
  /** Default: `lockfile`. */
  readonly backend?: "lockfile" | "kubernetes";
  /** Of the kubeconfig; only with the backend `kubernetes`, like `namespace`. */
  readonly context?: string;
  readonly namespace?: string;
}

/** Where allocations live: the one place in which verbs turn options into a state backend. */
export async function openState(options: StateOptions): Promise<StateBackend> {
  if (!isInCluster(options)) return openLock(options);
  const { context, namespace } = options;
  return openKubernetes({
    ...(context === undefined ? {} : { context }),
    ...(namespace === undefined ? {} : { namespace }),
  });
}

/** Is the record in a cluster? Throws IpamError `invalid` if options for that go with another backend. */
export function isInCluster({ backend, context, namespace }: StateOptions): boolean {
  const stray = context === undefined ? (namespace === undefined ? undefined : "--namespace") : "--context";
  if (backend !== "kubernetes" && stray !== undefined)
    throw new IpamError("invalid", `${stray} says where in a cluster the record is`, {
      hint: "Add --backend kubernetes.",
    });
  return backend === "kubernetes";
}

/** The same where a verb does what only a file can: merge the two sides of it, or take many plans in one write. */
export function openLock({ lock }: StateOptions, file?: LockfileOptions): Lockfile {
  return lockfile(lock, file);
}
