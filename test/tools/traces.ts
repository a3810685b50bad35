/**
 * Plays histories of the controller's simulators, and writes what came of each: `npx node test/tools/traces.ts FOLDER [COUNT]`. A change
 * of structure alone leaves every byte as it was: write them before it and after it, and compare with `diff -r`.
 */

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { newAuthorityGame, newGame, playNodes, playSlices, playVms, playWorkloads } from "../support/sim/histories.ts";
import type { Play } from "../support/sim/play.ts";

const histories: Readonly<Record<string, (seed: number) => Promise<Play>>> = {
  nodes: (seed) => playNodes(newGame(seed), seed, ["Lowest", "Hashed", "Next"][seed % 3]),
  nics: (seed) => playNodes(newGame(seed, true), seed),
  authority: (seed) => playNodes(newAuthorityGame(seed), seed),
  workloads: playWorkloads,
  vms: (seed) => playVms(seed, seed % 2 === 0),
  slices: playSlices,
};

const [folder, count = "200"] = process.argv.slice(2);
if (folder === undefined) throw new Error("usage: npx node test/tools/traces.ts FOLDER [COUNT]");
for (const [name, play] of Object.entries(histories)) {
  mkdirSync(join(folder, name), { recursive: true });
  for (let seed = 1; seed <= Number(count); seed++) {
    const lines = await play(seed).then(linesOf, (error) => [`${error.message}`]);
    writeFileSync(join(folder, name, `${seed}.txt`), `${lines.join("\n")}\n`);
  }
}

/** What the controllers wrote, recorded and said. */
function linesOf(game: Play): string[] {
  return [...game.server.events.map((event) => JSON.stringify(event)), ...game.golden];
}
