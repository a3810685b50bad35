import { IpamError, type Plan, type Snapshot } from "../core/index.ts";
import { type Objects, refusalOf, retry } from "../kube/index.ts";
import { applyPlan } from "./apply.ts";
import type { StateBackend } from "./backend.ts";
import { type Held, Store } from "./kubernetes-store.ts";
import { refusalOfMark } from "./mark.ts";

interface KubernetesLimits {
  /** How long a commit goes on against others who write the same objects, in milliseconds. */
  readonly budget?: number;
}

/**
 * A state backend in ConfigMaps of one namespace of a vanilla cluster, one for each subnet (see `split`) and an index of
 * them. A commit replaces those that it touches, each only at the version that was read, so a commit that touches one
 * pool is atomic. Of a commit over several subnets a prefix may be there after a crash; a repeat finds it as kept.
 *
 * Needs the rights to list, create and update ConfigMaps there.
 */
export function kubernetes(
  objects: Objects,
  namespace = objects.namespace,
  { budget = 30_000 }: KubernetesLimits = {},
): StateBackend {
  const store = new Store(objects, namespace);
  return {
    name: store.name,
    read: async () => (await loadUnmarked(store)).snapshot,
    commit: (plan) => commit(store, plan, budget),
  };
}

async function loadUnmarked(store: Store): Promise<Held> {
  const held = await store.load();
  if (held.index.mark !== undefined) throw refusalOfMark(held.index.mark, store.name);
  return held;
}

/**
 * Another writer of the same object is no conflict by itself: what counts is whether the pools of the plan are still
 * as planned against, which `applyPlan` says of what is there now. The same goes for a write whose answer was lost.
 */
async function commit(store: Store, plan: Plan, budget: number): Promise<Snapshot> {
  let unsure: unknown;
  const begun = new Set<string>();
  const attempt = async () => {
    const held = await loadUnmarked(store).catch((error) => {
      throw (isUnavailable(error) ? unsure : undefined) ?? error;
    });
    const next = apply(held.snapshot, plan, begun);
    if (next === undefined) return held.snapshot;
    let current: readonly string[] = [];
    try {
      await store.replace(held, next, (pools) => {
        for (const pool of current) begun.add(pool);
        current = pools;
      });
      return next;
    } catch (error) {
      unsure = isLost(error) ? error : undefined;
      if (isLost(error)) for (const pool of current) begun.add(pool);
      throw error;
    }
  };
  try {
    return await retry(attempt, (error) => (isContended(error) || isLost(error) ? 0 : undefined), {
      budget,
      first: 20,
      longest: 1_000,
    });
  } catch (error) {
    if (!isContended(error)) throw error;
    throw new IpamError("unavailable", `${store.name} changes faster than it can be written`, { cause: error });
  }
}

/** `applyPlan`, which knows nothing of what this commit has written before. */
function apply(now: Snapshot, plan: Plan, begun: ReadonlySet<string>): Snapshot | undefined {
  try {
    return applyPlan(now, plan);
  } catch (error) {
    if (!(error instanceof IpamError) || begun.size === 0) throw error;
    const issues = error.issues.map((issue) => ({
      ...issue,
      message: issue.message.replace(/; nothing was written$/, ""),
    }));
    const message = `what the plan says of pool ${[...begun].sort().join(", ")} was or may have been written before that`;
    throw new IpamError(error.code, [...issues, { message, hint: "Whatever stands there is kept by the next plan." }]);
  }
}

/** Has the server refused a write because another one came first? */
function isContended(error: unknown): boolean {
  return error instanceof IpamError && error.code === "conflict" && refusalOf(error) !== undefined;
}

function isUnavailable(error: unknown): boolean {
  return error instanceof IpamError && error.code === "unavailable";
}

/** May a write have gone through, and nobody knows? */
function isLost(error: unknown): boolean {
  return error instanceof IpamError && error.code === "unknown-outcome";
}
