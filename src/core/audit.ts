import { type Address, formatAddress } from "./address.ts";
import type { Allocation, Snapshot } from "./allocation.ts";
import { ownerOfKey } from "./claim.ts";
import { byCodeUnit, type Place } from "./errors.ts";
import type { Pool } from "./pool.ts";
import { contains } from "./range.ts";

/** An address that something out there uses: a rendered manifest, a node's own report. */
export interface Use {
  readonly address: Address;
  /** Who configures it, as `formatOwner` writes it; absent where a text only mentions it. */
  readonly owner?: string;
  readonly interface?: string;
  readonly at: Place;
}

export type FindingKind =
  /** Two owners, or two NICs of one, configure one address. */
  | "duplicate"
  /** A recorded allocation outside its pool's range. */
  | "out-of-pool"
  /** A recorded allocation of an address that the pool excludes or reserves. */
  | "excluded"
  /** Recorded, but nothing uses it. */
  | "leaked"
  /** Recorded for an owner that does not exist. */
  | "unknown-owner"
  /** Used from a pool's range, but not recorded. */
  | "stranger"
  /** Used by another owner than the record says. */
  | "wrong-owner";

export interface Finding {
  readonly kind: FindingKind;
  readonly address: Address;
  readonly message: string;
  readonly at?: Place;
}

export interface AuditInput {
  readonly pools: readonly Pool[];
  readonly snapshot: Snapshot;
  /** All owners that exist; without it nobody is unknown. */
  readonly owners?: ReadonlySet<string>;
  /** All uses found; without it nothing leaks and nobody is a stranger. */
  readonly uses?: readonly Use[];
}

/** Holds the record against the pools, the owners and what is really used. Empty means all is well. Pure. */
export function audit(input: AuditInput): Finding[] {
  const findings = [...auditRecord(input), ...(input.uses === undefined ? [] : auditUses(input, input.uses))];
  return findings.sort((a, b) =>
    a.address === b.address ? byCodeUnit(a.kind, b.kind) : a.address < b.address ? -1 : 1,
  );
}

function auditRecord({ pools, snapshot, owners }: AuditInput): Finding[] {
  const byName = new Map(pools.map((pool) => [pool.name, pool]));
  return snapshot.allocations.flatMap((line): Finding[] => {
    const pool = byName.get(line.pool);
    const held = `${formatAddress(line.address)} is recorded for ${line.claim}`;
    const found: Finding[] = [];
    if (pool !== undefined && !contains(pool.range, line.address))
      found.push({ kind: "out-of-pool", address: line.address, message: `${held}, outside pool ${pool.name}` });
    else if (pool !== undefined && !contains(pool.assignable, line.address))
      found.push({ kind: "excluded", address: line.address, message: `${held}, but pool ${pool.name} excludes it` });
    if (owners !== undefined && !owners.has(ownerOfKey(line.claim)))
      found.push({ kind: "unknown-owner", address: line.address, message: `${held}, which does not exist` });
    return found;
  });
}

function auditUses({ pools, snapshot }: AuditInput, uses: readonly Use[]): Finding[] {
  const recorded = new Map<Address, Allocation[]>();
  for (const line of [...snapshot.allocations, ...snapshot.releasing])
    recorded.set(line.address, [...(recorded.get(line.address) ?? []), line]);
  const used = new Set(uses.map((use) => use.address));
  const leaked = snapshot.allocations
    .filter((line) => !used.has(line.address))
    .map((line): Finding => {
      const message = `${formatAddress(line.address)} is recorded for ${line.claim}, but nothing uses it`;
      return { kind: "leaked", address: line.address, message };
    });
  return [
    ...leaked,
    ...duplicates(uses),
    ...uses.flatMap((use) => strangers(use, pools, recorded.get(use.address) ?? [])),
  ];
}

/** One finding for each further owner or NIC of an address. */
function duplicates(uses: readonly Use[]): Finding[] {
  const first = new Map<Address, Use>();
  return uses.flatMap((use): Finding[] => {
    if (use.owner === undefined) return [];
    const other = first.get(use.address);
    if (other === undefined) {
      first.set(use.address, use);
      return [];
    }
    if (other.owner === use.owner && other.interface === use.interface) return [];
    const message = `${formatAddress(use.address)} is configured on ${describe(other)} and on ${describe(use)}`;
    return [{ kind: "duplicate", address: use.address, message, at: use.at }];
  });
}

function strangers(use: Use, pools: readonly Pool[], lines: readonly Allocation[]): Finding[] {
  const text = formatAddress(use.address);
  if (lines.length === 0) {
    const pool = pools.find((p) => contains(p.assignable, use.address));
    if (pool === undefined) return [];
    const message = `${text} of pool ${pool.name} is used${by(use)}, but not recorded`;
    return [{ kind: "stranger", address: use.address, message, at: use.at }];
  }
  if (use.owner === undefined || lines.some((line) => ownerOfKey(line.claim) === use.owner)) return [];
  const message = `${text} is used${by(use)}, but recorded for ${lines.map((line) => line.claim).join(", ")}`;
  return [{ kind: "wrong-owner", address: use.address, message, at: use.at }];
}

function by(use: Use): string {
  return use.owner === undefined ? "" : ` by ${describe(use)}`;
}

function describe(use: Use): string {
  return use.interface === undefined ? `${use.owner}` : `${use.owner} ${use.interface}`;
}
