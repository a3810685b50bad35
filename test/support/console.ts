import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join, resolve } from "node:path";

export const root = resolve(import.meta.dirname, "../..");

/** A folder with a `nodeippool` command that runs the sources. */
function shims(): string {
  const folder = join(root, "node_modules/.cache/nodeippool-bin");
  mkdirSync(folder, { recursive: true });
  const draft = join(folder, `draft-${process.pid}`);
  writeFileSync(draft, `#!/bin/sh\nexec "${process.execPath}" "${join(root, "cli/main.ts")}" "$@"\n`);
  chmodSync(draft, 0o755);
  renameSync(draft, join(folder, "nodeippool"));
  return folder;
}

let path: string | undefined;

/** The environment a reader of the docs has: nodeippool and this Node on the PATH, no colours, a git identity. */
export function readersEnvironment(): NodeJS.ProcessEnv {
  path ??= [shims(), dirname(process.execPath), join(root, "node_modules/.bin"), process.env.PATH].join(delimiter);
  const git = { GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null" };
  const identity = { GIT_AUTHOR_NAME: "you", GIT_AUTHOR_EMAIL: "you@example.net" };
  const committer = { GIT_COMMITTER_NAME: "you", GIT_COMMITTER_EMAIL: "you@example.net" };
  const quiet = { CDK8S_CHECK_UPGRADE: "false", npm_config_loglevel: "error" };
  return {
    ...process.env,
    ...git,
    ...identity,
    ...committer,
    PATH: path,
    ...quiet,
    NO_COLOR: "1",
    FORCE_COLOR: undefined,
  };
}

/** A reader at a shell: `cd` and `export` stay, everything else is a process of its own. */
export class Session {
  /** Where the reader is. */
  folder: string;
  private env: NodeJS.ProcessEnv;

  constructor(folder: string, env: NodeJS.ProcessEnv = {}) {
    this.folder = folder;
    this.env = env;
  }

  /** Runs one line, with this to read; what it prints on both outputs together. */
  run(line: string, input = ""): string {
    const target = /^cd (\S+)$/.exec(line)?.[1];
    if (target !== undefined) {
      this.folder = resolve(this.folder, target);
      return "";
    }
    const name = /^export (\w+)=/.exec(line)?.[1];
    const script = name === undefined ? line : `${line}; printf %s "$${name}"`;
    const { stdout, status } = spawnSync("bash", ["-c", `exec 2>&1; ${script}`], {
      cwd: this.folder,
      env: { ...readersEnvironment(), ...this.env },
      encoding: "utf8",
      input,
      timeout: 120_000,
    });
    if (name !== undefined) {
      this.env = { ...this.env, [name]: stdout };
      return "";
    }
    return status === 0 || stdout !== "" ? stdout : `exit status ${status}\n`;
  }
}

/** Runs nodeippool from the sources. */
export function nodeippool(args: readonly string[], folder: string, input?: string) {
  mkdirSync(folder, { recursive: true });
  const { stdout, stderr, status } = spawnSync("nodeippool", args, {
    cwd: folder,
    env: readersEnvironment(),
    encoding: "utf8",
    input: input ?? "",
    timeout: 60_000,
    maxBuffer: 1024 ** 3,
  });
  return { stdout, stderr, status };
}
