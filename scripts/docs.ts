// Runs the commands of all pages, or of those named, and writes what they print into the pages, and what examples make into the examples.
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { matches, steps } from "../test/support/cli/markdown.ts";
import { pages, prepare, workFolder } from "../test/support/cli/page.ts";
import { root, Session } from "../test/support/console.ts";
import temporaryFolder from "../test/support/temporary-folder.ts";

const chosen = process.argv.slice(2);
const remove = temporaryFolder();

for (const page of chosen.length > 0 ? chosen : pages()) {
  let text = readFileSync(join(root, page), "utf8");
  const { start } = workFolder(page);
  const { env, stop } = await prepare(page);
  const session = new Session(start, env);
  const lines = text.split("\n");
  let shift = 0;
  for (const { command, output, line } of steps(text)) {
    const printed = session.run(command);
    if (matches(output, printed)) continue;
    const first = line + shift + (lines[line + shift - 1]?.endsWith("\\") ? 1 : 0);
    const old = output.split("\n").length - 1;
    const fresh = printed.replace(/\n$/, "").split("\n");
    lines.splice(first, old, ...(printed === "" ? [] : fresh));
    shift += (printed === "" ? 0 : fresh.length) - old;
    console.log(`${page}:${line} $ ${command}`);
  }
  await stop();
  text = lines.join("\n");
  writeFileSync(join(root, page), text);
  if (!page.startsWith("examples/")) continue;
  for (const name of ["nodeippool.lock", "rendered"]) {
    if (!existsSync(join(session.folder, name))) continue;
    rmSync(join(root, dirname(page), name), { recursive: true, force: true });
    cpSync(join(session.folder, name), join(root, dirname(page), name), { recursive: true });
  }
}
remove();
