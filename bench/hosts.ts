import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import { main, node } from "./built.ts";
import { type Effort, figures, inTurn, once, type Result, ratio } from "./measure.ts";

const networks = ["provision", "cluster", "storage", "backup"];

/** The built program on one file of bare-metal hosts, each on four networks: an empty lock and an empty folder every time. */
export function run(short: boolean): Result[] {
  const folder = mkdtempSync(join(tmpdir(), "nodeippool-bench-"));
  try {
    return inFolder(folder, { rounds: short ? 1 : 5, warmUp: 0 }, short ? 500 : 5_000);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function inFolder(folder: string, spent: Effort, most: number): Result[] {
  const trial = (hosts: number) => {
    const [file, lock, out] = [`${hosts}.yaml`, `${hosts}.lock`, `${hosts}`].map((name) => join(folder, name));
    writeFileSync(`${file}`, infraOf(hosts));
    const verb = (name: string, more: readonly string[] = []) =>
      node([main, name, `${file}`, "--lock", `${lock}`, ...more]);
    return {
      allocate: once(() => {
        rmSync(`${lock}`, { force: true });
        verb("allocate");
      }),
      render: once(() => {
        rmSync(`${out}`, { recursive: true, force: true });
        verb("render", ["--out", `${out}`]);
      }),
    };
  };
  const [few, some, many] = [trial(most / 10), trial(1_000), trial(most)];
  const taken = inTurn(spent, {
    bare: once(() => node(["-e", "0"])),
    "allocate few": few.allocate,
    few: few.render,
    allocate: some.allocate,
    render: some.render,
    "allocate many": many.allocate,
    many: many.render,
  });
  const perHost = (times: readonly number[], hosts: number) => times.map((ms) => ms / hosts);
  const start = "node -e 0";
  const growth = ratio(`time per host of ${most / 10}`, perHost(taken.many, most), perHost(taken.few, most / 10));
  return [
    {
      name: "1,000 hosts x 4 networks: allocate",
      ...{ ...figures(taken.allocate), unit: "ms" },
      ratios: [ratio(start, taken.allocate, taken.bare)],
    },
    {
      name: "the same: render, which reads, plans and writes",
      ...{ ...figures(taken.render), unit: "ms", goal: 2_000 },
      ratios: [ratio(start, taken.render, taken.bare)],
    },
    { name: `${most.toLocaleString("en")} hosts: render`, ...figures(taken.many), unit: "ms", ratios: [growth] },
  ];
}

/** A file with so many hosts in units of 100. */
function infraOf(hosts: number): string {
  const units = Array.from({ length: Math.ceil(hosts / 100) }, (_, i) => unitOf(i, Math.min(100, hosts - 100 * i)));
  const infra = { networks: Object.fromEntries(networks.map((name, i) => [name, networkOf(i)])) };
  return stringify({ infra, nodepools: Object.fromEntries(units) });
}

function networkOf(i: number) {
  const addressRange = { start: `10.${i}.0.10`, end: `10.${i}.255.250` };
  return { netmask: 16, addressRange, gateway: `10.${i}.0.1`, dnsServers: [`10.${i}.0.2`] };
}

function unitOf(unit: number, hosts: number) {
  const networkConfig = networks.map((network, i) => ({
    type: "interface",
    name: `nic${i}`,
    addresses: [{ ip_netmask: `{{ ip['${network}'] }}` }],
    ...(i === 0 && { routes: [{ default: true, next_hop: `{{ config['${network}'].gateway }}` }] }),
  }));
  const macs = (host: number) =>
    Object.fromEntries(networks.map((_, i) => [`nic${i}`, ["52:54:00", i, unit, host].map(hex).join(":")]));
  const macMapping = Object.fromEntries(Array.from({ length: hosts }, (_, host) => [`host-${host}`, macs(host)]));
  const unitSpec = { replicas: hosts, hostSelector: { pool: `${unit}` }, networkConfig, macMapping };
  return [`pool-${unit}`, unitSpec] as const;
}

function hex(part: string | number): string {
  return typeof part === "string" ? part : part.toString(16).padStart(2, "0");
}
