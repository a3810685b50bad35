import { readFolder } from "../pipeline/folder.ts";
import type { QuotedLine, SourceFile } from "../schema/index.ts";
import { readInputs, realPath } from "./files.ts";
import { plural, print } from "./terminal.ts";
import { writeWhole } from "./write-file.ts";

/** Writes quotes where YAML needs them and people leave them out: around templates, and in a host selector of one line. */
export async function fmtVerb(path: string): Promise<void> {
  const files = await readInputs(path);
  const quoted = Map.groupBy(readFolder(files).quoted, ({ at }) => at.file);
  if (path === "-") {
    for (const file of files) process.stdout.write(textWith(file, quoted.get(labelOf(file)) ?? []));
    return;
  }
  for (const file of files) {
    const lines = quoted.get(labelOf(file));
    if (lines === undefined) continue;
    writeWhole(realPath(labelOf(file)), textWith(file, lines));
    print(`${labelOf(file)}: ${plural(lines.length, "line")} quoted`);
  }
  if (quoted.size === 0) print("Nothing needs quotes.");
}

function labelOf({ path, label = path }: SourceFile): string {
  return label;
}

/** A document may begin in the middle of a line, behind `---`. */
function textWith({ text }: SourceFile, lines: readonly QuotedLine[]): string {
  const all = text.split("\n");
  for (const { at, was, now } of lines) {
    const old = all[at.line - 1] ?? "";
    all[at.line - 1] = old.slice(0, old.length - was.length) + now;
  }
  return all.join("\n");
}
