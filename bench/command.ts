import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { main, node, root } from "./built.ts";
import { type Effort, figures, inTurn, once, type Result, ratio } from "./measure.ts";

const example = join(root, "examples/static-ip");

/** The command line as people run it: the built program, one process after the other. */
export function run(short: boolean): Result[] {
  const folder = mkdtempSync(join(tmpdir(), "nodeippool-bench-"));
  try {
    // Processes start cold: no warm-up but one run for the file cache.
    return [
      ...startUp({ rounds: short ? 5 : 25, warmUp: 0 }),
      ...fiveThousandNodes({ rounds: short ? 1 : 3, warmUp: 0 }, folder),
    ];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function startUp(spent: Effort): Result[] {
  const lock = ["--nodes", join(example, "nodes.txt"), "--lock", join(example, "nodeippool.lock")];
  const { bare, help, plan } = inTurn(spent, {
    bare: once(() => node(["-e", "0"])),
    help: once(() => node([main, "--help"])),
    plan: once(() => node([main, "plan", join(example, "manifests"), ...lock])),
  });
  const to = "node -e 0";
  return [
    { name: to, ...figures(bare), unit: "ms" },
    { name: "nodeippool --help", ...figures(help), unit: "ms", goal: 150, ratios: [ratio(to, help, bare)] },
    {
      name: "nodeippool plan examples/static-ip",
      ...figures(plan),
      unit: "ms",
      goal: 400,
      ratios: [ratio(to, plan, bare)],
    },
  ];
}

/** The example with pools of a /16 each, for 5,000 nodes: their names in a file, or their YAML among the manifests. */
function fiveThousandNodes(spent: Effort, folder: string): Result[] {
  const names = Array.from({ length: 5_000 }, (_, i) => `node${String(i).padStart(4, "0")}.example.org`);
  const list = join(folder, "nodes.txt");
  writeFileSync(list, names.join("\n"));
  const byName = ["--nodes", list];
  const plain = new Trial(join(folder, "plain"), byName, {});
  const files = Object.fromEntries(
    Array.from({ length: 50 }, (_, i) => [
      `nodes-${i}.yaml`,
      names
        .slice(i * 100, i * 100 + 100)
        .map(nodeYaml)
        .join("---\n"),
    ]),
  );
  const yaml = new Trial(join(folder, "yaml"), [], files);
  const taken = inTurn(spent, {
    bare: once(() => node(["-e", "0"])),
    plain: once(() => plain.run()),
    yaml: once(() => yaml.run()),
    audit: once(() => plain.audit()),
  });
  const measured = (
    [
      ["names in a file", taken.plain, plain],
      ["Node YAML", taken.yaml, yaml],
    ] as const
  ).flatMap(([form, times, trial]): Result[] => [
    {
      name: `5,000 nodes x 2 NICs, ${form}: allocate + render`,
      ...figures(times),
      unit: "ms",
      goal: 5_000,
      ratios: [ratio("node -e 0", times, taken.bare)],
    },
    { name: `the same, ${form}: peak memory`, ...figures([trial.peak()]), unit: "MiB" },
  ]);
  const audit = { name: "audit of what was rendered", ...figures(taken.audit), unit: "ms" } as const;
  return [...measured, { ...audit, ratios: [ratio("allocate + render", taken.audit, taken.plain)] }];
}

/** `allocate` into a new lock, then `render` into a new folder. */
class Trial {
  private readonly folder: string;
  private readonly verbs: readonly (readonly string[])[];
  private readonly auditing: readonly string[];

  constructor(folder: string, nodes: readonly string[], files: Readonly<Record<string, string>>) {
    this.folder = folder;
    const manifests = join(folder, "manifests");
    mkdirSync(manifests, { recursive: true });
    const text = (name: string) => readFileSync(join(example, "manifests", name), "utf8");
    const pools = text("pools.yaml")
      .replaceAll(/(10\.)10\.(1\d)(\.\d+)\/24/g, "$1$2.0.0/16")
      .replaceAll(/^ +(start|end|exclude):.*\n/gm, "");
    for (const [name, content] of Object.entries({
      ...files,
      "pools.yaml": pools,
      "static-ip.yaml": text("static-ip.yaml"),
    }))
      writeFileSync(join(manifests, name), content);
    const lock = ["--lock", join(folder, "nodeippool.lock"), ...nodes];
    this.auditing = ["audit", join(folder, "rendered"), "--pools", manifests, ...lock];
    this.verbs = [
      ["allocate", manifests, ...lock],
      ["render", manifests, ...lock, "--out", join(folder, "rendered")],
    ];
  }

  run(): void {
    this.clear();
    for (const verb of this.verbs) node([main, ...verb]);
    if (!readFileSync(join(this.folder, "rendered/static-ip.yaml"), "utf8").includes("static-ip--node4999"))
      throw new Error("the last node was not rendered");
  }

  /** What the last run has left. */
  audit(): void {
    node([main, ...this.auditing]);
  }

  /** The larger of both processes, in MiB, measured in a run of its own. */
  peak(): number {
    this.clear();
    const report = join(this.folder, "peak");
    const peaks = this.verbs.map((verb) => {
      node(["--import", `data:text/javascript,${encodeURIComponent(reportPeak(report))}`, main, ...verb]);
      return Number(readFileSync(report, "utf8")) / 1024;
    });
    return Math.max(...peaks);
  }

  private clear(): void {
    rmSync(join(this.folder, "nodeippool.lock"), { force: true });
    rmSync(join(this.folder, "rendered"), { recursive: true, force: true });
  }
}

/** Not `resourceUsage()` where Linux can say it: that counts what the parent had when it forked. */
function reportPeak(path: string): string {
  return `import { readFileSync, writeFileSync } from "node:fs";
process.on("exit", () => {
  let peak = process.resourceUsage().maxRSS;
  try { peak = /VmHWM:\\s*(\\d+)/.exec(readFileSync("/proc/self/status", "utf8"))[1]; } catch {}
  writeFileSync(${JSON.stringify(path)}, String(peak));
});`;
}

function nodeYaml(name: string): string {
  return `apiVersion: v1
kind: Node
metadata:
  name: ${name}
  labels:
    kubernetes.io/hostname: ${name}
    kubernetes.io/os: linux
    kubernetes.io/arch: amd64
    node-role.kubernetes.io/worker: ""
    topology.kubernetes.io/zone: zone-1
`;
}
