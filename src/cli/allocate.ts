import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { formatAddress, IpamError, isNoop, ownerName, type Plan, refusePending } from "../core/index.ts";
import type { Loser } from "../state/merge.ts";
import { offerVariable, readOffers } from "../state/offer.ts";
import { resolveLock } from "../state/resolve.ts";
import { planJson } from "./json.ts";
import { changeLines, reportPlan } from "./report-plan.ts";
import { openLock, type StateOptions } from "./state.ts";
import { paint, plural, print, printJson } from "./terminal.ts";
import {
  type PlanningOptions,
  planWorkspace,
  readWorkspace,
  refuseUnrenderable,
  reservationNotes,
} from "./workspace.ts";

export interface AllocateOptions extends PlanningOptions {
  readonly landed?: string;
  readonly json?: boolean;
}

export async function allocateVerb(path: string, options: AllocateOptions, command: readonly string[]): Promise<void> {
  if (command.length > 0) return allocateAround(command, options);
  const workspace = await readWorkspace(path, options);
  const merge = { losers: [] as readonly Loser[], merged: false };
  const state = openLock(options, {
    understand: (text) => {
      const { snapshot, ...rest } = resolveLock(text, options.lock, options.landed);
      Object.assign(merge, rest);
      return snapshot;
    },
  });
  const snapshot = await state.read();
  const made = planWorkspace(workspace, snapshot, options);
  refusePending(made);
  refuseUnrenderable(workspace, made, snapshot, options);
  const records = !isNoop(made) || merge.merged;
  if (records) await state.commit(made);
  if (options.json) return printJson(planJson(made));
  if (merge.merged) print(`Merged ${state.name}.`, ...merge.losers.map(loserLine));
  print(...reportPlan(made, workspace.manifests.pools, snapshot), ...reservationNotes(workspace));
  print(records ? `Recorded in ${state.name}.` : "Nothing to record.");
}

function loserLine({ line, winner }: Loser): string {
  const reason =
    line.address === winner.address
      ? `${ownerName(winner.claim)} keeps it`
      : `it keeps ${formatAddress(winner.address)}`;
  return paint("yellow", `  ! ${formatAddress(line.address)}  ${ownerName(line.claim)}  lost in the merge: ${reason}`);
}

/** Runs a command, and records all that it planned if it succeeds; nothing otherwise. Its output stays its own. */
function allocateAround([program = "", ...args]: readonly string[], options: StateOptions): void {
  const folder = mkdtempSync(join(tmpdir(), "nodeippool-"));
  try {
    const { status, signal, error } = spawnSync(program, args, {
      stdio: "inherit",
      env: { ...process.env, [offerVariable]: folder },
    });
    if (error !== undefined) throw new IpamError("invalid", `${program} cannot be run: ${error.message}`);
    if (status !== 0) {
      process.stderr.write(`${program} ended with ${signal ?? `exit status ${status}`}; nothing was recorded.\n`);
      process.exitCode = status ?? 1;
      return;
    }
    record(readOffers(folder), options);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function record(plans: readonly Plan[], options: StateOptions): void {
  const state = openLock(options);
  if (plans.length > 0) state.commitAll(plans);
  const lines = plans.flatMap((plan) => changeLines(plan));
  process.stderr.write([...lines, `${plural(plans.length, "plan")} recorded in ${state.name}.`, ""].join("\n"));
}
