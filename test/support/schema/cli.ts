import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { readersEnvironment, root } from "../console.ts";
import { documentsOf, nicPolicyText, poolText } from "./text.ts";

export interface Ran {
  readonly stdout: string;
  readonly stderr: string;
  readonly status: number;
}

type Load = (name: string) => Promise<unknown>;
const mainPath = join(root, "cli/main.ts");
const loaded = new Map<string, Promise<unknown>>();

/** What main.ts imports: asked of the test runner once, which asks another process each time. */
const load: Load = (name) => {
  const path = name.startsWith(".") ? join(dirname(mainPath), name) : name;
  const module = loaded.get(name) ?? import(/* @vite-ignore */ path);
  loaded.set(name, module);
  return module;
};

/** The text of main.ts as a function, for to load a module anew costs more than most verbs do. */
function mainOf(text: string): (load: Load) => Promise<void> {
  const body = stripTypeScriptTypes(text)
    .replace(
      /^import \{([^}]*)\} from ("[^"]+");$/gm,
      (_, names: string, from: string) => `const {${names.replaceAll(" as ", ": ")}} = await load(${from});`,
    )
    .replaceAll(" import(", " load(")
    .replaceAll("import.meta.url", JSON.stringify(pathToFileURL(mainPath).href));
  return Object.getPrototypeOf(async () => {}).constructor("load", `"use strict"; ${body}`);
}

let main: ReturnType<typeof mainOf> | undefined;

/**
 * Runs the real main.ts in this process, in a folder: a hundred times cheaper than a process of its own, which
 * `nodeippool` of console.ts starts. Standard input is not to be had this way.
 */
export async function cli(args: readonly string[], folder: string): Promise<Ran> {
  const { written, status } = await captured(args, folder);
  const textOf = (stream: NodeJS.WriteStream) =>
    written.flatMap((one) => (one.stream === stream ? one.text : "")).join("");
  return { stdout: textOf(process.stdout), stderr: textOf(process.stderr), status };
}

/** The same, as a terminal shows it: both streams in the order of writing. */
export async function printedBy(args: readonly string[], folder: string): Promise<{ text: string; status: number }> {
  const { written, status } = await captured(args, folder);
  return { text: written.map(({ text }) => text).join(""), status };
}

async function captured(args: readonly string[], folder: string) {
  const { argv, exitCode, env } = process;
  const cwd = process.cwd();
  const written: { readonly stream: NodeJS.WriteStream; readonly text: string }[] = [];
  const caught = [process.stdout, process.stderr].map((stream) => ({
    stream,
    write: stream.write,
    errors: stream.listeners("error"),
  }));
  for (const { stream } of caught)
    stream.write = ((text: string | Uint8Array) => {
      written.push({ stream, text: String(text) });
      return true;
    }) as typeof stream.write;
  // The console of a test is the test runner's own.
  const { log } = console;
  console.log = (text: string) => void process.stdout.write(`${text}\n`);
  process.argv = [process.execPath, "nodeippool", ...args];
  process.env = readersEnvironment();
  process.exitCode = undefined;
  process.chdir(folder);
  try {
    main ??= mainOf(readFileSync(mainPath, "utf8"));
    await main(load);
    return { written, status: Number(process.exitCode ?? 0) };
  } finally {
    process.chdir(cwd);
    console.log = log;
    Object.assign(process, { argv, env, exitCode });
    for (const { stream, write, errors } of caught) {
      stream.write = write;
      for (const added of stream.listeners("error"))
        if (!errors.includes(added)) stream.off("error", added as (error: Error) => void);
    }
  }
}

/** Pool p of six addresses, and policy `a` that gives eth1 one of them. */
export const manifests = documentsOf(poolText("  range: {cidr: 10.0.0.0/29}"), nicPolicyText("a"));

/** A policy that is for no node: what a folder keeps whose addresses are given up. */
export const idlePolicy = nicPolicyText("idle", ["p"], "eth9", "  nodeSelector: {kubernetes.io/hostname: none}\n");

/** A new folder: `manifests/a.yaml` and `nodes.txt` with n1 and n2, and whatever else is said. */
export function projectOf(files: Readonly<Record<string, string | Uint8Array>> = {}): string {
  return folderOf({ "manifests/a.yaml": manifests, "nodes.txt": "n1\nn2\n", ...files });
}

/** `nodeippool VERB manifests --nodes nodes.txt ...` in such a folder. */
export function run(folder: string, verb: string, ...options: readonly string[]): Promise<Ran> {
  return cli([verb, "manifests", "--nodes", "nodes.txt", ...options], folder);
}

/** A lock with these lines of pool p. */
export function lockText(...lines: readonly string[]): string {
  const live = lines.filter((line) => !line.endsWith(" releasing"));
  const leaving = lines.filter((line) => line.endsWith(" releasing"));
  const section = (name: string, list: readonly string[]) =>
    list.length === 0 ? `${name}: []` : [`${name}:`, ...list.map(lockLine)].join("\n");
  const pools = lines.length === 0 ? "pools: []" : 'pools:\n- {"pool":"p","cidr":"10.0.0.0/29"}';
  return `# Written by nodeippool. Review it like code.\nversion: 1\n${pools}\n${section("allocations", live)}\n${section("releasing", leaving)}\n`;
}

/** `10.0.0.1 Node/n1/a/p`, and `if=eth2` or `set=other`; the NIC is eth1 unless said. */
function lockLine(text: string): string {
  const releasing = text.endsWith(" releasing") ? true : undefined;
  const [address, claim, ...words] = text.replace(/ releasing$/, "").split(" ");
  const { set, if: nic = "eth1" } = Object.fromEntries(words.map((word) => word.split("=")));
  return `- ${JSON.stringify({ address, pool: "p", claim, set, interface: nic, releasing })}`;
}

/** A new folder with these files. */
export function folderOf(files: Readonly<Record<string, string | Uint8Array>>): string {
  const folder = mkdtempSync(join(tmpdir(), "nodeippool-test-"));
  writeFiles(folder, files);
  return folder;
}

export function writeFiles(folder: string, files: Readonly<Record<string, string | Uint8Array>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}

/** Every file of a folder, hidden ones too, with its text: what a command must leave as it was. */
export function filesOf(folder: string): Record<string, string> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = entries.map((entry) => join(entry.parentPath, entry.name)).sort();
  return Object.fromEntries(paths.map((path) => [path.slice(folder.length + 1), readFileSync(path, "latin1")]));
}
