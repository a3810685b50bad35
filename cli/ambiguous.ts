import { type Allocation, IpamError, isOfNode, nameOfKey, namingOf, ownerOfKey } from "../core/index.ts";

/**
 * Throws `invalid`, with the candidates, for a word that names more than one thing among these lines and `owners`: two
 * owners, an owner and a policy, claims of two owners, or an address in two networks. What nodes have of a policy is one
 * thing. A name in full is never ambiguous.
 */
export function refuseAmbiguous(word: string, lines: readonly Allocation[], owners: readonly string[] = []): void {
  const things = new Map(owners.map((owner) => [owner, owner]));
  for (const line of lines) {
    const naming = namingOf(line, word);
    const owner = ownerOfKey(line.claim);
    if (naming === "owner") things.set(owner, owner);
    else if (naming === "policy") things.set(isOfNode(line) ? "policy" : `policy of ${owner}`, nameIn(line, word));
    else if (naming === "address") things.set(`address in ${line.pool}`, line.claim);
  }
  if (things.size < 2 || things.has(word)) return;
  throw new IpamError("invalid", `${word} names more than one thing`, {
    hint: `Use one of these names: ${[...things.values()].join(", ")}`,
  });
}

/** What tells these claims from others: claims of nodes by their policy, where that is another word. */
function nameIn(line: Allocation, word: string): string {
  const name = nameOfKey(line.claim);
  return isOfNode(line) && name !== word ? name : line.claim;
}
