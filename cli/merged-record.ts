import { formatBlock, IpamError, lineJson, nameOfKey, ownerName, planRelease, type Snapshot } from "../core/index.ts";
import type { StateBackend } from "../state/backend.ts";
import type { Loser } from "../state/merge.ts";
import { refuseMissing } from "../state/missing-lock.ts";
import { type Resolved, resolveLock } from "../state/resolve.ts";
import { exists } from "./files.ts";
import { isLockfile, openLock, openToPlan, record, type StateOptions } from "./state.ts";
import { paint } from "./terminal.ts";

export interface MergeOptions extends StateOptions {
  readonly landed?: string;
}

/** What became of the two sides of a merge. */
export type Merge = Omit<Resolved, "snapshot">;

/** The record, ready to be planned on: where the lockfile is in the middle of a merge, the outcome of that. */
export async function readMerged(
  options: MergeOptions,
): Promise<{ readonly state: StateBackend; readonly snapshot: Snapshot; readonly merge: Merge }> {
  let merge: Merge = { losers: [], merged: false };
  if (!isLockfile(options)) {
    if (options.landed !== undefined)
      throw new IpamError("invalid", "--landed merges a lockfile; a record in a cluster is never in two versions");
    const state = await openToPlan(options);
    return { state, snapshot: await state.read(), merge };
  }
  if (options.landed !== undefined && !exists(options.lock)) {
    refuseMissing(options.lock);
    throw new IpamError("invalid", `there is no ${options.lock} here that ${options.landed} could decide`, {
      hint: "Name the lock that was merged (--lock FILE), or leave out --landed to begin one.",
    });
  }
  const understand = (text: string) => {
    const { snapshot, ...outcome } = resolveLock(text, options.lock, options.landed);
    merge = outcome;
    return snapshot;
  };
  const state = openLock(options, { understand });
  const snapshot = await state.read();
  return { state, snapshot, merge };
}

/** Writes the merge alone: what comes next may fail, and what helps then (`mv`, a command) needs a whole lock. */
export async function recordMerge(state: StateBackend, merge: Merge, snapshot: Snapshot): Promise<void> {
  await record(state, planRelease(snapshot, []));
  process.stderr.write(`${mergeLines(state, merge).join("\n")}\n`);
}

export function mergeLines({ name }: StateBackend, { merged, losers }: Merge): string[] {
  return merged ? [`Merged ${name}.`, ...losers.map(loserLine)] : [];
}

export function loserJson({ line, winner }: Loser) {
  return { ...lineJson(line), winner: lineJson(winner) };
}

/** What it lost, and to whom: of one address, or of a block and an address in it. */
export function loserLine({ line, winner, isReleasing }: Loser): string {
  const [owner, other] = [line, winner].map(({ claim }) => ownerName(claim)) as [string, string];
  const isOwn = owner === other && line.claim !== winner.claim;
  const who = isOwn ? `${owner} (${nameOfKey(line.claim)})` : owner;
  const whose = isOwn ? `${owner} (${nameOfKey(winner.claim)})` : other;
  const [lost, kept] = [line, winner].map(formatBlock) as [string, string];
  const it = lost === kept ? "it" : kept;
  const what = isReleasing ? `${it} is releasing, and ${whose} may still have it` : `${whose} keeps ${it}`;
  const reason = lost !== kept && line.claim === winner.claim ? `it keeps ${kept}` : what;
  return paint("yellow", `  ! ${lost}  ${who}  lost in the merge: ${reason}`);
}
