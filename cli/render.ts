import { describeLine, formatBlock, IpamError, isOfNode, type Plan } from "../core/index.ts";
import type { Left } from "../integrations/contract/integration.ts";
import { checkFormat, joinDocuments, manifestFormat, renderFiles, renderFolder } from "../pipeline/folder.ts";
import { doubtfulRelease, firstRefusal, guardsOf } from "../pipeline/guards.ts";
import { freeOnce } from "../pipeline/integrations.ts";
import { covering, withOffers } from "../state/index.ts";
import { driftLines } from "./report-plan.ts";
import { lostRouteNotes } from "./route-notes.ts";
import { isLockfile, isToBegin, openToPlan, type StateOptions } from "./state.ts";
import { plain, plural, print, progress } from "./terminal.ts";
import { type PlanningOptions, proposeFor, readWorkspace, refuseUnserved } from "./workspace.ts";
import { writeFolder } from "./write-folder.ts";

interface RenderOptions extends PlanningOptions {
  readonly out?: string;
  readonly format: string;
}

export async function renderVerb(path: string, options: RenderOptions): Promise<void> {
  const { format } = options;
  checkFormat(format);
  if (format !== manifestFormat && options.out === undefined)
    throw new IpamError("invalid", `${format} is rendered as files, and no folder is named for them`, {
      hint: "Add --out FOLDER.",
    });
  const workspace = await readWorkspace(path, options);
  const state = await openToPlan(options);
  const recorded = withOffers(await state.read(), state.name);
  // A release that is not recorded is drift, whether or not it looks like a mistake.
  const proposal = proposeFor(workspace, recorded, options, { confirmRelease: true });
  const isManifests = format === manifestFormat;
  const refusal = firstRefusal(proposal, isManifests ? guardsOf() : guardsOf(() => {}));
  if (refusal !== undefined) throw refusal;
  if (covering(proposal.plan, recorded, doubtfulRelease(proposal)) === undefined) refuseDrift(proposal.plan, options);
  progress(`rendering for ${workspace.nodes.length} nodes`);
  const rendered = proposal.rendered();
  const files = isManifests
    ? renderFolder(workspace.files, workspace.manifests, rendered)
    : renderFiles(proposal.desired, format, proposal.holdings);
  progress();
  process.stderr.write(rendered.left.map(leftNote).join(""));
  if (options.out === undefined) {
    process.stdout.write(joinDocuments(files.map((file) => file.text).filter((text) => text.trim() !== "")));
    return refuseUnserved(proposal);
  }
  const notes = lostRouteNotes(options.out, files);
  const { written, removed } = writeFolder(options.out, files, path, whatIsIn(options), [
    ...(options.nodes === undefined ? [] : [options.nodes]),
    ...(isLockfile(options) ? [options.lock] : []),
  ]);
  process.stderr.write(notes.map((note) => `${note}\n`).join(""));
  const unchanged = files.length - written;
  print(
    `Rendered ${plural(files.length, "file")} to ${options.out}: ${written} written, ${unchanged} unchanged, ${removed} removed.`,
  );
  refuseUnserved(proposal);
}

/** What a folder is rendered from and as: it holds nothing else. */
function whatIsIn({ set, format }: RenderOptions): string {
  return format === manifestFormat ? set : `${set} as ${format}`;
}

/** On standard error: standard output may be the manifests. */
function leftNote({ line, why }: Left): string {
  const isSeen = line.interface !== undefined;
  const next = `release ${isSeen ? "--evidence nns.json" : `${formatBlock(line)} --confirm`}`;
  const once = freeOnce(line) ?? (isOfNode(line) ? undefined : "it is no longer in use");
  if (once !== undefined)
    return `Note: ${describeLine(line)}  is releasing: ${plain(why)}. Once ${once}: nodeippool ${next}\n`;
  return `Note: ${describeLine(line)}  is releasing and stays on its node: ${plain(why)}. Take it off by hand, then nodeippool ${next}\n`;
}

/** Throws `stale` with what the record lacks. */
function refuseDrift(proposed: Plan, options: StateOptions): never {
  const { lock } = options;
  const isBegun = !isToBegin(options);
  const name = isLockfile(options) ? lock : "the record";
  const what = isBegun ? `${name} is not up to date with the manifests` : `there is no ${lock} here`;
  const afterwards = isLockfile(options) ? ", review the lock, and commit it" : "";
  throw new IpamError("stale", [`${what}:`, ...driftLines(proposed)].join("\n  "), {
    hint: isBegun
      ? `Run nodeippool allocate${afterwards}.`
      : `Name the lock that belongs to these manifests (--lock FILE), or run nodeippool allocate to begin one.`,
  });
}
