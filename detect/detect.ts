import { blocks, type Detection } from "./detection.ts";
import { type Attempt, answerWindow, type Check, nextStep } from "./next-step.ts";

/** How a network is asked, and how time passes. */
export interface ProbeTransport {
  /** Returns the MAC addresses that answer within so many milliseconds. */
  ask(check: Check, within: number): Promise<Attempt>;
  sleep(milliseconds: number): Promise<void>;
}

/**
 * Makes one check after the other, those for conflicts first. If one of these finds a conflict, or cannot be made, no gateway
 * is asked: it would note the address as that of this pod.
 */
export async function detect(
  checks: readonly Check[],
  own: ReadonlySet<string>,
  transport: ProbeTransport,
): Promise<Detection[]> {
  const detections: Detection[] = [];
  for (const kind of ["conflict", "gateway"]) {
    if (detections.some(blocks)) break;
    for (const check of checks) if (check.kind === kind) detections.push(await make(check, own, transport));
  }
  return detections;
}

async function make(check: Check, own: ReadonlySet<string>, transport: ProbeTransport): Promise<Detection> {
  const attempts: Attempt[] = [];
  for (;;) {
    const step = nextStep(check, attempts, own);
    if ("detection" in step) return step.detection;
    if (step.askIn > 0) await transport.sleep(step.askIn);
    attempts.push(await transport.ask(check, answerWindow));
  }
}
