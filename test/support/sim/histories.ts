import { AuthorityGame } from "./authority.ts";
import { FleetGame } from "./fleet.ts";
import { Game } from "./game.ts";
import type { Odds, Play } from "./play.ts";
import { SlicesPlay } from "./slices.ts";
import { VmsPlay } from "./vms.ts";
import { WorkloadsPlay } from "./workloads.ts";

const odds: Odds = { fault: 3, kill: 0.3, change: 5 };
const fewerChanges: Odds = { ...odds, change: 3 };

/** Plays a history of nodes and their policies, lets it come to rest, and checks what came of it. The seed alone decides it, as in all of these. */
export async function playNodes<G extends Game>(game: G, seed: number, allocationOrder = "Lowest"): Promise<G> {
  game.addPool("p", "10.0.0.0/24", "10.0.0.8", { allocationOrder });
  game.addPool("q", "10.0.1.0/24", "10.0.1.20", {
    allocationOrder,
    ...(seed % 2 === 0 ? { reclaimPolicy: "Retain" } : {}),
  });
  game.togglePolicy("a", "eth1", "p");
  // What somebody set by hand before: on the NIC of the policy, and on another one.
  game.addOldNode("old1", "eth1", "10.0.0.3");
  game.addOldNode("old2", "eth9", "10.0.0.1");
  game.start();
  await toRest(game);
  game.checkRest();
  return game;
}

/** The same, with the usual faults; NICs may be pulled. */
export const newGame = (seed: number, arePulled = false) => new Game(seed, fewerChanges, arePulled);
export const newFleetGame = (seed: number) => new FleetGame(seed, fewerChanges);
export const newAuthorityGame = (seed: number) => new AuthorityGame(seed, fewerChanges);

export async function playWorkloads(seed: number): Promise<WorkloadsPlay> {
  const game = new WorkloadsPlay(seed, odds);
  game.start();
  game.start();
  await toRest(game);
  game.checkRest();
  await game.finish();
  game.checkEnd();
  return game;
}

export async function playVms(seed: number, isMoving: boolean): Promise<VmsPlay> {
  const game = new VmsPlay(seed, odds, isMoving);
  game.start();
  game.start();
  await toRest(game);
  game.checkRest();
  await game.end();
  game.checkEnd();
  return game;
}

export async function playSlices(seed: number): Promise<SlicesPlay> {
  const game = new SlicesPlay(seed, { ...odds, change: 4 });
  for (let i = 0; i < 5; i++) game.addNode(`m${i}`);
  if (seed % 3 === 0) game.addStock();
  if (seed % 3 === 1) game.addLeftovers();
  for (const network of ["net", "red", "six"]) game.toggleDefinition(network, "a");
  game.start();
  await toRest(game);
  game.checkRest();
  return game;
}

async function toRest(game: Play & { calm(): Promise<void> }): Promise<void> {
  while (game.steps < 2000) await game.step();
  await game.calm();
}
