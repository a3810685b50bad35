import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { root } from "../support/console.ts";
import { createManagedNodes } from "../support/objects/managed-nodes.ts";
import { addresses, type LabNode, ping } from "../support/real/lab.ts";
import { BUILD_TIMEOUT, orSkip } from "../support/tools/tools.ts";

const isLab = async () => (await createManagedNodes(mkdtempSync(join(tmpdir(), "trial-")))).close();

test("npm run lab: what it prints gives three nodes the addresses of the example, and SIGTERM removes everything", {
  timeout: BUILD_TIMEOUT,
}, async (context) => {
  await orSkip(context, isLab());
  const lab = npmRunLab();
  const printed = await untilPrinted(lab.child.stdout, "Ctrl-C");
  const lines = [...printed.matchAll(/^ {2}(export .*|kubectl (?:apply|wait|get) .*)$/gm)].map(([, line]) => line);
  const { stdout: shown } = await promisify(execFile)("bash", ["-c", lines.join(" && ")], { cwd: root });
  expect(shown).toMatch(/static-ip condition met\n/);
  expect(shown).toMatch(/^nodeippool.nmstate.io\/traffic-1 +10\.10\.10\.0\/24 +3 /m);

  const nodes = [...printed.matchAll(/--target (\d+) --net .* # (\S+)$/gm)].map(
    ([, pid, name], i): LabNode => ({ name: `${name}`, number: i + 1, pid: Number(pid) }),
  );
  expect(nodes.map(({ name }) => name)).toEqual(["node01", "node02", "node03"]);
  const networks = { eth1: "10.10.10", eth2: "10.10.11" };
  for (const [nic, network] of Object.entries(networks)) {
    const found = await Promise.all(nodes.map((node) => addresses(node, nic)));
    expect(found.flat().sort()).toEqual([1, 2, 3].map((host) => `${network}.${host}/24`));
    for (const node of nodes) expect(await ping(node, `${network}.${(node.number % 3) + 1}`)).toBe(true);
  }
  lab.child.kill("SIGTERM");
  expect(await lab.ended).toEqual([0, null]);
  for (const { pid } of nodes) expect(existsSync(`/proc/${pid}`)).toBe(false);
  const [, folders = ""] = /^Logs are in (.*)\. Ctrl-C/m.exec(printed) ?? [];
  expect(folders.split(" and ").map((folder) => existsSync(folder))).toEqual([false, false]);
});

test("npm run lab -- COMMAND runs it in a lab of its own, and ends with its status", {
  timeout: BUILD_TIMEOUT,
}, async (context) => {
  await orSkip(context, isLab());
  const ready = "kubectl wait node --all --for condition=Ready >&2 && kubectl get nns -o name | sort";
  const { child, ended } = npmRunLab("sh", "-c", `${ready}; exit 7`);
  const names = ["node01", "node02", "node03"].map((name) => `nodenetworkstate.nmstate.io/${name}\n`);
  expect(await text(child.stdout)).toBe(names.join(""));
  expect(await ended).toEqual([7, null]);
});

function npmRunLab(...command: string[]) {
  const child = spawn("npm", ["run", "-s", "lab", "--", ...command], {
    cwd: root,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  onTestFinished(async () => {
    child.kill("SIGINT");
    await ended;
  });
  return { child, ended };
}

async function untilPrinted(stream: Readable, word: string): Promise<string> {
  let printed = "";
  for await (const chunk of stream) {
    printed += chunk;
    if (printed.includes(word)) return printed;
  }
  throw new Error(`it ended, and printed:\n${printed}`);
}
