import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseAllDocuments } from "yaml";
import { type Daemon, startDaemon } from "../test/support/cluster/daemon.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

/** The built controller as a process of its own, with the environment that the Deployment gives it. */
export class ControllerProcess {
  private readonly daemon: Daemon;
  private readonly log: string;
  private readonly begun: number;

  private constructor(daemon: Daemon, log: string, begun: number) {
    this.daemon = daemon;
    this.log = log;
    this.begun = begun;
  }

  static async start(kubeconfig: string, log: string, flags: readonly string[] = []): Promise<ControllerProcess> {
    writeFileSync(log, "");
    const begun = performance.now();
    const env = [`KUBECONFIG=${kubeconfig}`, ...deployed];
    const args = ["controller", "--namespace", "nodeippool", "--listen", "127.0.0.1:0", ...flags];
    const daemon = await startDaemon("env", [...env, process.execPath, join(root, "dist/cli/main.js"), ...args], log);
    return new ControllerProcess(daemon, log, begun);
  }

  /** Milliseconds since it was started. */
  age(): number {
    return performance.now() - this.begun;
  }

  /** Milliseconds from its start until it says that it is ready. */
  async ready(): Promise<number> {
    while (this.daemon.isRunning()) {
      const port = this.port();
      const url = `http://127.0.0.1:${port}/readyz`;
      // A busy process may end a connection that was kept open.
      if (port !== undefined && (await fetch(url).catch(() => undefined))?.ok) return this.age();
      await sleep(20);
    }
    throw new Error(`the controller ended:\n${readFileSync(this.log, "utf8").slice(-2000)}`);
  }

  /** Milliseconds that its first look at everything takes, with all that follows from it. It logs at level debug, and looks every so often. */
  async look(every: number): Promise<number> {
    const begun = Date.parse(`${this.lines().find(({ message }) => message === "started")?.time}`) + every;
    while (this.daemon.isRunning()) {
      const runs = this.lines().filter(({ message, time }) => message === "ran" && Date.parse(`${time}`) >= begun);
      const last = Date.parse(`${runs.at(-1)?.time}`);
      if (runs.length > 0 && Date.now() - last > 2_000) return last - begun;
      await sleep(500);
    }
    throw new Error("the controller ended");
  }

  /** What it has logged so far; the last line may be one that it still writes. */
  private lines(): Readonly<Record<string, unknown>>[] {
    const text = readFileSync(this.log, "utf8");
    return text
      .slice(0, text.lastIndexOf("\n"))
      .split("\n")
      .flatMap((line) => (line.startsWith("{") ? JSON.parse(line) : []));
  }

  /** Requests that it has sent so far, by its own count. */
  async requests(): Promise<number> {
    const reply = await fetch(`http://127.0.0.1:${this.port()}/metrics`, { headers: { connection: "close" } });
    const counts = (await reply.text()).matchAll(/^nodeippool_api_requests_total\{.*\} (\d+)$/gm);
    return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
  }

  /** MiB of memory that it has now, and the most that it ever had. */
  memory(): { readonly now: number; readonly peak: number } {
    const status = readFileSync(`/proc/${this.daemon.pid}/status`, "utf8");
    const field = (name: string) => Number(new RegExp(`^${name}:\\s*(\\d+) kB`, "m").exec(status)?.[1]) / 1024;
    return { now: field("VmRSS"), peak: field("VmHWM") };
  }

  /** As Kubernetes stops it. */
  async stop(): Promise<void> {
    process.kill(this.daemon.pid, "SIGTERM");
    await this.daemon.ended;
  }

  private port(): number | undefined {
    const started = /"message":"started".*"port":(\d+)/.exec(readFileSync(this.log, "utf8"));
    return started === null ? undefined : Number(started[1]);
  }
}

/** The environment in deploy/. */
const deployed: readonly string[] = parseAllDocuments(readFileSync(join(root, "deploy/controller.yaml"), "utf8"))
  .map((document) => document.toJS())
  .filter(({ kind }) => kind === "Deployment")
  .flatMap(({ spec }) => spec.template.spec.containers[0].env)
  .map(({ name, value }: { name: string; value: string }) => `${name}=${value}`);
