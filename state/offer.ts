import { randomUUID } from "node:crypto";
import { existsSync, linkSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { IpamError, type Issue, isNoop, type Plan, type Snapshot } from "../core/index.ts";
import { applyAll, applyPlan } from "./apply.ts";

/*
 * `nodeippool allocate -- COMMAND` makes a folder, and names it to the command it runs. Every process of that command
 * leaves its plans there, each made on top of those before it. If the command succeeds, all of them are committed.
 */

/** The environment variable that names the folder. */
export const offerVariable = "NODEIPPOOL_ALLOCATE";

function folderOfRun(): string | undefined {
  return process.env[offerVariable] || undefined;
}

/** The file of that folder that says in which record the run ends. */
const recordFile = "record";

/** Makes a folder take plans for this record, and for no other: a backend's name, or of a file its `recordOfLock`. */
export function takeOffers(folder: string, record: string): void {
  writeFileSync(join(folder, recordFile), record);
}

/** The same for every name of a lockfile, wherever a process stands. */
export function recordOfLock(record: string): string {
  const folder = resolve(dirname(record));
  return join(existsSync(folder) ? realpathSync(folder) : folder, basename(record));
}

/** Returns whether a run has plans to record. */
export function isRecording(): boolean {
  const folder = folderOfRun();
  return folder !== undefined && namesIn(folder).length > 0;
}

/** The record of the run, if there is one and it is for another record than this. */
export function otherRecord(name: string): string | undefined {
  const path = join(folderOfRun() ?? "", recordFile);
  const record = folderOfRun() !== undefined && existsSync(path) ? readFileSync(path, "utf8") : name;
  return record === name || record === recordOfLock(name) ? undefined : record;
}

/** Returns whether there is a run, and it is for this record. */
export function isRecordOfRun(name: string): boolean {
  return folderOfRun() !== undefined && otherRecord(name) === undefined;
}

/**
 * The record as the run will leave it, as far as plans have been offered; without a run, the record itself. Plan against
 * this, and several plans of one run can share a pool. `name` is that of its backend. Throws IpamError `invalid` if the run
 * is for another record.
 */
export function withOffers(recorded: Snapshot, name: string): Snapshot {
  const folder = folderOfRun();
  if (folder === undefined) return recorded;
  // The same lines may be somebody else's there.
  const other = otherRecord(name);
  if (other !== undefined)
    throw new IpamError("invalid", `this plan is for ${name}, but the run that it is part of records in ${other}`, {
      hint: "Name one record, there and here.",
    });
  return applyAll(
    recorded,
    readOffers(folder).map(({ plan }) => plan),
  );
}

/** A plan that was left to the run. */
export interface Offer {
  readonly plan: Plan;
  /** What `allocate` asks a person about before it records the plan. */
  readonly doubts: readonly Issue[];
}

/**
 * The record that covers a plan: as it is, or, in a run, as that will leave it. Undefined where it does not: that is drift,
 * and nobody but `allocate` may mend it. Give it what the plan was made against: `withOffers` of the record.
 */
export function covering(proposed: Plan, recorded: Snapshot, doubt?: IpamError): Snapshot | undefined {
  if (offerPlan(proposed, doubt?.issues)) return applyPlan(recorded, proposed) ?? recorded;
  return isNoop(proposed) ? recorded : undefined;
}

/** Leaves a plan to the run. False, and nothing happens, where there is none: a record is only written by its verb. */
export function offerPlan(plan: Plan, doubts: Offer["doubts"] = []): boolean {
  const folder = folderOfRun();
  if (folder === undefined) return false;
  const draft = join(folder, `${randomUUID()}.tmp`);
  inFolder(() => writeFileSync(draft, stringify({ plan, doubts }), { flag: "wx" }));
  // Behind every plan that it may have been made on top of; whole from the moment it is seen.
  for (let number = namesIn(folder).length; ; number++)
    try {
      linkSync(draft, join(folder, `${number}`.padStart(6, "0").concat(".json")));
      rmSync(draft);
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
}

/** The plans that were offered, in the order in which they were made on top of each other. */
export function readOffers(folder: string): Offer[] {
  return namesIn(folder).map((name) => parse(readFileSync(join(folder, name), "utf8")));
}

function namesIn(folder: string): string[] {
  return inFolder(() => readdirSync(folder).filter((name) => /^\d{6}\.json$/.test(name))).sort();
}

function inFolder<T>(use: () => T): T {
  try {
    return use();
  } catch (error) {
    const why = (error as Error).message;
    throw new IpamError("unavailable", `${offerVariable} names no folder that takes plans: ${why}`, { cause: error });
  }
}

/** An offer as JSON; what that cannot hold goes as an object with one field, its type. */
function stringify(offer: Offer): string {
  return JSON.stringify(offer, (_, value) => {
    if (typeof value === "bigint") return { $bigint: `${value}` };
    return value instanceof Map ? { $map: [...value] } : value;
  });
}

function parse(text: string): Offer {
  return JSON.parse(text, (_, value) => {
    if (value?.$bigint !== undefined) return BigInt(value.$bigint);
    return value?.$map === undefined ? value : new Map(value.$map);
  });
}
