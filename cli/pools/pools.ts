import { type Allocation, IpamError, type Pool, type PoolRecord, type Snapshot } from "../../core/index.ts";
import { definedPools } from "../../schema/defined-pools.ts";
import type { SourceFile } from "../../schema/index.ts";
import { didYouMean } from "../../schema/nearest.ts";
import { readInputs } from "../files.ts";
import { openState, type StateOptions } from "../state.ts";

export interface PoolOptions extends StateOptions {
  readonly pools: string;
}

/** The pools that manifests define, and the record. Throws IpamError `invalid` if there is no pool in either. */
export async function readPools(options: PoolOptions): Promise<{
  readonly files: readonly SourceFile[];
  readonly pools: readonly Pool[];
  readonly snapshot: Snapshot;
}> {
  const files = await readInputs(options.pools);
  const state = await openState(options);
  const snapshot = await state.read();
  const pools = definedPools(files);
  if (pools.length === 0 && snapshot.pools.length === 0)
    throw new IpamError("invalid", `no pool is defined in ${options.pools}, and none is recorded in ${state.name}`, {
      hint: "Say where the pools are defined: --pools FOLDER.",
    });
  return { files, pools, snapshot };
}

/** A pool and its lines. `pool` is undefined where the record has lines of a pool that is not defined here. */
export interface PoolView {
  readonly record: PoolRecord;
  readonly pool: Pool | undefined;
  readonly live: readonly Allocation[];
  readonly releasing: readonly Allocation[];
}

/** Every pool: the defined ones in their order, then those that are only recorded. */
export function viewsOf(pools: readonly Pool[], snapshot: Snapshot): PoolView[] {
  const live = Map.groupBy(snapshot.allocations, (line) => line.pool);
  const releasing = Map.groupBy(snapshot.releasing, (line) => line.pool);
  const defined = new Set(pools.map((pool) => pool.name));
  const view = (record: PoolRecord, pool?: Pool): PoolView => ({
    record,
    pool,
    live: live.get(record.name) ?? [],
    releasing: releasing.get(record.name) ?? [],
  });
  return [
    ...pools.map((pool) => view(pool, pool)),
    ...snapshot.pools.filter(({ name }) => !defined.has(name)).map((record) => view(record)),
  ];
}

/** The pool of this name. Throws IpamError `invalid`, with the name that may have been meant. */
export function viewNamed(views: readonly PoolView[], name: string): PoolView {
  const found = views.find(({ record }) => record.name === name);
  if (found !== undefined) return found;
  const names = views.map(({ record }) => record.name);
  throw new IpamError("invalid", `there is no pool ${JSON.stringify(name)}${nearName(name, names)}`, {
    hint: poolNames(names),
  });
}

/** "; did you mean X?", never for a name with other numbers: `node05` is not `node04`, nor `lan-v6` `lan-v4`. */
export function nearName(name: string, known: Iterable<string>): string {
  const numbers = (text: string) => (text.match(/\d+/g) ?? []).map(BigInt).join();
  const wanted = numbers(name);
  return didYouMean(
    name,
    [...known].filter((one) => numbers(one) === wanted),
  );
}

/** `Pools: a, b.` */
export function poolNames(names: readonly string[]): string {
  const more = names.length > 10 ? ` and ${names.length - 10} more` : "";
  return `Pools: ${names.slice(0, 10).join(", ")}${more}.`;
}

/** A count for JSON: a number, or text where a number would be rounded. */
export function countJson(count: bigint): number | string {
  return count <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(count) : count.toString();
}
