import type { Detection } from "./detection.ts";

/** A check of one address on one NIC: does another host have it, does the gateway answer? */
export interface Check {
  readonly kind: "conflict" | "gateway";
  readonly address: string;
  readonly nic: string;
  /** Whether the kernel itself heard another host answer for it (DAD). */
  readonly dadFailed?: boolean;
}

/** What one attempt to ask came to: the MAC addresses that answered in time, or why nobody could be asked. */
export type Attempt = { readonly answers: readonly string[] } | { readonly failed: string };

/** Ask so many milliseconds from now, or be done. */
export type NextStep = { readonly askIn: number } | { readonly detection: Detection };

/** How long an answer may take, in milliseconds. */
export const answerWindow = 100;

const tries = 3;

/** A failure to send passes no faster: a link comes up, a link-local address becomes usable. */
const pause = 1000;

/**
 * What follows from the attempts so far. An answer of the pod itself never counts: a kernel answers on each NIC for
 * the addresses of all, and a switch may send a frame back.
 *
 *  check    | the last attempt                       | then
 *  ---------+----------------------------------------+------------------------------------------
 *  either   | none yet                               | ask
 *  either   | nobody could be asked, up to the 2nd   | ask again, a second later
 *  either   | the same, the 3rd try                  | failed
 *  either   | silence, up to the 2nd try             | ask again: a frame may get lost, a busy host answers late
 *  conflict | another host answered                  | conflict
 *  conflict | silence, and the kernel has heard one  | conflict, of unknown
 *  conflict | silence, the 3rd try                   | not-detected: who is silent may have it all the same
 *  gateway  | it answered                            | reachable
 *  gateway  | silence, the 3rd try                   | unreachable
 */
export function nextStep(check: Check, attempts: readonly Attempt[], own: ReadonlySet<string>): NextStep {
  const { kind, address, nic, dadFailed } = check;
  const found = (rest: Omit<Detection, "address" | "nic">): NextStep => ({ detection: { address, nic, ...rest } });
  const last = attempts.at(-1);
  const isLastTry = attempts.length >= tries;
  if (last === undefined) return { askIn: 0 };
  if ("failed" in last) return isLastTry ? found({ kind: "failed", reason: last.failed }) : { askIn: pause };
  const mac = last.answers.find((one) => !own.has(one));
  if (mac !== undefined) return found({ kind: kind === "conflict" ? "conflict" : "reachable", mac });
  if (dadFailed) return found({ kind: "conflict", mac: "unknown" });
  if (!isLastTry) return { askIn: 0 };
  return found({ kind: kind === "conflict" ? "not-detected" : "unreachable" });
}
