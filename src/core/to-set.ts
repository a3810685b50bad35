import type { Allocation, Snapshot } from "./allocation.ts";
import type { Pending } from "./changes.ts";
import { nameOfKey, policyOf } from "./claim.ts";
import type { Remedy } from "./errors.ts";
import { shellWord } from "./shell-word.ts";

/** What takes claims, with their lines, from one claim set to another. */
export type ToSetRemedy = Extract<Remedy, readonly ["to-set", ...unknown[]]>;

/** How many claims one remedy names: the next plan names the others. */
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
  return ["to-set", [...(live.some(stays) ? going : policies)].slice(0, most), from, to];
}

/** The same remedy for all claims of a policy that one set has. */
export function withToSet(pending: readonly Pending[], { allocations }: Snapshot): readonly Pending[] {
  const single = pending.flatMap(({ remedy }) => (remedy?.[0] === "to-set" ? [remedy] : []));
  const remedies = new Map(
    [...Map.groupBy(single, groupOf)].map(([group, remedies]) => {
      const [, , from, to] = remedies[0] as ToSetRemedy;
      return [
        group,
        toSetRemedy(
          remedies.flatMap(([, claims]) => claims),
          from,
          to,
          allocations,
        ),
      ];
    }),
  );
  return pending.map((one) =>
    one.remedy?.[0] === "to-set" ? { ...one, remedy: remedies.get(groupOf(one.remedy)) as ToSetRemedy } : one,
  );
}

function groupOf([, claims, from]: ToSetRemedy): string {
  return `${from} ${claims.map(policyOfKey)}`;
}

function policyOfKey(claim: string): string {
  return policyOf(nameOfKey(claim));
}

/** For a shell, each by this command and this option. */
export function toSetCommands([, words, , to]: ToSetRemedy, command: string, option: string): string {
  return words.map((word) => [command, shellWord(word), option, shellWord(to)].join(" ")).join("; ");
}
