/** Static IP addresses decided at plan time: pools and claims in, a plan out, a record that keeps it. */

// Pools, owners and claims.

export {
  type Claim,
  claimKey,
  formatOwner,
  nameOfKey,
  type Owner,
  ownerOfKey,
  type PoolChoice,
  parseClaimKey,
  parseOwner,
} from "./core/claim.ts";
export { parsePool } from "./core/parse-pool.ts";
export type { Pool } from "./core/pool.ts";
export type { AllocationOrder, Authority, PoolSpec, RangeText, ReservationSpec } from "./core/pool-spec.ts";
export type { PoolWords } from "./core/pool-words.ts";
export type { Reservation, Reservations } from "./core/reservation.ts";
export type { PoolRules } from "./core/selection/pool-rules.ts";
export type { LabelExpression, PoolLabelSelector } from "./core/selection/pool-selector.ts";
export type { PoolSource, Verdict } from "./core/selection/select.ts";

// Plans: who gets, keeps and gives up what.

export type { Kept, Pending, Release } from "./core/plan/changes.ts";
export { describeChanges } from "./core/plan/describe.ts";
export { type ImportInput, planImport } from "./core/plan/import.ts";
export type { Moved } from "./core/plan/moved.ts";
export { refusePending } from "./core/plan/pending.ts";
export { isNoop, type Plan, type PlanInput, plan } from "./core/plan/plan.ts";
export { planRelease } from "./core/plan/release.ts";
export { type Presence, releaseRefusal } from "./core/plan/release-guard.ts";
export { planRename } from "./core/plan/rename.ts";
export { provenGone, type Reports, type Testimony } from "./integrations/nmstate/proven-gone.ts";

// The record: what is held, where it lives, and what is wrong with it.

export {
  type Allocation,
  emptySnapshot,
  importedSet,
  type LineJson,
  lineJson,
  type PoolRecord,
  type Snapshot,
  type UnreadableSubnet,
} from "./core/allocation.ts";
export { type AuditInput, audit, type Finding, type FindingKind } from "./core/audit.ts";
export { type Difference, diffRecords } from "./core/diff.ts";
export { type Lockfile, type LockfileOptions, lockfile, memory, type StateBackend } from "./state/index.ts";

// For cdk8s.yaml, which finds validations by the package's name alone.

export { AddressValidation, type ValidationContext } from "./constructs/address-validation.ts";
export type { AddressValidationProps } from "./constructs/validation-props.ts";

// Addresses, and sets of them.

export {
  type Address,
  address,
  type Family,
  familyOf,
  formatAddress,
  formatPrefix,
  type Prefix,
  parseAddress,
  parsePrefix,
} from "./core/address.ts";
export { addressAt, offsetOf } from "./core/numbering.ts";
export {
  contains,
  covers,
  type Interval,
  intersect,
  minus,
  overlaps,
  type Range,
  rangeOf,
  sizeOf,
  union,
} from "./core/range.ts";

// What goes wrong.

export {
  codes,
  formatIssue,
  type IpamCode,
  IpamError,
  type Issue,
  type Parsed,
  type Place,
  type Remedy,
  unwrap,
} from "./core/errors.ts";
export type { Use } from "./core/use.ts";
