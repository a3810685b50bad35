import type { Allocation, Snapshot } from "./allocation.ts";
import type { Pending } from "./changes.ts";
import { nameOfKey, policyOf } from "./claim.ts";
import type { Remedy } from "./errors.ts";
import { shellWord } from "./shell-word.ts";

/** What takes claims, with their lines, from one claim set to another. */
export type ToSetRemedy = Extract<Remedy, readonly ["to-set", ...unknown[]]>;

/** How many words are written out. */
const most = 20;

/** By their policies, where no others of that set are live there; else each by itself. */
export function toSetRemedy(
  claims: readonly string[],
  from: string,
  to: string,
  live: readonly Allocation[],
): ToSetRemedy {
  const going = new Set(claims);
  const policies = new Set(claims.map(policyOfKey));
  const stays = ({ set, claim }: Allocation) => set === from && !going.has(claim) && policies.has(policyOfKey(claim));
  return ["to-set", [...(live.some(stays) ? going : policies)], from, to];
}

/** The same remedy for all claims of a policy that one other set has. */
export function withToSet(pending: readonly Pending[], { allocations }: Snapshot, set: string): readonly Pending[] {
  const single = pending.flatMap(({ remedy }) => (remedy?.[0] === "to-set" ? [remedy] : []));
  const remedies = new Map(
    [...Map.groupBy(single, groupOf)].map(([group, remedies]) => {
      const claims = remedies.flatMap(([, words]) => words.flat());
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

function policyOfKey(claim: string): string {
  return policyOf(nameOfKey(claim));
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
