import { isNoop } from "../core/index.ts";
import type { StateBackend } from "../state/backend.ts";
import { firstRefusal, type Guard, guards } from "./guards.ts";
import { type PlanOptions, type Proposal, propose, type ReadDesired } from "./proposal.ts";

/**
 * Once around: read the record, plan, ask the guards, commit. Throws what a guard says, and what the backend does; nothing
 * is written then.
 */
export async function runOnce(
  read: ReadDesired,
  state: StateBackend,
  options: PlanOptions,
  chain: readonly Guard[] = guards,
): Promise<Proposal> {
  const proposal = propose(read, await state.read(), options);
  const refusal = firstRefusal(proposal, chain);
  if (refusal !== undefined) throw refusal;
  if (!isNoop(proposal.plan)) await state.commit(proposal.plan);
  return proposal;
}
