import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { installNmstate, installNodeIPPool } from "../support/cluster/kinds.ts";
import { clusterOfFile } from "../support/cluster/of-file.ts";
import { readersEnvironment, root, Session } from "../support/console.ts";

describe("operating the controller on a real API server", () => {
  const cluster = clusterOfFile(async (started) => {
    await installNodeIPPool(started);
    await installNmstate(started);
    await started.kubectl(["create", "namespace", "nodeippool"]);
  });

  let controller: ChildProcess;
  const lines: Record<string, unknown>[] = [];
  const ask = async (path: string) => {
    const port = lines.find(({ message }) => message === "started")?.port;
    const response = await fetch(`http://127.0.0.1:${port}${path}`);
    return response.ok ? response.text() : `status ${response.status}`;
  };

  beforeAll(() => {
    const env = { ...readersEnvironment(), KUBECONFIG: cluster().kubeconfig };
    const words = ["controller", "--namespace", "nodeippool", "--listen", "127.0.0.1:0"];
    controller = spawn("nodeippool", words, { env, stdio: ["ignore", "ignore", "pipe"] });
    createInterface({ input: controller.stderr as NodeJS.ReadableStream }).on("line", (line) =>
      lines.push(JSON.parse(line)),
    );
  });
  afterAll(() => void controller.kill("SIGKILL"));

  const apply = (object: object) => cluster().kubectl(["apply", "-f", "-"], JSON.stringify(object));

  async function readyNodes(names: readonly string[]): Promise<void> {
    const items = names.map((name) => ({
      apiVersion: "v1",
      kind: "Node",
      metadata: { name, labels: { "kubernetes.io/hostname": name } },
    }));
    await apply({ apiVersion: "v1", kind: "List", items });
    const status = { conditions: [{ type: "Ready", status: "True", reason: "KubeletReady", message: "" }] };
    const patch = ["--subresource=status", "--type=merge", "-p", JSON.stringify({ status })];
    await cluster().kubectl(["patch", "nodes", ...names, ...patch]);
  }

  /** The Events of a reason, each as `Kind/name: message`. */
  async function events(reason: string): Promise<string[]> {
    const columns = "custom-columns=:.involvedObject.kind,:.involvedObject.name,:.message";
    const selector = `reason=${reason},reportingComponent=nodeippool-controller`;
    const text = await cluster().kubectl([
      "get",
      "events",
      "-n",
      "default",
      "--field-selector",
      selector,
      "-o",
      columns,
    ]);
    return text
      .split("\n")
      .filter((line) => line.trim() !== "")
      .map((line) => line.replace(/^(\S+) +(\S+) +/, "$1/$2: ").trimEnd())
      .sort();
  }

  const patient = { timeout: 15_000, interval: 200 };
  const policy = "NodeNetworkConfigurationPolicy/static-ip";

  it("is ready once it knows all there is", async () => {
    await expect.poll(() => ask("/readyz").catch(() => "not yet"), patient).toBe("ok\n");
    expect(await ask("/healthz")).toBe("ok\n");
  });

  it("says on the nodes, the pools and the policy who got which address", async () => {
    const manifest = (name: string) =>
      readFileSync(join(root, `examples/static-ip/manifests/${name}`), "utf8").replaceAll("Plan", "Cluster");
    await readyNodes(["node01", "node02"]);
    for (const name of ["pools.yaml", "static-ip.yaml"]) await cluster().kubectl(["apply", "-f", "-"], manifest(name));
    await expect
      .poll(() => events("Allocated"), patient)
      .toEqual(
        [
          `Node/node01: 10.10.10.1 of traffic-1 for static-ip, 10.10.11.1 of traffic-2 for static-ip`,
          `Node/node02: 10.10.10.2 of traffic-1 for static-ip, 10.10.11.2 of traffic-2 for static-ip`,
          `NodeIPPool/traffic-1: node01 10.10.10.1 for static-ip, node02 10.10.10.2 for static-ip`,
          `NodeIPPool/traffic-2: node01 10.10.11.1 for static-ip, node02 10.10.11.2 for static-ip`,
          `${policy}: node01 10.10.10.1 of traffic-1, node02 10.10.10.2 of traffic-1, node01 10.10.11.1 of traffic-2, node02 10.10.11.2 of traffic-2`,
        ].map((text) => expect.stringContaining(text)),
      );
    const logged = lines.filter(({ message, owner }) => message === "allocated" && owner === "Node/node01");
    const claims = logged.map(({ level, address, pool, claim }) => [level, address, pool, claim].join(" "));
    expect(claims.sort()).toEqual([
      "info 10.10.10.1 traffic-1 static-ip/address-from-traffic-1",
      "info 10.10.11.1 traffic-2 static-ip/address-from-traffic-2",
    ]);
    const described = await cluster().kubectl(["describe", "nodeippool", "traffic-1"]);
    expect(described).toMatch(/Normal +Allocated +\S+ +nodeippool-controller +node01 10\.10\.10\.1/);
  });

  it("says on each full pool how many nodes wait", async () => {
    await readyNodes(Array.from({ length: 12 }, (_, i) => `extra${i + 10}`));
    const waiting = "6 more needed, for extra16, extra17, extra18 and 3 more.";
    const full = ["traffic-1", "traffic-2"].map((pool) =>
      expect.stringContaining(`NodeIPPool/${pool}: The IP pool is exhausted: ${waiting}`),
    );
    const node = expect.stringContaining(
      "Node/extra16: This node waits for addresses of NodeIPPool traffic-1, which is exhausted, and of traffic-2, ",
    );
    await expect.poll(() => events("ExhaustedIPPool"), patient).toEqual(expect.arrayContaining([node, ...full]));
  });

  it("counts what it did", async () => {
    const metrics = await ask("/metrics");
    for (const line of [
      /^nodeippool_pool_addresses{pool="traffic-1",state="allocated"} 8$/m,
      /^nodeippool_pool_addresses{pool="traffic-1",state="free"} 0$/m,
      /^nodeippool_pool_pending_claims{pool="traffic-1"} 6$/m,
      /^nodeippool_watch_state{kind="NodeIPPool.nmstate.io",state="synced"} 1$/m,
      /^nodeippool_api_requests_total{verb="watch",code="200"} \d+$/m,
      /^nodeippool_commits_total{result="ok"} \d+$/m,
    ])
      expect(metrics).toMatch(line);
  });

  it("show, explain, audit and release read its record and the pools of the cluster", async () => {
    const folder = mkdtempSync(join(tmpdir(), "nodeippool-operations-"));
    const session = new Session(folder, { KUBECONFIG: cluster().kubeconfig });
    const run = (words: string) => session.run(`nodeippool ${words} --backend kubernetes --namespace nodeippool`);
    const why = "ExhaustedIPPool: The IP pool is exhausted: 6 more needed, for extra16, extra17, extra18 and 3 more.";
    const shown = run("show traffic-1");
    expect(shown).toMatch(/^Pool traffic-1 .* 8 usable {2}8 held {2}0 free\n/);
    expect(shown).toContain(`\n  ${why}`);
    expect(shown).toMatch(/\n {2}10\.10\.10\.1 +0 +node01 +static-ip\//);
    const [pool] = JSON.parse(run("show traffic-1 --json")).pools;
    expect(pool).toMatchObject({ authority: "Cluster", held: 8, free: 0, problem: expect.stringContaining(why) });
    expect(run("explain node02")).toMatch(
      /^10\.10\.10\.2: pool traffic-1, offset 1, held by node02, .*, set cluster\n/,
    );
    expect(run("explain extra16")).toContain(`node extra16 has no address\n  pool traffic-1: ${why}`);
    expect(run("explain nobody")).toContain('invalid: "nobody" is not an address, a pool, a node or an owner');
    const policies = await cluster().kubectl(["get", "nncp", "-o", "json"]);
    writeFileSync(join(folder, "nncp.json"), policies.replaceAll("10.10.10.2", "10.10.10.1"));
    session.run("kubectl get nodes -o json > nodes.json");
    const audited = run("audit nncp.json --nodes nodes.json");
    expect(audited).toMatch(/^leaked: 10\.10\.10\.2 is recorded for Node\/node02\/static-ip\//);
    expect(audited).toMatch(/\n16 addresses checked, \d+ findings\n$/);
    expect(run("release")).toBe("0 addresses releasing.\n");
    expect(run("release node01 --confirm")).toMatch(/^in-use: 10\.10\.10\.1 of Node\/node01\/.* is still claimed\n/);
  });

  it("stops when it is told to", async () => {
    const ended = once(controller, "close");
    controller.kill("SIGTERM");
    expect(await ended).toEqual([0, null]);
    expect(lines.at(-1)).toMatchObject({ message: "stopped" });
    expect(lines.filter(({ level }) => level === "error")).toEqual([]);
  });
});
