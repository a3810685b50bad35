const few = 3;

/** What a line of this claim set has in a record, as it is written there, and where. */
export function setMark(set: string): string {
  return set === "default" ? 'no "set"' : `"set":${JSON.stringify(set)} after "claim"`;
}

/** As many names as a sentence can hold; `last` goes between them where these are all. */
export function listed(names: readonly string[], last = ", "): string {
  const more = names.length - few;
  return more > 0 ? `${names.slice(0, few).join(", ")} and ${more} more` : names.join(last);
}
