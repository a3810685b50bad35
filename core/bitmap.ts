const FULL = -1; // 32 set bits as a signed word

/**
 * A set of small integers that finds its lowest absent member at once: a bitmap of 32-bit words, and above
 * each level one bit per word that says "full". It grows 32-fold when it has as many members as bits, so its size
 * follows the number of members, not their values: members beyond it wait in `far` until it reaches them.
 */
export class Bitmap {
  private levels: Int32Array[] = [new Int32Array(1)];
  /** Bits of the lowest level; always more than there are members, so that one of them is absent. */
  private size = 32;
  private members = 0;
  private readonly far = new Set<number>();

  get count(): number {
    return this.members;
  }

  has(n: number): boolean {
    if (n >= this.size) return this.far.has(n);
    return (((this.levels[0] as Int32Array)[n >>> 5] as number) & (1 << (n & 31))) !== 0;
  }

  /** A member changes nothing. */
  add(n: number): void {
    if (this.has(n)) return;
    if (n < this.size) this.set(n);
    else this.far.add(n);
    if (++this.members === this.size) this.grow();
  }

  /** A number that is no member changes nothing. */
  delete(n: number): void {
    if (!this.has(n)) return;
    this.members--;
    if (n < this.size) this.clear(n);
    else this.far.delete(n);
  }

  /** The lowest integer >= 0 that is not a member. */
  lowestAbsent(): number {
    let position = 0;
    for (let i = this.levels.length - 1; i >= 0; i--) {
      position = position * 32 + lowestBit(~((this.levels[i] as Int32Array)[position] as number));
    }
    return position;
  }

  /** The lowest integer >= n that is not a member, for n below 2^53. Takes a step for each member that follows n directly and waits in `far`. */
  lowestAbsentFrom(n: number): number {
    let position = n < this.size ? this.absentWithin(n) : n;
    while (position >= this.size && this.far.has(position)) position++;
    return position;
  }

  /** The same among the bits of the lowest level; their number where all from n on are set. */
  private absentWithin(n: number): number {
    let position = n;
    for (let i = 0; i < this.levels.length; i++, position = (position >>> 5) + 1) {
      const level = this.levels[i] as Int32Array;
      if (position >>> 5 >= level.length) break;
      const absent = ~(level[position >>> 5] as number) & (-1 << (position & 31));
      if (absent === 0) continue;
      position = (position & ~31) + lowestBit(absent);
      while (i-- > 0) position = position * 32 + lowestBit(~((this.levels[i] as Int32Array)[position] as number));
      return position;
    }
    return this.size;
  }

  private set(n: number): void {
    let position = n;
    for (const level of this.levels) {
      const word = (level[position >>> 5] as number) | (1 << (position & 31));
      level[position >>> 5] = word;
      if (word !== FULL) return;
      position >>>= 5;
    }
  }

  private clear(n: number): void {
    let position = n;
    for (const level of this.levels) {
      const word = level[position >>> 5] as number;
      level[position >>> 5] = word & ~(1 << (position & 31));
      if (word !== FULL) return;
      position >>>= 5;
    }
  }

  /** Each level becomes 32 times as long, and one comes on top of them. */
  private grow(): void {
    const top = this.levels[this.levels.length - 1] as Int32Array;
    this.levels = this.levels.map((level) => {
      const wider = new Int32Array(level.length * 32);
      wider.set(level);
      return wider;
    });
    this.levels.push(Int32Array.of(top[0] === FULL ? 1 : 0));
    this.size *= 32;
    for (const n of this.far) {
      if (n >= this.size) continue;
      this.far.delete(n);
      this.set(n);
    }
  }
}

/** Where the lowest set bit of a word is. */
function lowestBit(word: number): number {
  return 31 - Math.clz32(word & -word);
}
