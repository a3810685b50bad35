export { AllocationSet, type AllocationSetArgs, type ClaimArgs } from "./allocation-set.ts";
export type { Addresses, StateArgs } from "./set-state.ts";
