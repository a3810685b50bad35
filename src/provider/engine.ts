import { readFileSync } from "node:fs";
import { IpamError } from "../core/index.ts";

/**
 * Who started this process: its parent, and where that is the shell of Pulumi's start script, the shell's own parent.
 * Both get another parent when the one they had dies.
 */
function engine(): string {
  const parent = process.ppid;
  const [, name, above] = /^\d+ \((.*)\) \S (\d+)/s.exec(statOf(parent)) ?? [];
  return name !== undefined && /^(ba|da|a)?sh$/.test(name) ? `${parent} ${above}` : `${parent}`;
}

/** Empty where the system has no /proc. */
function statOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch {
    return "";
  }
}

const atStart = engine();

/**
 * A provider outlives an engine that is killed. What it would still commit then, no state would know of, and the next
 * run may have decided otherwise by that time. Throws IpamError `unavailable`.
 */
export function refuseOrphan(): void {
  if (engine() !== atStart)
    throw new IpamError("unavailable", "the pulumi command that asked for this has ended: nothing was done");
}
