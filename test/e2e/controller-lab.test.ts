import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import type { Readable } from "node:stream";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { root } from "../support/console.ts";
import { addresses, createLab, type LabNode, ping } from "../support/lab.ts";
import { BUILD_TIMEOUT, orSkip } from "../support/tools.ts";

test("npm run lab: three nodes reach each other by the addresses of the example, until it ends", {
  timeout: BUILD_TIMEOUT,
}, async (context) => {
  // Where no lab can be, this skips the test.
  await (await orSkip(context, createLab(["trial"]))).close();
  const lab = spawn(process.execPath, ["scripts/lab.ts"], { cwd: root, stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(lab, "exit");
  onTestFinished(async () => {
    lab.kill("SIGINT");
    await ended;
  });
  const printed = await untilSaid(lab.stdout, "Ctrl-C");
  const nodes = [...printed.matchAll(/--target (\d+) --net .* # (\S+)$/gm)].map(
    ([, pid, name], i): LabNode => ({ name: `${name}`, number: i + 1, pid: Number(pid) }),
  );
  expect(nodes.map(({ name }) => name)).toEqual(["node01", "node02", "node03"]);
  for (const node of nodes)
    for (const [nic, network] of [
      ["eth1", "10.10.10"],
      ["eth2", "10.10.11"],
    ] as const) {
      expect(await addresses(node, nic)).toEqual([`${network}.${node.number}/24`]);
      for (const { number } of nodes) expect(await ping(node, `${network}.${number}`)).toBe(true);
    }
  const [, exports = ""] = /^ {2}export (KUBECONFIG=\S+ PATH=\S+)$/m.exec(printed) ?? [];
  const script = `export ${exports}; kubectl get nodeippools -o name; kubectl wait nncp/static-ip --for condition=Available`;
  expect(await runShell(script)).toContain("nodeippool.nmstate.io/traffic-1\n");
  lab.kill("SIGINT");
  expect(await ended).toEqual([0, null]);
  for (const { pid } of nodes) expect(existsSync(`/proc/${pid}/ns/net`)).toBe(false);
  expect(existsSync(`${/KUBECONFIG=(\S+)\//.exec(printed)?.[1]}`)).toBe(false);
});

async function untilSaid(stream: Readable, word: string): Promise<string> {
  let said = "";
  for await (const chunk of stream) {
    said += chunk;
    if (said.includes(word)) return said;
  }
  throw new Error(`it ended, and said:\n${said}`);
}

async function runShell(script: string): Promise<string> {
  return (await promisify(execFile)("sh", ["-c", script])).stdout;
}
