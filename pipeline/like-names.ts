/** Finds names that differ from another one as a slip of the pen does, and not as the next name of a series does. */
export class LikeNames {
  /** By each name without one of its characters, and by the whole. */
  private readonly byPart = new Map<string, Set<string>>();
  constructor(names: Iterable<string>) {
    for (const name of names)
      for (const part of partsOf(name)) this.byPart.set(part, (this.byPart.get(part) ?? new Set()).add(name));
  }

  like(name: string): string | undefined {
    const near = new Set(partsOf(name).flatMap((part) => [...(this.byPart.get(part) ?? [])]));
    return [...near].sort().find((other) => isSlip(name, other));
  }
}

/** What people mistake for each other, alike. */
function plain(name: string): string {
  return name.toLowerCase().replaceAll("o", "0").replaceAll(/[il]/g, "1").replaceAll(/[-_.]/g, "");
}

function partsOf(name: string): string[] {
  const whole = plain(name);
  return [bare(name), whole, ...Array.from(whole, (_, i) => whole.slice(0, i) + whole.slice(i + 1))];
}

/** A name without leading zeros of its numbers, in small letters. */
function unpadded(name: string): string {
  return name.toLowerCase().replaceAll(/(?<!\d)0+(?=\d)/g, "");
}

/** The same without a domain. */
function bare(name: string): string {
  return unpadded(name).replace(/\..*/, "");
}

/** `nodeO2`, `mode02`, `ndoe02`, `node2` and `node02.example.com` are slips of node02; of a series are `node03`, `node021` and, of nodea, `nodeb`. */
function isSlip(name: string, other: string): boolean {
  if (plain(name) === plain(other)) return true;
  if (unpadded(other) === bare(name) || unpadded(name) === bare(other) || unpadded(name) === unpadded(other))
    return true;
  const [a, b] = [name.toLowerCase(), other.toLowerCase()];
  let start = 0;
  while (start < a.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < Math.min(a.length, b.length) - start && a.at(-1 - end) === b.at(-1 - end)) end++;
  return [a, b].every((text) => isInWord(text, start, text.length - end));
}

/** Reports whether a part of a text is letters in a word of three letters or more, and not its last one. */
function isInWord(text: string, start: number, end: number): boolean {
  const before = /[a-z]*$/.exec(text.slice(0, start))?.[0].length ?? 0;
  const after = /^[a-z]*/.exec(text.slice(end))?.[0].length ?? 0;
  return /^[a-z]{0,2}$/.test(text.slice(start, end)) && after > 0 && before + (end - start) + after >= 3;
}
