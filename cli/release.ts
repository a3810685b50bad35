import { statSync } from "node:fs";
import {
  type Allocation,
  describeLine,
  formatBlock,
  IpamError,
  importedSet,
  isNamedBy,
  isOfNode,
  ownerName,
  ownerOfKey,
  planRelease,
  type Snapshot,
  shellWord,
} from "../core/index.ts";
import { provenGone } from "../integrations/nmstate/proven-gone.ts";
import { readEvidence } from "../pipeline/evidence.ts";
import { freeOnce } from "../pipeline/integrations.ts";
import { OwnerNames } from "../pipeline/owner-names.ts";
import { refuseAmbiguous } from "./ambiguous.ts";
import { ask, isInteractive } from "./confirm.ts";
import { exists, readInput } from "./files.ts";
import { openState, record, type StateOptions } from "./state.ts";
import { fewOf, paint, plural, print } from "./terminal.ts";

interface Options extends StateOptions {
  readonly evidence?: string;
  readonly confirm?: boolean;
  readonly dryRun?: boolean;
}

export async function releaseVerb(names: readonly string[], options: Options): Promise<void> {
  const state = await openState(options);
  const snapshot = await state.read();
  if (names.length === 0 && options.evidence === undefined) return listReleasing(snapshot);
  const named = names.length === 0 ? snapshot.releasing : names.flatMap((name) => freeable(snapshot, name));
  const lines = [...new Set(named)];
  if (options.evidence !== undefined) refuseOlder(options.evidence, state.name, await state.writtenAt?.());
  const free = options.evidence === undefined ? lines : await withEvidence(lines, options.evidence, snapshot);
  const freed = free.map((line) => paint("red", `  - ${describeLine(line)}`));
  if (options.dryRun) return print(...freed, `Dry run: ${plural(free.length, "address")} would be freed.`);
  if (free.length > 0 && options.evidence === undefined && options.confirm !== true) await askToFree(free);
  await record(state, planRelease(snapshot, free));
  print(...freed, `Freed ${plural(free.length, "address")}.`);
}

/** Without names and evidence nothing is freed: what is releasing, and what would free it. */
function listReleasing({ releasing }: Snapshot): void {
  print(
    ...releasing.map((line) => `  ${describeLine(line)}`),
    `${plural(releasing.length, "address")} releasing.`,
    ...(releasing.length === 0
      ? []
      : [
          ...(releasing.some(isReported)
            ? [
                "Free those that nodes no longer have: kubectl get nns -o json > nns.json && nodeippool release --evidence nns.json",
              ]
            : []),
          ...onces(releasing).map((once) => `Free each once ${once}: nodeippool release NAME... --confirm`),
          ...(releasing.every((line) => freeOnce(line) !== undefined)
            ? []
            : [`Free those that you know are ${offTheirs(releasing)}: nodeippool release NAME... --confirm`]),
        ]),
  );
}

/** Returns whether the node of a line reports the address. Other owners report none, and a slice is on no NIC. */
function isReported(line: Allocation): boolean {
  return isOfNode(line) && freeOnce(line) === undefined;
}

/** When they may be freed, in the words of those whose they are. */
function onces(lines: readonly Allocation[]): string[] {
  return [...new Set(lines.flatMap((line) => freeOnce(line) ?? []))];
}

function offTheirs(lines: readonly Allocation[]): string {
  return lines.every(isReported) ? "off their nodes" : "no longer in use";
}

/** The lines a name stands for that may be freed: releasing ones, and imported ones, which no claim gives up by itself; those by claim or address only. */
function freeable(snapshot: Snapshot, name: string): Allocation[] {
  const imported = snapshot.allocations.filter((line) => line.set === importedSet);
  const found = [
    ...snapshot.releasing.filter((line) => isNamedBy(line, name)),
    // Live, and in force: by its own name alone, not with all that its node has.
    ...imported.filter((line) => line.claim === name || formatBlock(line) === name),
  ];
  refuseAmbiguous(name, found);
  if (found.length > 0) return found;
  const live = snapshot.allocations.find((line) => isNamedBy(line, name));
  if (live !== undefined) {
    const isImported = live.set === importedSet;
    const why = isImported ? "was imported, and no manifest gives it up" : "is still claimed";
    throw new IpamError("in-use", `${formatBlock(live)} of ${live.claim} ${why}`, {
      hint: isImported
        ? `If it is off its node, name it by its address: nodeippool release ${formatBlock(live)}`
        : `Take ${isOfNode(live) ? "the node or the policy" : ownerOfKey(live.claim)} out of the manifests and run nodeippool allocate first.`,
    });
  }
  throw new IpamError("invalid", `nothing that is releasing is named ${name}`, {
    hint: `Releasing now: ${fewOf([...new Set(snapshot.releasing.map((line) => ownerName(line.claim)))]) || "nothing"}.`,
  });
}

/** Throws `invalid` for evidence from before the record was last written: what it does not show may be there since. */
function refuseOlder(evidence: string, record: string, written: Date | undefined): void {
  if (evidence === "-" || !exists(evidence) || written === undefined) return;
  if (statSync(evidence).mtimeMs >= written.getTime()) return;
  throw new IpamError("invalid", `${evidence} is older than ${record}: nodes may have got addresses since`, {
    hint: `Take it again: kubectl get nodenetworkstates -o json > ${shellWord(evidence)}`,
  });
}

async function withEvidence(lines: readonly Allocation[], file: string, snapshot: Snapshot): Promise<Allocation[]> {
  const { uses, nodes } = readEvidence({ path: file, text: await readInput(file) }, [], OwnerNames.of(snapshot));
  const { gone, kept } = provenGone(lines, nodes, uses);
  print(
    ...kept.map(({ line, why, isInUse }) => {
      const once = freeOnce(line);
      const then = once === undefined ? "if it is off" : `once ${once}`;
      const free = `; ${then}: nodeippool release ${formatBlock(line)} --confirm`;
      return paint("dim", `  = ${describeLine(line)}  ${why}${isInUse ? "" : free}`);
    }),
  );
  return [...gone];
}

function howToSay(lines: readonly Allocation[]): string {
  return lines.some(isReported)
    ? "Show that they are not (--evidence nns.json), or say that you know (--confirm)."
    : "If you know that they are not, say so: --confirm.";
}

async function askToFree(lines: readonly Allocation[]): Promise<void> {
  if (!isInteractive())
    throw new IpamError(
      "in-use",
      `${plural(lines.length, "address")} may still be ${lines.every(isReported) ? "on a node" : "in use"}`,
      { hint: [...onces(lines).map((once) => `Free each once ${once}.`), howToSay(lines)].join(" ") },
    );
  print(...lines.map((line) => `  ${describeLine(line)}`));
  if (!(await ask(`Are these really ${offTheirs(lines)}? Others will get them.`)))
    throw new IpamError("in-use", "nothing was freed");
}
