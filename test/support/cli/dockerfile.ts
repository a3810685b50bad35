import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, join } from "node:path";

/** One instruction of a Dockerfile, for example COPY, and what follows it. */
export interface Instruction {
  readonly name: string;
  readonly text: string;
}

export interface Stage {
  readonly image: string;
  readonly name: string | undefined;
  readonly instructions: readonly Instruction[];
}

/** The stages of a Dockerfile that has no heredocs, no ARG and no line that goes on. */
export function stagesOf(text: string): Stage[] {
  const stages: { image: string; name: string | undefined; instructions: Instruction[] }[] = [];
  for (const line of text.split("\n")) {
    const [, name, rest] = /^([A-Z]+) (.+)$/.exec(line) ?? [];
    if (name === undefined || rest === undefined) {
      if (line !== "" && !line.startsWith("#")) throw new Error(`no instruction: ${line}`);
    } else if (name === "FROM") {
      const [image = "", , alias] = rest.split(" ");
      stages.push({ image, name: alias, instructions: [] });
    } else stages.at(-1)?.instructions.push({ name, text: rest });
  }
  return stages;
}

/** Runs a command of a shell in a folder. */
export type Run = (folder: string, command: string) => Promise<unknown>;

/** A stage, and those that it copies from. */
function needed(stages: readonly Stage[], stage: Stage): Stage[] {
  const sources = stage.instructions.flatMap(({ text }) => /^--from=(\S+)/.exec(text)?.[1] ?? []);
  const from = stages.filter(({ name }) => name !== undefined && sources.includes(name));
  return [...from.flatMap((one) => needed(stages, one)), stage];
}

/** Does what the stages say that the last one needs, each in a folder of its own that stands for its root; returns the last one. */
export async function build(stages: readonly Stage[], context: string, folder: string, run: Run): Promise<string> {
  const roots = new Map<string, string>();
  const ignored = readFileSync(join(context, ".dockerignore"), "utf8").split("\n");
  let root = "";
  const last = stages.at(-1);
  const chosen = new Set(last && needed(stages, last));
  for (const [i, { name, instructions }] of [...chosen].entries()) {
    root = join(folder, name ?? `stage-${i}`);
    let at = root;
    if (name !== undefined) roots.set(name, root);
    for (const { name: verb, text } of instructions) {
      if (verb === "WORKDIR") {
        at = join(root, text);
        mkdirSync(at, { recursive: true });
      } else if (verb === "RUN") await run(at, text);
      else if (verb === "COPY") {
        const [, stage, paths = ""] = /^(?:--from=(\S+) )?(.*)$/.exec(text) ?? [];
        const from = stage === undefined ? context : (roots.get(stage) as string);
        copy(from, paths.split(" "), at, stage === undefined ? ignored : []);
      }
    }
  }
  return root;
}

/** A folder is copied as what is in it, a file by its name. */
function copy(from: string, paths: readonly string[], at: string, ignored: readonly string[]): void {
  const to = join(at, paths.at(-1) ?? "");
  for (const path of paths.slice(0, -1)) {
    const source = join(from, path);
    if (!existsSync(source)) throw new Error(`nothing to copy: ${path}`);
    if (statSync(source).isFile()) cpSync(source, join(to, basename(path)));
    else
      for (const name of readdirSync(source).filter((one) => !ignored.includes(one)))
        cpSync(join(source, name), join(to, name), { recursive: true });
  }
}
