import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startFaultProxy } from "../test/support/cluster/proxy.ts";
import { Fleet } from "./controller-fleet.ts";
import { ControllerProcess } from "./controller-process.ts";
import { figures, type Result, ratio } from "./measure.ts";

interface Size {
  readonly nodes: number;
  readonly policies: number;
  /** How often the controller and the bare client take turns. */
  readonly rounds: number;
  readonly joins: number;
  readonly starts: number;
  /** Seconds. */
  readonly idle: number;
}

const sizes: Record<"short" | "full", Size> = {
  short: { nodes: 300, policies: 3, rounds: 2, joins: 3, starts: 3, idle: 10 },
  full: { nodes: 5_000, policies: 10, rounds: 2, joins: 20, starts: 10, idle: 60 },
};

/** The built controller on a real API server whose etcd waits for the disk, without any handler. */
export async function run(short: boolean): Promise<Result[]> {
  const size = sizes[short ? "short" : "full"];
  const fleet = await Fleet.start();
  try {
    return await new Trial(fleet, size).run();
  } finally {
    await fleet.stop();
  }
}

class Trial {
  private readonly fleet: Fleet;
  private readonly size: Size;
  private readonly many: string;
  private started = 0;

  constructor(fleet: Fleet, size: Size) {
    this.fleet = fleet;
    this.size = size;
    this.many = `${size.nodes.toLocaleString("en")} nodes`;
  }

  async run(): Promise<Result[]> {
    const small = await this.smallFleet();
    await this.fleet.addNodes(100, this.size.nodes);
    const rollouts = await this.rollouts();
    const starts = await this.firstRequests();
    const [controller, restarts] = await this.restarts();
    try {
      const idle = await this.idle(controller);
      return [...rollouts, ...(await this.joins()), ...starts, ...restarts, ...idle, ...small];
    } finally {
      await controller.stop();
    }
  }

  /** A hundred nodes. */
  private async smallFleet(): Promise<Result[]> {
    await this.fleet.addNodes(0, 100);
    const controller = await this.start();
    await this.fleet.timed(100, () => this.fleet.addPolicy("small", 100, "small"));
    await this.fleet.quiet();
    await sleep(5_000);
    const { now, peak } = controller.memory();
    await controller.stop();
    return [
      { name: "memory, 100 nodes", figure: now, best: now, unit: "MiB", goal: 80 },
      { name: "the same, the most it had", figure: peak, best: peak, unit: "MiB" },
    ];
  }

  /** Policies one after the other: the controller and a bare client take turns, and the rest comes at once. */
  private async rollouts(): Promise<Result[]> {
    const { nodes, policies, rounds } = this.size;
    const taken = { ours: [] as number[], bare: [] as number[], writes: [] as number[] };
    for (let round = 0; round < rounds; round++) {
      const controller = await this.start();
      const before = await this.fleet.writes();
      taken.ours.push(await this.fleet.timed(nodes, () => this.add(round)));
      await this.fleet.quiet();
      // The policy and its pool are not the controller's.
      taken.writes.push(((await this.fleet.writes()) - before - 2) / nodes);
      await controller.stop();
      const copies = await this.fleet.copies(`policy-${round}`);
      taken.bare.push(await this.fleet.timed(nodes, () => this.fleet.createBare(copies)));
      await this.fleet.deleteBare();
    }
    await this.fill(rounds, policies);
    const goal = Math.round(figures(taken.bare).figure / 0.75);
    return [
      {
        name: `one more policy for ${this.many}: until all theirs are there`,
        ...{ ...figures(taken.ours), unit: "ms", goal },
        ratios: [ratio("a bare client that creates them", taken.ours, taken.bare)],
      },
      { name: "the same: writes for each node", ...figures(taken.writes), unit: "writes", goal: 1.05 },
    ];
  }

  /** Adds policies from a number up to another one at once. */
  private async fill(from: number, to: number): Promise<void> {
    const controller = await this.start();
    const left = Array.from({ length: to - from }, (_, i) => from + i);
    await this.fleet.timed(this.size.nodes * left.length, () => Promise.all(left.map((i) => this.add(i))));
    await this.fleet.quiet();
    await controller.stop();
  }

  private add(i: number): Promise<void> {
    return this.fleet.addPolicy(`policy-${i}`, i, "all");
  }

  /** Nodes that join when the controller has not looked at its record for a while. */
  private async joins(): Promise<Result[]> {
    const { nodes, policies, joins } = this.size;
    const times: number[] = [];
    for (let i = 0; i < joins; i++) {
      await sleep(3_000);
      times.push(await this.fleet.timed(policies, () => this.fleet.addNodes(nodes + i, nodes + i + 1)));
    }
    const slowest = Math.max(...times);
    return [
      { name: `one more node over ${policies} policies of ${this.many}`, ...figures(times), unit: "ms" },
      { name: `the same, the slowest of ${joins}`, figure: slowest, best: slowest, unit: "ms", goal: 300 },
    ];
  }

  /** From the start of the process to its first request, which never reaches the server. */
  private async firstRequests(): Promise<Result[]> {
    const proxy = await startFaultProxy(this.fleet.cluster);
    proxy.plant({}, { cut: "request" });
    const taken = { ours: [] as number[], bare: [] as number[] };
    for (let i = 0; i < this.size.starts; i++) {
      const start = performance.now();
      spawnSync(process.execPath, ["-e", "0"]);
      taken.bare.push(performance.now() - start);
      const before = proxy.requests.length;
      const controller = await this.start(proxy.kubeconfig);
      while (proxy.requests.length === before) await sleep(1);
      taken.ours.push(controller.age());
      await controller.stop();
    }
    await proxy.close();
    const name = "start of the process until its first request";
    return [
      { name, ...figures(taken.ours), unit: "ms", goal: 150, ratios: [ratio("node -e 0", taken.ours, taken.bare)] },
    ];
  }

  /** The last one goes on. */
  private async restarts(): Promise<[ControllerProcess, Result[]]> {
    const times: number[] = [];
    const { nodes, policies } = this.size;
    for (;;) {
      const controller = await this.start();
      times.push(await controller.ready());
      const name = `restart with ${(nodes * policies).toLocaleString("en")} addresses until it is ready`;
      if (times.length === 3) return [controller, [{ name, ...figures(times), unit: "ms", goal: 4_000 }]];
      await controller.stop();
    }
  }

  private async idle(controller: ControllerProcess): Promise<Result[]> {
    const { policies, idle } = this.size;
    await this.fleet.quiet();
    const before = [await controller.requests(), await this.fleet.writes()] as const;
    await sleep(idle * 1_000);
    const after = [await controller.requests(), await this.fleet.writes()] as const;
    const [requests, writes] = [(after[0] - before[0]) / idle, after[1] - before[1]];
    const { now, peak } = controller.memory();
    return [
      { name: `memory, ${policies} policies of ${this.many}`, figure: now, best: now, unit: "MiB", goal: 160 },
      { name: "the same, the most it had", figure: peak, best: peak, unit: "MiB" },
      { name: "idle: requests", figure: requests, best: requests, unit: "requests/s", goal: 0.7 },
      { name: `idle: writes in ${idle} s`, figure: writes, best: writes, unit: "writes", goal: 0 },
    ];
  }

  private async start(kubeconfig?: string): Promise<ControllerProcess> {
    const { fleet } = this;
    const log = join(fleet.cluster.folder, `controller-${++this.started}.log`);
    const controller = await ControllerProcess.start(kubeconfig ?? fleet.kubeconfig, log);
    if (kubeconfig === undefined) await controller.ready();
    return controller;
  }
}
