import { readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { root, Session } from "../console.ts";
import { cli, printedBy } from "../schema/cli.ts";
import { BUILD_TIMEOUT } from "../tools/tools.ts";
import { matches, steps } from "./markdown.ts";
import { contents, isSlow, prepare, results, workFolder } from "./page.ts";

/** Every command of a page is run, and prints what the page says. `npm run docs` writes new output into the pages. */
export function testPage(page: string): void {
  const all = steps(readFileSync(join(root, page), "utf8"));
  if (all.length === 0) return;
  describe(page, () => {
    const { folder, start } = workFolder(page);
    let session: Session;
    beforeAll(async () => {
      const { env, stop } = await prepare(page);
      session = new Session(start, env);
      return stop;
    }, BUILD_TIMEOUT);
    afterAll(() => rmSync(folder, { recursive: true }));

    for (const { command, output, line } of all)
      test(`${page}:${line} $ ${command}`, async () => {
        // What a slow page has in its environment, only a process of its own can be told.
        const text = (isSlow(page) ? undefined : await runHere(command, session)) ?? session.run(command);
        if (!matches(output, text)) expect(text).toBe(output);
      });

    for (const name of results(page))
      test(`makes ${name} as it is committed`, () => {
        expect(contents(join(session.folder, name))).toEqual(contents(join(root, dirname(page), name)));
      });
  });
}

/** What a line prints that runs nodeippool: alone, into a pipe, or for its exit status. Undefined where a shell would see to more. */
async function runHere(command: string, session: Session): Promise<string | undefined> {
  const [, own = "", status, rest] =
    /^(nodeippool .*?)(; echo "exit status \$\?")?(?: \| ([^|]*))?$/.exec(command) ?? [];
  const [, ...words] = own.split(" ");
  if (own === "" || !words.every((word) => /^[\w./:=-]+$/.test(word) && word !== "-" && word !== "--")) return;
  if (rest !== undefined) {
    const { stdout, stderr } = await cli(words, session.folder);
    return `${stderr}${session.run(rest, stdout)}`;
  }
  const printed = await printedBy(words, session.folder);
  return status === undefined ? printed.text : `${printed.text}exit status ${printed.status}\n`;
}
