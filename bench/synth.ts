import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { AddressPlan } from "../constructs/index.ts";
import { lockfile } from "../state/index.ts";
import { figures, inTurn, once, type Result, ratio } from "./measure.ts";
import { ours } from "./synth-ours.ts";
import { plain } from "./synth-plain.ts";

/** cdk8s through our constructs, against cdk8s with the same objects written out: from `new App` to YAML. */
export function run(short: boolean): Result[] {
  const folder = mkdtempSync(join(tmpdir(), "nodeippool-bench-"));
  try {
    return inFolder(folder, short);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function inFolder(folder: string, short: boolean): Result[] {
  const lock = join(folder, "nodeippool.lock");
  lockfile(lock).commitAll([AddressPlan.of(ours(lock)).plan()]);
  const objects = ours(lock).charts.flatMap((chart) => chart.toJson());
  if (ours(lock).synthYaml() !== plain(objects).synthYaml()) throw new Error("both must synthesise the same");
  const json = join(folder, "objects.json");
  writeFileSync(json, JSON.stringify(objects));

  const rounds = short ? 1 : 5;
  const time = inTurn(
    { rounds, warmUp: 0 },
    {
      plain: once(() => plain(objects).synthYaml()),
      ours: once(() => ours(lock).synthYaml()),
    },
  );
  const memory = {
    plain: Array.from({ length: rounds }, () => peak("plain", json)),
    ours: Array.from({ length: rounds }, () => peak("ours", lock)),
  };
  const to = "plain cdk8s";
  return [
    { name: `5,000 nodes x 2 NICs, ${to}: synth`, ...figures(time.plain), unit: "ms" },
    {
      name: "the same through our constructs",
      ...figures(time.ours),
      unit: "ms",
      goal: Math.round(1.5 * figures(time.plain).figure),
      ratios: [ratio(to, time.ours, time.plain)],
    },
    { name: `${to}: peak memory`, ...figures(memory.plain), unit: "MiB" },
    {
      name: "the same through our constructs: peak memory",
      ...figures(memory.ours),
      unit: "MiB",
      goal: Math.round(1.5 * figures(memory.plain).figure),
      ratios: [ratio(to, memory.ours, memory.plain)],
    },
  ];
}

/** In a process of its own. */
function peak(kind: "ours" | "plain", path: string): number {
  const script = fileURLToPath(new URL("synth-peak.ts", import.meta.url));
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, kind, path], { encoding: "utf8" });
  if (status !== 0) throw new Error(`${script} failed:\n${stderr}`);
  return Number(stdout);
}
