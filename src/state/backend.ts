import type { Plan, Snapshot } from "../core/index.ts";

/**
 * Where allocations live; the only noun with effects. Every backend passes test/contract:
 *
 * C1 `commit` throws IpamError `conflict`, and changes nothing, if the content of a pool that the plan touches is
 *    no longer what the plan was made against (compared per pool; other pools may have moved).
 * C2 After a crash in the middle of a commit the record is the old one or the new one.
 * C3 Committing a plan again, because nobody knows whether it went through, succeeds: a record that already
 *    holds the whole effect is success without a write.
 * C4 No plan hands an address from one owner to another; `plan()` sees to it, and `commit` refuses one that does.
 */
export interface StateBackend {
  /** For messages: the file, or the cluster and namespace. */
  readonly name: string;
  read(): Promise<Snapshot>;
  /** Makes the plan true and returns the record after it. A plan with pending claims is not refused here. */
  commit(plan: Plan): Promise<Snapshot>;
}
