import { describe, expect, it } from "vitest";
import { examples, exitStatuses } from "../../../cli/help.ts";
import { codes } from "../../../core/index.ts";
import { cli, folderOf } from "../../support/schema/cli.ts";

/** The verbs that the help of the program lists. */
async function verbs(): Promise<string[]> {
  const { stdout } = await cli(["--help"], folderOf({}));
  const commands = stdout.slice(stdout.indexOf("Commands:"), stdout.indexOf("Examples:"));
  return [...commands.matchAll(/^ {2}(\w+)/gm)].flatMap(([, name]) => (name === "help" ? [] : (name as string)));
}

/** The words of an example, as the shell gives them to nodeippool. */
function wordsOf(example: string): string[] {
  return (/nodeippool ([^)>]+)/.exec(example)?.[1] ?? "").trim().split(" ");
}

describe("help", () => {
  it("has examples for the program and for every verb", async () => {
    expect(["", ...(await verbs())].sort()).toEqual(Object.keys(examples).sort());
  });

  it("names every exit status that an error has", () => {
    const statuses = Object.values(codes).map(({ exit }) => String(exit));
    expect(Object.keys(exitStatuses)).toEqual(expect.arrayContaining(["0", "1", ...statuses]));
  });

  it.each(Object.keys(examples))(
    "of %j ends with two examples, the exit statuses and the documentation",
    async (verb) => {
      const { stdout, status } = await cli([...(verb === "" ? [] : [verb]), "--help"], folderOf({}));
      const end = stdout.slice(stdout.indexOf("\nExamples:\n"));
      for (const example of examples[verb] ?? []) expect(end).toContain(`\n  ${example}\n`);
      for (const [exit, means] of Object.entries(exitStatuses)) expect(end).toContain(`\n  ${exit}  ${means}\n`);
      expect(end).toMatch(/\nDocumentation: docs\/command-line\.md in the package nodeippool\n$/);
      expect(status).toBe(0);
    },
  );

  it.each(Object.values(examples).flat())("%s: a command line that is taken", async (example) => {
    // The configuration is read once the command line is: its mistake keeps the verb from doing anything.
    const { stderr } = await cli(wordsOf(example), folderOf({ "nodeippool.yaml": "none: x\n" }));
    expect(stderr).not.toMatch(/^error:|Run nodeippool --help/m);
  });
});

it("version: that of nodeippool and that of Node", async () => {
  const [word, flag] = [await cli(["version"], folderOf({})), await cli(["--version"], folderOf({}))];
  expect(word.stdout).toMatch(new RegExp(`^nodeippool \\d+\\.\\d+\\.\\d+, Node ${process.versions.node}\n$`));
  expect(flag).toEqual(word);
});
