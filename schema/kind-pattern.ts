/** Texts that say that they are of one of these kinds, or Lists of it. */
export function kindPattern(kinds: readonly string[], end = ""): RegExp {
  const names = kinds.join("|");
  return new RegExp(`(?:^|[\\s{,])["']?kind["']?\\s*:\\s*(?:[&!]\\S+\\s+)?["']?(?:${names})(?:List)?\\b${end}`, "m");
}
