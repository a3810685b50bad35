import { randomUUID } from "node:crypto";
import { existsSync, linkSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import {
  formatPrefix,
  IpamError,
  type LineJson,
  lineJson,
  lineOfJson,
  type Plan,
  parsePrefix,
  type Snapshot,
  unwrap,
} from "../core/index.ts";
import { applyAll } from "./apply.ts";

/** Set by `nodeippool allocate -- COMMAND` for the command it runs: a folder that takes plans. */
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

/** Does this process run under a `nodeippool allocate -- COMMAND` that has plans to record? */
export function isRecording(): boolean {
  const folder = folderOfRun();
  return folder !== undefined && namesIn(folder).length > 0;
}

/** The record of the `nodeippool allocate -- COMMAND` that this process runs under, if it is another one than this. */
export function otherRecord(name: string): string | undefined {
  const path = join(folderOfRun() ?? "", recordFile);
  const record = folderOfRun() !== undefined && existsSync(path) ? readFileSync(path, "utf8") : name;
  return record === name || record === recordOfLock(name) ? undefined : record;
}

/** Is it this record that the `nodeippool allocate -- COMMAND` is for which this process runs under? */
export function isRecordOfRun(name: string): boolean {
  return folderOfRun() !== undefined && otherRecord(name) === undefined;
}

/** The same for every name of a lockfile, wherever a process stands. */
export function recordOfLock(record: string): string {
  const folder = resolve(dirname(record));
  return join(existsSync(folder) ? realpathSync(folder) : folder, basename(record));
}

/**
 * Leaves a plan to the `nodeippool allocate -- COMMAND` that this process runs under; it is committed if the command
 * succeeds. False, and nothing happens, anywhere else: a record is only ever written by that verb.
 */
export function offerPlan(plan: Plan): boolean {
  const folder = folderOfRun();
  if (folder === undefined) return false;
  const draft = join(folder, `${randomUUID()}.tmp`);
  try {
    writeFileSync(draft, stringify(plan), { flag: "wx" });
    // Behind every plan that it may have been made on top of; whole from the moment it is seen.
    for (let number = namesIn(folder).length; !link(draft, join(folder, nameOf(number))); number++);
    rmSync(draft);
    return true;
  } catch (error) {
    throw noFolder(error);
  }
}

function noFolder(error: unknown): IpamError {
  if (error instanceof IpamError) return error;
  const why = (error as Error).message;
  return new IpamError("unavailable", `${offerVariable} names no folder that takes plans: ${why}`, { cause: error });
}

/**
 * The record as the `nodeippool allocate -- COMMAND` that this process runs under will leave it, as far as plans have been
 * offered; anywhere else, the record itself. Plan against this, and several plans of one run can share a pool.
 * `name` is that of its backend. Throws IpamError `invalid` if that run is for another record.
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
  return applyAll(recorded, readOffers(folder));
}

/** The plans that were offered, in the order in which they were made on top of each other. */
export function readOffers(folder: string): Plan[] {
  return namesIn(folder).map((name) => {
    try {
      return parse(readFileSync(join(folder, name), "utf8"));
    } catch (error) {
      throw new IpamError("invalid", `a plan that was offered cannot be read: ${(error as Error).message}`);
    }
  });
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => /^\d{6}\.json$/.test(name))
      .sort();
  } catch (error) {
    throw noFolder(error);
  }
}

function nameOf(number: number): string {
  return `${number}`.padStart(6, "0").concat(".json");
}

/** False if there is such a file. */
function link(draft: string, path: string): boolean {
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

function stringify(plan: Plan): string {
  return JSON.stringify({
    ...plan,
    base: [...plan.base],
    pools: plan.pools.map((pool) => ({ ...pool, prefix: formatPrefix(pool.prefix) })),
    assign: plan.assign.map(lineJson),
    keep: plan.keep.map(({ allocation, was, ...rest }) => ({
      ...rest,
      allocation: lineJson(allocation),
      ...(was === undefined ? {} : { was: lineJson(was) }),
    })),
    release: plan.release.map(({ allocation, to }) => ({ allocation: lineJson(allocation), to })),
  });
}

function parse(text: string): Plan {
  const data = JSON.parse(text);
  return {
    ...data,
    base: new Map(data.base),
    pools: data.pools.map((pool: { prefix: string }) => ({ ...pool, prefix: unwrap(parsePrefix(pool.prefix)) })),
    assign: data.assign.map(lineOfJson),
    keep: data.keep.map((kept: { allocation: LineJson; was?: LineJson }) => ({
      ...kept,
      allocation: lineOfJson(kept.allocation),
      ...(kept.was === undefined ? {} : { was: lineOfJson(kept.was) }),
    })),
    release: data.release.map((r: { allocation: LineJson; to: string }) => ({
      ...r,
      allocation: lineOfJson(r.allocation),
    })),
  };
}
