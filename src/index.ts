/** Static IP addresses decided at plan time: pools and claims in, a plan out, a record that keeps it. */
export {
  AddressValidation,
  type AddressValidationProps,
  type ValidationContext,
} from "./constructs/address-validation.ts";
export * from "./core/index.ts";
export { type Lockfile, lockfile, memory, type StateBackend } from "./state/index.ts";
