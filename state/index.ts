/** Where allocations live: the backends there are, and what it takes to write another one (docs/own-backend.md). */

// Backends.

export { type KubernetesOptions, openKubernetes } from "./kubernetes/open.ts";
export { type Lockfile, type LockfileOptions, lockfile } from "./lockfile.ts";
export { memory } from "./memory.ts";

// To write one: what it promises, what a commit comes to, and the text of a record.

export { applyPlan } from "./apply.ts";
export type { KnownBackend, StateBackend } from "./backend.ts";
export { decode, encode } from "./codec.ts";

// For tools that only read: the record that covers a plan, also inside `nodeippool allocate -- COMMAND`, which will write it.

export { covering, withOffers } from "./offer.ts";
