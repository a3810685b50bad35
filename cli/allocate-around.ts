import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { IpamError, type Plan, type Snapshot } from "../core/index.ts";
import { applyAll, applyPlan } from "../state/apply.ts";
import type { StateBackend } from "../state/backend.ts";
import { type Offer, offerVariable, readOffers, recordOfLock, takeOffers } from "../state/offer.ts";
import type { AllocateOptions } from "./allocate.ts";
import { confirmRelease } from "./confirm.ts";
import { historyOf, keepsLines } from "./lost-lines.ts";
import { type Merge, readMerged, recordMerge } from "./merged-record.ts";
import { changeLines } from "./report-plan.ts";
import { isLockfile, openLock, record, type StateOptions } from "./state.ts";
import { plural } from "./terminal.ts";

/**
 * Runs a command, and records all that it planned if it succeeds; nothing otherwise. Its output stays its own. A lock in
 * the middle of a merge is merged before: the command could not read it.
 */
export async function allocateAround(
  [program = "", ...args]: readonly string[],
  path: string,
  options: AllocateOptions,
): Promise<void> {
  if (program === "") throw new IpamError("invalid", "the command after -- is empty");
  refuseOwnInputs(path === program ? undefined : path, options);
  const { state, snapshot, merge } = await readMerged(options);
  if (merge.merged) await recordMerge(state, merge, snapshot);
  const where = isLockfile(options) ? recordOfLock(options.lock) : state.name;
  const folder = mkdtempSync(join(tmpdir(), "nodeippool-"));
  try {
    takeOffers(folder, where);
    const { status, signal, error } = spawnSync(program, args, {
      stdio: "inherit",
      env: { ...process.env, [offerVariable]: folder },
    });
    if (error !== undefined) throw new IpamError("invalid", `${program} cannot be run: ${error.message}`);
    if (status !== 0) {
      process.stderr.write(
        `${program} ended with ${status === null ? signal || "a signal" : `exit status ${status}`}; nothing that it planned was recorded.\n`,
      );
      // A real-time signal has no name here.
      process.exitCode = status ?? 128 + ((signal && constants.signals[signal]) || 0);
      return;
    }
    await recordOffers(readOffers(folder), state, merge, options);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Records all that the command planned, unless a plan moves an owner whose line the lock has lost, or releases doubtfully. */
async function recordOffers(
  offers: readonly Offer[],
  state: StateBackend,
  merge: Merge,
  options: AllocateOptions,
): Promise<void> {
  const plans = offers.map(({ plan }) => plan);
  // Not `state`: that would settle the merge once more.
  const present = isLockfile(options) ? await openLock(options).read() : await state.read();
  const steps = inTurn(plans, present);
  const keeps = keepsLines(historyOf(options), merge.merged, options);
  const [losing] = steps.flatMap((step) => keeps(step) ?? []);
  if (losing !== undefined) throw losing;
  const changes = plans.flatMap((plan) => changeLines(plan));
  await confirmRelease(
    offers.flatMap(({ doubts }) => doubts),
    changes,
    options,
  );
  await recordAll(plans, state, options);
  process.stderr.write([...changes, `${plural(plans.length, "plan")} recorded in ${state.name}.`, ""].join("\n"));
}

/** Each plan with the record that it is on top of; the first one with that which the command may have left. */
function inTurn(plans: readonly Plan[], present: Snapshot): { readonly plan: Plan; readonly before: Snapshot }[] {
  applyAll(present, plans);
  let before = present;
  return plans.map((plan) => {
    const step = { plan, before };
    before = applyPlan(before, plan) ?? before;
    return step;
  });
}

/** What says how to plan is the command's: here it would be passed over in silence. */
function refuseOwnInputs(path: string | undefined, options: AllocateOptions): void {
  const { nodes, set, json } = options;
  const given = {
    [`${path}`]: path !== undefined,
    "--nodes": nodes !== undefined,
    "--set": set !== "default",
    "--json": json,
  };
  const refused = Object.entries(given).flatMap(([name, isGiven]) => (isGiven ? name : []));
  if (refused.length > 0)
    throw new IpamError("invalid", `${refused.join(", ")} cannot stand before --: COMMAND itself says what it plans`, {
      hint: "Give it to the command.",
    });
}

/**
 * A lockfile takes all of them in one write. A cluster takes one after the other, if all go together with the record as
 * it is; a repeat leaves what it finds done.
 */
async function recordAll(plans: readonly Plan[], state: StateBackend, options: StateOptions): Promise<void> {
  if (isLockfile(options)) {
    if (plans.length > 0) openLock(options).commitAll(plans);
    return;
  }
  applyAll(await state.read(), plans);
  for (const plan of plans) await record(state, plan);
}
