import { type Address, address } from "../../../core/address.ts";
import { type Allocation, byAddress, type PoolRecord, type Snapshot } from "../../../core/allocation.ts";
import { formatBlock, parseBlock } from "../../../core/block.ts";
import { type Claim, parseClaimKey } from "../../../core/claim.ts";
import { unwrap } from "../../../core/errors.ts";
import { parsePool } from "../../../core/parse-pool.ts";
import type { Plan } from "../../../core/plan/plan.ts";
import type { Pool } from "../../../core/pool.ts";
import type { PoolSpec } from "../../../core/pool-spec.ts";

/** `10.0.0.0/29`, or `10.0.0.0/29 10.0.0.1 10.0.0.4` with start and end. */
export function poolOf(name: string, range: string, rest: Omit<PoolSpec, "range"> & { exclude?: string[] } = {}): Pool {
  const [cidr = "", start, end] = range.split(" ");
  const { exclude = [], ...spec } = rest;
  const ends = { ...(start === undefined ? {} : { start }), ...(end === undefined ? {} : { end }) };
  return unwrap(parsePool(name, { ...spec, range: { cidr, ...ends, exclude } }));
}

/** `Node/n1/a`, and any of `wanted=10.0.0.2 uid=u1 if=eth1 pool=q`; the pool is `p` unless said. */
export function claimOf(text: string): Claim {
  const [key = "", ...words] = text.split(" ");
  const { wanted, uid, if: nic, pool = "p" } = optionsOf(words);
  return {
    ...unwrap(parseClaimKey(key)),
    pool,
    ...(wanted === undefined ? {} : { wanted: address(wanted) }),
    ...(uid === undefined ? {} : { uid }),
    ...(nic === undefined ? {} : { interface: nic }),
  };
}

/** `10.0.0.2 Node/n1/a` or `10.4.0.0/22 Node/n1/a`, and any of `set=other uid=u1 if=eth1 pool=q`; the set is `default` unless said. */
export function lineOf(text: string): Allocation {
  const [where = "", claim = "", ...words] = text.split(" ");
  const { set = "default", uid, if: nic, pool = "p" } = optionsOf(words);
  const rest = { ...(nic === undefined ? {} : { interface: nic }), ...(uid === undefined ? {} : { uid }) };
  return { ...unwrap(parseBlock(where)), pool, claim, set, ...rest };
}

/** Lines as `lineOf` reads them; those that end in `releasing` are. Pools with a line get a record. */
export function recordOf(lines: readonly string[], pools: readonly PoolRecord[]): Snapshot {
  const isLeaving = (text: string) => text.endsWith(" releasing");
  const read = (text: string) => lineOf(text.replace(/ releasing$/, ""));
  const allocations = lines.filter((text) => !isLeaving(text)).map(read);
  const releasing = lines.filter(isLeaving).map(read);
  return snapshotOf(allocations, releasing, pools);
}

export function snapshotOf(
  allocations: readonly Allocation[],
  releasing: readonly Allocation[],
  pools: readonly PoolRecord[],
): Snapshot {
  const used = new Set([...allocations, ...releasing].map((line) => line.pool));
  return {
    pools: pools
      .filter(({ name }) => used.has(name))
      .map(({ name, prefix, network, last }) => ({ name, prefix, network, ...(last === undefined ? {} : { last }) }))
      .sort((a, b) => (a.name < b.name ? -1 : 1)),
    allocations: [...allocations].sort(byAddress),
    releasing: [...releasing].sort(byAddress),
    base: new Map(),
  };
}

/** A plan as sorted lines: what happens to whom. */
export function shown(plan: Plan): string[] {
  return [
    ...plan.assign.map((line) => `assign ${textOf(line)}`),
    ...plan.keep.map(({ allocation, was }) => `keep ${textOf(allocation)}${was ? `, was ${textOf(was)}` : ""}`),
    ...plan.release.map(({ allocation, to }) => `${to} ${textOf(allocation)}`),
    ...plan.pending.map(({ code, claim, pool }) => `${code} ${claim}${pool === "p" ? "" : ` pool=${pool}`}`),
  ].sort();
}

/** The text that `lineOf` reads. */
export function textOf(line: Allocation): string {
  const words = [
    line.pool === "p" ? "" : ` pool=${line.pool}`,
    line.set === "default" ? "" : ` set=${line.set}`,
    line.interface === undefined ? "" : ` if=${line.interface}`,
    line.uid === undefined ? "" : ` uid=${line.uid}`,
  ];
  return `${formatBlock(line)} ${line.claim}${words.join("")}`;
}

/** `.7` as `10.0.0.7`, wherever it stands in a text. */
export function spelt(text: string): string {
  return text.replaceAll(/(?<![\w.])\.(\d)/g, "10.0.0.$1");
}

/** The address that is n after (or before) this one. */
export function plus(from: Address | string, n: bigint | number): Address {
  return ((typeof from === "string" ? address(from) : from) + BigInt(n)) as Address;
}

/** A plan, byte for byte. */
export function bytesOf(plan: Plan): string {
  return JSON.stringify(plan, (_, value: unknown) =>
    typeof value === "bigint" ? value.toString() : value instanceof Map ? [...value] : value,
  );
}

function optionsOf(words: readonly string[]): Record<string, string | undefined> {
  return Object.fromEntries(words.map((word) => word.split("=")));
}
