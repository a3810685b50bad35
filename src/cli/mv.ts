import { planRename } from "../core/index.ts";
import { lockfile } from "../state/index.ts";
import { changeLines } from "./report-plan.ts";
import { plural, print } from "./terminal.ts";

export async function mvVerb(
  from: string,
  to: string,
  options: { readonly lock: string; readonly set: string },
): Promise<void> {
  const backend = lockfile(options.lock);
  const made = planRename(await backend.read(), from, to, options.set);
  await backend.commit(made);
  print(...changeLines(made), `Renamed ${plural(made.keep.length, "claim")} in ${options.lock}; no address moved.`);
}
