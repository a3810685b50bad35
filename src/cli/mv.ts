import { planRename } from "../core/index.ts";
import { changeLines } from "./report-plan.ts";
import { openState, record, type StateOptions } from "./state.ts";
import { plural, print } from "./terminal.ts";

export async function mvVerb(
  from: string,
  to: string,
  options: StateOptions & { readonly set: string },
): Promise<void> {
  const state = await openState(options);
  const made = planRename(await state.read(), from, to, options.set);
  await record(state, made);
  print(...changeLines(made), `Renamed ${plural(made.keep.length, "claim")} in ${state.name}; no address moved.`);
}
