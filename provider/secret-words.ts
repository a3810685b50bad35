import { formatAddress, nameOfKey, parseAddress } from "../core/index.ts";
import { type ClaimInput, entriesOf, present, type SetInputs, type SetState } from "./set-state.ts";

const struck = "[secret]";

/** Messages cut long words off, none before this. */
const shortest = 40;

/** A text with these words struck out, also where it has no more than their beginnings. */
export function withoutSecrets(text: string, words: readonly string[]): string {
  const all = [...new Set(words)].filter((word) => word !== "").sort((a, b) => b.length - a.length);
  return withoutBeginnings(
    all.reduce((now, word) => now.replaceAll(word, struck), text),
    all.filter(({ length }) => length > shortest),
  );
}

function withoutBeginnings(text: string, words: readonly string[]): string {
  if (words.length === 0) return text;
  const known = Map.groupBy(words, (word) => word.slice(0, shortest));
  let rest = "";
  for (let at = 0; at < text.length; ) {
    const same = (known.get(text.slice(at, at + shortest)) ?? []).map((word) => commonLength(word, text, at));
    rest += same.length === 0 ? text[at] : struck;
    at += Math.max(1, ...same);
  }
  return rest;
}

function commonLength(word: string, text: string, at: number): number {
  let length = 0;
  while (length < word.length && text[at + length] === word[length]) length++;
  return length;
}

/**
 * What came from secrets, as messages have it: of the claims of today, and of what the stack's state says of its sets.
 */
export function secretWords({ secret, isLate, claims }: SetInputs, held: readonly SetState[]): string[] {
  const listed: readonly ClaimInput[] = Array.isArray(claims) ? claims : [];
  const before = held.flatMap((state) => [
    ...(state.secret ? claimsOf(state) : []),
    // An owner that is no text in the program may have been a secret.
    ...Object.values(state.owners ?? {}).map((owner) => ({ key: owner, owner })),
  ]);
  const addresses = [
    ...listed.filter(({ secretAddress }) => secretAddress).map(({ address = "" }) => address),
    ...held.flatMap(({ secretAddresses = {} }) => entriesOf(secretAddresses).map(({ address }) => address)),
  ];
  const plain = new Set(secret ? [] : listed.flatMap(namesOf));
  const names = [
    ...(secret && isLate ? listed.map(({ key }) => nameOfKey(key)) : []),
    ...before.flatMap(namesOf).filter((word) => !plain.has(word)),
    ...(secret ? listed.flatMap(namesOf) : []),
  ];
  return [...names, ...addresses.flatMap(writings)];
}

function namesOf({ key, owner = "", address = "" }: Omit<ClaimInput, "pool">): string[] {
  const name = (owner === "" ? key : owner).split("/")[1] ?? "";
  return [name, name.split(":").at(-1) as string, key, owner, address].flatMap(writings);
}

/** A word as messages have it: plain, in quotes, and an address in its canonical form. */
function writings(word: string): string[] {
  const read = parseAddress(word).value;
  return [word, JSON.stringify(word).slice(1, -1), ...(read ? [formatAddress(read)] : [])];
}

/** Who holds something in a state, or did. */
function claimsOf({ addresses, releasing = {}, owners = {} }: SetState): Omit<ClaimInput, "pool">[] {
  return [addresses, releasing]
    .flatMap(entriesOf)
    .map(({ claim, address }) => ({ key: claim, address, ...present({ owner: owners[claim] }) }));
}
