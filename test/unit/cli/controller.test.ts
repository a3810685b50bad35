import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { parseDuration } from "../../../cli/duration.ts";
import { timing } from "../../../controller/timing.ts";
import { root } from "../../support/console.ts";
import { cli } from "../../support/schema/cli.ts";

const folder = mkdtempSync(join(tmpdir(), "nodeippool-controller-"));

function kubeconfig(port: number): string {
  const path = join(folder, `config-${port}`);
  const one = (kind: string, value: object) => [{ name: "one", [kind]: value }];
  const clusters = one("cluster", { server: `http://127.0.0.1:${port}` });
  const contexts = one("context", { cluster: "one", user: "one" });
  const users = one("user", { token: "s3cret" });
  writeFileSync(path, JSON.stringify({ clusters, contexts, users, "current-context": "one" }));
  return path;
}

describe("the process of the controller", () => {
  const running: ChildProcess[] = [];
  afterEach(() => running.splice(0).forEach((child) => void child.kill("SIGKILL")));

  /** Starts it, and returns once it has logged that it did. */
  async function started(port: number, ...args: string[]) {
    const env = { ...process.env, KUBECONFIG: kubeconfig(port), KUBERNETES_SERVICE_HOST: undefined };
    const words = [join(root, "cli/main.ts"), "controller", "--listen", "127.0.0.1:0", ...args];
    const child = spawn(process.execPath, words, { env, stdio: ["ignore", "ignore", "pipe"] });
    running.push(child);
    const lines: Record<string, unknown>[] = [];
    const { promise, resolve } = Promise.withResolvers<number>();
    createInterface({ input: child.stderr }).on("line", (line) => {
      lines.push(JSON.parse(line));
      if (lines.at(-1)?.message === "started") resolve(lines.at(-1)?.port as number);
    });
    const ended = once(child, "close") as Promise<[number | null, string | null]>;
    const at = await Promise.race([promise, ended.then(() => 0)]);
    return { child, lines, ended, ask: async (path: string) => (await fetch(`http://127.0.0.1:${at}${path}`)).status };
  }

  it("keeps trying where no server answers: healthy, not ready; it stops when it is told to", async () => {
    const { child, lines, ended, ask } = await started(1);
    expect(await ask("/healthz")).toBe(200);
    expect(await ask("/readyz")).toBe(503);
    expect(await ask("/metrics")).toBe(200);
    await expect.poll(() => lines.some(({ message }) => message === "a watch fails")).toBe(true);
    child.kill("SIGTERM");
    expect(await ended).toEqual([0, null]);
    expect(lines.at(-1)).toMatchObject({ level: "info", message: "stopped" });
    expect(lines.every(({ time, level }) => !Number.isNaN(Date.parse(`${time}`)) && level !== undefined)).toBe(true);
    expect(JSON.stringify(lines)).not.toContain("s3cret");
  });

  it("waits for what is in flight; a second signal ends it at once", async () => {
    // None of our kinds is there, so all is known, and the record is read; that is never answered.
    const asked = Promise.withResolvers<void>();
    const silent = createServer(({ url }, response) => {
      if (url?.includes("/configmaps")) asked.resolve();
      else response.writeHead(404, { "content-type": "application/json" }).end("{}");
    }).listen(0, "127.0.0.1");
    await once(silent, "listening");
    try {
      const { child, ended } = await started((silent.address() as AddressInfo).port);
      await asked.promise;
      child.kill("SIGTERM");
      expect(await Promise.race([ended, sleep(500, "waits")])).toBe("waits");
      child.kill("SIGTERM");
      expect(await ended).toEqual([143, null]);
    } finally {
      silent.closeAllConnections();
      silent.close();
    }
  });

  it("I10: the defaults that its flags say are those that it has, and durations are durations", async () => {
    const { stdout } = await cli(["controller", "--help"], folder);
    const usual = (flag: string) =>
      new RegExp(`--${flag} (?:(?!--)[^])*?default: "(\\w+)"`).exec(stdout.replace(/\s+/g, " "))?.[1] ?? "";
    expect(parseDuration("it", usual("look-every"))).toBe(timing.again);
    expect(parseDuration("it", usual("free-terminating-after"))).toBe(60_000);
    expect(usual("free-terminating")).toBe("never");
    const page = readFileSync(join(root, "docs/observe.md"), "utf8");
    expect(page).toContain(`--look-every ${usual("look-every")}`);
  });

  it.each([
    [["--listen", "8080"], /expected HOST:PORT/],
    [["--context", "none"], /no context "none"/],
    [["--log-level", "loud"], /Allowed choices are error, warn, info, debug/],
    [["--look-every", "5s"], /Write a duration as in 90s, 10m or 2h, from 10s to 168h/],
    [["--free-terminating", "all-nodes"], /Add --workload-addresses/],
  ])("exit status 2 for %j", async (args, why) => {
    const { status, stderr } = await cli(["controller", ...args], folder);
    expect(stderr).toMatch(why);
    expect(status).toBe(2);
  });
});
