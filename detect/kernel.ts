import { execFile } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { IpamError } from "../core/index.ts";
import type { ProbeTransport } from "./detect.ts";
import type { Attempt, Check } from "./next-step.ts";
import { type Nic, parseNics } from "./nics.ts";
import { type Ended, probeOf, readAttempt } from "./probe.ts";

/** The networks of this network namespace. A NIC is looked at again whenever it is asked: it may have come up. */
export const kernel: ProbeTransport = {
  async ask(check: Check, within: number): Promise<Attempt> {
    const nic = (await readNics()).find(({ name }) => name === check.nic);
    if (nic === undefined) return { failed: `${check.nic} is gone` };
    const probe = probeOf(check, nic, within);
    return "failed" in probe ? probe : readAttempt(probe, await run(probe.file, probe.args));
  },
  sleep: (milliseconds) => sleep(milliseconds),
};

/** The NICs of this network namespace. */
export async function readNics(): Promise<Nic[]> {
  const { status, stdout, stderr } = await run("ip", ["-json", "address", "show"]);
  if (status !== 0) throw new IpamError("unavailable", `ip cannot tell the addresses: ${stderr.trim()}`);
  return parseNics(stdout);
}

/** Far longer than a command waits for answers: what takes longer hangs. */
const patience = 5000;

function run(file: string, args: readonly string[]): Promise<Ended> {
  const { promise, resolve, reject } = Promise.withResolvers<Ended>();
  const options = { timeout: patience, killSignal: "SIGKILL", env: { ...process.env, LC_ALL: "C" } } as const;
  execFile(file, args, options, (error, stdout, stderr) => {
    if (error === null) return resolve({ status: 0, stdout, stderr });
    if (typeof error.code === "number") return resolve({ status: error.code, stdout, stderr });
    if (error.killed) return resolve({ status: null, stdout: "", stderr: `did not end within ${patience / 1000} s` });
    const hint = "On Debian, the packages iproute2, arping and ndisc6 have what is needed.";
    reject(new IpamError("unavailable", `${file} cannot be run: ${error.message}`, { hint, cause: error }));
  });
  return promise;
}
