import { type Allocation, formatBlock, ownerName } from "../../core/index.ts";

/** What the history of the lock does not show: addresses that their owners no longer have. */
export interface Accepted {
  /** `OWNER=ADDRESS`, separated by commas or blanks. */
  readonly released?: string;
}

/** Whether the owner of a line is known to have released it. */
export function isReleased(line: Allocation, { released = "" }: Accepted): boolean {
  return released.split(/[,\s]+/).includes(wordOf(line));
}

/** The sentence that says how to declare these lines released. */
export function releasedHint(lines: readonly Allocation[]): string {
  return `If that is meant: --released ${[...new Set(lines.map(wordOf))].join(",")}, or released in nodeippool.yaml.`;
}

function wordOf(line: Allocation): string {
  return `${ownerName(line.claim)}=${formatBlock(line)}`;
}
