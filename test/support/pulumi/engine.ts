import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { readersEnvironment, root } from "../console.ts";
import { pulumiFolder } from "../tools/pulumi-tools.ts";

/** What a command of the CLI came to. */
export interface Outcome {
  readonly status: number | null;
  /** Everything it printed, on both outputs. */
  readonly text: string;
}

/** A resource as the stack's state has it. */
export interface StateResource {
  readonly urn: string;
  readonly type: string;
  readonly id: string;
  readonly inputs: Record<string, unknown>;
  readonly outputs: Record<string, unknown>;
}

export type Held = { readonly [pool: string]: { readonly [claim: string]: string } };

const setType = "pulumi-nodejs:dynamic/nodeippool:AllocationSet";
const options = ["--non-interactive", "--color=never"];

/** A project with one stack on a file backend, run by the real CLI. */
export class PulumiProject {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), "nodeippool-pulumi-")));
  private readonly guard = guard(this.folder);
  stack = "dev";
  private readonly bin: string;
  readonly variables: NodeJS.ProcessEnv;

  /**
   * `program`: the text of an ES module in which what the package and the SDK export is already there. `variables` go
   * into the environment of every command.
   */
  static async create(program: string, variables: NodeJS.ProcessEnv = {}): Promise<PulumiProject> {
    const project = new PulumiProject(await pulumiFolder(), variables);
    project.program(program);
    await project.ok("stack", "init", project.stack);
    return project;
  }

  private constructor(bin: string, variables: NodeJS.ProcessEnv) {
    this.bin = bin;
    this.variables = variables;
    mkdirSync(join(this.folder, "state"));
    mkdirSync(join(this.folder, "node_modules/@pulumi"), { recursive: true });
    for (const name of ["pulumi", "kubernetes"])
      symlinkSync(join(root, "node_modules/@pulumi", name), join(this.folder, "node_modules/@pulumi", name));
    symlinkSync(root, join(this.folder, "node_modules/nodeippool"));
    // What compiles programs in TypeScript takes long to load, and is not needed here.
    const runtime = "{ name: nodejs, options: { typescript: false } }";
    this.write("Pulumi.yaml", `name: test\nruntime: ${runtime}\nmain: index.mjs\n`);
    this.write("package.json", '{ "private": true }\n');
  }

  write(path: string, text: string): void {
    writeFileSync(join(this.folder, path), text);
  }

  read(path: string): string {
    return readFileSync(join(this.folder, path), "utf8");
  }

  program(text: string): void {
    const imports = [
      'import * as pulumi from "@pulumi/pulumi";',
      'import { AllocationSet, Manifests, NodeNetworkPolicy } from "nodeippool/provider";',
    ];
    this.write("index.mjs", [...imports, text, ""].join("\n"));
  }

  env(): NodeJS.ProcessEnv {
    const { PATH, ...env } = readersEnvironment();
    return {
      ...env,
      PATH: [this.bin, PATH].join(delimiter),
      PULUMI_HOME: join(this.folder, "home"),
      PULUMI_BACKEND_URL: `file://${join(this.folder, "state")}`,
      PULUMI_CONFIG_PASSPHRASE: "test",
      PULUMI_SKIP_UPDATE_CHECK: "true",
      PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
      PULUMI_SKIP_CONFIRMATIONS: "true",
      ...this.variables,
    };
  }

  /** Starts a command in a process group of its own. */
  start(file: string, ...args: string[]) {
    const child = spawn(file, args, {
      cwd: this.folder,
      env: this.env(),
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let text = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (part: string) => {
        text += part;
      });
    // Not "close": a provider that outlives the CLI keeps its outputs open.
    const ended = once(child, "exit").then(async ([status]): Promise<Outcome> => {
      await Promise.race([once(child, "close"), new Promise((resolve) => setTimeout(resolve, 200))]);
      return { status, text };
    });
    return { pid: child.pid as number, ended, printed: () => text };
  }

  /** `pulumi VERB ...`, whatever comes of it. */
  async run(...args: string[]): Promise<Outcome> {
    return await this.start("pulumi", ...args, ...options).ended;
  }

  /** The same; throws all that was printed if it fails. */
  async ok(...args: string[]): Promise<string> {
    const { status, text } = await this.run(...args);
    if (status !== 0) throw new Error(`pulumi ${args.join(" ")}: exit status ${status}\n${text}`);
    return text;
  }

  /** `pulumi up`, without the preview before it. */
  up(...args: string[]): Promise<string> {
    return this.ok("up", "--yes", "--skip-preview", ...args);
  }

  /** What a preview shows of the stack's outputs and of each resource's changes. */
  preview(...args: string[]): Promise<string> {
    return this.ok("preview", "--diff", ...args);
  }

  /** The text of the state; empty where there is none. */
  checkpoint(): string {
    const path = join(this.folder, "state/.pulumi/stacks/test", `${this.stack}.json`);
    return existsSync(path) ? readFileSync(path, "utf8") : "";
  }

  /** An update holds the stack, or did until it was killed. */
  isLocked(): boolean {
    const locks = join(this.folder, "state/.pulumi/locks");
    return (
      existsSync(locks) &&
      readdirSync(locks, { recursive: true, encoding: "utf8" }).some(
        (name) => name.endsWith(`${this.stack}.json`) || name.includes(`${this.stack}/`),
      )
    );
  }

  /** What docs/pulumi.md says of a state in files that a kill has left unreadable. */
  removeEmptyMetadata(): void {
    const [command = ""] = /^find STATE.*$/m.exec(readFileSync(join(root, "docs/pulumi.md"), "utf8")) ?? [];
    execFileSync("sh", ["-c", command.replace("STATE", "state")], { cwd: this.folder });
  }

  resources(): StateResource[] {
    return JSON.parse(this.checkpoint()).checkpoint.latest?.resources ?? [];
  }

  /** What the state holds of the stack's sets, by their names. */
  sets(): Record<string, { addresses: Held; releasing?: Held } & Record<string, unknown>> {
    const sets = this.resources().filter(({ type }) => type === setType);
    return Object.fromEntries(sets.map(({ urn, outputs }) => [urn.split("::").at(-1), outputs])) as never;
  }

  /** Kills what an engine that was killed left running: providers and language hosts have process groups of their own. */
  killOrphans(): void {
    execFileSync("sh", ["-c", killAll, "sh", this.folder]);
  }

  remove(): void {
    this.killOrphans();
    rmSync(this.folder, { recursive: true, force: true });
    this.guard.stdin.end();
  }
}

/** Kills all processes that work in a folder, and what they start meanwhile. */
const killAll = `
  while pids=$(find /proc/[0-9]*/cwd -maxdepth 0 -lname "$1" 2>/dev/null | cut -d/ -f3); [ -n "$pids" ]; do
    kill -KILL $pids 2>/dev/null
    sleep 0.05
  done`;

/** A shell in a session of its own that does this, and removes the folder, once this process is gone, however it ended. */
function guard(folder: string) {
  const script = `cat; ${killAll}; rm -rf "$1"`;
  return spawn("sh", ["-c", script, "sh", folder], { detached: true, stdio: ["pipe", "ignore", "ignore"] });
}

/** A set as a program makes it: a claim on pool lan for each node. `rest` and `opts` are texts of objects. */
export function setText(nodes: readonly string[], { name = "ips", rest = "", opts = "{}" } = {}): string {
  return `const ips = new AllocationSet("${name}", {
  pools: { lan: { range: { cidr: "10.0.0.0/24" } } },
  claims: ${JSON.stringify(nodes)}.map((node) => ({ owner: { kind: "Node", name: node }, name: "eth1", pool: "lan" })),
  ${rest}
}, ${opts});
export const addresses = ips.addresses;`;
}

/** `a=1 b=2`: who holds which address of 10.0.0.0/24. */
export function short(held: Held | undefined): string {
  const lines = Object.values(held ?? {}).flatMap((claims) => Object.entries(claims));
  return lines.map(([key, address]) => `${key.split("/")[1]}=${address.replace("10.0.0.", "")}`).join(" ");
}
