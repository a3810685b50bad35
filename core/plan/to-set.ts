import type { Allocation, Snapshot } from "../allocation.ts";
import { nameOfKey, policyOfKey } from "../claim.ts";
import type { Remedy } from "../errors.ts";
import { shellWord } from "../shell-word.ts";
import type { Pending } from "./changes.ts";
import { paired } from "./pairing.ts";
import { policiesOf } from "./rename-remedy.ts";

/** What takes claims, with their lines, from one claim set to another. */
export type ToSetRemedy = Extract<Remedy, readonly ["to-set", ...unknown[]]>;

/** How many words are written out. */
const most = 20;

/** A claim key, or the old one and the new one. */
type Going = ToSetRemedy[1][number];

/**
 * By their policies or names, where no others of these policies are live in that set, and one word says it of each; else
 * each claim by itself.
 */
export function toSetRemedy(
  claims: readonly Going[],
  from: string,
  to: string,
  live: readonly Allocation[],
): ToSetRemedy {
  const going = new Set(claims.map(oldKey));
  const policies = new Set([...going].map(policyOfKey));
  const stays = ({ set, claim }: Allocation) => set === from && !going.has(claim) && policies.has(policyOfKey(claim));
  const short = unique(claims.map(shortOf));
  const isWhole = short.length === policies.size && !live.some(stays);
  return ["to-set", isWhole ? short : unique(claims), from, to];
}

function unique(words: readonly Going[]): Going[] {
  return [...new Map(words.map((word) => [`${word}`, word])).values()];
}

/**
 * Which line each of these claims may have been under another name, of those on the same NIC of the same owner: one of its
 * pool, and rather of its capture. No line was two of them.
 */
export function comersOf<T extends Pick<Allocation, "pool" | "claim">>(
  claims: readonly T[],
  lines: readonly Allocation[],
): { readonly was: Allocation; readonly now: T }[] {
  const isOfPool = (line: Allocation, { pool }: T) => line.pool === pool;
  const isSameCapture = (line: Allocation, claim: T) =>
    isOfPool(line, claim) && policiesOf(nameOfKey(line.claim), nameOfKey(claim.claim)) !== undefined;
  const found = paired(claims, () => lines, [isSameCapture, isOfPool]);
  return [...found].map(([now, was]) => ({ was, now }));
}

function shortOf(claim: Going): Going {
  if (typeof claim === "string") return policyOfKey(claim);
  const [old, now] = [nameOfKey(claim[0]), nameOfKey(claim[1])];
  return policiesOf(old, now) ?? [old, now];
}

function oldKey(claim: Going): string {
  return typeof claim === "string" ? claim : claim[0];
}

/** The same remedy for all claims of a policy that one other set has. */
export function withToSet(pending: readonly Pending[], { allocations }: Snapshot, set: string): readonly Pending[] {
  const single = pending.flatMap(({ remedy }) => (remedy?.[0] === "to-set" ? [remedy] : []));
  const remedies = new Map(
    [...Map.groupBy(single, groupOf)].map(([group, remedies]) => {
      const claims = remedies.flatMap(([, words]) => words);
      return [group, toSetRemedy(claims, (remedies[0] as ToSetRemedy)[2], set, allocations)];
    }),
  );
  return pending.map((one) =>
    one.remedy?.[0] === "to-set" ? { ...one, remedy: remedies.get(groupOf(one.remedy)) as ToSetRemedy } : one,
  );
}

function groupOf([, claims, from]: ToSetRemedy): string {
  return `${from} ${claims.flat().map(policyOfKey)}`;
}

/**
 * For a shell, each by this command and this option. Before them `planAs`, what plans as the other set, where that has
 * these very names. Where it is not known where they went, a word stands for that set.
 */
export function toSetCommands([, words, , to]: ToSetRemedy, planAs: string, command: string, option: string): string {
  const commands = words
    .slice(0, most)
    .map((word) => [command, ...[word].flat().map(shellWord), option, shellWord(to ?? "NAME")].join(" "));
  const more = words.length > most ? ` (and ${words.length - most} more)` : "";
  const maybeThere = to !== undefined && words.every((word) => typeof word === "string");
  return `${maybeThere ? `${planAs}, or ` : ""}${commands.join("; ")}${more}`;
}
