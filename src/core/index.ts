/** Everything of the core, for the other folders of src; src/index.ts says what users of the package get. */
import "./needs-node.ts";

export * from "./address.ts";
export * from "./allocation.ts";
export * from "./audit.ts";
export * from "./changes.ts";
export * from "./claim.ts";
export * from "./describe.ts";
export * from "./diff.ts";
export * from "./errors.ts";
export { FreeSpace } from "./free-space.ts";
export { planImport } from "./import.ts";
export { addressAt, offsetOf } from "./numbering.ts";
export * from "./pending.ts";
export * from "./plan.ts";
export * from "./pool.ts";
export { checkPools } from "./pools.ts";
export * from "./range.ts";
export * from "./release.ts";
export * from "./rename.ts";
export { type RenameRemedy, renameCommands, renamesOf } from "./rename-remedy.ts";
export * from "./replaced.ts";
export { checkSet } from "./request.ts";
export * from "./reservation.ts";
export { shellWord } from "./shell-word.ts";
export type { TakeOver } from "./take-over.ts";
export { toSetCommands, toSetRemedy } from "./to-set.ts";
export { listed } from "./words.ts";
