import { spawnSync } from "node:child_process";
import { availableParallelism, cpus, loadavg, totalmem } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import type { Result } from "./measure.ts";
import { formatTable } from "./table.ts";

const subjects = {
  command: () => import("./command.ts"),
  "free-space": () => import("./free-space.ts"),
  address: () => import("./address.ts"),
  lockfile: () => import("./lockfile.ts"),
  plan: () => import("./plan.ts"),
  blocks: () => import("./blocks.ts"),
  kubernetes: () => import("./kubernetes.ts"),
  synth: () => import("./synth.ts"),
  pulumi: () => import("./pulumi.ts"),
  controller: () => import("./controller.ts"),
  claims: () => import("./claims.ts"),
  "ipam-claims": () => import("./ipam-claims.ts"),
  "virtual-machines": () => import("./virtual-machines.ts"),
  workloads: () => import("./workloads.ts"),
  slices: () => import("./slices.ts"),
  hosts: () => import("./hosts.ts"),
  handlers: () => import("./handlers.ts"),
};
type Subject = keyof typeof subjects;
const all = Object.keys(subjects) as Subject[];
/** What is not ours, or takes a minute and is measured with VMs, too, is measured only when it is asked for. */
const usual = all.filter((name) => name !== "handlers" && name !== "ipam-claims");

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    /** Fewer samples, and no million: for CI. */
    short: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
    /** Measures in this process; how the others are started. */
    here: { type: "boolean", default: false },
  },
});
const unknown = positionals.filter((name) => !all.includes(name as Subject));
if (unknown.length > 0) throw new Error(`no subject ${unknown.join(", ")}; there are ${all.join(", ")}`);
const chosen = positionals.length === 0 ? usual : (positionals as Subject[]);

if (values.here) {
  for (const subject of chosen) {
    const { run } = await subjects[subject]();
    process.stdout.write(JSON.stringify(await run(values.short)));
  }
} else {
  const machine = {
    cpu: cpus()[0]?.model.trim() ?? "unknown",
    cores: availableParallelism(),
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    node: process.version,
    /** Processes that wanted a core in the minute before. */
    load: loadavg()[0] ?? 0,
  };
  const { cpu, cores, memoryGiB, node, load } = machine;
  if (!values.json)
    process.stdout.write(`${cpu}, ${cores} cores, ${memoryGiB} GiB, Node ${node}, load ${load.toFixed(1)}\n\n`);
  const results = chosen.flatMap((subject) => {
    const measured = inProcess(subject);
    if (!values.json) process.stdout.write(formatTable(subject, measured));
    return measured.map((result) => ({ subject, ...result }));
  });
  if (values.json) process.stdout.write(`${JSON.stringify({ machine, short: values.short, results }, null, 2)}\n`);
}

/** Each subject has a process to itself: no heap and no optimised code of another one. */
function inProcess(subject: Subject): Result[] {
  const args = [subject, "--here", ...(values.short ? ["--short"] : [])];
  const { status, stdout } = spawnSync(process.execPath, ["--expose-gc", fileURLToPath(import.meta.url), ...args], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (status !== 0) throw new Error(`${subject} failed`);
  return JSON.parse(stdout);
}
