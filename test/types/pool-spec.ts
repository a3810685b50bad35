import type { PoolSpec } from "../../core/index.ts";
import type { NodeIPPool } from "../../schema/generated/node-ip-pool.types.ts";

// A field that deploy/crd gets, and PoolSpec does not, or the other way round, does not compile here.

type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : never) : never;
type Spec = NodeIPPool["spec"];
type One<List> = List extends readonly (infer Item)[] ? Item : never;

export const fields: Same<keyof PoolSpec, keyof Spec> = true;
export const fieldsOfRange: Same<keyof PoolSpec["range"], keyof Spec["range"]> = true;
export const fieldsOfReservation: Same<
  keyof One<NonNullable<PoolSpec["reservations"]>>,
  keyof One<NonNullable<Spec["reservations"]>>
> = true;
export const spec = (generated: Spec): PoolSpec => generated;
