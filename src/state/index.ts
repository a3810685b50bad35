export type { StateBackend } from "./backend.ts";
export { decode, encode } from "./codec.ts";
export { covering } from "./cover.ts";
export { decodeBase, git, lockAt } from "./git.ts";
export { type Lockfile, type LockfileOptions, lockfile } from "./lockfile.ts";
export { memory } from "./memory.ts";
export { type Loser, type Merged, mergeRecords } from "./merge.ts";
export { offerPlan, offerVariable, readOffers, withOffers } from "./offer.ts";
export { type Resolved, resolveLock } from "./resolve.ts";
