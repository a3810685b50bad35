/** "; did you mean X?" where a known word is at most two edits (or a third of its letters) away, else nothing. */
export function didYouMean(word: string, known: Iterable<string>): string {
  if (word.length > 100) return "";
  let best: string | undefined;
  let least = Math.max(2, Math.floor(word.length / 3)) + 1;
  for (const candidate of known) {
    if (Math.abs(candidate.length - word.length) >= least) continue;
    const distance = edits(word.toLowerCase(), candidate.toLowerCase());
    if (distance < least) [best, least] = [candidate, distance];
  }
  return best === undefined ? "" : `; did you mean ${best}?`;
}

/** What to say of the first field that is none of the known ones; undefined where all are. */
export function unknownField(value: object, known: readonly string[]): string | undefined {
  const unknown = Object.keys(value).find((field) => !known.includes(field));
  return unknown === undefined ? undefined : `unknown field ${unknown}${didYouMean(unknown, known)}`;
}

/** Levenshtein distance, one row at a time. */
function edits(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replace = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replace, (row[j] as number) + 1, (next[j - 1] as number) + 1));
    }
    row = next;
  }
  return row[b.length] as number;
}
