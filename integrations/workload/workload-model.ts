import type { SourceObject } from "../../schema/manifest-document.ts";
import type { ReadObject } from "../contract/read-each.ts";
import type { UnreadObject } from "../contract/unserved.ts";
import type { PoolSources } from "./pools-of-workload.ts";
import type { Workload } from "./workload-object.ts";

/** The workloads, and the objects that decide which pools their pods have addresses of. */
export interface WorkloadModel extends PoolSources {
  readonly workloads: readonly ReadObject<Workload>[];
  /** Workloads that cannot be read. */
  readonly unread: readonly UnreadObject[];
  /** All objects that a plan passes on, workloads included. */
  readonly sources: readonly SourceObject[];
}
