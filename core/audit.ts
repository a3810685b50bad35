import { type Address, compareAddresses, familyOf, formatAddress } from "./address.ts";
import { type Allocation, importedSet, isReportedBy, type Snapshot } from "./allocation.ts";
import { BlockIndex, formatBlock, holds, isSingle, lengthOf, type MaybeBlock } from "./block.ts";
import { nameOfKey, ownerOfKey } from "./claim.ts";
import { byCodeUnit, type Place } from "./errors.ts";
import { hasGateway, type Pool } from "./pool.ts";
import { howToKeep } from "./pool-words.ts";
import { contains } from "./range.ts";
import { describeUse, type Use } from "./use.ts";

/** What can be wrong with an address. */
export type FindingKind =
  /** Two owners, or two NICs or claims of one, configure one address. */
  | "duplicate"
  /** A recorded allocation outside its pool's range. */
  | "out-of-pool"
  /** Used or recorded, but never handed out: excluded, the network's own, the gateway. */
  | "excluded"
  /** Recorded, but nothing uses it. */
  | "leaked"
  /** Recorded for an owner that does not exist. */
  | "unknown-owner"
  /** A plan might hand it out to somebody; it is used, but not recorded. */
  | "stranger"
  /** Used by another owner than the record says, or by another claim of its owner. */
  | "wrong-owner"
  /** Used by its owner, but on another NIC than the record says. */
  | "wrong-interface"
  /** Used with another prefix length than its pool has. */
  | "wrong-prefix";

/** One thing that is wrong: with a line of the record, or with a use. */
export interface Finding {
  readonly kind: FindingKind;
  readonly address: Address;
  readonly message: string;
  /** Where the use stands, if a use is what is wrong, and what to do about it. */
  readonly at?: Place;
  readonly hint?: string;
  /** The line of the record, if that is what is wrong. */
  readonly line?: Allocation;
  /** Where only the manifests or the owners of a claim set tell: that set. */
  readonly set?: string;
}

/** What `audit` compares: pools and record, and as much of the world as is known. */
export interface AuditInput {
  readonly pools: readonly Pool[];
  readonly snapshot: Snapshot;
  /** All owners that exist, of the claim sets that `shows` names, if it is there; without it nobody is unknown. */
  readonly owners?: ReadonlySet<string>;
  /** All uses found; without it nothing leaks and nobody is a stranger. */
  readonly uses?: readonly Use[];
  /** What the owners configure besides, in none of the ranges: what a NIC has instead of its recorded address; a gateway's. */
  readonly elsewhere?: readonly Use[];
  /**
   * What `uses` shows all of, in the ranges of the pools; without it, everything. A line that it ought to show leaks. A list
   * (`listed`) shows all that the NICs have that it names, and nothing of others.
   */
  readonly shows?: {
    /** Everything that these owners have: their own reports. */
    readonly owners: ReadonlySet<string>;
    /** The manifests of these claim sets, for every pool that another owner has an address of. */
    readonly sets: ReadonlySet<string>;
  };
}

/** Holds the record against the pools, the owners and what is really used. Empty means all is well. Pure. */
export function audit(input: AuditInput): Finding[] {
  const findings = [...auditRecord(input), ...(input.uses === undefined ? [] : auditUses(input, input.uses))];
  return findings.sort((a, b) => compareAddresses(a.address, b.address) || byCodeUnit(a.kind, b.kind));
}

/** The addresses of these pools that are used. */
export function usedIn(pools: readonly Pool[], uses: readonly Use[]): Set<Address> {
  const used = uses.map((use) => use.address);
  return new Set(used.filter((address) => pools.some((pool) => contains(pool.range, address))));
}

function auditRecord({ pools, snapshot, owners, shows }: AuditInput): Finding[] {
  const byName = new Map(pools.map((pool) => [pool.name, pool]));
  return snapshot.allocations.flatMap((line): Finding[] => {
    const pool = byName.get(line.pool);
    const { address, set } = line;
    const recorded = `${formatBlock(line)} is recorded for ${line.claim}`;
    const found: Finding[] = [];
    if (pool !== undefined && !holds(pool.range, line))
      found.push({ kind: "out-of-pool", address, message: `${recorded}, outside pool ${pool.name}`, line });
    else if (pool !== undefined && !holds(pool.assignable, line) && !isSetAside(line, pool))
      found.push({ kind: "excluded", address, message: `${recorded}, but pool ${pool.name} excludes it`, line });
    const told = set === importedSet || shows === undefined ? {} : { set };
    if (owners?.has(ownerOfKey(line.claim)) === false && (told.set === undefined || shows?.sets.has(set)))
      found.push({ kind: "unknown-owner", address, message: `${recorded}, which does not exist`, line, ...told });
    return found;
  });
}

/** What an import recorded, and a reservation keeps from everybody: a virtual IP, say. */
function isSetAside({ address, set }: Allocation, { reservations }: Pool): boolean {
  return set === importedSet && reservations.at(address) !== undefined;
}

/** What is audited, with the uses and lines of an address at hand. */
interface World extends AuditInput {
  readonly uses: readonly Use[];
  readonly used: BlockIndex<Use>;
  readonly recorded: BlockIndex<Allocation>;
}

function auditUses(input: AuditInput, uses: readonly Use[]): Finding[] {
  const recorded = new BlockIndex([...input.snapshot.allocations, ...input.snapshot.releasing]);
  const world: World = { ...input, uses, used: new BlockIndex(uses), recorded };
  return [
    ...leaked(world),
    ...duplicates(world),
    ...world.uses.flatMap((use) => misused(use, world)),
    ...(world.elsewhere ?? []).flatMap((use) => excluded(use, world)),
    ...misplaced(world),
  ];
}

/** What owners configure otherwise than recorded: one finding for a line and kind. */
function misplaced({ pools, snapshot, used }: World): Finding[] {
  const byName = new Map(pools.map((pool) => [pool.name, pool]));
  return snapshot.allocations.flatMap((line): Finding[] => {
    const { interface: nic } = line;
    const own = used.at(line).filter((use) => use.owner === ownerOfKey(line.claim));
    const found: Finding[] = [];
    const elsewhere = own.find((use) => use.claim === undefined && isLiteral(use.interface));
    const isThere = own.some((use) => use.interface === nic || !isLiteral(use.interface));
    if (nic !== undefined && elsewhere !== undefined && !isThere)
      found.push(
        findingOf("wrong-interface", elsewhere, `is used by ${describeUse(elsewhere)}, but recorded for ${nic}`),
      );
    const length = isSingle(line) ? byName.get(line.pool)?.prefix.length : undefined;
    // An owner may have one address in two networks, each on a NIC of its own.
    const onNic = own.filter((use) => use.interface === nic);
    const other = (onNic.length > 0 ? onNic : own).find(
      (use) => use.prefixLength !== undefined && use.prefixLength !== length && !mayStandAlone(line, use),
    );
    if (length !== undefined && other !== undefined) {
      const used = `has prefix length ${other.prefixLength} on ${describeUse(other)}`;
      found.push(findingOf("wrong-prefix", other, `${used}, but pool ${line.pool} has /${length}`));
    }
    return found;
  });
}

/** Returns whether an address may have a prefix of itself alone: on `lo`, or if it was imported, because it may be a virtual IP. */
function mayStandAlone({ set }: Allocation, { address, prefixLength, interface: nic }: Use): boolean {
  return prefixLength === lengthOf({ address }) && (nic === "lo" || set === importedSet);
}

/** A template stands for whatever NIC the node has. */
function isLiteral(nic: string | undefined): boolean {
  return nic !== undefined && !nic.includes("{{");
}

function leaked(world: World): Finding[] {
  const { snapshot, shows, used, elsewhere = [] } = world;
  const isShown = shownBy(world);
  const instead = Map.groupBy(elsewhere, (use) => placesOn(use.owner, use)[0]);
  return snapshot.allocations.flatMap((line): Finding[] => {
    const { address } = line;
    const owner = ownerOfKey(line.claim);
    const [culprit] = placesOn(owner, line).flatMap((place) => instead.get(place) ?? []);
    if (used.at(line).length > 0 || !isShown(line, culprit !== undefined)) return [];
    const message = `${formatBlock(line)} is recorded for ${line.claim}, but nothing uses it`;
    const told = shows?.owners.has(owner) === false ? { set: line.set } : {};
    if (culprit === undefined) return [{ kind: "leaked", address, message, line, ...told }];
    const has = `${describeUse(culprit)} has ${formatAddress(culprit.address)} here, which is in no pool`;
    return [{ kind: "leaked", address, message: `${message}: ${has}`, at: culprit.at, ...told }];
  });
}

/** Returns whether this line should be in use. `isReplaced`: its NIC shows another address. */
function shownBy({ pools, shows, uses, recorded }: World): (line: Allocation, isReplaced: boolean) => boolean {
  if (shows === undefined) return () => true;
  const ranges = new Map(pools.map((pool) => [pool.name, pool.range]));
  const shown = new Set<string>();
  // A list says what a NIC has, and need not name all NICs and nodes.
  const listed = new Set(uses.flatMap((use) => (use.listed === undefined ? [] : placesOn(use.owner, use))));
  const isListed = (line: Allocation) => placesOn(ownerOfKey(line.claim), line).some((place) => listed.has(place));
  for (const use of uses) {
    if (use.owner === undefined || use.listed !== undefined || shows.owners.has(use.owner)) continue;
    const line = lineOf(use, recorded);
    for (const [name, range] of ranges)
      if (line === undefined ? contains(range, use.address) : line.pool === name) shown.add(name);
  }
  return (line, isReplaced) =>
    holds(ranges.get(line.pool) ?? [], line) &&
    (isReportedBy(shows.owners, line) ||
      ((shown.has(line.pool) || isReplaced || isListed(line)) && shows.sets.has(line.set)));
}

/** The places of an address at its owner, as far as they are known: its pool; its NIC and family, which nmstate replaces as a whole. */
function placesOn(
  owner: string | undefined,
  { pool, interface: nic, address }: Pick<Use, "pool" | "interface" | "address">,
): string[] {
  const places = [pool, nic && `${nic} ${familyOf(address)}`];
  return places.flatMap((place) => (place === undefined ? [] : `${owner} ${place}`));
}

/** The line that gives the user what it uses; one for the same NIC, if there are several. */
function lineOf(use: Use, recorded: World["recorded"]): Allocation | undefined {
  const lines = recorded.at(use).filter((line) => isTheirs(line, use));
  return lines.find((line) => line.interface === use.interface) ?? lines[0];
}

/** Returns whether the line is the user's: its claim's, if that is known, else its owner's. */
function isTheirs({ claim }: Allocation, { owner, claim: name }: Use): boolean {
  return ownerOfKey(claim) === owner && (name === undefined || nameOfKey(claim) === name);
}

function duplicates(world: World): Finding[] {
  const owned = world.uses.filter((use) => use.owner !== undefined && !isShared(use, world));
  const index = new BlockIndex(owned);
  const groups = Map.groupBy(owned, (use) => (isSingle(use) ? use.address : formatBlock(use)));
  return [...groups.values()].flatMap((same) => {
    const around = index.around(same[0] as Use);
    return same.length + around.length === 1 ? [] : clashes(same, around, world.recorded);
  });
}

/** Returns whether several owners may have an address: a pool excludes it, or reserves it without an owner, and no pool or DHCP gives it. */
function isShared(use: Use, { pools, used, recorded }: World): boolean {
  if (recorded.at(use).length > 0 || pools.some((pool) => holds(pool.assignable, use))) return false;
  if (used.at(use).some((one) => one.isTemporary)) return false;
  return pools.some(({ excluded, reservations }) => {
    const reserved = reservations.at(use.address);
    return holds(excluded, use) || (reserved !== undefined && reserved.owner === undefined);
  });
}

/**
 * One finding for each further owner or NIC of a block, or of one `around` it; the owner on record comes first. Two that
 * are on record for two pools are in two networks.
 */
function clashes(same: readonly Use[], around: readonly Use[], recorded: World["recorded"]): Finding[] {
  const withPool = [...around, ...same].map((use) => ({ use, pool: lineOf(use, recorded)?.pool }));
  const recordedFirst = withPool.toSorted((a, b) => Number(a.pool === undefined) - Number(b.pool === undefined));
  const first = new Map<string | undefined, Use>();
  const seen = new Set<string>();
  return recordedFirst.flatMap(({ use, pool }) => {
    const other = pool === undefined ? first.values().next().value : first.get(pool);
    if (other === undefined) first.set(pool, use);
    const owner = `${use.owner}`;
    const nic = `${use.owner} ${use.interface ?? "?"}`;
    const isKnown = use.interface === undefined ? seen.has(owner) : seen.has(nic) || seen.has(`${owner} ?`);
    seen.add(owner).add(nic);
    if (other === undefined || isKnown || (around.includes(use) && around.includes(other))) return [];
    return [findingOf("duplicate", use, `is configured on ${describeUse(other)} and on ${describeUse(use)}`)];
  });
}

/** A use of what is recorded for somebody else, or not recorded. */
function misused(use: Use, world: World): Finding[] {
  const { owner } = use;
  const lines = world.recorded.at(use);
  if (lines.length > 0) {
    if (owner === undefined || lines.some((line) => isTheirs(line, use))) return [];
    const claims = lines.map((line) => line.claim).join(", ");
    return [findingOf("wrong-owner", use, `is used by ${describeUse(use)}, but recorded for ${claims}`)];
  }
  const assigning = world.pools.filter((pool) => holds(pool.assignable, use));
  const [pool] = assigning;
  if (pool === undefined) return owner === undefined ? [] : excluded(use, world);
  const reservers = assigning.flatMap((one) => one.reservations.at(use.address)?.owner ?? []);
  if (owner === undefined ? reservers.length > 0 : reservers.includes(owner)) return [];
  const named = `named here, and may be given to anybody: ${howToKeep(pool)}`;
  const what = owner === undefined ? named : `used by ${describeUse(use)}, but not recorded`;
  return [findingOf("stranger", use, `of pool ${pool.name} is ${what}`)];
}

/** An owner has what a pool gives to nobody, and no other owner has it too, as the pool lets several. */
function excluded(use: Use, world: World): Finding[] {
  const pool = world.pools.find((one) => withholds(one, use));
  if (pool === undefined || (isShared(use, world) && isOfSeveral(use, world))) return [];
  const why = hasGateway(pool, use) ? `it is the gateway of pool ${pool.name}` : `pool ${pool.name} excludes it`;
  return [findingOf("excluded", use, `is used by ${describeUse(use)}, but ${why}`)];
}

/** Returns whether several owners use an address. A policy that configures it for unknown nodes counts as several. */
function isOfSeveral(use: Use, { used }: World): boolean {
  return used.at(use).some(({ owner }) => owner !== undefined && (owner !== use.owner || !owner.startsWith("Node/")));
}

/** Returns whether an address is excluded without a stated reason. A reservation without an owner states that it is in use. */
function withholds(pool: Pool, use: MaybeBlock): boolean {
  const isNobodys = hasGateway(pool, use) || (holds(pool.range, use) && !holds(pool.clusterRange, use));
  return isNobodys && pool.reservations.at(use.address) === undefined;
}

function findingOf(kind: FindingKind, use: Use, what: string): Finding {
  const { address, at, hint } = use;
  return { kind, address, message: `${formatBlock(use)} ${what}`, at, ...(hint === undefined ? {} : { hint }) };
}
