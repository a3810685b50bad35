import { type Allocation, importedSet, type Snapshot, sameLine } from "../allocation.ts";
import { BlockIndex, formatBlock, holds, lengthOf, type MaybeBlock } from "../block.ts";
import { formatOwner, ownerOfKey } from "../claim.ts";
import type { Issue, Remedy } from "../errors.ts";
import { partition } from "../partition.ts";
import type { Pool } from "../pool.ts";
import { fieldsOf, howToKeep, howToRenumber } from "../pool-words.ts";
import { contains, rangeOf } from "../range.ts";
import { describeUse, type Use } from "../use.ts";
import { type Adoptable, adoptable, mayBeOn, type Nics } from "./adopt.ts";
import type { Kept } from "./changes.ts";
import { lineFor, type Request, wantedBy } from "./request.ts";

/** A use whose owner is known. */
export type Had = Use & { readonly owner: string };

/** The owner of an address of a pool, by the record or by this import. */
interface Holding {
  readonly line: Allocation;
  readonly releasing: boolean;
  /** How it got here, if by this import. */
  readonly use?: Had;
}

/** One pool's part of an import: what it decides, and what it refuses. `planImport` says how. */
export class PoolImport {
  readonly assign: Allocation[] = [];
  readonly keep: Kept[] = [];
  readonly issues: { readonly conflict: Issue[]; readonly "out-of-range": Issue[] } = {
    conflict: [],
    "out-of-range": [],
  };
  private readonly pool: Pool;
  private readonly set: string;
  private readonly requests: readonly Request[];
  private readonly nics: ReadonlySet<string>;
  /** Every block that may be held: of the record, and of what nodes have. */
  private readonly blocks: BlockIndex<MaybeBlock>;
  private readonly holdings = new Map<string, Holding>();
  private readonly lineOf = new Map<string, Allocation>();

  constructor(pool: Pool, requests: readonly Request[], uses: readonly Had[], snapshot: Snapshot, set: string) {
    this.pool = pool;
    this.set = set;
    this.requests = requests;
    this.nics = new Set(requests.map(({ claim }) => `${formatOwner(claim.owner)} ${claim.interface}`));
    const [live, releasing] = [snapshot.allocations, snapshot.releasing].map((lines) =>
      lines.filter((line) => line.pool === pool.name),
    ) as [Allocation[], Allocation[]];
    this.blocks = new BlockIndex<MaybeBlock>([...live, ...releasing, ...uses]);
    for (const line of releasing) this.holdings.set(blockKey(line), { line, releasing: true });
    for (const line of live) {
      this.holdings.set(blockKey(line), { line, releasing: false });
      this.lineOf.set(line.claim, line);
    }
  }

  /** The owners of addresses of a block, the wider blocks first. */
  private holdingOf(block: MaybeBlock): Holding | undefined {
    for (const one of this.blocks.at(block)) {
      const holding = this.holdings.get(blockKey(one));
      if (holding !== undefined) return holding;
    }
    return undefined;
  }

  /** Settles the claims; returns the uses that are theirs. */
  match(uses: readonly Had[], books: readonly PoolImport[]): Had[] {
    const prefix = rangeOf(this.pool.prefix);
    const others = books.filter((book) => book !== this && book.pool.network === this.pool.network);
    const near = Map.groupBy(
      uses.filter(
        (use) => this.mayBeHere(use) && contains(prefix, use.address) && !others.some((book) => book.expects(use)),
      ),
      (use) => use.owner,
    );
    const owners = Map.groupBy(this.requests, ({ claim }) => formatOwner(claim.owner));
    return [...owners].flatMap(([owner, requests]) => this.matchOwner(requests, near.get(owner) ?? []));
  }

  /** Not if it is said to be of another pool. */
  private mayBeHere(use: Had): boolean {
    return use.pool === undefined || use.pool === this.pool.name;
  }

  /** Returns whether an address of the pool is on a NIC that claims one. */
  private expects(use: Had): boolean {
    return holds(this.pool.range, use) && this.nics.has(`${use.owner} ${use.interface}`);
  }

  /** Settles the claims of one owner: those that have lines, then those that may adopt what the node has. */
  private matchOwner(requests: readonly Request[], uses: readonly Had[]): Had[] {
    const nics = new Set(requests.map(({ claim }) => claim.interface));
    const open = uses.filter((use) => !this.isSettled(use));
    const confirmed = requests.flatMap((request) => this.confirm(request, nics, uses, open));
    const lacking = requests.filter(({ key }) => !this.lineOf.has(key));
    const [fits, outside] = partition(open, (use) => holds(this.pool.assignable, use));
    for (const request of lacking)
      this.checkWish(request, lacking, fits.filter(mayBeOn(request.claim.interface, nics)));
    for (const use of outside) {
      const isThere = ({ interface: nic }: { readonly interface?: string }) =>
        nic !== undefined && nic === use.interface;
      if (lacking.filter(({ claim }) => isThere(claim)).length > fits.filter(isThere).length) this.refuseOutside(use);
    }
    const useOf = new Map(distinct(fits, nics).map((use) => [this.importedLine(use), use]));
    const adopted = adoptable(lacking, requests, this.pool, [...useOf.keys()]);
    const [unclear, clear] = partition([...adopted], ([, { among }]) => among !== undefined);
    for (const group of Map.groupBy(unclear, ([, { line }]) => line).values()) this.refuseUnclear(group, useOf);
    return [...confirmed, ...clear.flatMap(([request, { line }]) => this.give(request, useOf.get(line) as Had))];
  }

  /** Returns whether a claim of its owner holds the address, on the NIC that has it. */
  private isSettled(use: Had): boolean {
    const holding = this.holdingOf(use);
    if (holding === undefined || holding.releasing) return false;
    const { claim, set, interface: recorded } = holding.line;
    const isOnNic = recorded === undefined || recorded === use.interface || use.pool !== undefined;
    return set !== importedSet && ownerOfKey(claim) === use.owner && isOnNic;
  }

  /** Keeps the line that a claim has, if the node has the address; a conflict if the NIC has others. */
  private confirm(request: Request, nics: Nics, uses: readonly Had[], open: readonly Had[]): Had[] {
    const line = this.lineOf.get(request.key);
    if (line === undefined) return [];
    const nic = request.claim.interface;
    const isHere = mayBeOn(nic, nics);
    const use = uses.find((one) => isHere(one) && one.address === line.address);
    const others = open.filter(isHere);
    if (use === undefined && nic !== undefined && others.length > 0)
      this.conflict(others[0] as Had, `${line.claim} holds ${formatBlock(line)}, but ${having(others)}`, hints.moved);
    if (use === undefined) return [];
    const allocation = line.set === this.set ? lineFor(request, this.set, line) : line;
    this.hold(sameLine(line, allocation) ? { allocation } : { allocation, was: line }, use);
    return [use];
  }

  /** The claim gets the address that the node has. */
  private give(request: Request, use: Had): Had[] {
    const holding = this.holdingOf(use);
    const allocation = lineFor(request, this.set, { address: use.address, length: lengthOf(use) });
    if (holding === undefined) this.add(allocation, use);
    else if (this.mayTakeOver(holding, use)) this.hold({ allocation, was: holding.line }, use);
    else this.refuseHeld(use, holding);
    return [use];
  }

  /** A conflict if the claim is to have another address than those which may be its own, and no other claim wants. */
  private checkWish({ claim, key }: Request, all: readonly Request[], here: readonly Had[]): void {
    const wanted = wantedBy(claim, this.pool);
    if (wanted === undefined || here.some(({ address }) => address === wanted.address)) return;
    const wishes = new Set(all.map((other) => wantedBy(other.claim, this.pool)?.address));
    const others = here.filter(({ address }) => !wishes.has(address));
    if (others[0] === undefined) return;
    this.conflict(others[0], `${formatBlock(wanted)} is reserved for ${key}, but ${having(others)}`, hints.wanted);
  }

  /** A reservation of an import becomes the claim's; what the set is releasing and the node still has comes back to it. */
  private mayTakeOver({ line, releasing, use: other }: Holding, use: Had): boolean {
    const isAdoptable = line.set === importedSet || (releasing && line.set === this.set);
    return isAdoptable && other === undefined && ownerOfKey(line.claim) === use.owner && line.address === use.address;
  }

  /** Sets aside what nodes have and no claim asks for. */
  reserve(uses: readonly Had[]): void {
    for (const use of uses) {
      if (!this.mayBeHere(use)) continue;
      const holding = this.holdingOf(use);
      if (holding === undefined) this.setAside(use);
      else if (ownerOfKey(holding.line.claim) !== use.owner) this.refuseHeld(use, holding);
      else if (!holding.releasing && holding.use === undefined) this.hold({ allocation: holding.line }, use);
    }
  }

  private setAside(use: Had): void {
    const imported = this.importedLine(use);
    const line = this.lineOf.get(imported.claim);
    if (line !== undefined)
      this.conflict(use, `${line.claim} holds ${formatBlock(line)}, but ${having([use])}`, hints.lock);
    else if (holds(this.pool.assignable, use)) this.add(imported, use);
    else if (use.pool !== undefined) this.refuseOutside(use);
  }

  /** The line of an address that no claim asks for. */
  private importedLine(use: Had): Allocation {
    const { address, owner, pool, interface: nic } = use;
    const claim = `${owner}/${pool ?? `${importedSet}/${formatBlock(use)}`}`;
    const named = nic === undefined ? {} : { interface: nic };
    return { address, length: lengthOf(use), pool: this.pool.name, claim, set: importedSet, ...named };
  }

  /** Refuses temporary addresses that are somebody else's by the record or by this import. */
  passOver(uses: readonly Had[]): void {
    for (const use of uses) {
      const holding = this.holdingOf(use);
      if (holding !== undefined && ownerOfKey(holding.line.claim) !== use.owner) this.refuseHeld(use, holding);
    }
  }

  private add(line: Allocation, use: Had): void {
    this.assign.push(line);
    this.holdings.set(blockKey(line), { line, releasing: false, use });
    this.lineOf.set(line.claim, line);
  }

  private hold(kept: Kept, use: Had): void {
    this.keep.push(kept);
    this.holdings.set(blockKey(kept.was ?? kept.allocation), { line: kept.allocation, releasing: false, use });
  }

  private refuseHeld(use: Had, { line, releasing, use: other }: Holding): void {
    const text = formatBlock(use);
    const recorded = `${text} is recorded for ${line.claim}, but ${having([use])}`;
    if (other !== undefined)
      this.conflict(
        use,
        `${text} is on ${describeUse(other)} and on ${describeUse(use)}`,
        `Take it off one of them first; if several are to have it, ${howToKeep(this.pool)}.`,
      );
    else if (releasing || line.set === importedSet) this.conflict(use, recorded, this.freeHint(), ["release"]);
    else this.conflict(use, recorded, hints.lock);
  }

  /** Claims that cannot be told which of some addresses is theirs. */
  private refuseUnclear(group: readonly (readonly [Request, Adoptable])[], useOf: ReadonlyMap<Allocation, Had>): void {
    const keys = group.map(([{ key }]) => key);
    const uses = (group[0]?.[1].among ?? []).map((line) => useOf.get(line) as Had);
    const why =
      uses.length > keys.length ? `more than ${keys.join(", ")} asks for` : `which may be that of ${keys.join(" or ")}`;
    this.conflict(uses[0] as Had, `${having(uses)}, ${why}`, this.pool.words === undefined ? hints.which : hints.one);
  }

  private freeHint(): string {
    const { words } = this.pool;
    const keep = words?.without ?? "reserve it without an owner";
    return `If it is a virtual IP, which goes from node to node, ${keep}. If it has left the one that is recorded, free it`;
  }

  private refuseOutside(use: Had): void {
    const message = `${having([use])}, which pool ${this.pool.name} may not hand out`;
    this.issues["out-of-range"].push({
      message,
      at: use.at,
      hint: `Let the pool cover it (${fieldsOf(this.pool)}), or ${howToRenumber(this.pool)} first.`,
    });
  }

  private conflict(use: Had, message: string, hint: string, remedy?: Remedy): void {
    this.issues.conflict.push({ message, at: use.at, hint, ...(remedy === undefined ? {} : { remedy }) });
  }
}

const hints = {
  moved:
    "An import moves nothing. If the node is right, reserve its address for it (owner; claim, if it has several), and allow the move.",
  lock: "An import moves nothing. If that is right, restore the lock as it was before that line, and import first; what was recorded since goes with it.",
  which:
    "Say which: a reservation of the pool with address, owner and claim; or on which NIC, in CSV: node,interface,address.",
  one: "It has one address of this pool: leave the others out.",
  wanted: "Reserve the address that the node has.",
};

function blockKey(block: MaybeBlock): string {
  return `${block.address}/${lengthOf(block)}`;
}

/** Each address once, on the NICs that claims name if it is there: on each of them. */
function distinct(uses: readonly Had[], nics: Nics): Had[] {
  const isNamed = ({ interface: nic }: Had) => nic !== undefined && nics.has(nic);
  const [named, others] = partition(uses, isNamed);
  const known = new Set(named.map(({ address }) => address));
  return [
    ...new Map(named.map((use) => [`${use.address} ${use.interface}`, use])).values(),
    ...new Map(others.filter(({ address }) => !known.has(address)).map((use) => [use.address, use])).values(),
  ];
}

/** `Node/a has 10.0.0.1 and 10.0.0.2 on eth1` */
function having(uses: readonly Had[]): string {
  const [first] = uses as readonly [Had, ...Had[]];
  const nic = first.interface === undefined ? "" : ` on ${first.interface}`;
  return `${first.owner} has ${uses.map(formatBlock).join(" and ")}${nic}`;
}
