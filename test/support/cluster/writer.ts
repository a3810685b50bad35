// Run as a program, and killed at any time: KUBECONFIG NAMESPACE NAME POOLS UNTIL FROM. Each round gives addresses to a batch
// of nodes and gives up those of two rounds before, of a claim set of its own; prints `claim pool address` for what was
// acknowledged, or is on record when it begins. Begins where the record says that it stopped, or at FROM, if that is later: who has given everything up is not on record. From round UNTIL on it gives up everything, and ends.
import { writeSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { formatAddress } from "../../../core/address.ts";
import type { Snapshot } from "../../../core/allocation.ts";
import { IpamError } from "../../../core/errors.ts";
import { type Plan, plan } from "../../../core/plan/plan.ts";
import { planRelease } from "../../../core/plan/release.ts";
import { findAccess, objectsOf } from "../../../kube/index.ts";
import { kubernetes } from "../../../state/kubernetes/backend.ts";
import { claimOf } from "../core/text.ts";
import { batchSize, chaosPools } from "./chaos.ts";

const [kubeconfig = "", namespace = "", name = "", count = "", until = "", from = "0"] = process.argv.slice(2);
const pools = chaosPools(Number(count));
const backend = kubernetes(objectsOf(findAccess({ kubeconfig }), { budget: 10_000 }), namespace);
const last = Number(until);

/** What this writer's own live lines are, by what it was told: nobody else may touch them. */
let mine: string[] | undefined;

function own({ allocations }: Snapshot): string[] {
  return allocations
    .filter((line) => line.set === name)
    .map((line) => `${line.claim} ${line.pool} ${formatAddress(line.address)}`)
    .sort();
}

function batch(round: number): string[] {
  if (round < 0 || round >= last) return [];
  // Over neighbouring pools: a commit over several subnets, where there are several.
  return Array.from({ length: batchSize }, (_, i) => {
    const pool = pools[(round + i) % pools.length]?.name;
    return `Node/${name}-${round}-${i}/a pool=${pool}`;
  });
}

function claimsIn(texts: readonly string[]): string[] {
  return texts.map((text) => text.split(" ")[0] as string);
}

/** The round after the last one that was acknowledged, or that the record shows something of. */
function nextRound(snapshot: Snapshot): number {
  const rounds = own(snapshot).map((text) => Number(/-(\d+)-\d+\//.exec(text)?.[1]));
  // The one before was killed when it had given up its last round, too: asked for again, that may get other addresses.
  if (rounds.length === 0 && Number(from) >= last) return last + 1;
  return Math.max(Number(from) - 1, ...rounds) + 1;
}

/** Commits again where nobody knows whether it went through; false if somebody else came first, or nothing happened. */
async function commit(made: Plan): Promise<boolean> {
  for (;;) {
    try {
      const after = own(await backend.commit(made));
      const before = new Set(mine);
      for (const line of after) if (!before.has(line)) writeSync(1, `${line}\n`);
      mine = after;
      return true;
    } catch (error) {
      if (!(error instanceof IpamError)) throw error;
      if (error.code === "conflict") return false;
      if (error.code !== "unavailable" && error.code !== "unknown-outcome") throw error;
      await sleep(100 * Math.random());
    }
  }
}

async function read(): Promise<Snapshot> {
  for (;;) {
    try {
      return await backend.read();
    } catch (error) {
      if (!(error instanceof IpamError && error.code === "unavailable")) throw error;
      await sleep(100 * Math.random());
    }
  }
}

// Whoever started this is gone.
process.stdin.on("end", () => process.exit(1)).resume();
process.stdin.unref();

let round: number | undefined;
/** How often in a row somebody else was first. */
let lost = 0;
for (;;) {
  const snapshot = await read();
  if (mine === undefined) {
    mine = own(snapshot);
    // The one before was killed before it could say so: once all is given up, nobody would know of this round.
    for (const line of mine) writeSync(1, `${line}\n`);
  }
  // A commit over several pools that met a conflict half way leaves what it wrote: more, never less or other.
  const found = own(snapshot);
  const [now, before] = [claimsIn(batch(round ?? -1)), claimsIn(batch((round ?? 0) - 1))];
  const claimed = (line: string) => line.split(" ")[0] as string;
  const strange = found.filter((line) => !mine?.includes(line) && ![...now, ...before].includes(claimed(line)));
  const gone = mine.filter((line) => !found.includes(line) && before.includes(claimed(line)));
  if (strange.length > 0 || gone.length > 0) throw new Error(`${name}: found ${strange}, lost ${gone}`);
  // What the one before sent may arrive late: it is on record then without having been told.
  for (const line of found) if (!mine.includes(line)) writeSync(1, `${line}\n`);
  mine = found;

  round ??= nextRound(snapshot);
  const leaving = snapshot.releasing.filter((line) => line.set === name);
  if (leaving.length > 0) {
    await commit(planRelease(snapshot, leaving));
    continue;
  }
  if (round > last + 1) break;
  const claims = [...batch(round), ...batch(round - 1)].map(claimOf);
  const made = plan({ pools, claims, snapshot, set: name });
  if (made.pending.length > 0) await sleep(50 * Math.random());
  else if (await commit(made)) {
    round++;
    lost = 0;
  } else await sleep(Math.random() * Math.min(1_000, 20 * 2 ** lost++));
}
