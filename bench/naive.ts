import { type Address, type Allocation, type Claim, claimKey, type Interval, type Pool } from "../core/index.ts";

/** What `FreeSpace` does, done in the obvious ways. */
export interface Naive {
  takeLowest(): Address | undefined;
  take(address: Address): void;
  release(address: Address): void;
}

/** One byte for each address of the range; a search starts at the first. */
export class LinearScan implements Naive {
  private readonly first: Address;
  private readonly taken: Uint8Array;

  constructor(pool: Pool) {
    const { first, last } = wholeOf(pool);
    this.first = first;
    this.taken = new Uint8Array(Number(last - first) + 1);
    if (pool.skipsZeroAnd255) for (const address of passedOver(pool)) this.take(address);
  }

  takeLowest(): Address | undefined {
    const { taken } = this;
    for (let i = 0; i < taken.length; i++)
      if (taken[i] === 0) {
        taken[i] = 1;
        return (this.first + BigInt(i)) as Address;
      }
    return undefined;
  }

  take(address: Address): void {
    this.taken[Number(address - this.first)] = 1;
  }

  release(address: Address): void {
    this.taken[Number(address - this.first)] = 0;
  }
}

/** A Set of the taken addresses; a search asks it about each address from the first. */
export class SetProbing implements Naive {
  private readonly whole: Interval;
  private readonly taken: Set<Address>;

  constructor(pool: Pool) {
    this.whole = wholeOf(pool);
    this.taken = new Set(pool.skipsZeroAnd255 ? passedOver(pool) : []);
  }

  takeLowest(): Address | undefined {
    for (let address = this.whole.first; address <= this.whole.last; address++)
      if (!this.taken.has(address)) {
        this.taken.add(address);
        return address;
      }
    return undefined;
  }

  take(address: Address): void {
    this.taken.add(address);
  }

  release(address: Address): void {
    this.taken.delete(address);
  }
}

/** A plan by hand: whoever has a line keeps it, every other claim gets the first free byte of the pool. */
export function planByScan(pool: Pool, claims: readonly Claim[], lines: readonly Allocation[]): Allocation[] {
  const held = new Map(lines.map((line) => [line.claim, line]));
  const space = new LinearScan(pool);
  for (const line of lines) space.take(line.address);
  return claims
    .map((claim) => ({ claim, key: claimKey(claim.owner, claim.name) }))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .map(
      ({ claim, key }) =>
        held.get(key) ?? {
          address: space.takeLowest() as Address,
          length: pool.blockLength,
          pool: claim.pool,
          claim: key,
          set: "default",
        },
    );
}

function wholeOf(pool: Pool): Interval {
  const { first } = pool.automatic[0] as Interval;
  const { last } = pool.automatic.at(-1) as Interval;
  return { first, last };
}

function* passedOver(pool: Pool): Generator<Address> {
  const { first, last } = wholeOf(pool);
  for (let address = first; address <= last; address++) {
    const octet = Number(address & 255n);
    if (octet === 0 || octet === 255) yield address;
  }
}
