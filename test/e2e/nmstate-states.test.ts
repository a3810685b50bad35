import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, expect, test } from "vitest";
import { stringify } from "yaml";
import { tries } from "../support/long.ts";
import { createManagedNodes, insideOf } from "../support/objects/managed-nodes.ts";
import { nodeNetworkStates } from "../support/real/e2e-handler.ts";
import { addresses, type LabNode, runIn } from "../support/real/lab.ts";
import { seeded } from "../support/seeded.ts";
import { steps } from "../support/sim/rack-steps.ts";
import { type Rack, RackWorld, rackOf } from "../support/sim/rack-world.ts";
import { BUILD_TIMEOUT, MissingPart } from "../support/tools/tools.ts";

// Every state that is rendered for a node is applied after the one before it, by the engine of the handlers and a real NetworkManager, as
// handlers do it. The node then has what the last one says, and nothing of those before.
let node: LabNode;
let missing: MissingPart | undefined;

beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), "nodeippool-states-"));
  const machines = await createManagedNodes(folder).catch((error) => {
    if (!(error instanceof MissingPart) || process.env.CI === "true") throw error;
    missing = error;
  });
  if (machines !== undefined) node = await machines.add("n1");
  return async () => {
    await machines?.close();
    rmSync(folder, { recursive: true, force: true });
  };
}, BUILD_TIMEOUT);

test.beforeEach(({ skip }) => skip(missing !== undefined, missing?.message));

const nics = ["eth1", "eth2", "br1"];

/** `nmstatectl apply`, as the handler runs it. */
async function apply(state: unknown): Promise<void> {
  const [file = "", ...args] = insideOf(node);
  const running = promisify(execFile)(file, [...args, "/run/bin/nmstatectl", "apply", "-q"], { timeout: 60_000 });
  running.child.stdin?.end(stringify(state));
  await running.catch((error) => {
    throw new Error(`${error.stderr}of ${JSON.stringify(state)}`);
  });
}

/** Plays what people change; after each change the handler applies the policies that are new to it, in any order. */
class Play {
  readonly world = new RackWorld([
    rackOf(1),
    rackOf(2),
    rackOf(3, { nic: "eth2", routes: { "10.92.0.0/16": "router", "fd92::/32": "router" } }),
  ]);
  private readonly pick: (below: number) => number;
  private applied = new Set<string>();

  constructor(seed: number) {
    const random = seeded(seed);
    this.pick = (below) => Math.floor(random() * below);
  }

  async change(what: string, rack = this.world.racks[this.pick(3)] as Rack): Promise<void> {
    await steps[what]?.(this.world, rack, this.pick);
    try {
      await this.handle();
      await this.check();
    } catch (error) {
      throw new Error(`rack ${rack.number} ${what}: ${(error as Error).message}`, { cause: error });
    }
  }

  any(): Promise<void> {
    const names = Object.keys(steps);
    const what = names[Math.max(0, this.pick(names.length + 3) - 3)] as string;
    // What changes is mostly the rack that the node is in.
    const own = this.world.racks.find(({ number }) => number === this.world.rack);
    return this.change(what, what.startsWith("moves") || this.pick(4) === 0 ? undefined : own);
  }

  /** The node's report frees what is off the node. In the end it is clean. */
  async end(): Promise<void> {
    this.world.rack = 0;
    await this.handle();
    expect(await this.world.release(await nodeNetworkStates([node]))).toBe(0);
    expect(await this.world.render()).toEqual([]);
    await apply({
      interfaces: [{ name: "br1", type: "linux-bridge", state: "absent" }],
      "dns-resolver": { config: {} },
    });
  }

  private async handle(): Promise<void> {
    const policies = await this.world.render();
    const isAll = this.pick(4) === 0;
    const states = policies.map(({ spec }) => spec.desiredState);
    const open = states.filter((state) => isAll || !this.applied.has(JSON.stringify(state)));
    for (const state of this.pick(2) === 0 ? open : open.toReversed()) await apply(state);
    this.applied = new Set(states.map((state) => JSON.stringify(state)));
    const links = await runIn(node, "ip", ["-brief", "link"]);
    if (!links.includes("br1")) await this.world.confirm("br1");
    if (this.pick(3) === 0) await this.world.release(await nodeNetworkStates([node]));
  }

  private async check(): Promise<void> {
    const wanted = await this.world.wanted();
    for (const nic of nics) expect((await addresses(node, nic)).sort(), nic).toEqual(wanted.addresses[nic] ?? []);
    const routes = await runIn(node, "sh", ["-c", "ip -4 route show proto static; ip -6 route show proto static"]);
    const own = routes.split("\n").filter((line) => line !== "" && !line.includes("dev eth0"));
    const shown = own.map((line) => /^\S+ via \S+ dev \S+/.exec(line)?.[0] ?? line);
    expect(shown.sort(), "routes").toEqual(wanted.routes);
    const resolver = await runIn(node, "cat", ["/etc/resolv.conf"]);
    expect(
      [...resolver.matchAll(/^nameserver (.*)$/gm)].map(([, server]) => server),
      "DNS",
    ).toEqual(wanted.dns);
  }
}

test("a node has what its newest policies say, and nothing of those before, whatever has changed", async () => {
  const play = new Play(1);
  const [first, second, third] = play.world.racks as [Rack, Rack, Rack];
  await play.change("moves to a rack", first);
  await play.change("moves to a rack", second);
  for (const what of Object.keys(steps).filter((name) => !name.startsWith("moves") && !name.startsWith("leaves")))
    await play.change(what, second);
  await play.change("moves to a rack", third);
  await play.change("moves to a rack", first);
  await play.change("leaves its rack");
  await play.end();
});

test("the same in any order", { timeout: tries(120_000, 10_800_000) }, async () => {
  for (let seed = 1; seed <= tries(1, 500); seed++) {
    const play = new Play(seed);
    try {
      await play.change("moves to a rack");
      for (let i = 0; i < tries(4, 8); i++) await play.any();
      await play.end();
    } catch (error) {
      throw new Error(`seed ${seed}: ${(error as Error).message}`, { cause: error });
    }
  }
});
