import { render } from "../nmstate/index.ts";
import { lockfile } from "../state/index.ts";
import { changeLines } from "./report-plan.ts";
import { print } from "./terminal.ts";
import { type PlanningOptions, planWorkspace, readWorkspace, refuseDrift, refusePending } from "./workspace.ts";
import { writeFolder } from "./write-folder.ts";

export async function renderVerb(path: string, options: PlanningOptions & { out?: string }): Promise<void> {
  const workspace = readWorkspace(path, options);
  const snapshot = await lockfile(options.lock).read();
  const made = planWorkspace(workspace, snapshot, options);
  refusePending(made);
  refuseDrift(made, changeLines(made), options.lock);
  const files = render({ ...workspace, snapshot, set: options.set });
  if (options.out === undefined) process.stdout.write(files.map((file) => ensureEnd(file.text)).join("---\n"));
  else {
    const { written, removed } = writeFolder(options.out, files, path);
    print(
      `Rendered ${files.length} files to ${options.out}: ${written} written, ${files.length - written} unchanged, ${removed} removed.`,
    );
  }
}

function ensureEnd(text: string): string {
  return text.endsWith("\n") ? text : `${text}\n`;
}
