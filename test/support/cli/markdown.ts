/** One command of a console block, and what the page says it prints. */
export interface Step {
  readonly command: string;
  readonly output: string;
  readonly line: number;
}

/** The commands of all ```console blocks of a page. A command goes on after a backslash; `...` stands for any lines. */
export function steps(markdown: string): Step[] {
  const found: { command: string; output: string[]; line: number }[] = [];
  let inConsole = false;
  for (const [i, line] of markdown.split("\n").entries()) {
    if (line.startsWith("```")) inConsole = line === "```console";
    else if (!inConsole) continue;
    else if (line.startsWith("$ ")) found.push({ command: line.slice(2), output: [], line: i + 1 });
    else if (found.at(-1)?.command.endsWith("\\")) {
      const step = found.at(-1) as (typeof found)[number];
      step.command = `${step.command.slice(0, -1)}${line.trim()}`;
    } else found.at(-1)?.output.push(line);
  }
  return found.map(({ output, ...step }) => ({ ...step, output: output.map((text) => `${text}\n`).join("") }));
}

/** Does a text match what a page shows of it? */
export function matches(shown: string, text: string): boolean {
  const pattern = shown
    .split("\n")
    .map((line) => (line === "..." ? "[^]*" : line.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")))
    .join("\n")
    .replaceAll("[^]*\n", "[^]*");
  return new RegExp(`^${pattern}$`).test(text);
}

/** The TypeScript of a page, as programs: a block that imports nothing goes on where the one before it ended. A `ts excerpt` is of a file that is compiled itself. */
export function programs(markdown: string): string[] {
  const made: string[] = [];
  for (const [, block = ""] of markdown.matchAll(/^```ts\n(.*?)^```$/gms))
    made.push(`${/^import /m.test(block) ? "" : (made.pop() ?? "")}${block}`);
  return made;
}

/** The one code block of a page that has this text in it. */
export function blockWith(markdown: string, text: string): string {
  const found = markdown.split(/^```.*\n/m).filter((part, i) => i % 2 === 1 && part.includes(text));
  if (found.length !== 1) throw new Error(`${found.length} blocks have ${JSON.stringify(text)}`);
  return found[0] as string;
}
