import { readFileSync } from "node:fs";

// Synthesises one app, and prints the most memory that this process ever had, in MiB.
const [, , kind, path = ""] = process.argv;
const make = async () =>
  kind === "ours"
    ? (await import("./synth-ours.ts")).ours(path)
    : (await import("./synth-plain.ts")).plain(JSON.parse(readFileSync(path, "utf8")));
const app = await make();
if (!app.synthYaml().includes("static-2--node4999")) throw new Error("the last node is missing");
const peak = /VmHWM:\s*(\d+)/.exec(readFileSync("/proc/self/status", "utf8"))?.[1];
process.stdout.write(`${Number(peak) / 1024}`);
