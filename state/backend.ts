import type { Plan, Snapshot } from "../core/index.ts";

/**
 * Where allocations live; the only noun with effects. Every backend passes test/contract:
 *
 * C1 `commit` throws IpamError `conflict`, and changes nothing, if the content of a pool that the plan touches is
 *    no longer what the plan was made against (compared per pool; other pools may have moved). A backend that writes
 *    pool by pool may find that out in the middle: then C2 holds.
 * C2 A pool is written as a whole. A commit that ends in the middle, by a crash or by C1, leaves every pool as it was or
 *    as the plan has it, so nothing is held twice, and a new plan keeps what went through.
 * C3 Committing a plan again, because nobody knows whether it went through, succeeds: a record that already
 *    holds the whole effect is success without a write.
 * C4 No plan hands an address from one owner to another; `plan()` sees to it, and `commit` refuses one that does.
 *
 * `applyPlan` holds all four over a snapshot; what is left to a backend is to write by compare-and-swap.
 */
export interface StateBackend {
  /** For messages: the file, or the cluster and namespace. */
  readonly name: string;
  /** What a record in a cluster was opened with, for hints. */
  readonly where?: { readonly context?: string | undefined; readonly namespace?: string | undefined };
  read(): Promise<Snapshot>;
  /**
   * Makes the plan true and returns the record after it; pools that the plan does not touch may be as they were when
   * this backend last read them. A plan with pending claims is not refused here.
   */
  commit(plan: Plan): Promise<Snapshot>;
  /** When the record was last written, by the clock of who keeps it; undefined where nobody knows. */
  writtenAt?(): Promise<Date | undefined>;
}

/** A backend whose record can be told from all others, wherever it is found. */
export interface KnownBackend extends StateBackend {
  /** The same for as long as it is that record; undefined where nothing was ever recorded. */
  identity(): Promise<string | undefined>;
  /** Returns whether the move with this id, as the mark of a lock has it, brought its record here. */
  hasTaken(move: string): Promise<boolean>;
}
