export type { StateBackend } from "./backend.ts";
export { decode, encode } from "./codec.ts";
export { type Lockfile, lockfile } from "./lockfile.ts";
export { memory } from "./memory.ts";
