import type { Address } from "../address.ts";
import { type Allocation, importedSet, type Snapshot, sameLine } from "../allocation.ts";
import type { Use } from "../audit.ts";
import { formatBlock, holds, lengthOf } from "../block.ts";
import { formatOwner, ownerOfKey } from "../claim.ts";
import type { Issue, Remedy } from "../errors.ts";
import { partition } from "../partition.ts";
import type { Pool } from "../pool.ts";
import { contains, rangeOf } from "../range.ts";
import type { Kept } from "./changes.ts";
import { lineFor, type Request, wantedBy } from "./request.ts";

/** A use whose owner is known. */
export type Had = Use & { readonly owner: string };

/** Who has an address of a pool, by the record or by this import. */
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
  private readonly holdings = new Map<Address, Holding>();
  private readonly lineOf = new Map<string, Allocation>();

  constructor(pool: Pool, requests: readonly Request[], snapshot: Snapshot, set: string) {
    this.pool = pool;
    this.set = set;
    this.requests = requests;
    this.nics = new Set(requests.map(({ claim }) => `${formatOwner(claim.owner)} ${claim.interface}`));
    for (const line of snapshot.releasing)
      if (line.pool === pool.name) this.holdings.set(line.address, { line, releasing: true });
    for (const line of snapshot.allocations) {
      if (line.pool !== pool.name) continue;
      this.holdings.set(line.address, { line, releasing: false });
      this.lineOf.set(line.claim, line);
    }
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
    const claimed: Had[] = [];
    for (const [owner, requests] of Map.groupBy(this.requests, ({ claim }) => formatOwner(claim.owner))) {
      const named = new Set(requests.map(({ claim }) => claim.interface));
      if (named.size > 1) this.refuseUnclear(requests, near.get(owner) ?? []);
      for (const [nic, group] of Map.groupBy(requests, ({ claim }) => claim.interface)) {
        const isHere = (use: Had) => {
          if (use.pool !== undefined) return named.size === 1;
          return nic !== undefined ? use.interface === nic : use.interface === undefined || !named.has(use.interface);
        };
        claimed.push(...this.matchNic(nic, group, (near.get(owner) ?? []).filter(isHere)));
      }
    }
    return claimed;
  }

  /** Of claims on several NICs, evidence that knows no NICs means one, and nobody knows which. */
  private refuseUnclear(requests: readonly Request[], uses: readonly Had[]): void {
    const keys = requests.map(({ key }) => key).join(" or ");
    for (const use of uses)
      if (use.pool !== undefined && !this.isSettled(use))
        this.conflict(use, `${having([use])}, which may be that of ${keys}`, hints.nic);
  }

  /** Not if it is said to be of another pool. */
  private mayBeHere(use: Had): boolean {
    return use.pool === undefined || use.pool === this.pool.name;
  }

  /** Is this an address of the pool on a NIC that claims one? */
  private expects(use: Had): boolean {
    return holds(this.pool.range, use) && this.nics.has(`${use.owner} ${use.interface}`);
  }

  /** Settles the claims of one NIC. */
  private matchNic(nic: string | undefined, requests: readonly Request[], here: readonly Had[]): Had[] {
    const open = here.filter((use) => !this.isSettled(use));
    const settled = requests.flatMap((request) => {
      const line = this.lineOf.get(request.key);
      const use = here.find(({ address }) => address === line?.address);
      if (line !== undefined && use !== undefined) return this.confirm(request, line, use);
      if (line !== undefined && nic !== undefined && open.length > 0)
        this.conflict(open[0] as Had, `${line.claim} holds ${formatBlock(line)}, but ${having(open)}`, hints.moved);
      return [];
    });
    const lacking = requests.filter(({ key }) => !this.lineOf.has(key));
    const [fits, others] = partition(open, (use) => holds(this.pool.assignable, use));
    if (nic !== undefined && fits.length < lacking.length) for (const use of others) this.refuseOutside(use);
    if (lacking.length === 0) return settled;
    const pairs = this.pair(nic, lacking, fits);
    for (const { request, use } of pairs) this.give(request, use);
    return [...settled, ...pairs.map(({ use }) => use)];
  }

  /** Is the address held by a claim of its owner, on the NIC where it is? */
  private isSettled({ address, owner, pool, interface: nic }: Had): boolean {
    const holding = this.holdings.get(address);
    if (holding === undefined || holding.releasing) return false;
    const { claim, set, interface: recorded } = holding.line;
    return (
      set !== importedSet &&
      ownerOfKey(claim) === owner &&
      (recorded === undefined || recorded === nic || pool !== undefined)
    );
  }

  /** Which claim gets which address: as reservations of the pool say, the others in order, if they are on one NIC. */
  private pair(
    nic: string | undefined,
    requests: readonly Request[],
    uses: readonly Had[],
  ): { request: Request; use: Had }[] {
    const pairs: { request: Request; use: Had }[] = [];
    const left = [...new Map(uses.map((use) => [use.address, use])).values()];
    const waiting = requests.filter((request) => {
      const wanted = wantedBy(request.claim, this.pool);
      const i = left.findIndex((use) => use.address === wanted?.address);
      if (i >= 0) pairs.push({ request, use: left.splice(i, 1)[0] as Had });
      else if (wanted !== undefined && left[0] !== undefined)
        this.conflict(
          left[0],
          `${formatBlock(wanted)} is reserved for ${request.key}, but ${having(left)}`,
          hints.wanted,
        );
      return wanted === undefined;
    });
    const keys = waiting.map(({ key }) => key);
    const theirs = left.filter(({ address }) =>
      waiting.some(({ claim }) => !this.pool.reservations.keepsFrom(claim, address)),
    );
    if (waiting.length > 0 && theirs.length > waiting.length) {
      this.conflict(theirs[0] as Had, `${having(theirs)}, more than ${keys.join(", ")} asks for`, hints.which);
      return pairs;
    }
    if (nic === undefined && waiting.length > 1 && theirs.length > 0) {
      this.conflict(theirs[0] as Had, `${having(theirs)}, which may be that of ${keys.join(" or ")}`, hints.which);
      return pairs;
    }
    return [...pairs, ...theirs.flatMap((use, i) => (waiting[i] === undefined ? [] : { request: waiting[i], use }))];
  }

  /** The node has what the record says. */
  private confirm(request: Request, line: Allocation, use: Had): Had {
    const allocation = line.set === this.set ? lineFor(request, this.set, line) : line;
    this.hold(sameLine(line, allocation) ? { allocation } : { allocation, was: line }, use);
    return use;
  }

  /** The claim gets the address that the node has. */
  private give(request: Request, use: Had): void {
    const holding = this.holdings.get(use.address);
    const allocation = lineFor(request, this.set, { address: use.address, length: lengthOf(use) });
    if (holding === undefined) this.add(allocation, use);
    else if (this.mayTakeOver(holding, use)) this.hold({ allocation, was: holding.line }, use);
    else this.refuseHeld(use, holding);
  }

  /** A reservation of an import becomes the claim's; what the set gave up and the node still has comes back to it. */
  private mayTakeOver({ line, releasing, use: other }: Holding, use: Had): boolean {
    const set = releasing ? this.set : importedSet;
    return (
      other === undefined && ownerOfKey(line.claim) === use.owner && (line.set === set || line.set === importedSet)
    );
  }

  /** Sets aside what nodes have and no claim asks for. */
  reserve(uses: readonly Had[]): void {
    for (const use of uses) {
      if (!this.mayBeHere(use)) continue;
      const holding = this.holdings.get(use.address);
      if (holding === undefined) this.setAside(use);
      else if (ownerOfKey(holding.line.claim) !== use.owner) this.refuseHeld(use, holding);
      else if (!holding.releasing && holding.use === undefined) this.hold({ allocation: holding.line }, use);
    }
  }

  private setAside(use: Had): void {
    const { address, owner, pool, interface: nic } = use;
    const claim = `${owner}/${pool ?? `${importedSet}/${formatBlock(use)}`}`;
    const line = this.lineOf.get(claim);
    if (line !== undefined) this.conflict(use, `${claim} holds ${formatBlock(line)}, but ${having([use])}`, hints.lock);
    else if (holds(this.pool.assignable, use)) {
      const named = nic === undefined ? {} : { interface: nic };
      this.add({ address, length: lengthOf(use), pool: this.pool.name, claim, set: importedSet, ...named }, use);
    } else if (pool !== undefined) this.refuseOutside(use);
  }

  /** Refuses temporary addresses that are somebody else's by the record or by this import. */
  passOver(uses: readonly Had[]): void {
    for (const use of uses) {
      const holding = this.holdings.get(use.address);
      if (holding !== undefined && ownerOfKey(holding.line.claim) !== use.owner) this.refuseHeld(use, holding);
    }
  }

  private add(line: Allocation, use: Had): void {
    this.assign.push(line);
    this.holdings.set(use.address, { line, releasing: false, use });
    this.lineOf.set(line.claim, line);
  }

  private hold(kept: Kept, use: Had): void {
    this.keep.push(kept);
    this.holdings.set(use.address, { line: kept.allocation, releasing: false, use });
  }

  private refuseHeld(use: Had, { line, releasing, use: other }: Holding): void {
    const text = formatBlock(use);
    const recorded = `${text} is recorded for ${line.claim}, but ${having([use])}`;
    if (other !== undefined) this.conflict(use, `${text} is on ${where(other)} and on ${where(use)}`, hints.twice);
    else if (releasing || line.set === importedSet) this.conflict(use, recorded, hints.free, ["release"]);
    else this.conflict(use, recorded, hints.lock);
  }

  private refuseOutside(use: Had): void {
    const message = `${having([use])}, which pool ${this.pool.name} may not hand out`;
    this.issues["out-of-range"].push({
      message,
      at: use.at,
      hint: "Let the pool cover it (range, additionalRanges, exclude, gateway, DNS servers or reservations), or renumber the node first.",
    });
  }

  private conflict(use: Had, message: string, hint: string, remedy?: Remedy): void {
    this.issues.conflict.push({ message, at: use.at, hint, ...(remedy === undefined ? {} : { remedy }) });
  }
}

const hints = {
  moved:
    "An import moves nothing. If the node is right, reserve its address for it (owner; claim, if it has several), and allow the move.",
  lock: "An import moves nothing. If the node is right, restore the lock as it was before that line, and import first; what was recorded since goes with it.",
  free: "Reserve a virtual IP, which goes from node to node, without an owner. If it has left the one that is recorded, free it",
  twice: "Take it off one of them first; if several are to have it, exclude it, or reserve it without an owner.",
  nic: "Say on which NIC it is, in CSV: node,interface,address.",
  which: "Say which: a reservation of the pool with address, owner and claim.",
  wanted: "Reserve the address that the node has.",
};

/** `Node/a has 10.0.0.1 and 10.0.0.2 on eth1` */
function having(uses: readonly Had[]): string {
  const [first] = uses as readonly [Had, ...Had[]];
  const nic = first.interface === undefined ? "" : ` on ${first.interface}`;
  return `${first.owner} has ${uses.map(formatBlock).join(" and ")}${nic}`;
}

function where({ owner, interface: nic }: Had): string {
  return nic === undefined ? owner : `${owner} ${nic}`;
}
