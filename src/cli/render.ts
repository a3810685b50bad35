import { describeLine, formatAddress, refusePending, replacedOwners } from "../core/index.ts";
import type { Left } from "../nmstate/policy-lines.ts";
import { joinDocuments, leftOnNodes, render } from "../nmstate/render.ts";
import { covering, withOffers } from "../state/index.ts";
import { openToPlan } from "./state.ts";
import { plain, plural, print, progress } from "./terminal.ts";
import { type PlanningOptions, planWorkspace, readWorkspace, refuseDrift } from "./workspace.ts";
import { writeFolder } from "./write-folder.ts";

export async function renderVerb(path: string, options: PlanningOptions & { out?: string }): Promise<void> {
  const workspace = await readWorkspace(path, options);
  const state = await openToPlan(options);
  const recorded = withOffers(await state.read(), state.name);
  const made = planWorkspace(workspace, recorded, options);
  refusePending(made);
  const replaced = replacedOwners(made, recorded);
  if (replaced) throw replaced;
  const snapshot = covering(made, recorded) ?? refuseDrift(made, options);
  progress(`rendering for ${workspace.nodes.length} nodes`);
  const files = render({ ...workspace, snapshot, set: options.set });
  progress();
  process.stderr.write(
    leftOnNodes({ ...workspace, snapshot, set: options.set })
      .map(leftNote)
      .join(""),
  );
  if (options.out === undefined) {
    process.stdout.write(joinDocuments(files.map((file) => file.text).filter((text) => text.trim() !== "")));
    return;
  }
  const { written, removed } = writeFolder(options.out, files, path);
  const unchanged = files.length - written;
  print(
    `Rendered ${plural(files.length, "file")} to ${options.out}: ${written} written, ${unchanged} unchanged, ${removed} removed.`,
  );
}

/** On standard error: standard output may be the manifests. */
function leftNote({ line, why }: Left): string {
  const isSeen = line.interface !== undefined;
  const next = `release ${isSeen ? "--evidence nns.json" : `${formatAddress(line.address)} --confirm`}`;
  return `Note: ${describeLine(line)}  is releasing and stays on its node: ${plain(why)}. Take it off by hand, then nodeippool ${next}\n`;
}
