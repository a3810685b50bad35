import { readFileSync, readlinkSync } from "node:fs";
import { IpamError } from "../core/index.ts";

/**
 * Who started this process: its parent, and where that is the shell of Pulumi's start script, the shell's own parent.
 * Both get another parent when the one they had dies. The shell is known by its program: its name is the script's.
 */
function engine(): string {
  const parent = process.ppid;
  try {
    if (!/\/((ba|da|a|k|z)?sh|busybox)$/.test(readlinkSync(`/proc/${parent}/exe`))) return `${parent}`;
    const [, above] = /^.*\) \S (\d+)/s.exec(readFileSync(`/proc/${parent}/stat`, "utf8")) ?? [];
    return `${parent} ${above}`;
  } catch {
    return `${parent}`; // a system without /proc
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
