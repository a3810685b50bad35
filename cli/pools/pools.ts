import {
  type Address,
  type Allocation,
  BlockIndex,
  contains,
  IpamError,
  offsetOf,
  type Pool,
  type PoolRecord,
  type Snapshot,
} from "../../core/index.ts";
import { definedPools } from "../../pipeline/defined-pools.ts";
import type { SourceFile } from "../../schema/index.ts";
import { didYouMean } from "../../schema/nearest.ts";
import { type PoolOfCluster, poolsOfCluster } from "../cluster.ts";
import { isFolder, readInputs } from "../files.ts";
import { isLockfile, openState, type StateOptions } from "../state.ts";
import { type Standing, type StandingKind, standings } from "./standing.ts";

export interface PoolOptions extends StateOptions {
  readonly pools: string;
}

/** A pool and its lines: what text, SVG, JSON and `explain` are views of. */
export interface PoolView {
  readonly record: PoolRecord;
  /** Undefined where the record has lines of a pool that is not defined here. */
  readonly pool: Pool | undefined;
  readonly live: readonly Allocation[];
  readonly releasing: readonly Allocation[];
  /** Where the NodeIPPool is in the cluster that has the record: whose it is, and what it says is wrong with it. */
  readonly inCluster?: Pick<PoolOfCluster, "authority" | "problem"> | undefined;
  /** What the pool has to do with an address. */
  readonly at: (address: Address) => Fact;
}

/** What one pool has to do with an address. */
export interface Fact extends Pick<PoolView, "record" | "pool"> {
  readonly address: Address;
  readonly state: State;
  /** The number people see, if the pool has the address and numbers it. */
  readonly offset: bigint | undefined;
  /** What the address is to the pool but for its holder. */
  readonly standing: Standing | undefined;
  readonly line: Allocation | undefined;
}

/** `unknown`: nobody holds it, and the pool is not defined here. */
export type State = "held" | "releasing" | StandingKind | "unknown";

/**
 * The pools that manifests define, and the record. Where that is in a cluster, and nobody says where manifests are, they are
 * the pools of the cluster, if it has any. Throws IpamError `invalid` if there is no pool in either.
 */
export async function readPools(
  options: PoolOptions,
): Promise<{ readonly files: readonly SourceFile[]; readonly views: readonly PoolView[] }> {
  const isElsewhere = isLockfile(options) || options.pools !== ".";
  const inCluster = isElsewhere ? [] : await poolsOfCluster(options);
  const files = inCluster.length > 0 ? [] : await readInputs(options.pools);
  const pools = inCluster.length > 0 ? inCluster.map(({ pool }) => pool) : definedPools(files);
  const about = new Map(inCluster.map((one) => [one.pool.name, one]));
  const state = await openState(options);
  const views = viewsOf(pools, await state.read()).map((view) => ({ ...view, inCluster: about.get(view.record.name) }));
  if (views.length === 0)
    throw new IpamError("invalid", `no pool is defined in ${options.pools}, and none is recorded in ${state.name}`, {
      hint: whereDefined,
    });
  // A folder need not have them: the record has what there is to say.
  if (pools.length === 0 && options.pools !== "-" && !isFolder(options.pools))
    throw new IpamError("invalid", `no pool is defined in ${options.pools}`, { hint: whereDefined });
  return { files, views };
}

const whereDefined = "Say where the pools are defined: --pools FOLDER.";

/** Every pool: the defined ones in their order, then those that are only recorded. */
export function viewsOf(pools: readonly Pool[], snapshot: Snapshot): PoolView[] {
  const live = Map.groupBy(snapshot.allocations, (line) => line.pool);
  const releasing = Map.groupBy(snapshot.releasing, (line) => line.pool);
  const view = (record: PoolRecord, pool?: Pool) =>
    viewOf(record, pool, live.get(record.name) ?? [], releasing.get(record.name) ?? []);
  const defined = new Set(pools.map((pool) => pool.name));
  return [
    ...pools.map((pool) => view(pool, pool)),
    ...snapshot.pools.filter(({ name }) => !defined.has(name)).map((record) => view(record)),
  ];
}

function viewOf(
  record: PoolRecord,
  pool: Pool | undefined,
  live: readonly Allocation[],
  releasing: readonly Allocation[],
): PoolView {
  const standing = pool === undefined ? undefined : standings(pool);
  const leaving = new Set(releasing);
  const lines = new BlockIndex([...live, ...releasing]);
  const at = (address: Address): Fact => {
    const [line] = lines.at({ address });
    const own = standing?.(address);
    const state = line === undefined ? (own?.kind ?? "unknown") : leaving.has(line) ? "releasing" : "held";
    const offset = pool !== undefined && contains(pool.range, address) ? offsetOf(pool, address) : undefined;
    return { record, pool, address, state, offset, standing: own, line };
  };
  return { record, pool, live, releasing, at };
}

/** The pool of this name. Throws IpamError `invalid`, with the name that may have been meant. */
export function viewNamed(views: readonly PoolView[], name: string): PoolView {
  const found = views.find(({ record }) => record.name === name);
  if (found !== undefined) return found;
  const names = views.map(({ record }) => record.name);
  throw new IpamError("invalid", `there is no pool ${JSON.stringify(name)}${didYouMean(name, names)}`);
}

/** A count for JSON: a number, or text where a number would be rounded. */
export function countJson(count: bigint): number | string {
  return count <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(count) : count.toString();
}
