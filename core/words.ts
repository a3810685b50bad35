const maxNamed = 3;

/** As many names as a sentence can hold; `last` goes between them where these are all. */
export function listed(names: readonly string[], last = ", "): string {
  const more = names.length - maxNamed;
  return more > 0 ? `${names.slice(0, maxNamed).join(", ")} and ${more} more` : names.join(last);
}
