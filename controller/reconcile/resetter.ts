import { clusterSet, formatBlock, ownerName } from "../../core/index.ts";
import { objectKey } from "../../integrations/contract/object-key.ts";
import { resetAnnotation } from "../../schema/node-ip-pool.ts";
import { asBag, conditionOf } from "../../schema/objects.ts";
import type { Allocator } from "../allocate/allocator.ts";
import { integrationOf, isNodeIPPool } from "../allocate/asking.ts";
import type { Reset } from "../allocate/reset.ts";
import type { Seen } from "../cache/seen.ts";
import type { World } from "../cache/world.ts";
import type { Dependencies } from "../dependencies.ts";
import { Writer } from "../write/writer.ts";
import type { Reporter } from "./reporter.ts";

/**
 * Brings resets to their end; the allocator frees what they free.
 *
 *  the pool says ReconcilingPool | a line is still to be freed | to do
 *  ------------------------------+-----------------------------+---------------------------
 *  no                            | any                         | the pool says so
 *  yes                           | yes                         | look again
 *  yes                           | no                          | the annotation is removed
 */
export class Resetter {
  private readonly deps: Dependencies;
  private readonly world: World;
  private readonly allocator: Allocator;
  private readonly reporter: Reporter;
  private readonly writer: Writer;

  constructor(deps: Dependencies, world: World, allocator: Allocator, reporter: Reporter) {
    this.deps = deps;
    this.world = world;
    this.allocator = allocator;
    this.reporter = reporter;
    this.writer = new Writer(deps, world);
  }

  /** Resolves to the milliseconds after which to look again, if it is not done. */
  async reset(key: string): Promise<number | undefined> {
    const { pools } = await this.allocator.inputs();
    const reset = this.allocator.resets.list(pools).find((one) => one.key === key);
    const object = this.world.get(key);
    if (reset === undefined || object === undefined) return undefined;
    if (reset.problem !== undefined) {
      this.deps.observer?.wrong(key, "InvalidReset", reset.problem);
      return undefined;
    }
    const pool = pools.get(reset.pool)?.object ?? object;
    // Where others define it, nobody waits to read there that it is being rebuilt.
    if (isNodeIPPool(pool) && !isReconciling(this.world.get(objectKey(pool)))) {
      await this.reporter.report(objectKey(pool));
      return 0;
    }
    if (await this.allocator.hasToFree(key)) return this.deps.timing.fresh;
    await this.writer.change(object, { metadata: { annotations: { [resetAnnotation]: null } } });
    await this.reporter.report(objectKey(pool));
    await this.tellKept(reset);
    return undefined;
  }

  /** What was freed has its own Event: on the pool, and on what asked for it. */
  private async tellKept({ key, pool, covers }: Reset): Promise<void> {
    const { releasing } = await this.allocator.record.get();
    const kept = releasing.filter((line) => line.set === clusterSet && covers(line));
    if (kept.length === 0) return;
    const freeOnce = new Set(
      kept.map(({ claim }) => integrationOf(claim, this.deps.integrations)?.explain?.freeOnce ?? byReports),
    );
    const some = kept.slice(0, maxNamed).map((line) => `${formatBlock(line)} of ${ownerName(line.claim)}`);
    const rest = kept.length > maxNamed ? ` and ${kept.length - maxNamed} more` : "";
    const why = [...freeOnce].join("; or ");
    const message = `${resetAnnotation} kept ${some.join(", ")}${rest} of pool ${pool}: an address is free once ${why}.`;
    this.deps.observer?.wrong(key, "ResetKept", message);
  }
}

/** So many addresses are named. */
const maxNamed = 5;
/** When addresses of nodes are free. */
const byReports =
  "the report of its node (kubectl get nns) shows its NIC without it, or knows no such NIC, and the node's policy is not in progress (kubectl get nnce)";

function isReconciling(pool: Seen | undefined): boolean {
  return conditionOf(asBag(pool?.status)?.conditions, "Available")?.reason === "ReconcilingPool";
}
